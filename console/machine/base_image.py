"""The image that the sample tasks build on: pulled where a registry answers, else made from packages.

The stand-in is what debootstrap's smallest variant gives, slimmed as the public image is, and labelled as
a stand-in. It is made once; a real image of the same name, pulled later, simply takes its place.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from console.machine import apt
from console.machine.apt_sources import Source, derive, read_sources, render_deb822
from console.machine.command import run
from console.machine.disk import require_space
from console.machine.docker_client import Client
from console.machine.privilege import Privilege, privilege
from console.machine.progress import Progress
from console.machine.release import this_release
from console.machine.trouble import Trouble

TAG = "debian:bookworm-slim"
SUITE = "bookworm"
LABEL = "trialdeck.stand-in=1"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

INSPECT_LIMIT = 20.0
PULL_LIMIT = 180.0
BOOTSTRAP_LIMIT = 600.0
IMPORT_LIMIT = 180.0
SHELL_LIMIT = 60.0
CHECK_LIMIT = 90.0
ROOM_GB = 1.0

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
BUILD_DIR = Path("/var/tmp")
DEBOOTSTRAP = Path("/usr/sbin/debootstrap")
MIRROR_SCHEMES = ("mirror+file:", "mirror:file:")

# What the public image's own build leaves out and sets: no manuals, no kept packages, no started services.
SLIM = """path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/lintian/*
"""
APT_CONF = """APT::Keep-Downloaded-Packages "false";
Binary::apt::APT::Keep-Downloaded-Packages "false";
Acquire::Languages "none";
Acquire::GzipIndexes "true";
Apt::AutoRemove::SuggestsImportant "false";
"""
NO_SERVICES = "#!/bin/sh\nexit 101\n"
TRIM = """cd "$1"
find usr/share/doc -mindepth 1 -not -type d -not -name copyright -delete
find usr/share/doc -mindepth 1 -type d -empty -delete
rm -rf usr/share/man/* usr/share/info/* usr/share/locale/* usr/share/lintian
rm -rf var/lib/apt/lists/* var/cache/apt/*.bin var/cache/apt/archives/*.deb
rm -rf var/log/apt/* var/log/*.log etc/apt/sources.list etc/resolv.conf etc/hostname var/cache/ldconfig/*
"""
# debootstrap mounts /proc inside; a run that was cut short leaves it, and rm must not walk into it.
REMOVE = 'umount "$1/proc" "$1/sys" 2>/dev/null; rm -rf --one-file-system "$1"'

# Settings of apt that decide whether an archive counts as valid: with the archive goes how it's read.
STRICT = ("-o", "APT::Update::Error-Mode=any")
ARCHIVE_SETTINGS = ("Acquire::Check-Valid-Until", "Acquire::Check-Date")


def ensure_base_image(client: Client, progress: Progress) -> None:
    """Make sure that the base image is there; raises `Trouble` where it can't be had."""
    if run([client.path, "image", "inspect", TAG], timeout=INSPECT_LIMIT).ok:
        return
    progress.say(f"The sample tasks build on {TAG}, which isn't here yet: pulling it, or making it.")
    said = pull(client, progress)
    if said is None:
        return
    progress.say(f"  it can't be pulled ({said})")
    make_stand_in(client, progress)
    check(client, progress)


def pull(client: Client, progress: Progress) -> str | None:
    """Pull the image; the reason in a few words where that fails."""
    done = None
    with progress.step(f"pulling {TAG}"):
        done = run([client.path, "pull", "--quiet", TAG], timeout=PULL_LIMIT)
    return None if done.ok else short_reason(done.output)


def short_reason(output: str) -> str:
    """The end of Docker's chain of reasons, which is the part that says something."""
    line = (output.strip().splitlines() or ["no reason given"])[-1]
    return line.split(": ")[-1].strip() or line


def image_sources(codename: str, archive: frozenset[str] | None) -> list[Source]:
    """The apt sources inside the image: this machine's own archive, as far as a container can use them."""
    found = derive(read_sources(), codename, SUITE, archive)
    return [replace(source, uris=tuple(dict.fromkeys(map(plain_uri, source.uris)))) for source in found]


def plain_uri(uri: str) -> str:
    """The first address in a mirror list that is a file of this machine; any other URI as it is."""
    scheme = next((scheme for scheme in MIRROR_SCHEMES if uri.startswith(scheme)), None)
    if scheme is None:
        return uri
    try:
        lines = Path("/" + uri.removeprefix(scheme).lstrip("/")).read_text(encoding="utf-8").splitlines()
    except OSError:
        return uri
    return next((line.split()[0] for line in lines if line.strip() and not line.startswith("#")), uri)


def keys_of(sources: Sequence[Source]) -> list[Path]:
    """The key files that the sources name, those that are there."""
    names = [part for source in sources for part in (source.option("Signed-By") or "").split()]
    return [path for name in dict.fromkeys(names) if name.startswith("/") and (path := Path(name)).is_file()]


def bootstrap_argv(sources: Sequence[Source], root: Path) -> list[str]:
    """debootstrap's command line for the source that holds the release itself."""
    main = next(source for source in sources if SUITE in source.suites)
    argv = [str(DEBOOTSTRAP), "--variant=minbase"]
    if main.uris[0].startswith("https:"):
        # A container reads the same archive, and can't check its certificate without these.
        argv.append("--include=ca-certificates")
    if key := next(iter(keys_of([main])), KEYRING if KEYRING.exists() else None):
        argv.append(f"--keyring={key}")
    return [*argv, SUITE, str(root), main.uris[0]]


def make_stand_in(client: Client, progress: Progress) -> None:
    """Build the image from this machine's own package archive and import it under the public name."""
    unable = f"{TAG} can be neither pulled nor made here"
    release, act = this_release(), privilege()
    if act is None or release is None or release.id != "debian" or not apt.has_apt():
        raise Trouble(
            f"{unable}: making it takes a Debian machine, as root or with sudo",
            f"give Docker a registry or proxy it can reach, or load the image (docker load) as {TAG}",
        )
    require_space(BUILD_DIR, ROOM_GB, f"making {TAG}")
    act.unlock()
    installer = apt.Apt(act, progress)
    if not DEBOOTSTRAP.exists():
        installer.install(["debootstrap"])
    sources = image_sources(release.codename, installer.archive_uris("Debian"))
    if not any(SUITE in source.suites for source in sources):
        raise Trouble(
            f"{unable}: this machine's apt sources name no Debian archive",
            "add one to /etc/apt/sources.list.d, or give Docker a registry it can reach",
        )
    folder = Path(tempfile.mkdtemp(prefix="trialdeck-image-", dir=BUILD_DIR))
    root = folder / "root"
    try:
        with progress.step(f"making a stand-in for {TAG} with debootstrap, about 40 s, once"):
            _bootstrap(act, sources, root)
            _furnish(act, sources, root)
            _import(act, client, root)
    finally:
        act.run(["sh", "-c", REMOVE, "sh", str(root)], timeout=SHELL_LIMIT)
        shutil.rmtree(folder, ignore_errors=True)


def _bootstrap(act: Privilege, sources: Sequence[Source], root: Path) -> None:
    # debootstrap fetches by wget, which knows the environment's proxy and not apt's.
    proxies = apt.settings(["Acquire::http::Proxy", "Acquire::https::Proxy"])
    env = [f"{name.split('::')[1]}_proxy={value}" for name, value in proxies.items()]
    done = act.run(["env", *env, *bootstrap_argv(sources, root)], timeout=BOOTSTRAP_LIMIT)
    if done.ok:
        return
    raise Trouble(
        f"debootstrap couldn't make {TAG}",
        "see its words below: the archive, its key, the disk, or a container that may not mknod",
        done.tail(8),
    )


def _furnish(act: Privilege, sources: Sequence[Source], root: Path) -> None:
    """Slim the tree and give it the sources and settings that `apt-get update` inside needs."""
    done = act.run(["sh", "-ec", TRIM, "sh", str(root)], timeout=SHELL_LIMIT)
    if not done.ok:
        raise Trouble(f"the tree for {TAG} can't be slimmed", "see the words below", done.tail())
    for key in keys_of(sources):
        inside = root / key.relative_to("/")
        copy = '[ -e "$2" ] || { mkdir -p "$(dirname "$2")" && cp "$1" "$2"; }'
        act.run(["sh", "-c", copy, "sh", str(key), str(inside)], timeout=SHELL_LIMIT)
    act.write(root / "etc/apt/sources.list.d/debian.sources", render_deb822(sources))
    act.write(root / "etc/dpkg/dpkg.cfg.d/docker", SLIM + "force-unsafe-io\n")
    kept = "".join(f'{name} "{value}";\n' for name, value in apt.settings(ARCHIVE_SETTINGS).items())
    act.write(root / "etc/apt/apt.conf.d/docker", APT_CONF + kept)
    act.write(root / "usr/sbin/policy-rc.d", NO_SERVICES)
    act.run(["chmod", "755", str(root / "usr/sbin/policy-rc.d")], timeout=SHELL_LIMIT)


def _import(act: Privilege, client: Client, root: Path) -> None:
    changes = ('CMD ["bash"]', f"ENV PATH={PATH}", f"LABEL {LABEL}")
    options = [word for change in changes for word in ("--change", change)]
    script = 'set -o pipefail; tree=$1; shift; tar --numeric-owner -C "$tree" -c . | "$@"'
    argv = ["bash", "-c", script, "bash", str(root), client.path, "import", *options, "-", TAG]
    done = act.run(argv, timeout=IMPORT_LIMIT)
    if not done.ok:
        raise Trouble(f"Docker didn't import {TAG}", "see its words below", done.tail())


def check(client: Client, progress: Progress) -> None:
    """Run one container of the new image, and see whether it reaches the archive as the sources name it."""
    with progress.step("checking that a container runs and reaches the package archive"):
        ran = run([client.path, "run", "--rm", "--network=none", TAG, "true"], timeout=CHECK_LIMIT)
        if not ran.ok:
            raise Trouble("the engine answers, and can't run a container", "see Docker's words below", ran.tail(5))
        argv = [client.path, "run", "--rm", TAG, "apt-get", "-qq", "update", *STRICT]
        reached = run(argv, timeout=CHECK_LIMIT)
    if not reached.ok:
        progress.say("  note: containers don't reach the package archive: tasks that install packages won't build")
        for line in reached.tail(4).splitlines():
            progress.say(f"  | {line}")
