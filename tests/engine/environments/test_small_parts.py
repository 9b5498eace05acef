"""Small pure parts of the Docker provider: exec answers, frames, diffs, build output, shared work, settings."""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import anyio
import pytest

from engine.environments.docker.build import build_failed, failed_step
from engine.environments.docker.changes import read_changes
from engine.environments.docker.containers import strip_frames
from engine.environments.docker.daemon_events import read_event
from engine.environments.docker.endpoint import cli_environment, find_endpoint
from engine.environments.docker.exec import Tail, read_exec
from engine.environments.docker.once import Once
from engine.environments.docker.pull import split_reference
from engine.environments.docker.service_logs import FrameReader
from engine.issues import Code, Issue, Phase, Severity, TrialFailed


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ({"Running": False, "ExitCode": None, "Pid": 0}, (None, False, 0)),
        ({"Running": True, "ExitCode": None, "Pid": 5}, (None, True, 5)),
        ({"Running": False, "ExitCode": 42, "Pid": 5}, (42, False, 5)),
        ({"Running": False, "ExitCode": 0, "Pid": 5}, (0, False, 5)),
        ({"Running": False, "ExitCode": False}, (None, False, 0)),
        ({}, (None, False, 0)),
    ],
)
def test_no_exit_code_is_not_zero(told: dict[str, object], read: tuple[int | None, bool, int]) -> None:
    """Case 32."""
    assert read_exec(told) == read


def test_a_tail_joins_a_character_cut_by_frames_of_one_stream() -> None:
    """Case 23."""
    tail = Tail()
    for part in (b"\xf0\x9f", b"\x9a\x80", b" end"):
        tail.add(part)
    assert tail.text() == "🚀 end"


def test_a_tail_is_bounded_whatever_comes() -> None:
    tail = Tail(100)
    for _ in range(1000):
        tail.add(b"x" * 37)
    tail.add(b"y" * 5000)
    tail.add(b"end")
    assert tail.text() == "y" * 97 + "end"
    assert tail.cut


def frame(stream: int, data: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


def test_frames_cut_anywhere_give_the_same_bytes() -> None:
    raw = frame(1, b"out\n") + frame(2, b"") + frame(2, b"err\xff\n") + frame(1, b"x" * 300)
    for size in (1, 3, 8, 11, len(raw)):
        reader = FrameReader()
        pieces = [piece for at in range(0, len(raw), size) for piece in reader.feed(raw[at : at + size])]
        got = b"".join(data for _, data in pieces)
        assert got == b"out\nerr\xff\n" + b"x" * 300
        assert [stream for stream, _ in groupby(pieces, itemgetter(0))] == ["stdout", "stderr", "stdout"]
    assert strip_frames(raw) == got


def test_changes_leave_out_our_places_and_folders_that_merely_hold_changes() -> None:
    told = [
        {"Path": "/etc", "Kind": 0},
        {"Path": "/etc/passwd", "Kind": 0},
        {"Path": "/usr", "Kind": 0},
        {"Path": "/usr/lib", "Kind": 0},
        {"Path": "/usr/lib/deep", "Kind": 0},
        {"Path": "/usr/lib/deep/gone", "Kind": 2},
        {"Path": "/app", "Kind": 1},
        {"Path": "/app/new", "Kind": 1},
        {"Path": "/logs", "Kind": 1},
        {"Path": "/logs/agent", "Kind": 1},
        {"Path": "/logsheet", "Kind": 1},
        {"Path": "/data/x", "Kind": 1},
    ]
    changes = read_changes(json.dumps(told).encode(), ("/data",))
    assert [(change.path, change.kind) for change in changes] == [
        ("/app", "added"),
        ("/app/new", "added"),
        ("/etc/passwd", "changed"),
        ("/logsheet", "added"),
        ("/usr/lib/deep/gone", "deleted"),
    ]
    assert read_changes(b"null") == []


def test_folders_made_for_a_mount_are_no_change_and_those_an_agent_filled_are() -> None:
    made = [{"Path": path, "Kind": 1} for path in ("/opt", "/opt/trialdeck", "/opt/trialdeck/model", "/mnt", "/mnt/x")]
    assert read_changes(json.dumps(made[:3]).encode(), ("/opt/trialdeck/model",)) == []
    told = read_changes(json.dumps([*made, {"Path": "/opt/own", "Kind": 1}]).encode(), ("/mnt/x/deep",))
    assert [change.path for change in told] == ["/opt", "/opt/own"]


BUILD = """#6 [3/4] RUN make all
#6 0.301 cc: not found
#6 ERROR: process "/bin/sh -c make all" did not complete successfully: exit code: 2
------
 > [3/4] RUN make all:
0.301 cc: not found
------
Dockerfile:7
--------------------
   6 |     COPY . .
   7 | >>> RUN make all
   8 |     CMD ["x"]
--------------------
ERROR: failed to solve: process "/bin/sh -c make all" did not complete successfully: exit code: 2
"""


def test_a_failed_build_shows_where() -> None:
    assert failed_step(BUILD) == "Dockerfile:7 RUN make all"
    issue = build_failed(BUILD, Path("build.log"), "main").issue
    assert issue.code is Code.BUILD_FAILED
    assert issue.message == "the image of main failed to build at Dockerfile:7 RUN make all"
    assert "cc: not found" in issue.evidence[1].text


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("failed to solve: x:1: failed to resolve source metadata for docker.io/x:1: not found", Code.PULL_FAILED),
        ("failed to solve: toomanyrequests: You have reached your pull rate limit", Code.PULL_RATE_LIMITED),
        ("failed to solve: write /var/lib/docker/x: no space left on device", Code.DISK_FULL),
        ("failed to solve: dockerfile parse error on line 1", Code.BUILD_FAILED),
    ],
)
def test_a_base_image_or_a_full_disk_is_not_the_dockerfiles_fault(error: str, code: Code) -> None:
    assert build_failed(f"#5 output\nERROR: {error}\n", Path("build.log"), "main").issue.code is code


