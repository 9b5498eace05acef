"""`tmux-v1`: this machine's tmux, for images that have none. Needs no network.

Start it as `<place>/bin/tmux -u -f <place>/etc/tmux.conf …` with the capsule's `env`: it needs a UTF-8 locale that the
image may not have. The configuration takes that variable out again, so that the shells in it see the image's own
locales; the terminal descriptions stay, for programs in it that look for `screen-256color`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from engine.agents.capsules.bundle import bundle
from engine.agents.capsules.capsule import CapsuleUnusable, Contents, place_of
from engine.agents.capsules.recipe import Recipe, Say

TMUX_TAG = "tmux-v1"
CONFIGURATION = """# The first thing that a server reads; what else it shall do comes by commands.
set-environment -gu LOCPATH
"""
TERMINALS = (
    *("ansi", "dumb", "linux", "screen", "screen-256color", "tmux", "tmux-256color"),
    *("vt100", "vt220", "xterm", "xterm-color", "xterm-256color", "rxvt"),
)
_NEEDED = "screen"
_TERMINFO = ("/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo", "/usr/share/lib/terminfo")
_LOCALES = ("/usr/lib/locale", "/usr/lib64/locale", "/usr/share/locale", "/usr/lib/x86_64-linux-gnu/locale")
_LOCALE = "C.utf8"


def _make(tag: str, folder: Path, say: Say) -> Contents:
    found = shutil.which("tmux")
    if found is None:
        raise CapsuleUnusable(
            f"capsule {tag} is made of this machine's tmux, and there is none: install it "
            "(apt-get install tmux, dnf install tmux, apk add tmux)"
        )
    program = Path(found).resolve()
    say(f"copy {program} with its libraries")
    bundle(folder, place_of(tag), programs={"bin/tmux": program})
    _terminals(folder / "share" / "terminfo")
    env = {"TERMINFO": "{place}/share/terminfo"}
    if any(path.name.startswith("libc.so") for path in (folder / "lib").iterdir()):  # musl's locale is UTF-8 always
        _locale(folder / "lib" / "locale" / _LOCALE)
        env["LOCPATH"] = "{place}/lib/locale"
    (folder / "etc").mkdir()
    (folder / "etc" / "tmux.conf").write_text(CONFIGURATION)
    return Contents(versions={"tmux": _version(program)}, programs={"tmux": "bin/tmux"}, env=env)


def _version(program: Path) -> str:
    done = subprocess.run([str(program), "-V"], capture_output=True, text=True, timeout=30, check=False)
    return done.stdout.strip().removeprefix("tmux ") or "unknown"


def _terminals(target: Path) -> None:
    for name in TERMINALS:
        source = next((path for place in _places() for path in _entry(place, name) if path.is_file()), None)
        if source is None:
            if name == _NEEDED:
                raise CapsuleUnusable(
                    f"the terminal description {name} isn't on this machine: install ncurses-base (Debian, Fedora) or "
                    "ncurses-terminfo-base (Alpine)"
                )
            continue
        (target / name[0]).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target / name[0] / name)


def _places() -> Iterator[Path]:
    if told := os.environ.get("TERMINFO"):
        yield Path(told)
    yield from map(Path, _TERMINFO)


def _entry(place: Path, name: str) -> tuple[Path, Path]:
    """By the first letter, or by its number where a file system knows no case."""
    return place / name[0] / name, place / f"{ord(name[0]):x}" / name


def _locale(target: Path) -> None:
    for place in (*_LOCALES, os.environ.get("LOCPATH", "")):
        for name in (_LOCALE, "C.UTF-8"):
            if place and (Path(place) / name / "LC_CTYPE").is_file():
                shutil.copytree(Path(place) / name, target)
                return
    raise CapsuleUnusable(
        "the locale C.UTF-8 isn't on this machine, and tmux needs it: install libc-bin (Debian) or "
        "glibc-minimal-langpack (Fedora), or make it: localedef -i POSIX -f UTF-8 C.UTF-8 --no-archive"
    )


RECIPE = Recipe(
    tag=TMUX_TAG,
    example=TMUX_TAG,
    summary="tmux of this machine with its libraries, terminal descriptions and a UTF-8 locale",
    make=_make,
    network=False,
)
