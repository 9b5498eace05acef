"""Starting dockerd: what a failed start leads to, and which leftovers count as a daemon."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from console.machine.daemon import (
    Start,
    answers_ping,
    describe,
    explain,
    last_words,
    next_start,
    running_dockerd,
)

NO_NFT = (
    "failed to start daemon: Error initializing network controller: error obtaining controller instance: failed to"
    " create NAT chain DOCKER: iptables failed: iptables -t nat -N DOCKER: Failed to initialize nft"
)
NO_DRIVER = "failed to start daemon: error initializing graphdriver: driver not supported: overlay2"


def test_a_kernel_without_nf_tables_gets_the_legacy_iptables_then_none_then_no_more() -> None:
    second = next_start(Start(), NO_NFT, has_legacy_iptables=True)
    assert second is not None
    assert second.legacy_iptables
    third = next_start(second, NO_NFT, has_legacy_iptables=True)
    assert third is not None
    assert "--iptables=false" in third.options
    assert next_start(third, NO_NFT, has_legacy_iptables=True) is None
    assert len(third.because) == 2


def test_without_the_legacy_tool_the_packet_filter_is_given_up_at_once() -> None:
    second = next_start(Start(), NO_NFT, has_legacy_iptables=False)
    assert second is not None
    assert second.options == ("--iptables=false",)


def test_only_ipv6_is_given_up_where_only_ipv6_fails() -> None:
    second = next_start(Start(), "failed to start daemon: ip6tables failed: table does not exist", True)
    assert second is not None
    assert second.options == ("--ip6tables=false",)


def test_without_a_layered_file_system_images_are_copied_and_that_is_said() -> None:
    second = next_start(Start(), NO_DRIVER, True)
    assert second is not None
    assert second.options == ("--storage-driver=vfs",)
    assert "slow" in second.because[0]
    assert next_start(second, NO_DRIVER, True) is None


def test_a_failure_that_no_option_cures_is_not_tried_again() -> None:
    assert next_start(Start(), "failed to start daemon: Devices cgroup isn't mounted", True) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("failed to start daemon: Devices cgroup isn't mounted", "control groups"),
        ("failed to mount overlay: operation not permitted", "privilege"),
        ("write /var/lib/docker/x: no space left on device", "disk is full"),
        ("unable to configure the Docker daemon with file /etc/docker/daemon.json: invalid character", "daemon.json"),
        ("something new", "doesn't start"),
    ],
)
def test_a_daemon_that_does_not_start_is_explained_with_its_own_words(words: str, said: str) -> None:
    trouble = explain(words)
    assert said in trouble.what
    assert words in str(trouble)


def test_the_last_words_are_the_errors_without_their_time_stamps() -> None:
    log = (
        'time="2026-01-01T00:00:00Z" level=info msg="Starting up"\n'
        'time="2026-01-01T00:00:01Z" level=error msg="no such thing"\n'
        'time="2026-01-01T00:00:02Z" level=info msg="stopping"\n'
        "failed to start daemon: no such thing\n"
    )
    assert last_words(log) == 'msg="no such thing"\nfailed to start daemon: no such thing'
    assert last_words("only this\n") == "only this"


def fake_process(proc: Path, pid: int, command: str, state: str = "S") -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "comm").write_text(f"{command}\n")
    (folder / "stat").write_text(f"{pid} ({command}) {state} 1 1\n")


@pytest.mark.parametrize(
    ("text", "command", "state", "expected"),
    [
        ("41\n", "dockerd", "S", 41),
        ("41", "dockerd", "Z", None),
        ("41", "sleep", "S", None),
        ("42", "dockerd", "S", None),
        ("garbage", "dockerd", "S", None),
        ("", "dockerd", "S", None),
    ],
)
def test_a_pid_file_counts_only_while_its_process_is_a_living_dockerd(
    tmp_path: Path, text: str, command: str, state: str, expected: int | None
) -> None:
    fake_process(tmp_path / "proc", 41, command, state)
    (tmp_path / "docker.pid").write_text(text)
    assert running_dockerd(tmp_path / "docker.pid", tmp_path / "proc") == expected


def test_no_pid_file_is_no_daemon(tmp_path: Path) -> None:
    assert running_dockerd(tmp_path / "docker.pid") is None


@pytest.mark.parametrize(
    ("reply", "expected"), [(b"HTTP/1.0 200 OK\r\n\r\nOK", True), (b"HTTP/1.0 500 No\r\n\r\n", False)]
)
def test_an_engine_answers_when_its_ping_says_ok(tmp_path: Path, reply: bytes, expected: bool) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            line, _ = server.accept()
            with line:
                line.recv(1024)
                line.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        assert answers_ping(path) is expected
        thread.join()


def test_a_socket_that_a_dead_daemon_left_does_not_answer(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert path.exists()
    assert not answers_ping(path)
    assert not answers_ping(tmp_path / "none")


def test_what_does_not_work_in_an_engine_is_said() -> None:
    info = {
        "ServerVersion": "26.1.5",
        "Driver": "vfs",
        "CgroupVersion": "1",
        "MemoryLimit": False,
        "CpuCfsQuota": False,
    }
    line, notes = describe(json.dumps(info))
    assert line == "Docker 26.1.5, vfs, cgroup v1"
    assert [note.split()[0] for note in notes] == ["storage", "memory", "CPU"]
    good = {
        "ServerVersion": "26.1.5",
        "Driver": "overlay2",
        "CgroupVersion": "2",
        "MemoryLimit": True,
        "CpuCfsQuota": True,
    }
    assert describe(json.dumps(good)) == ("Docker 26.1.5, overlay2, cgroup v2", [])
    assert describe("no answer")[0].startswith("Docker ?")
