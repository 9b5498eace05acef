"""The lines of what rules found: nothing that a person needs to decide is cut off or left out."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from console.app import TrialDeckApp
from engine.issues import Evidence
from engine.layout import LogFile
from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.proposal import Finding, Proposal, Strength
from engine.trial_state import TrialState
from screens.triage_desks import desk_of
from screens.triage_screen import TriageScreen
from screens.widgets.triage_findings import FindingList
from tests.screens import fake_triage
from tests.screens.deck import read_and_painted, screen_text, until
from tests.screens.fake_run import at
from tests.screens.fake_triage import OOM, PASSED

pytestmark = pytest.mark.anyio

LONG = "the agent's time was up after the model had answered eleven times; " * 3 + "the tests ran all the same"


def _list(*findings: Finding, place: str = "results.json, line 7") -> FindingList:
    shown = FindingList(lambda text: text.replace("sonnet", "—"), lambda _: place)
    shown.set_proposal(Proposal(cause=Cause.BUDGET, findings=findings), "", anew=True)
    return shown


def _finding(text: str, *evidence: Evidence, **more: Any) -> Finding:
    given: dict[str, Any] = {
        "rule": "time_limit",
        "cause": Cause.BUDGET,
        "strength": Strength.STRONG,
        "source": "record",
    }
    return Finding(text=text, evidence=evidence, **{**given, **more})


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_text_that_its_line_cuts_stands_below_in_full(width: int) -> None:
    said = _list(_finding(LONG)).in_full(0, width, 5)
    assert " ".join(said) == LONG
    assert all(len(line) <= width - 10 for line in said)


def test_a_text_that_fits_is_not_said_twice() -> None:
    assert _list(_finding("the agent's time was up")).in_full(0, 120, 5) == []


def test_facts_that_lie_in_no_file_are_told_and_those_in_a_file_are_a_jump_away() -> None:
    record = Evidence("docker", "OOMKilled true, limit 64 MiB, of sonnet")
    found = _finding("out of memory", record, Evidence("line", "Killed", "logs/main.log", 3))
    assert _list(found).in_full(0, 120, 5) == ["docker: OOMKilled true, limit 64 MiB, of —"]


def test_no_finding_has_nothing_to_say() -> None:
    assert _list().in_full(-1, 120, 5) == []


def test_a_text_has_the_room_that_the_widest_source_and_place_leave() -> None:
    shown = _list(_finding("x" * 90), place="db, line 3")
    assert shown.in_full(0, 120, 5) == []


async def test_on_screen_the_whole_text_of_the_chosen_finding_is_read(tmp_path: Path) -> None:
    def rules(trial: TrialState, state: RunState, folder: Path, logs: list[LogFile]) -> Proposal:
        return Proposal(cause=Cause.BUDGET, findings=(_finding("short"), _finding(LONG[-110:])))

    run = fake_triage.write(tmp_path / "run")
    with patch.object(fake_triage, "rules", rules):
        async with fake_triage.triage_opened(run, (80, 24), trial=OOM) as (app, pilot, _screen):
            assert "the tests ran all" not in screen_text(app)
            await pilot.press("2")
            await until(pilot, lambda: "the tests ran all" in screen_text(app), "the text goes on below")


async def test_what_the_first_look_through_finds_did_not_come_while_one_was_at_work(tmp_path: Path) -> None:
    """A finished run gets no new trials; a pass that a rule doubts joins the queue as soon as it has been looked at."""
    at_work = threading.Event()

    def rules(trial: TrialState, state: RunState, folder: Path, logs: list[LogFile]) -> Proposal:
        if trial.trial != PASSED:
            return Proposal(cause=None)
        at_work.wait(20)
        return Proposal(cause=Cause.GRADER, findings=(_finding("it wrote its reward", rule="reward_by_agent"),))

    run = fake_triage.write(tmp_path / "run")
    app = TrialDeckApp(run, clock=lambda: at(2000))
    with patch.object(fake_triage, "rules", rules), fake_triage.these_rules():
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: read_and_painted(app), "the run is read")
            assert app.source is not None
            await app.push_screen(TriageScreen(app.source, desk_of(app, app.source)))
            await until(pilot, lambda: "0 of 5 decided" in screen_text(app), "failures are known at once")
            at_work.set()
            await until(pilot, lambda: "0 of 6 decided" in screen_text(app), "the doubtful pass joins")
            assert " came" not in screen_text(app)
