"""Starting dockerd: by systemd where it runs the machine, by hand where it doesn't.

A daemon started by hand has a session and a log of its own, so it outlives the shell that started it.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from console.machine.command import run
from console.machine.privilege import Privilege
from console.machine.progress import Progress
from console.machine.trouble import Trouble

LOG = Path("/var/log/trialdeck-dockerd.log")
SOCKET = Path("/run/docker.sock")
PID_FILE = Path("/run/docker.pid")
SHIM = Path("/run/trialdeck/legacy-iptables")
SYSTEMD_RUNS = Path("/run/systemd/system")

ANSWER_LIMIT = 60.0
ANSWER_PAUSE = 0.2
PING_LIMIT = 5.0
START_LIMIT = 30.0
SYSTEMCTL_LIMIT = 120.0
LOG_KEPT = 20_000_000


@dataclass(frozen=True)
class Start:
    """How to start dockerd. The first one tried is the plain one; each other was forced by a failure."""

    options: tuple[str, ...] = ()
    legacy_iptables: bool = False
    because: tuple[str, ...] = ()

    def with_(self, option: str, because: str) -> Start:
        return replace(self, options=(*self.options, option), because=(*self.because, because))


def last_words(log: str) -> str:
    """What a dockerd that gave up says last: its errors without the time stamps, else its last lines."""
    lines = log.strip().splitlines()
    errors = [line for line in lines if "level=fatal" in line or "level=error" in line or "failed to" in line]
    shown = (errors or lines)[-5:]
    return "\n".join(re.sub(r'time="[^"]*" |level=\w+ ', "", line) for line in shown)


def next_start(tried: Start, words: str, has_legacy_iptables: bool) -> Start | None:
    """What to try after a dockerd that ended with these words; None where nothing is left to try."""
    low = words.lower()
    if "ip6tables" in low and "--ip6tables=false" not in tried.options:
        return tried.with_("--ip6tables=false", "the kernel has no IPv6 packet filter: IPv4 only")
    if "iptables" in low or "nf_tables" in low or "nat chain" in low:
        if has_legacy_iptables and not tried.legacy_iptables:
            return replace(
                tried,
                legacy_iptables=True,
                because=(*tried.because, "the kernel has no nf_tables: iptables-legacy in its place"),
            )
        if "--iptables=false" not in tried.options:
            return tried.with_("--iptables=false", "no packet filter works here: containers reach no network outside")
    # dockerd takes overlay2 by itself where that works; a driver set in daemon.json is its owner's choice.
    if ("graphdriver" in low or "storage driver" in low) and not any("storage" in o for o in tried.options):
        return tried.with_(
            "--storage-driver=vfs", "no layered file system works here: images are copied, slow and large"
        )
    return None


def explain(words: str) -> Trouble:
    """What a person can do about a dockerd that doesn't start in any way."""
    what = f"dockerd doesn't start (log: {LOG})"
    low = words.lower()
    if "daemon.json" in low:
        return Trouble(f"{what}: it doesn't take /etc/docker/daemon.json", "correct that file", words)
    if "cgroup" in low:
        return Trouble(
            f"{what}: no control groups are mounted",
            "mount them (Debian's package cgroupfs-mount does), or give this container --privileged",
            words,
        )
    if "no space left" in low:
        return Trouble(f"{what}: the disk is full", "free some space (see: df -h /var/lib/docker)", words)
    if "operation not permitted" in low or "permission denied" in low:
        return Trouble(
            f"{what}: it lacks a privilege; this looks like a container",
            "give this container --privileged, or mount the host's /var/run/docker.sock into it",
            words,
        )
    return Trouble(what, "read the last lines of its log below", words)


