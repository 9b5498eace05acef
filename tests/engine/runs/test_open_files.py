"""As many trials at once as files may be open for."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from engine.runs.open_files import WANTED_DESCRIPTORS, raise_limit, trials_within
from tests.engine.runs.runs import RunRig

pytestmark = pytest.mark.anyio


async def test_no_more_trials_are_asked_for_while_it_runs_than_files_may_be_open_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 73: also a change over the control socket."""
    run = RunRig(tmp_path, concurrency=2).run()
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 256))
    refused = run.handle({"command": "concurrency", "value": 50})
    assert refused["ok"] is False
    assert "only 256 files may be open, enough for 8 trials at once, not for 50: raise `ulimit -n`" in refused["error"]
    assert run.admission.concurrency == 2
    assert run.handle({"command": "concurrency", "value": 8})["ok"]
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (100, 100))
    assert run.handle({"command": "concurrency", "value": 7})["ok"], "fewer are always granted"


@pytest.mark.parametrize(
    ("soft", "hard", "limit", "raised"),
    [
        (256, 256, 256, None),
        (256, 4096, 4096, (4096, 4096)),
        (1024, resource.RLIM_INFINITY, WANTED_DESCRIPTORS, (WANTED_DESCRIPTORS, resource.RLIM_INFINITY)),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, WANTED_DESCRIPTORS, None),
        (100_000, 200_000, 100_000, None),
    ],
)
def test_the_soft_limit_is_raised_as_far_as_it_goes_and_never_lowered(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, limit: int, raised: tuple[int, int] | None
) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: told.append(limits))
    assert raise_limit() == limit
    assert told == ([raised] if raised else [])


def test_a_single_trial_is_always_tried() -> None:
    assert trials_within(20) == 1
    assert trials_within(64 + 24 * 8) == 8
