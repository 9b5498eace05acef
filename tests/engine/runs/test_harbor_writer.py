"""A run's files as Harbor's viewer wants them: whole, valid, and true at every moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine import events as ev
from engine.events import ArmInfo
from engine.issues import Code, Issue, Phase, Severity
from engine.layout import CONFIG, RESULT
from engine.runs import harbor_writer
from engine.runs.atomic_file import write_json
from engine.runs.harbor_writer import LOCK, HarborWriter
from tests.engine.random_events import HOSTILE
from tests.engine.run_events import finished, started
from tests.engine.runs.runs import RunRig
from tests.engine.trial.trials import writes

NEEDED = ("task_name", "trial_name", "trial_uri", "task_id", "task_checksum", "config", "agent_info", "id")


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} in a file")


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    return found


def writer(rig: RunRig) -> HarborWriter:
    return HarborWriter(rig.folder, rig.card, rig.plan, rig.state)


@pytest.mark.anyio
async def test_a_finished_run_is_a_finished_job(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b"))
    rig.log.append(ev.EngineStarted(pid=1, host="h", session=1))
    rig.provider.when("/tests/test.sh", does=writes({"/logs/verifier/reward.txt": "1"}), times=1)
    await rig.execute()
    job = read(rig.folder / RESULT)
    assert job["finished_at"] and job["n_total_trials"] == 2
    assert (job["stats"]["n_completed_trials"], job["stats"]["n_errored_trials"]) == (2, 1)
    assert read(rig.folder / CONFIG)["job_name"] == "run"
    assert len(read(rig.folder / LOCK)["trials"]) == 2
    scored, unscored = sorted(
        (read(rig.folder / trial / RESULT) for trial in rig.state.trials),
        key=lambda result: not result["verifier_result"],
    )
    assert all(result[key] is not None for result in (scored, unscored) for key in NEEDED)
    assert scored["verifier_result"] == {"rewards": {"reward": 1.0}} and scored["exception_info"] is None
    assert unscored["verifier_result"] is None
    assert unscored["exception_info"]["exception_type"] == "VerifierOutputParseError"
    assert unscored["exception_info"]["policy_override"] == {"has_valid_reward": False}
    for span in ("environment_setup", "agent_execution", "verifier"):
        assert scored[span]["started_at"] <= scored[span]["finished_at"]


def test_a_trial_that_runs_has_no_result_yet(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b"))
    written = writer(rig)
    written.run_started()
    rig.log.append(started("a__a__1"))
    written.trial_started("a__a__1")
    written.write_result(now=True)
    assert read(rig.folder / RESULT)["finished_at"] is None
    assert read(rig.folder / RESULT)["stats"]["n_running_trials"] == 1
    assert read(rig.folder / "a__a__1" / CONFIG)["trial_name"] == "a__a__1"
    assert not (rig.folder / "a__a__1" / RESULT).exists()
    assert not (rig.folder / "b__a__1").exists()
    rig.log.close()


def test_a_verdict_counts_although_the_agent_timed_out_case_53(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    issue = Issue(Severity.WARNING, Phase.AGENT, Code.HARNESS_TIMEOUT, "the limit of 5 s was up")
    for event in (started("t__a__1"), ev.IssueRaised(trial="t__a__1", issue=issue)):
        rig.log.append(event)
    rig.log.append(finished("t__a__1", 1.0, timed_out=True))
    writer(rig).trial_finished("t__a__1")
    result = read(rig.folder / "t__a__1" / RESULT)
    assert result["exception_info"]["exception_type"] == "AgentTimeoutError"
    assert result["exception_info"]["policy_override"] == {"has_valid_reward": True}
    assert result["verifier_result"] == {"rewards": {"reward": 1.0}}
    rig.log.close()


def test_a_cancelled_trial_is_a_cancelled_one_there_too(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    issue = Issue(Severity.ERROR, Phase.AGENT, Code.HARNESS_INTERRUPTED, "cancelled")
    for event in (started("t__a__1"), ev.IssueRaised(trial="t__a__1", issue=issue)):
        rig.log.append(event)
    rig.log.append(ev.TrialFinished(trial="t__a__1", outcome="cancelled"))
    written = writer(rig)
    written.trial_finished("t__a__1")
    written.write_result(now=True)
    assert read(rig.folder / RESULT)["stats"]["n_cancelled_trials"] == 1
    rig.log.close()


def test_hostile_text_and_names_make_valid_files_cases_19_and_28(tmp_path: Path) -> None:
    arm = ArmInfo(name="a", agent="command", parameters={"run": "x\ny"}, model="m/n")
    rig = RunRig(tmp_path, arms=(arm,))
    issue = Issue(Severity.FATAL, Phase.AGENT, Code.ENGINE_FAILED, HOSTILE)
    rig.log.append(started("t__a__1"))
    rig.log.append(ev.IssueRaised(trial="t__a__1", issue=issue))
    rig.log.append(ev.RewardRecorded(trial="t__a__1", reward=None, rewards={HOSTILE: 1.0}))
    rig.log.append(finished("t__a__1", None))
    writer(rig).trial_finished("t__a__1")
    text = (rig.folder / "t__a__1" / RESULT).read_bytes()
    assert b"\x1b" not in text and b"\\u001b" not in text
    assert read(rig.folder / "t__a__1" / RESULT)["agent_info"]["model_info"] == {"name": "n", "provider": "m"}
    rig.log.close()


def test_steps_carry_their_own_rewards(tmp_path: Path) -> None:
    toml = '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
    place = tmp_path / "tasks" / "t" / "steps"
    for name in ("one", "two"):
        (place / name).mkdir(parents=True)
        (place / name / "instruction.md").write_text(name)
    rig = RunRig(tmp_path, toml=toml)
    rig.log.append(started("t__a__1"))
    for step, reward in (("one", 1.0), ("two", 0.0), ("", 0.5)):
        rig.log.append(ev.RewardRecorded(trial="t__a__1", reward=reward, rewards={"reward": reward}, step=step))
    rig.log.append(finished("t__a__1", 0.5))
    writer(rig).trial_finished("t__a__1")
    result = read(rig.folder / "t__a__1" / RESULT)
    assert result["verifier_result"] == {"rewards": {"reward": 0.5}}
    told = [(step["step_name"], step["verifier_result"]) for step in result["step_results"]]
    assert told == [("one", {"rewards": {"reward": 1.0}}), ("two", {"rewards": {"reward": 0.0}})]
    rig.log.close()


def test_the_runs_own_result_is_not_rewritten_for_every_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = RunRig(tmp_path)
    written = writer(rig)
    count = [0]
    real = write_json

    def counting(path: Path, value: object) -> None:
        count[0] += path == rig.folder / RESULT
        real(path, value)

    monkeypatch.setattr(harbor_writer, "write_json", counting)
    for _ in range(50):
        written.write_result()
    assert count == [1]
    written.write_result(now=True)
    assert count == [2]
    rig.log.close()


def test_a_cost_known_in_part_is_no_cost_there_and_what_harbor_has_no_field_for_stands_beside(tmp_path: Path) -> None:
    """Case 68: unknown stays unknown through sums."""
    rig = RunRig(tmp_path)
    (trial,) = rig.state.trials
    rig.log.append(started(trial))
    answered = ev.ModelCalled(trial=trial, number=1, tokens_in=9, tokens_out=4, tokens_reasoning=3)
    rig.log.append(msgspec.structs.replace(answered, cost_usd=0.5, cost_source="provider"))
    rig.log.append(ev.ModelCalled(trial=trial, number=2, code=str(Code.MODEL_RATE_LIMITED), status=429))
    rig.log.append(ev.ModelCalled(trial=trial, number=3, tokens_in=9, tokens_out=4))
    rig.log.append(finished(trial, 1.0))
    one = writer(rig)
    one.trial_finished(trial)
    usage = read(rig.folder / trial / RESULT)["agent_result"]
    assert (usage["n_input_tokens"], usage["n_output_tokens"], usage["cost_usd"]) == (18, 8, None)
    assert usage["metadata"] == {
        "reasoning_tokens": 3,
        "cost_source": "provider",
        "cost_usd_at_least": 0.5,
        "model_calls": 2,
        "model_failures": 1,
        "model_retries": 1,
    }
