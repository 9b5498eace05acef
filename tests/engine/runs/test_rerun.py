"""Running a trial again that is over: the card's policy, both arms alike, the original record kept."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine import events as ev
from engine.layout import RESULT
from engine.runs.card import RetryPolicy, RunCard, read_card, write_card
from engine.runs.rerun import alike, left_out, request_rerun, want_again, why_not
from engine.runs.resume import only_reruns, remaining, set_aside
from engine.triage.causes import Cause
from engine.trial_state import FAILED, INTERRUPTED, PASSED, UNSCORED
from tests.engine.run_events import finished, started
from tests.engine.runs.runs import REWARD, RunRig
from tests.engine.trial.trials import writes

ARMS = (ev.ArmInfo(name="a", agent="nop"), ev.ArmInfo(name="b", agent="nop"))
POLICY = RetryPolicy()


def over(tmp_path: Path, tasks: tuple[str, ...] = ("t1", "t2")) -> RunRig:
    """A run whose trials all ended: on t1 without a verdict, elsewhere with reward 0."""
    rig = RunRig(tmp_path, tasks, arms=ARMS)
    for trial in list(rig.state.trials.values()):
        rig.log.append(started(trial.trial))
        rig.log.append(finished(trial.trial, None if trial.task == "t1" else 0.0))
    return rig


def test_only_causes_of_the_cards_policy_run_again(tmp_path: Path) -> None:
    trial = over(tmp_path).state.trials["t1__a__1"]
    assert why_not(POLICY, trial, "infrastructure") == ""
    assert why_not(POLICY, trial, "provider") == ""
    assert "the card lets these run again: infrastructure, provider" in why_not(POLICY, trial, "model")
    assert "not decided" in why_not(POLICY, trial, "")


def test_a_verdict_is_redone_only_where_the_policy_said_so_before_the_run(tmp_path: Path) -> None:
    trial = over(tmp_path).state.trials["t2__a__1"]
    assert "it has a verdict" in why_not(POLICY, trial, "provider")
    redoing = RetryPolicy(redo_verdicts=(Cause.PROVIDER,))
    assert why_not(redoing, trial, "provider") == ""
    assert "it has a verdict" in why_not(redoing, trial, "infrastructure")


def test_a_trial_runs_again_no_more_often_than_the_policy_says(tmp_path: Path) -> None:
    rig = over(tmp_path)
    wanted, refused = want_again(rig.log, POLICY, {"t1__a__1": "provider"}, "ada")
    assert (wanted, refused) == (["t1__a__1"], {})
    assert "about to run again" in why_not(POLICY, rig.state.trials["t1__a__1"], "provider")
    set_aside(rig.log, only_reruns(remaining(rig.plan, rig.state), rig.state))
    rig.log.append(started("t1__a__1", run_number=2))
    rig.log.append(finished("t1__a__1", None))
    trial = rig.state.trials["t1__a__1"]
    assert trial.state == UNSCORED and trial.reruns == 1
    assert "run again 1 times; the card allows 1" in why_not(POLICY, trial, "provider")
    assert why_not(RetryPolicy(most=2), trial, "provider") == ""


def test_what_runs_or_waits_can_not_be_rerun(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("t1",), arms=ARMS)
    assert "not over (queued)" in why_not(POLICY, rig.state.trials["t1__a__1"], "provider")
    rig.log.append(started("t1__a__1"))
    assert "not over (running)" in why_not(POLICY, rig.state.trials["t1__a__1"], "provider")


def test_a_rerun_takes_the_other_arm_along_where_it_failed_for_the_same_cause(tmp_path: Path) -> None:
    state = over(tmp_path).state
    causes = {"t1__a__1": "provider", "t1__b__1": "provider", "t2__b__1": "provider"}
    assert alike(POLICY, state, causes, {"t1__a__1": "provider"}) == {"t1__a__1": "provider", "t1__b__1": "provider"}
    assert alike(POLICY, state, causes | {"t1__b__1": "model"}, {"t1__a__1": "provider"}) == {"t1__a__1": "provider"}


def test_what_could_run_again_and_is_left_out_is_counted_per_arm(tmp_path: Path) -> None:
    state = over(tmp_path).state
    causes = {"t1__a__1": "provider", "t1__b__1": "infrastructure", "t2__b__1": "provider"}
    assert left_out(POLICY, state, causes, {"t1__a__1": "provider"}) == {"b": 1}


def test_an_old_run_without_a_policy_has_the_default_one_and_keeps_its_digest(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    write_card(rig.folder, rig.card)
    assert "retries" not in (rig.folder / "card.toml").read_text()
    assert read_card(rig.folder).retries == RetryPolicy()
    stricter = msgspec.structs.replace(rig.card, retries=RetryPolicy(most=0))
    assert stricter.digest != rig.card.digest


def test_the_policy_is_read_back_from_the_card(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    card: RunCard = msgspec.structs.replace(
        rig.card, retries=RetryPolicy(causes=(Cause.PROVIDER,), most=3, redo_verdicts=(Cause.PROVIDER,))
    )
    write_card(rig.folder, card)
    assert read_card(rig.folder).retries == card.retries


@pytest.mark.anyio
async def test_a_rerun_of_a_run_that_is_over_runs_that_trial_alone_and_keeps_its_record(tmp_path: Path) -> None:
    rig = over(tmp_path)
    (rig.folder / "t1__a__1").mkdir()
    (rig.folder / "t1__a__1" / "trial.log").write_text("the first time")
    rig.log.close()
    write_card(rig.folder, rig.card)
    asked = request_rerun(rig.folder, {"t1__a__1": "infrastructure", "t2__a__1": "infrastructure"}, by="ada")
    assert asked.wanted == ("t1__a__1",) and not asked.live
    assert "it has a verdict" in asked.refused["t2__a__1"]

    again = RunRig.reopened(rig)
    left = only_reruns(remaining(again.plan, again.state), again.state)
    assert [one.trial for one in left.todo] == ["t1__a__1"]
    again.provider.when("/tests/test.sh", does=writes(REWARD))
    await again.execute(left)
    trial = again.state.trials["t1__a__1"]
    assert trial.state == PASSED and trial.run_number == 2
    assert (rig.folder / "t1__a__1" / "rerun-1" / "trial.log").read_text() == "the first time"
    assert (rig.folder / "t1__a__1" / RESULT).is_file()
    (first,) = trial.earlier
    assert (first.state, first.cause, first.by, first.folder) == (
        UNSCORED,
        "infrastructure",
        "ada",
        "t1__a__1/rerun-1",
    )
    assert again.state.trials["t2__a__1"].state == FAILED
    assert again.state.trials["t1__b__1"].state == UNSCORED


@pytest.mark.anyio
async def test_a_live_run_takes_a_rerun_up_by_itself(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("t1", "t2"), arms=(ev.ArmInfo(name="a", agent="command", parameters={"run": "work"}),))
    first = rig.plan.trials[0].trial
    asked: list[dict[str, object]] = []

    async def work(command: object) -> None:
        if len(rig.state.trials) == 2 and rig.state.trials[first].state == UNSCORED and not asked:
            asked.append(run.handle({"command": "rerun", "trials": {first: "provider", "x": "provider"}, "by": "ada"}))

    rig.provider.when("work", does=work)
    async with rig.going() as run:
        pass
    assert asked == [{"ok": True, "wanted": [first], "refused": {"x": "the plan has no such trial, or refuses it"}}]
    trial = rig.state.trials[first]
    assert trial.run_number == 2 and trial.state == UNSCORED
    assert [(one.state, one.cause) for one in trial.earlier] == [(UNSCORED, "provider")]


def test_a_trial_that_was_cut_off_is_no_rerun_but_is_remembered(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("t1",))
    rig.log.append(started("t1__a__1"))
    set_aside(rig.log, remaining(rig.plan, rig.state))
    trial = rig.state.trials["t1__a__1"]
    assert trial.state == INTERRUPTED and trial.reruns == 0
    assert [(one.state, one.cause) for one in trial.earlier] == [(INTERRUPTED, "")]
