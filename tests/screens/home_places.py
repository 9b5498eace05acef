"""Two folders with runs of several systems, for the list of runs."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from engine import events as ev
from engine.layout import EVENTS
from tests.engine.readers.agentcompass_samples import Sample
from tests.engine.readers.swe_bench_samples import evaluated, summary
from tests.screens import fake_run


def home_places(top: Path) -> list[Path]:
    """Ours: one finished, one whose engine is gone. Others': one of AgentCompass that was killed, one of SWE-bench, and
    one of ours that bears a name a second time."""
    mine, others = top / "runs", top / "results"
    fake_run.write(mine / "one", fake_run.finish(fake_run.story()))
    fake_run.write(others / "copied" / "one", fake_run.finish(fake_run.story()))
    fake_run.write(mine / "cancelled", _cancelled())
    sample = Sample(others / "sonnet" / "r1", ("hello", "redis"))
    sample.begin(2)
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.result("hello")
    sample.attempt("redis", after=5, until="run_harness")
    evaluated(others / "swe", "django__django-1", True)
    evaluated(others / "swe", "django__django-2", False)
    ids = ["django__django-1", "django__django-2"]
    summary(others / "swe", completed=ids, resolved=ids[:1], unresolved=ids[1:])
    for age, path in enumerate(sorted(top.rglob(EVENTS))):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return [mine, others]


def _cancelled() -> list[ev.Event]:
    story = fake_run.finish(fake_run.story())
    return [
        msgspec.structs.replace(event, exit_code=130) if isinstance(event, ev.RunFinished) else event for event in story
    ]