def running_dockerd(pid_file: Path = PID_FILE, proc: Path = Path("/proc")) -> int | None:
    """The process that the pid file names, if it is a living dockerd: numbers are given out again."""
    try:
        pid = int(pid_file.read_text(encoding="ascii").strip())
        command = (proc / str(pid) / "comm").read_text(encoding="utf-8").strip()
        state = (proc / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (OSError, ValueError, IndexError):
        return None
    return pid if command == "dockerd" and state != "Z" else None


def uses_systemd() -> bool:
    return SYSTEMD_RUNS.is_dir()


def start(privilege: Privilege, progress: Progress) -> None:
    """Make dockerd run and answer, or raise what a person can act on."""
    if pid := running_dockerd():
        with progress.step(f"waiting for dockerd (process {pid}), which runs already"):
            if not _answers(lambda: running_dockerd() is not None):
                raise Trouble(
                    f"dockerd (process {pid}) runs and answers nothing within {ANSWER_LIMIT:.0f} s",
                    "look at its log, then stop it (kill the process) and run ./dev again",
                    last_words(_read_log(privilege, 0)),
                )
        return
    if uses_systemd():
        _start_service(privilege, progress)
    else:
        _start_by_hand(privilege, progress)


def _start_service(privilege: Privilege, progress: Progress) -> None:
    with progress.step("starting docker with systemctl"):
        done = privilege.run(["systemctl", "start", "docker"], timeout=SYSTEMCTL_LIMIT)
        if done.ok and _answers(lambda: True):
            return
        log = privilege.run(["journalctl", "-u", "docker", "-n", "40", "--no-pager", "-o", "cat"], timeout=START_LIMIT)
        raise explain(last_words(log.output) or done.tail())


def _start_by_hand(privilege: Privilege, progress: Progress) -> None:
    attempt: Start | None = Start()
    legacy = run(["sh", "-c", "command -v iptables-legacy"], timeout=START_LIMIT).ok
    words = ""
    while attempt is not None:
        told = " ".join(["dockerd", *attempt.options])
        legacy_told = ", with iptables-legacy" if attempt.legacy_iptables else ""
        with progress.step(f"starting {told} by hand{legacy_told} (log: {LOG})"):
            began = _prepare(privilege, attempt)
            pid = _launch(privilege, attempt)
            if _answers(partial(_lives, pid)):
                break
            words = last_words(_read_log(privilege, began))
            if _lives(pid):
                raise Trouble(
                    f"dockerd (process {pid}) answers nothing within {ANSWER_LIMIT:.0f} s",
                    f"look at {LOG}, then stop it (kill {pid}) and run ./dev again",
                    words,
                )
            following = next_start(attempt, words, legacy)
            if following is None:
                raise explain(words)
        attempt = following
    for reason in attempt.because if attempt else ():
        progress.say(f"  note: {reason}")


def _prepare(privilege: Privilege, attempt: Start) -> int:
    """Remove what a dead dockerd left, keep the log small, and return where the new log begins."""
    script = 'rm -f "$1"; [ "$(stat -c %s "$2" 2>/dev/null || echo 0)" -gt "$3" ] && mv "$2" "$2.1"; :'
    privilege.run(["sh", "-c", script, "sh", str(PID_FILE), str(LOG), str(LOG_KEPT)], timeout=START_LIMIT)
    if attempt.legacy_iptables:
        link = 'mkdir -p "$1"; for n in iptables ip6tables; do ln -sf "$(command -v $n-legacy)" "$1/$n"; done'
        privilege.run(["sh", "-c", link, "sh", str(SHIM)], timeout=START_LIMIT)
    return len(_read_log(privilege, 0).encode())


def _launch(privilege: Privilege, attempt: Start) -> int:
    """Start dockerd in a session of its own, holding none of our streams, and return its process id."""
    # A background job of a shell leads no process group, so setsid replaces itself and keeps the number.
    script = (
        'PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"; [ -n "$2" ] && PATH="$2:$PATH"; export PATH; '
        'log=$1; shift 2; setsid dockerd "$@" </dev/null >>"$log" 2>&1 & echo $!'
    )
    shim = str(SHIM) if attempt.legacy_iptables else ""
    done = privilege.run(
        ["sh", "-c", script, "sh", str(LOG), shim, f"--pidfile={PID_FILE}", *attempt.options],
        timeout=START_LIMIT,
    )
    number = done.output.strip()
    if not done.ok or not number.isdigit():
        raise explain(done.tail())
    return int(number)


def _lives(pid: int) -> bool:
    # Not os.kill(pid, 0): under sudo the daemon belongs to root and that call would be refused.
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return not stat.rpartition(")")[2].split()[0].startswith("Z")


def answers_ping(socket_path: Path = SOCKET) -> bool:
    """Whether an engine answers on the socket, by the API's own ping: a client may be too old to tell."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(PING_LIMIT)
        try:
            line.connect(str(socket_path))
            line.sendall(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")
            return b" 200 " in line.recv(64)
        except PermissionError:
            return True  # it listens; that this account may not use it is another matter
        except OSError:
            return False


def _answers(still: Callable[[], bool]) -> bool:
    """Wait until the engine answers, at most `ANSWER_LIMIT`, and no longer than `still` holds."""
    deadline = time.monotonic() + ANSWER_LIMIT
    while time.monotonic() < deadline:
        if answers_ping():
            return True
        if not still():
            return False
        time.sleep(ANSWER_PAUSE)
    return False


def _read_log(privilege: Privilege, offset: int) -> str:
    done = privilege.run(["tail", "-c", f"+{offset + 1}", str(LOG)], timeout=START_LIMIT)
    return done.output if done.ok else ""


def describe(info: str) -> tuple[str, list[str]]:
    """What `docker info` (as JSON) says of the engine, in a line, and what a person should know of it."""
    try:
        facts = json.loads(info)
    except ValueError:
        facts = {}
    driver, version = facts.get("Driver", "?"), facts.get("ServerVersion", "?")
    line = f"Docker {version}, {driver}, cgroup v{facts.get('CgroupVersion', '?')}"
    notes = []
    if driver == "vfs":
        notes.append("storage driver vfs copies every layer: slow, and it takes a lot of disk")
    if facts.get("MemoryLimit") is False:
        notes.append("memory limits don't work on this kernel: tasks run without theirs")
    if facts.get("CPUCfsQuota", facts.get("CpuCfsQuota")) is False:
        notes.append("CPU limits don't work on this kernel: tasks run without theirs")
    return line, notes
