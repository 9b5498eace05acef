"""Samples from control groups of both versions, from the stats API, and thresholds that are crossed once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.environments.docker.host_view import HostView
from engine.environments.docker.samples import Reading, Watched, read_groups, read_stats
from engine.events import Event, ResourcePeaked, ResourceSampled, ThresholdCrossed
from tests.engine.environments.test_readiness import container


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_version_two_is_read(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "c",
        memory__current="1000\n",
        memory__max="4000\n",
        memory__stat="anon 5\ninactive_file 300\n",
        cpu__stat="usage_usec 2500000\nuser_usec 1\n",
        pids__current="7\n",
        pids__max="max\n",
        io__stat="254:0 rbytes=10 wbytes=20 rios=1\n7:0 rbytes=1 wbytes=2\n",
    )
    reading = read_groups(HostView("c", 0, True, {"": folder}))
    assert reading == Reading(
        cpu_seconds=2.5, memory=700, memory_limit=4000, pids=7, pids_limit=0, block_read=11, block_write=22
    )


def test_version_one_is_read(tmp_path: Path) -> None:
    folders = {
        "memory": write(
            tmp_path / "memory",
            memory__usage_in_bytes="1000",
            memory__limit_in_bytes="9223372036854771712",
            memory__stat="cache 1\ntotal_inactive_file 300\n",
            memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        ),
        "cpuacct": write(tmp_path / "cpu", cpuacct__usage="1500000000\n"),
        "pids": write(tmp_path / "pids", pids__current="7\n", pids__max="100\n"),
        "blkio": write(
            tmp_path / "blkio",
            blkio__throttle__io_service_bytes_recursive="254:0 Read 10\n254:0 Write 20\n254:0 Total 30\nTotal 30\n",
        ),
    }
    view = HostView("c", 0, False, folders)
    assert read_groups(view) == Reading(
        cpu_seconds=1.5, memory=700, memory_limit=0, pids=7, pids_limit=100, block_read=10, block_write=20
    )
    assert view.oom_kills() == 3


def test_a_container_that_has_just_gone_gives_no_sample(tmp_path: Path) -> None:
    assert read_groups(HostView("c", 0, True, {"": tmp_path / "gone"})) is None
    assert HostView("c", 0, True, {"": tmp_path / "gone"}).oom_kills() is None
    assert not HostView("c", 0, True, {"": tmp_path / "gone"}).alive()


def test_the_stats_of_a_remote_daemon_are_read() -> None:
    told: dict[str, Any] = {
        "cpu_stats": {"cpu_usage": {"total_usage": 3_000_000_000}},
        "memory_stats": {"usage": 1000, "limit": 4000, "stats": {"inactive_file": 100}},
        "pids_stats": {"current": 4, "limit": 18446744073709551615},
        "networks": {"eth0": {"rx_bytes": 5, "tx_bytes": 6}, "eth1": {"rx_bytes": 1, "tx_bytes": 1}},
        "blkio_stats": {"io_service_bytes_recursive": [{"op": "Read", "value": 8}, {"op": "write", "value": 9}]},
    }
    assert read_stats(told) == Reading(
        cpu_seconds=3, memory=900, memory_limit=4000, pids=4, received=6, sent=7, block_read=8, block_write=9
    )


def test_a_threshold_is_crossed_once_until_it_was_calm_again() -> None:
    events: list[Event] = []
    watched = Watched("t", "agent", container(memory_limit=1000), None, events.append)
    for at, memory in enumerate((100, 950, 999, 890, 910, 100, 950)):
        watched.take(Reading(memory=memory, cpu_seconds=at * 0.5), float(at + 1))
    crossed = [event.value for event in events if isinstance(event, ThresholdCrossed)]
    assert crossed == [950, 950]
    watched.finish()
    peak = events[-1]
    assert isinstance(peak, ResourcePeaked)
    assert (peak.memory_bytes, peak.memory_limit, peak.cpu_percent) == (999, 1000, 50.0)
    assert len([event for event in events if isinstance(event, ResourceSampled)]) == 7


@pytest.mark.anyio
async def test_a_container_is_thawed_whatever_happens_while_it_is_frozen(tmp_path: Path) -> None:
    """Version two, where the kernel says by itself when everything stands still."""
    folder = write(tmp_path / "c", cgroup__freeze="0", cgroup__events="populated 1\nfrozen 1\n")
    view = HostView("c", 0, True, {"": folder})
    with anyio.CancelScope() as scope:
        async with view.frozen():
            if view.may_kill:
                assert (folder / "cgroup.freeze").read_text() == "1"
            scope.cancel()
            await anyio.sleep(1)
    assert (folder / "cgroup.freeze").read_text() == "0"
