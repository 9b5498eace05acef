"""What needs a decision, in which order, and what blind mode may show."""

from __future__ import annotations

from engine import events as ev
from engine.issues import Code, Severity
from engine.state import RunState
from engine.triage.blind import HIDDEN, Blindfold, cases
from engine.triage.causes import Cause
from engine.triage.label_book import LabelBook
from engine.triage.proposal import Finding, Proposal, Strength
from engine.triage.queue import Kind, queue, to_propose
from tests.engine.run_events import at, finished, folded, issue, planned, started
from tests.engine.triage.labels import label


def _run() -> RunState:
    names = ("failed", "passed", "unscored", "odd", "cancelled", "waiting", "refused")
    state = folded(*planned(*names), *(started(name) for name in names[:-2]))
    odd = issue(code=Code.PASSED_WITHOUT_CHANGES)
    state.apply(ev.IssueRaised(at=at(5), trial="odd", issue=odd))
    state.apply(
        ev.IssueRaised(at=at(5), trial="refused", issue=issue(Severity.FATAL, Code.TASK_INVALID, "no task.toml"))
    )
    for name, reward in (("failed", 0.0), ("passed", 1.0), ("unscored", None), ("odd", 1.0)):
        state.apply(finished(name, reward))
    state.apply(finished("cancelled", None, outcome="cancelled"))
    state.apply(finished("refused", None, outcome="refused"))
    return state


def _proposal(rule: str, strength: Strength, cause: Cause = Cause.GRADER) -> Proposal:
    found = Finding(rule=rule, cause=cause, strength=strength, text="", source="")
    return Proposal(cause=cause, strength=strength, findings=(found,))


def test_failed_unscored_refused_and_doubtful_trials_need_a_decision() -> None:
    found = queue(_run(), {}, LabelBook(), "ada")
    assert {(item.trial, item.kind, item.reason) for item in found} == {
        ("unscored", Kind.UNSCORED, "no verdict"),
        ("refused", Kind.UNSCORED, "refused: no task.toml"),
        ("odd", Kind.SUSPICIOUS, "passed though the agent changed nothing"),
        ("failed", Kind.FAILED, "reward 0"),
    }
    assert [item.kind for item in found] == [Kind.UNSCORED, Kind.UNSCORED, Kind.SUSPICIOUS, Kind.FAILED]


def test_a_finding_makes_a_pass_doubtful() -> None:
    found = queue(_run(), {"passed": _proposal("reward_by_agent", Strength.STRONG)}, LabelBook(), "ada")
    assert found[0].trial == "passed"
    assert found[0].reason == "passed, and the agent wrote the reward"


def test_strong_findings_come_first_and_what_is_decided_last() -> None:
    proposals = {"failed": _proposal("out_of_memory", Strength.STRONG)}
    assert queue(_run(), proposals, LabelBook(), "ada")[0].trial == "failed"
    book = LabelBook([label("ada", "failed")])
    found = queue(_run(), proposals, book, "ada")
    assert (found[-1].trial, found[-1].decided) == ("failed", True)
    assert queue(_run(), proposals, book, "bob")[0].trial == "failed"
    assert "failed" not in {item.trial for item in queue(_run(), proposals, book, "ada", undecided_only=True)}


def test_what_may_change_a_score_comes_before_what_counts_as_it_is() -> None:
    """A spent budget is a record, and a failure all the same: a missing verdict and a doubtful pass come before it."""
    names = ("spent", "died", "plain", "unscored", "odd")
    state = folded(*planned(*names), *(started(name) for name in names))
    for name, reward in (("spent", 0.0), ("died", 0.0), ("plain", 0.0), ("unscored", None), ("odd", 1.0)):
        state.apply(finished(name, reward))
    proposals = {
        "spent": _proposal("time_limit", Strength.STRONG, Cause.BUDGET),
        "died": _proposal("environment_died", Strength.STRONG, Cause.INFRASTRUCTURE),
        "plain": _proposal("tests_failed", Strength.WEAK, Cause.MODEL),
        "unscored": _proposal("verifier_time_limit", Strength.WEAK, Cause.GRADER),
        "odd": _proposal("agent_past_its_time", Strength.WEAK, Cause.AGENT),
    }
    found = [item.trial for item in queue(state, proposals, LabelBook(), "ada")]
    assert found == ["died", "unscored", "odd", "spent", "plain"]


