"""Which arms are compared while runs are still being read."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine import events as ev
from screens.comparing import Comparing
from screens.source import RunSource
from tests.screens import fake_run
from tests.screens.test_compare_screen import verdicts


def planned(name: str, *arms: str) -> ev.RunPlanned:
    first = verdicts(1, 0, 0, 0, 1.0, 1.0)[0]
    assert isinstance(first, ev.RunPlanned)
    return msgspec.structs.replace(first, run=name, arms=tuple(ev.ArmInfo(name=arm, agent="nop") for arm in arms))


def sources(folder: Path) -> tuple[RunSource, RunSource]:
    events = verdicts(1, 0, 0, 0, 1.0, 1.0)
    one, two = (RunSource(fake_run.write(folder / name, events)) for name in ("one", "two"))
    return one, two


def pair(comparing: Comparing) -> tuple[str, str]:
    comparing.settle()
    return (comparing.a.name if comparing.a else "", comparing.b.name if comparing.b else "")


def test_arms_stand_in_the_order_of_the_runs_whichever_was_read_first(tmp_path: Path) -> None:
    slow, quick = sources(tmp_path)
    comparing = Comparing([slow, quick])
    quick.state.apply(planned("two", "y", "z"))
    assert pair(comparing) == ("y", "z")
    slow.state.apply(planned("one", "x"))
    assert pair(comparing) == ("x", "y")


def test_what_a_person_stepped_to_stays_when_another_run_is_read(tmp_path: Path) -> None:
    slow, quick = sources(tmp_path)
    comparing = Comparing([slow, quick])
    quick.state.apply(planned("two", "y", "z", "w"))
    assert pair(comparing) == ("y", "z")
    assert comparing.rotate() and pair(comparing) == ("z", "w")
    assert comparing.step(1) and pair(comparing) == ("z", "y")
    slow.state.apply(planned("one", "x"))
    assert pair(comparing) == ("z", "y")
