"""What `./dev` does with its words."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from console.machine.base_image import ensure_base_image
from console.machine.docker_client import Client, put_first
from console.machine.engine import ensure_engine
from console.machine.progress import Progress
from console.machine.scripted_model import start_scripted_model
from console.machine.suite import NO_ENGINE, run_suite
from console.machine.tools import ensure_tools
from console.machine.trouble import Trouble
from console.machine.venv import FOLDER, ensure_venv

ROOT = Path(__file__).resolve().parents[2]
DEV_EXTRAS = frozenset({"dev"})
DEMO_EXTRAS = frozenset({"models"})
DEMO_TOOLS = {"tmux": "tmux"}
WRONG_USAGE = 2
INTERRUPTED = 130

DEMO_RUN = (
    "run",
    "sample_runs/tasks",
    "--agent",
    "oracle",
    "--agent",
    "replay:sessions=sample_runs/sessions",
)
SCRIPTED_ARM = "terminus2:model=scripted,base_url={}"
RECORDED = "sample_runs/recorded/demo"

USAGE = """usage: ./dev COMMAND [ARGUMENT…]

  demo [ARGUMENT…]   set everything up, run the bundled tasks with three arms, watch them live
                     (arguments go to `trialdeck run`; with no engine, a recorded run is played)
  test [ARGUMENT…]   the whole suite: ruff, mypy, lint-imports, pytest with real containers
                     (with arguments, which go to pytest, only pytest)
  bench [ARGUMENT…]  measure; arguments go to `python -m bench`
  setup              only set up: .venv, a Docker engine, the base image

Everything Python goes into .venv. Where no Docker engine answers, on Debian 12+ and Ubuntu 22.04+ as root
or with sudo, ./dev says what it will install and start, and does it; elsewhere it says what is missing."""


def main(arguments: Sequence[str]) -> int:
    progress = Progress()
    command, rest = (arguments[0], list(arguments[1:])) if arguments else ("--help", [])
    if command in {"-h", "--help", "help"}:
        print(USAGE)
        return 0 if arguments else WRONG_USAGE
    commands = {"demo": demo, "test": test, "bench": bench, "setup": setup}
    chosen = commands.get(command)
    if chosen is None:
        print(f"./dev: there is no command {command!r}\n\n{USAGE}", file=sys.stderr)
        return WRONG_USAGE
    try:
        return chosen(rest, progress)
    except Trouble as trouble:
        progress.say(f"./dev {command}: {trouble}")
        return 1
    except KeyboardInterrupt:
        progress.say("interrupted; the next ./dev goes on from here")
        return INTERRUPTED


def demo(arguments: list[str], progress: Progress) -> int:
    with one_at_a_time(progress):
        python = ensure_venv(ROOT, progress, DEMO_EXTRAS)
        try:
            use_engine(progress)
            ensure_tools(progress, DEMO_TOOLS)
        except Trouble as trouble:
            progress.say(str(trouble))
            progress.say("Until then, here is a recorded run of the same tasks.")
            words: tuple[str, ...] = ("watch", RECORDED)
        else:
            address = start_scripted_model(ROOT, python)
            words = (*DEMO_RUN, "--agent", SCRIPTED_ARM.format(address), *runs_of_demo(arguments), *arguments)
    if shutil.which("trialdeck") is None:
        progress.say(f"trialdeck is in {shlex.quote(str(python.parent))}; `{activation(python)}` puts it on your PATH")
    if words[0] == "watch" and not sys.stdout.isatty():
        words = ("watch", "--plain", RECORDED)
    become([str(python.with_name("trialdeck")), *words])


def runs_of_demo(arguments: list[str]) -> list[str]:
    """Where somebody stands elsewhere, what is said of a run at its end must hold there, too."""
    given = any(word.partition("=")[0] == "--runs-dir" for word in arguments)
    return [] if given or called_from() == ROOT else ["--runs-dir", str(ROOT / "runs")]


def activation(python: Path) -> str:
    script = python.with_name("activate")
    return f". {shlex.quote(str(script.relative_to(ROOT) if called_from() == ROOT else script))}"


def called_from() -> Path:
    return Path(os.environ.get("DEV_CALLED_FROM") or ROOT).resolve()


def test(arguments: list[str], progress: Progress) -> int:
    with one_at_a_time(progress):
        python = ensure_venv(ROOT, progress, DEV_EXTRAS)
        ensure_tools(progress)
        try:
            use_engine(progress)
        except Trouble as trouble:
            progress.say(str(trouble))
            os.environ[NO_ENGINE] = trouble.what
    return run_suite(ROOT, python, arguments, os.environ, progress)


def bench(arguments: list[str], progress: Progress) -> int:
    with one_at_a_time(progress):
        python = ensure_venv(ROOT, progress, DEV_EXTRAS)
        use_engine(progress)
    become([str(python), "-m", "bench", *arguments])


def setup(arguments: list[str], progress: Progress) -> int:
    if arguments:
        print(f"./dev setup takes no arguments\n\n{USAGE}", file=sys.stderr)
        return WRONG_USAGE
    with one_at_a_time(progress):
        ensure_venv(ROOT, progress, DEV_EXTRAS)
        client = use_engine(progress)
    progress.say(f"ready: {FOLDER}, Docker {client.server}, Compose {client.compose}, buildx {client.buildx}")
    return 0


def use_engine(progress: Progress) -> Client:
    """Make an engine answer and the base image be there; from here on `docker` is the client that fits."""
    client = ensure_engine(progress, restart=[str(ROOT / "dev"), *sys.argv[1:]])
    put_first(client, os.environ, ROOT / FOLDER / "docker-client")
    ensure_base_image(client, progress)
    return client


@contextmanager
def one_at_a_time(progress: Progress) -> Iterator[None]:
    """Keep two `./dev` of one checkout from setting it up at once; the second waits, and finds it done."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            progress.say("another ./dev sets this checkout up; waiting for it")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def become(argv: list[str]) -> NoReturn:
    """Turn into this program, at the checkout's root: signals and the exit status are then its own."""
    os.chdir(ROOT)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(argv[0], argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
