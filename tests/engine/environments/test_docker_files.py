"""Files in and out of real containers."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from engine.environments.docker.changes import read_changes
from engine.environments.docker.environment import DockerEnvironment
from engine.issues import Code, TrialFailed
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

Shell = Callable[[str], Awaitable[str]]
READ_ONLY = """
    services:
      main:
        image: debian:bookworm-slim
        init: true
        command: [sleep, "60"]
        read_only: true
        tmpfs: [/tmp, /logs, /app]
"""


async def test_a_folder_arrives_as_it_is(box: DockerEnvironment, shell: Shell, tmp_path: Path) -> None:
    """Content into the folder, which is made where it is missing; one that is there keeps its own owner and mode."""
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "sub" / "bad\udcffname").write_text("x")
    (source / "link").symlink_to("run.sh")
    source.chmod(0o700)
    await shell("rm -rf /srv/in; mkdir -m 1777 /srv/in; chown 12345 /srv/in")
    await box.upload(source, "/srv/in")
    await box.upload(source, "/var/run/deep/er")
    assert await shell("stat -c '%a %u' /srv/in /srv/in/run.sh; readlink /srv/in/link") == "1777 12345\n755 0\nrun.sh\n"
    assert await shell("cd /run/deep/er; ls sub | od -An -c | tr -d ' \\n'; cat run.sh") == "bad377name\\n#!/bin/sh\n"


async def test_a_file_goes_to_its_very_place(box: DockerEnvironment, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0" * 5_000_000)
    await box.upload(tmp_path / "a", "/srv/new/folder/renamed")
    await box.upload_bytes(b"#!/bin/sh\necho hi\n", "/srv/hi", mode=0o755)
    assert await shell("stat -c %s /srv/new/folder/renamed; /srv/hi") == "5000000\nhi\n"


async def test_the_container_says_what_is_a_folder(box: DockerEnvironment, shell: Shell, tmp_path: Path) -> None:
    """Case 41: a folder with a suffix, a file without, a relative source, a link, and what is not there."""
    await shell("rm -rf /app; mkdir -p /app/results.d /app/none; echo 1 >/app/results.d/r; echo all: >/app/Makefile")
    await shell("ln -s /app/results.d /app/link; mkfifo /app/pipe; mkdir -p /out; echo 2 > /out/rel.txt")
    got = {
        name: await box.download(name, tmp_path / name.strip("/").replace("/", "-"))
        for name in (
            "/app/results.d",
            "/app/Makefile",
            "/app/link",
            "/app/none",
            "/app/not",
            "out/rel.txt",
            "/app/pipe",
        )
    }
    assert {name: (one.status, one.is_folder, one.files) for name, one in got.items()} == {
        "/app/results.d": ("collected", True, 1),
        "/app/Makefile": ("collected", False, 1),
        "/app/link": ("collected", True, 1),
        "/app/none": ("empty", True, 0),
        "/app/not": ("missing", False, 0),
        "out/rel.txt": ("collected", False, 1),
        "/app/pipe": ("refused", False, 0),
    }
    assert (tmp_path / "app-results.d" / "r").read_text() == "1\n"
    assert (tmp_path / "app-Makefile").read_text() == "all:\n"
    assert got["/app/results.d"].sha256 == got["/app/link"].sha256


async def test_a_path_that_can_lead_nowhere_is_missing_with_the_reason(
    box: DockerEnvironment, shell: Shell, tmp_path: Path
) -> None:
    """Case 41: a file where a folder should be, links in a circle, a name that no disk takes: the agent's doing."""
    await shell("rm -rf /p; mkdir /p; echo x > /p/file; ln -s one /p/two; ln -s two /p/one; ln -s file/x /p/into")
    reasons = {
        "/p/file/x": "/p/file/x: not a directory",
        "/p/into": "/p/into: not a directory",
        "/p/one": "/p/one: too many links",
        "/p/one/x": "/p/one/x: too many levels of symbolic links",
        "/p/" + "x" * 300: "/p/" + "x" * 300 + ": file name too long",
    }
    for path, reason in reasons.items():
        got = await box.download(path, tmp_path / "o")
        assert (got.status, got.skipped) == ("missing", (reason,))
    assert not (tmp_path / "o").exists()