def test_attempts_of_a_task_with_the_same_finding_stand_together() -> None:
    state = _arms()
    proposals: dict[str, Proposal] = {}
    for number, trial in enumerate(list(state.trials)):
        state.apply_all([started(trial), finished(trial, 0.0)])
        rule = "time_limit" if number % 2 else "limit_reached"
        proposals[trial] = _proposal(rule, Strength.STRONG, Cause.BUDGET)
    found = [
        (proposals[item.trial].findings[0].rule, item.task) for item in queue(state, proposals, LabelBook(), "ada")
    ]
    assert found == sorted(found)


def test_what_was_skipped_comes_after_what_was_not() -> None:
    found = queue(_run(), {}, LabelBook([label("ada", "unscored", None, kind="skip")]), "ada")
    assert (found[-1].trial, found[-1].skipped, found[-1].decided) == ("unscored", True, False)


def test_a_disagreement_comes_first_for_those_who_may_know_of_it() -> None:
    book = LabelBook([label("ada", "failed", Cause.MODEL), label("bob", "failed", Cause.TASK)])
    assert (queue(_run(), {}, book, "ada")[0].trial, queue(_run(), {}, book, "ada")[0].disagreed) == ("failed", True)
    assert not any(item.disagreed for item in queue(_run(), {}, book, "eve"))


def test_what_failed_is_looked_at_before_what_passed() -> None:
    found = to_propose(_run())
    assert set(found) == {"unscored", "refused", "failed", "odd", "passed"}
    assert set(found[-2:]) == {"odd", "passed"}


def _arms() -> RunState:
    names = [f"task{number}__{arm}__1" for number in range(30) for arm in ("sonnet", "sol")]
    events: list[ev.Event] = list(planned(*names, arms=("sonnet", "sol")))
    plan = events[0]
    assert isinstance(plan, ev.RunPlanned)
    arms = (
        ev.ArmInfo(name="sonnet", agent="claude-code", model="anthropic/claude-9"),
        ev.ArmInfo(name="sol", agent="codex", model="openai/sol-6.1", parameters={"effort": "high"}),
    )
    events[0] = ev.RunPlanned(at=plan.at, run="r", name="n", task_set=plan.task_set, arms=arms, tasks=30, trials=60)
    return folded(*events)


def test_case_numbers_are_dealt_once_and_tell_no_arm() -> None:
    state = _arms()
    numbers = cases(state)
    assert sorted(numbers.values()) == list(range(1, 61))
    assert cases(_arms()) == numbers
    by_number = sorted(numbers, key=numbers.__getitem__)
    of_sonnet = [index for index, trial in enumerate(by_number) if "sonnet" in trial]
    assert 5 < sum(index < 30 for index in of_sonnet) < 25  # neither first nor last, nor in turn
    assert by_number != list(state.trials)


def test_no_name_of_an_arm_is_left_in_a_blind_text() -> None:
    blind = Blindfold(_arms())
    number = cases(_arms())["task3__sol__1"]
    assert blind.text("task3__sol__1 failed") == f"case {number} failed"
    assert blind.text("agent/claude-code.txt says Claude-9 by Anthropic") == (
        f"agent/{HIDDEN}.txt says {HIDDEN} by {HIDDEN}"
    )
    assert blind.text("codex ran sol-6.1, a solution at high tide") == f"{HIDDEN} ran {HIDDEN}, a solution at high tide"
    assert blind.case("task3__sol__1") == f"case {number}"
    assert blind.case("unknown") == HIDDEN