def test_output_of_a_step_does_not_decide_the_class() -> None:
    """A test suite in a Dockerfile may print what it likes."""
    tail = "#6 1.2 toomanyrequests\n#6 1.3 net/http: TLS handshake timeout\n" + BUILD
    assert build_failed(tail, Path("build.log"), "main").issue.code is Code.BUILD_FAILED


@pytest.mark.parametrize(
    ("image", "parts"),
    [
        ("debian", ("debian", "latest")),
        ("debian:12", ("debian", "12")),
        ("localhost:5000/a/b", ("localhost:5000/a/b", "latest")),
        ("localhost:5000/a/b:1", ("localhost:5000/a/b", "1")),
        ("x@sha256:ab", ("x", "sha256:ab")),
    ],
)
def test_image_references_are_split(image: str, parts: tuple[str, str]) -> None:
    assert split_reference(image) == parts


def test_only_events_of_ours_are_read() -> None:
    told = {
        "Action": "health_status: unhealthy",
        "Actor": {"ID": "abc", "Attributes": {"trialdeck.project": "p", "trialdeck.service": "db", "name": "p-db-1"}},
    }
    event = read_event(told)
    assert event is not None
    assert (event.action, event.service, event.project, event.exit_code) == ("unhealthy", "db", "p", None)
    dying = {"Action": "die", "Actor": {"Attributes": {"trialdeck.project": "p", "exitCode": "137"}}}
    assert (read_event(dying) or event).exit_code == 137
    assert read_event({"Action": "die", "Actor": {"Attributes": {"name": "other"}}}) is None


def test_the_daemon_is_where_the_shell_says(tmp_path: Path) -> None:
    assert find_endpoint({"DOCKER_HOST": "tcp://h:1", "DOCKER_CONTEXT": "x"}).host == "tcp://h:1"
    tls = find_endpoint({"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/certs"})
    assert tls.certificates == Path("/certs")
    assert find_endpoint({"HOME": str(tmp_path)}).host == "unix:///var/run/docker.sock"


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("garbage", "expected unix:///path/of/docker.sock, tcp://host:port or ssh://user@host"),
        ("unix://", "expected unix://"),
        ("tcp://", "tcp://host:port"),
        ("tcp://h", "tcp://host:port"),
        ("tcp://h:seven", "tcp://host:port"),
        ("npipe:////./pipe/docker_engine", "expected unix://"),
        ("ssh://", "ssh://user@host"),
        ("ssh://-oProxyCommand=x", "ssh://user@host"),
    ],
)
def test_what_names_no_daemon_is_refused_in_words(host: str, words: str) -> None:
    with pytest.raises(ValueError, match="DOCKER_HOST is") as refused:
        find_endpoint({"DOCKER_HOST": host})
    assert words in str(refused.value)


def test_a_docker_context_is_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib

    (tmp_path / "config.json").write_text('{"currentContext": "far"}')
    meta = tmp_path / "contexts" / "meta" / hashlib.sha256(b"far").hexdigest()
    meta.mkdir(parents=True)
    endpoint = {"Host": "unix:///run/far.sock", "SkipTLSVerify": False}
    (meta / "meta.json").write_text(json.dumps({"Name": "far", "Metadata": {}, "Endpoints": {"docker": endpoint}}))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.delenv("DOCKER_CONTEXT", raising=False)
    found = find_endpoint()
    assert (found.host, found.named_by) == ("unix:///run/far.sock", f"currentContext in {tmp_path / 'config.json'}")
    monkeypatch.setenv("DOCKER_CONTEXT", "nowhere")
    with pytest.raises(ValueError, match="nowhere"):
        find_endpoint()


def test_the_tools_see_nothing_of_the_shell_but_dockers_own() -> None:
    """Case 14."""
    shell = {"COMPOSE_FILE": "x", "TAG": "evil", "DOCKER_HOST": "tcp://h:1", "HOME": "/h", "PATH": "/bin"}
    assert cli_environment(shell) == {"DOCKER_HOST": "tcp://h:1", "DOCKER_CONFIG": "/h/.docker"}


@pytest.mark.anyio
async def test_shared_work_is_done_once_and_its_failure_is_told_to_those_who_waited() -> None:
    once: Once[int] = Once()
    calls = 0
    told: list[str] = []

    async def broken() -> int:
        nonlocal calls
        calls += 1
        await anyio.sleep(0.02)
        issue = Issue(severity=Severity.FATAL, phase=Phase.PREPARE, code=Code.BUILD_FAILED, message=f"number {calls}")
        raise TrialFailed(issue)

    async def ask() -> None:
        try:
            await once.get("a", broken)
        except TrialFailed as error:
            told.append(error.issue.message)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(ask)
    assert told == ["number 1"] * 4
    await ask()
    assert told[-1] == "number 2"


@pytest.mark.anyio
async def test_the_next_in_line_takes_over_from_one_who_was_cancelled() -> None:
    once: Once[int] = Once()
    makers: list[str] = []

    async def make(name: str) -> int:
        makers.append(name)
        await anyio.sleep(0.05)
        return len(makers)

    results: list[int] = []

    async def second() -> None:
        results.append(await once.get("a", lambda: make("second")))

    async with anyio.create_task_group() as group:
        group.start_soon(second)
        with anyio.move_on_after(0.02):
            await once.get("a", lambda: make("first"))
    assert makers[0] != makers[-1] or results == [1]
    assert await once.get("a", lambda: make("third")) == results[0]