async def test_whatever_an_agent_leaves_behind_arrives_safely(
    box: DockerEnvironment, shell: Shell, tmp_path: Path
) -> None:
    """Cases 19 and 43, as Docker really packs them."""
    await shell(
        r"""rm -rf /logs/artifacts /other; mkdir -p /logs/artifacts /other; cd /logs/artifacts
        echo hi > a; ln a b; echo far > /other/one; ln /other/one only; cp /bin/true s; chmod 4755 s
        touch -d 1969-01-01 old; echo x > $(printf %0200d 0); printf x > "bad$(printf '\377')name"; printf y > "two
lines"; ln -s /etc/passwd out; ln -s a in; mkfifo p; echo no > x.log; ln x.log second"""
    )
    got = await box.download("/logs/artifacts", tmp_path / "o", exclude=["*.log"])
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert names == {"a", "b", "only", "s", "old", "0" * 199 + "0", "bad\udcffname", "two\nlines", "in", "second"}
    assert (tmp_path / "o" / "b").read_text() == "hi\n"
    assert (tmp_path / "o" / "only").read_text() == "far\n"
    assert (tmp_path / "o" / "second").read_text() == "no\n"
    assert (tmp_path / "o" / "s").stat().st_mode & 0o7000 == 0
    assert (tmp_path / "o" / "old").stat().st_mtime < 0
    assert got.status == "collected"
    assert len(got.skipped) == 2


async def test_files_of_another_user_belong_to_the_operator(
    box: DockerEnvironment, shell: Shell, tmp_path: Path
) -> None:
    """Case 44: whoever wrote them inside, they can be read and removed here."""
    await shell("rm -rf /w; mkdir -p /w/d; echo 1 > /w/d/f; chown -R 12345:12345 /w; chmod 000 /w/d/f; chmod 500 /w/d")
    await box.download("/w", tmp_path / "o")
    for path in (tmp_path / "o" / "d", tmp_path / "o" / "d" / "f"):
        assert path.stat().st_uid == os.getuid()
        assert path.stat().st_mode & 0o600 == 0o600


async def test_a_huge_sparse_file_costs_neither_memory_nor_time(
    box: DockerEnvironment, shell: Shell, tmp_path: Path
) -> None:
    """Case 37: over the cap it is noted and left, and what came after it is kept."""
    await shell("rm -rf /s; mkdir /s; echo 1 > /s/a; truncate -s 20G /s/m; echo 2 > /s/z")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    got = await box.download("/s", tmp_path / "o", max_bytes=50_000_000)
    assert time.monotonic() - began < 120
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000
    assert got.status == "too_large"
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == ["a", "z"]
    assert (await box.download("/s/m", tmp_path / "m", max_bytes=50_000_000)).status == "too_large"


async def test_a_sparse_file_under_the_cap_stays_sparse(box: DockerEnvironment, shell: Shell, tmp_path: Path) -> None:
    """Case 37, the 300 MB one."""
    await shell("rm -rf /s; mkdir /s; truncate -s 300M /s/sparse")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    got = await box.download("/s", tmp_path / "o", max_bytes=1_000_000_000)
    assert (got.status, got.bytes) == ("collected", 300 * 1024 * 1024)
    assert (tmp_path / "o" / "sparse").stat().st_blocks == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


async def test_tmpfs_and_a_read_only_root_are_reached_both_ways(rig: Rig, tmp_path: Path) -> None:
    """Case 38: the archive API sees neither."""
    source = tmp_path / "tests"
    (source / "sub").mkdir(parents=True)
    (source / "test.sh").write_text("echo ok")
    (source / "sub" / "two\nlines").write_text("x")
    async with rig.up(compose=READ_ONLY) as environment:
        await environment.execute(["sh", "-c", "echo 42 > /app/answer.txt; mkdir /app/d; echo 1 > /app/d/x"])
        assert (await environment.download("/app/answer.txt", tmp_path / "answer")).status == "collected"
        assert (tmp_path / "answer").read_text() == "42\n"
        got = await environment.download("/app", tmp_path / "app", exclude=["answer.txt"])
        assert (got.status, got.files) == ("collected", 1)
        assert (await environment.download("/app/nothing", tmp_path / "n")).status == "missing"
        await environment.upload(source, "/tmp/tests")
        await environment.upload_bytes(b"reward", "/logs/verifier/r")
        seen = await environment.execute(
            ["sh", "-c", "sh /tmp/tests/test.sh; ls -b /tmp/tests/sub; cat /logs/verifier/r"]
        )
        assert seen.tail == "ok\ntwo\\nlines\nreward"


async def test_a_stopped_service_still_gives_its_files(rig: Rig, tmp_path: Path) -> None:
    """One that hears no TERM is not waited for as long as its Compose file allows."""
    deaf = """
        services:
          main:
            image: debian:bookworm-slim
            init: true
            stop_grace_period: 10m
            command: [sh, -c, "trap '' TERM; while :; do sleep 600; done"]
    """
    async with rig.up(compose=deaf) as environment:
        await environment.execute(["sh", "-c", "mkdir -p /logs/artifacts; echo 1 > /logs/artifacts/a"])
        began = time.monotonic()
        await environment.stop("main")
        assert time.monotonic() - began < 120
        assert (await environment.download("/logs/artifacts", tmp_path / "o")).files == 1
        await environment.upload_bytes(b"x", "/later")
        assert not (await environment.execute(["true"])).environment_alive
    assert rig.recorder.issues(Code.SERVICE_DIED) == []


