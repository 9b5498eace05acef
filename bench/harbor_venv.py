"""Harbor beside us, in an environment of its own: it needs Python 3.12 or newer and brings half a gigabyte.

`python -m bench.harbor_venv` makes `.harbor-venv` in the project's folder, if it isn't there, and prints the
path of its `harbor` command. TRIALDECK_HARBOR names another one to use instead.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

HARBOR_VERSION = "0.26.0"
OLDEST_PYTHON = (3, 12)
PROJECT = Path(__file__).resolve().parent.parent
VENV = PROJECT / ".harbor-venv"

INSTALL_TIMEOUT_SEC = 1200.0
PROBE_TIMEOUT_SEC = 20.0
VIEWER_START_TIMEOUT_SEC = 60.0
VIEWER_STOP_TIMEOUT_SEC = 10.0
VIEWER_ATTEMPTS = 3


class HarborUnavailable(RuntimeError):
    """Harbor can't be had here; the message says why."""


class NoPythonForHarbor(HarborUnavailable):
    """No interpreter that is new enough."""


def harbor_command() -> Path:
    """The `harbor` to use: TRIALDECK_HARBOR if set, else that of `.harbor-venv`, made if it is missing."""
    if named := os.environ.get("TRIALDECK_HARBOR"):
        command = Path(named).expanduser()
        if not os.access(command, os.X_OK):
            raise HarborUnavailable(f"TRIALDECK_HARBOR names {named}, which is no executable file")
        return command
    return ensure_harbor_venv()


