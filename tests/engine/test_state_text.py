"""Whatever text events carry, what the state holds is safe to show (cases 19 and 28)."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any

import msgspec
from hypothesis import given

from engine import events as ev
from engine.state import RunState
from engine.text import clean
from tests.engine.random_events import BRIEFLY, HOSTILE, STREAMS
from tests.engine.run_events import folded, issue, planned, started

KEYS_OF_FOLDERS = {"trial", "run", "card_digest", "engine_version", "sha256", "digest"}
"""Written by the engine itself, and used as names of files: not for showing without a look."""


def texts(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Every text in a structure, with the name of the field that holds it."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return [(name, value)]
    if isinstance(value, msgspec.Struct):
        return [found for field in value.__struct_fields__ for found in texts(getattr(value, field), field)]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in (*texts(key, name), *texts(item, name))]
    if isinstance(value, list | tuple):
        return [found for item in value for found in texts(item, name)]
    assert value is None or isinstance(value, int | float | datetime | Enum)
    return []


def shown(state: RunState) -> list[tuple[str, str]]:
    held = [state.plan, list(state.trials.values()), state.arms, state.feed, state.run_issues, state.finished]
    return [found for part in held for found in texts(part) if found[0] not in KEYS_OF_FOLDERS]


@BRIEFLY
@given(STREAMS)
def test_nothing_hostile_is_held_for_showing(events: list[ev.Event]) -> None:
    state = folded(*planned("t1", "t2", "t3", arms=("a", "b")), *events)
    for name, text in shown(state):
        assert clean(text) == text, name


def test_a_hostile_plan_is_made_safe_too() -> None:
    state = folded(
        ev.RunPlanned(
            run="r",
            name=HOSTILE,
            task_set=ev.TaskSetInfo(name=HOSTILE, version=HOSTILE),
            arms=(ev.ArmInfo(name=HOSTILE, agent=HOSTILE, model=HOSTILE, parameters={HOSTILE: HOSTILE}),),
            tasks=1,
            trials=1,
            host=ev.HostInfo(name=HOSTILE),
        ),
        ev.TrialPlanned(trial="t1", task=HOSTILE, arm=HOSTILE, attempt=1, position=1),
    )
    assert all("\x1b" not in text and "\udcff" not in text for _, text in shown(state))
    (arm,) = state.arms.values()
    assert arm.assigned == 1  # the trial found its arm under the name that was made safe


def test_evidence_keeps_its_lines_and_a_message_becomes_one() -> None:
    from engine.issues import Evidence

    raised = issue(message="one\ntwo", evidence=(Evidence("out", "\x1b[31mred\x1b[0m\nnext"),))
    state = folded(*planned("t1"), started("t1"), ev.IssueRaised(trial="t1", issue=raised))
    (held,) = state.trials["t1"].issues
    assert held.message == "one ⏎ two"
    assert held.evidence[0].text == "red\nnext"
    assert state.feed[0].issue == held
