"""What the next pages of triage show is worked out while this one is read."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.layout import LogFile
from engine.state import RunState
from engine.triage.proposal import Proposal
from engine.trial_state import TrialState
from screens.triage_walk import Walk
from tests.screens import fake_triage
from tests.screens.deck import screen_text, until
from tests.screens.fake_triage import BUILD, OOM, PASSED, PLAIN, PLAIN_TOO, triage_opened
from tests.screens.test_triage_desk import BOUND_SEC, seat

pytestmark = pytest.mark.anyio


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fake_triage.write(tmp_path / "run")


def test_what_the_next_pages_show_comes_before_the_rest_until_somebody_turns_elsewhere(run: Path) -> None:
    gates, order = {OOM: threading.Event(), PLAIN: threading.Event()}, []
    begun = threading.Event()

    def slow(trial: TrialState, state: RunState, folder: Path, logs: list[LogFile]) -> Proposal:
        order.append(trial.trial)
        begun.set()
        if trial.trial in gates:
            gates[trial.trial].wait(BOUND_SEC)
        return fake_triage.rules(trial, state, folder, logs)

    with seat(run, rules=slow) as ada:
        others = [trial for trial in ada.source.state.trials if trial not in (OOM, PLAIN, PLAIN_TOO, PASSED, BUILD)]
        assert ada.desk.findings(OOM) is None
        begun.wait(BOUND_SEC)
        ada.desk.want(others)
        ada.desk.look_ahead([PLAIN, PASSED])
        ada.desk.look_ahead([PLAIN, PLAIN_TOO])
        ada.desk.look_ahead([PLAIN, PLAIN_TOO])
        assert ada.desk.findings(BUILD) is None
        for gate in gates.values():
            gate.set()
        ada.until(lambda: ada.desk.looking_at == 0)
        assert order[:4] == [OOM, BUILD, PLAIN, PLAIN_TOO], "what is looked at, what comes next, and then the rest"
        assert order[-1] == PASSED and len(order) == len(set(order)), "what was passed over is looked at in its turn"
        assert ada.desk.findings(PLAIN_TOO) is not None, "in full, at once"
        count = len(order)
        ada.desk.look_ahead([PLAIN, PLAIN_TOO])
        assert ada.desk.looking_at == 0 and len(order) == count, "what is known is not worked out again"


def test_what_is_ahead_is_little_and_undecided_first() -> None:
    walk = Walk()
    walk.order = [str(number) for number in range(100)]
    walk.current = "10"
    assert walk.ahead(lambda trial: int(trial) < 20) == ["11", "20", "21", "22"]
    assert walk.ahead(lambda trial: True) == ["11", "12", "13", "14"]
    walk.current = "99"
    assert walk.ahead(lambda trial: False) == []


async def test_a_page_that_is_turned_to_has_its_findings_at_once(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        following = screen.walk.ahead(screen.desk.decided)
        assert following
        await until(pilot, lambda: all(screen.desk._proposals.known(trial) for trial in following), "they are known")
        await pilot.press("right_square_bracket")
        assert screen.walk.current == following[0]
        assert "looking for findings" not in screen_text(app)
