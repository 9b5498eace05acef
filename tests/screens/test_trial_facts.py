"""The facts of a trial, as lines."""

from __future__ import annotations

from console.change_lines import change_line
from engine import events as ev
from engine.state import RunState
from screens.trial_facts import facts, summary
from tests.engine.run_events import at, finished, planned, started


def _text(state: RunState, trial: str) -> str:
    return "\n".join("".join(text for text, _ in pieces) for pieces, _ in facts(state.trials[trial], 100))


def test_case_68_the_runs_that_a_rerun_set_aside_are_listed_with_their_cost_cause_and_folder() -> None:
    state = RunState()
    state.apply_all(
        [
            *planned("t"),
            started("t"),
            finished("t", 0.0, 10, cost_usd=0.25),
            ev.RerunWanted(at=at(11), trial="t", cause="provider", by="ada\x1b[2J"),
            ev.TrialInterrupted(at=at(12), trial="t", run_number=1, reason="wanted again", folder="t/rerun-1"),
            started("t", 13, run_number=2),
            finished("t", 1.0, 20),
        ]
    )
    text = _text(state, "t")
    assert "run 1 failed" in text
    assert "$0.25 · rerun for provider by ada" in text
    assert "kept in t/rerun-1" in text
    assert "\x1b" not in text


def test_a_trial_that_was_run_once_has_no_earlier_runs() -> None:
    state = RunState()
    state.apply_all([*planned("t"), started("t"), finished("t", 1.0, 20)])
    assert "earlier" not in _text(state, "t")


def test_calls_of_the_model_and_a_cost_known_in_part_are_shown_as_what_they_are() -> None:
    """Cases 67 and 68: parts of tokens are told apart; a lower bound says that it is one."""
    state = RunState()
    answered = ev.ModelCalled(
        at=at(2),
        trial="t",
        number=1,
        tokens_in=12_000,
        tokens_cached=8_000,
        tokens_cache_written=500,
        tokens_out=900,
        tokens_reasoning=700,
        cost_usd=0.25,
        cost_source="prices of 2026-11-01",
    )
    limited = ev.ModelCalled(at=at(3), trial="t", number=2, code="model_rate_limited", status=429)
    unpriced = ev.ModelCalled(at=at(4), trial="t", number=3, tokens_in=100)
    state.apply_all([*planned("t"), started("t"), answered, limited, unpriced])
    text = _text(state, "t")
    assert "12.1K in, 8.0K of them cached, 900 out" in text
    assert "500 written to the cache, 700 reasoning" in text
    assert "2 calls answered  ▲ 1 failed, 1 tried again" in text
    assert "≥ $0.25, from prices of 2026-11-01, part of it is unknown" in text


def test_the_model_and_where_it_is_are_named() -> None:
    state = RunState()
    state.apply_all([*planned("t"), started("t"), ev.ModelCalled(at=at(2), trial="t", number=1)])
    arm = ev.ArmInfo(
        name="a",
        agent="terminus2",
        model="m\x1b[2J-5",
        provider="some provider",
        endpoint=ev.Endpoint(base_url="http://127.0.0.1:1/v1/" + "x" * 200),
    )
    lines = ["".join(text for text, _ in pieces) for pieces, _ in facts(state.trials["t"], 78, arm)]
    (named,) = [number for number, line in enumerate(lines) if "some provider" in line]
    assert (
        lines[named].startswith(" model      m")
        and "-5 · from some provider · at http://127.0.0.1:1/v1/x" in lines[named]
    )
    assert "1 call answered" in lines[named + 1]
    assert max(map(len, lines)) <= 78 and "\x1b" not in "".join(lines)


def test_what_was_kept_up_and_went_is_said_to_be_gone_and_why() -> None:
    state = RunState()
    up = ev.ServiceChanged(trial="t", service="main", state="running", container="0a1b2c")
    state.apply_all([*planned("t"), started("t"), up, finished("t", 0.0, kept=True)])
    told = "".join(text for text, _ in summary(state.trials["t"]))
    assert "environment was kept" in told and "gone" not in told
    gone = ev.EnvironmentGone(trial="t", container="0a1b2c", reason="swept")
    state.apply(gone)
    assert "environment was kept, gone: swept" in "".join(text for text, _ in summary(state.trials["t"]))
    line = change_line(gone, state)
    assert line is not None and line.endswith("what was kept up of it · swept")