async def test_a_transfer_has_its_own_time(box: DockerEnvironment, shell: Shell, tmp_path: Path) -> None:
    await shell("rm -rf /s; mkdir /s; truncate -s 200G /s/m")
    began = time.monotonic()
    with pytest.raises(TrialFailed) as failure:
        await box.download("/s", tmp_path / "o", timeout_sec=0.5)
    assert failure.value.issue.code is Code.ARTIFACT_TRANSFER_FAILED
    assert time.monotonic() - began < 60


async def test_a_full_disk_on_the_host_is_the_hosts_fault(box: DockerEnvironment, shell: Shell, tmp_path: Path) -> None:
    """Case 11: a write that fails here."""
    await shell("rm -rf /s; mkdir /s; head -c 200000 /dev/urandom > /s/m")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.environments.docker.unpacking.copy", _no_space)
        with pytest.raises(TrialFailed) as failure:
            await box.download("/s", tmp_path / "o")
    assert failure.value.issue.code is Code.DISK_FULL


async def test_a_full_volume_of_the_tasks_own_is_not_the_hosts_disk(rig: Rig) -> None:
    """Case 11: the model filled its own /app."""
    compose = READ_ONLY.replace("/app]", "'/app:size=1m']")
    async with rig.up(compose=compose) as environment:
        await environment.execute(["sh", "-c", "head -c 3M /dev/zero > /app/big"])
        with pytest.raises(TrialFailed) as failure:
            await environment.upload_bytes(b"x" * 100_000, "/app/more")
    assert failure.value.issue.code is Code.ARTIFACT_TRANSFER_FAILED


def _no_space(*_: object) -> int:
    raise OSError(28, "No space left on device")


async def test_what_changed_in_main_is_listed(rig: Rig) -> None:
    async with rig.up() as environment:
        await environment.execute(
            [
                "sh",
                "-c",
                "mkdir -p /app/d /logs/agent; echo 1 > /app/d/new; echo x >> /etc/profile; rm /etc/debian_version",
            ]
        )
        listed = {change.path: change.kind for change in await environment.changes()}
        assert listed == {
            "/app": "added",
            "/app/d": "added",
            "/app/d/new": "added",
            "/etc/profile": "changed",
            "/etc/debian_version": "deleted",
        }


async def test_the_layers_tell_what_the_daemon_tells(rig: Rig) -> None:
    """Ours is read off the overlay where that is on this host; a folder replaced, a mode, a link, a name in bytes."""
    script = """
        mkdir -p /app/a/b; echo 1 >/app/a/b/c; ln -s c /app/a/b/link; printf x >"$(printf '/app/\\377')"
        rm -rf /usr/share/doc; mkdir /usr/share/doc; touch /usr/share/doc/new; chmod 700 /srv; mv /etc/issue /etc/issue2
        cat /etc/passwd >>/etc/passwd-; rm /etc/debian_version; mkdir /etc/debian_version; chown root /opt; touch /tmp/x
        rm /tmp/x; rm -rf /var/lib/dpkg/info/bash.*; rm /bin/bzip2; cp /bin/cat /bin/bzip2
    """
    async with rig.up() as environment:
        result = await environment.execute(["bash", "-c", script])
        assert result.exit_code == 0, result.tail
        main = environment._container("main")
        told = read_changes(await environment._engine.raw("GET", f"containers/{main.id}/changes"), main.mounted)
        ours = await environment.changes()
    assert len(told) > 10
    assert {(change.path.replace("\udcff", "\ufffd"), change.kind) for change in ours} == {
        (change.path, change.kind) for change in told
    }


async def test_it_is_certain_that_a_folder_is_empty(rig: Rig) -> None:
    """Only then is it not emptied by a command: a hidden file, a link, a place that only the container sees count."""
    script = """
        mkdir -p /logs/none /logs/one /logs/hidden /logs/long; echo 1 >/logs/one/reward.txt; touch /logs/hidden/.x
        ln -s /logs/none /logs/link; echo 1 >/logs/file
    """
    async with rig.up() as environment:
        result = await environment.execute(["bash", "-c", script])
        assert result.exit_code == 0, result.tail
        found = {
            name: await environment.is_empty(f"/logs/{name}")
            for name in ("none", "missing", "one", "hidden", "link", "file")
        }
    assert found == {"none": True, "missing": True, "one": False, "hidden": False, "link": False, "file": False}
    async with rig.up(compose=READ_ONLY) as environment:
        assert not await environment.is_empty("/logs")
        assert not await environment.is_empty("/logs/verifier")