def ensure_harbor_venv(venv: Path = VENV) -> Path:
    """Make the environment unless it is there, whole and of the right version; return its `harbor`.

    Two callers at once make it once. What a killed installation left is thrown away.
    """
    harbor = venv / "bin" / "harbor"
    done = venv / "harbor-version.txt"
    whole = f"{HARBOR_VERSION} in {venv}\n"  # a venv that was moved doesn't work
    with _locked():
        if harbor.exists() and (venv / "bin" / "python").exists() and done.exists() and done.read_text() == whole:
            return harbor
        python = find_python()
        shutil.rmtree(venv, ignore_errors=True)
        _run([str(python), "-m", "venv", str(venv)], f"{python} could not make {venv.name}")
        pip = [str(venv / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        _run(
            [*pip, "install", "--quiet", f"harbor=={HARBOR_VERSION}"],
            f"harbor {HARBOR_VERSION} could not be installed",
        )
        (venv / ".gitignore").write_text("*\n")
        done.write_text(whole)
    return harbor


def deck_python() -> Path:
    """An interpreter that has Harbor and what trialdeck and its tests need beside it, so that Harbor's agents can run
    on our trials. Put this project's folder on its PYTHONPATH."""
    python = harbor_command().with_name("python")
    wanted = [*_needs(), "pytest", "hypothesis"]
    if os.environ.get("TRIALDECK_HARBOR"):
        _run([str(python), "-c", f"from importlib.metadata import version\n{_asked(wanted)}"], f"{python} lacks a part")
        return python
    done = VENV / "deck-needs.txt"
    with _locked():
        if not done.exists() or done.read_text().split("\n") != wanted:
            pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
            _run([*pip, "install", "--quiet", *wanted], "what trialdeck needs could not be installed beside Harbor")
            done.write_text("\n".join(wanted))
    return python


def _needs() -> list[str]:
    found: list[str] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
    return found


def _asked(wanted: list[str]) -> str:
    names = [re.split(r"[^\w.-]", one)[0] for one in wanted]
    return "\n".join(f"version({name!r})" for name in names)


def find_python() -> Path:
    """The first interpreter that is new enough and can make environments."""
    looked_at: list[str] = []
    for candidate in _candidates():
        version = _version(candidate)
        if version is not None and version >= OLDEST_PYTHON:
            return candidate
        looked_at.append(str(candidate))
    wanted = ".".join(map(str, OLDEST_PYTHON))
    seen = f" (too old or broken: {', '.join(looked_at)})" if looked_at else ""
    raise NoPythonForHarbor(
        f"Harbor {HARBOR_VERSION} needs Python {wanted} or newer with venv. None was found as python3.12, "
        f"python3.13, python3.14 or python3 on PATH or among pyenv's versions{seen}. Install one, or let "
        "TRIALDECK_HARBOR name a harbor command."
    )


def _candidates() -> Iterator[Path]:
    if sys.version_info >= OLDEST_PYTHON:
        yield Path(sys.executable)
    for name in ("python3.12", "python3.13", "python3.14", "python3"):
        if found := shutil.which(name):
            yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    installed = sorted((pyenv / "versions").glob("3.*/bin/python"), key=lambda path: _numbers(path.parent.parent.name))
    yield from (path for path in installed if _numbers(path.parent.parent.name) >= OLDEST_PYTHON)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _version(python: Path) -> tuple[int, ...] | None:
    """None if it doesn't run (a pyenv shim of an inactive version) or has no venv (Debian splits it off)."""
    code = "import ensurepip, sys, venv; print(*sys.version_info[:3])"
    try:
        answer = subprocess.run(
            [str(python), "-c", code], capture_output=True, text=True, timeout=PROBE_TIMEOUT_SEC, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _numbers(answer.stdout) if answer.returncode == 0 else None


def _run(command: list[str], failure: str) -> None:
    try:
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_SEC,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise HarborUnavailable(f"{failure}: no end after {INSTALL_TIMEOUT_SEC:.0f} s") from None
    except OSError as error:
        raise HarborUnavailable(f"{failure}: {error}") from error
    if answer.returncode != 0:
        last = "\n".join((answer.stderr or answer.stdout).strip().splitlines()[-8:])
        raise HarborUnavailable(f"{failure}:\n{last}")


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """One process at a time. The lock is on this file: nothing to clean up, and the dead hold nothing."""
    with Path(__file__).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def harbor_view(harbor: Path, folder: Path) -> Iterator[str]:
    """Run `harbor view` on a folder of runs; yields the address of its HTTP API, ends the server afterwards.

    It gets a home folder of its own and is told to report nothing to anybody.
    """
    with tempfile.TemporaryDirectory(prefix="trialdeck-harbor-") as home:
        log = Path(home) / "view.log"
        server, address = _start_viewer(harbor, folder, Path(home), log)
        try:
            yield address
        finally:
            _stop(server)


def _start_viewer(harbor: Path, folder: Path, home: Path, log: Path) -> tuple[subprocess.Popen[bytes], str]:
    inherited = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    environment = inherited | {"HOME": str(home), "HARBOR_TELEMETRY": "off", "NO_COLOR": "1"}
    for _ in range(VIEWER_ATTEMPTS):  # somebody else may take the port between our look and Harbor's bind
        port = _free_port()
        address = f"http://127.0.0.1:{port}"
        with log.open("wb") as output:
            server = subprocess.Popen(
                [
                    str(harbor),
                    "view",
                    str(folder),
                    "--jobs",
                    "--no-build",
                    "--host",
                    "127.0.0.1",
                    "--port",
                    str(port),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
            )
        try:
            if _answers(server, address):
                return server, address
        except BaseException:
            _stop(server)
            raise
        _stop(server)
    raise HarborUnavailable(f"harbor view did not start:\n{log.read_text(errors='replace')[-2000:]}")


def _answers(server: subprocess.Popen[bytes], address: str) -> bool:
    deadline = time.monotonic() + VIEWER_START_TIMEOUT_SEC
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with direct.open(f"{address}/api/health", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    return False


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(VIEWER_STOP_TIMEOUT_SEC)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    try:
        print(harbor_command())
    except HarborUnavailable as error:
        sys.exit(f"bench.harbor_venv: {error}")
