"""Each agent's own format as the same steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.trajectories.read import read_trajectory
from engine.trajectories.steps import Trajectory
from tests.engine.trajectories import sessions
from tests.engine.trajectories.sessions import write_json, write_lines


def read(path: Path) -> Trajectory:
    found = read_trajectory(path)
    assert found is not None
    return found


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_atif_of_every_version(tmp_path: Path, version: str) -> None:
    found = read(write_json(tmp_path / "trajectory.json", sessions.atif(2, version=version)))
    assert (found.format, found.agent, found.agent_version, found.model) == ("atif", "claude-code", "2.0", "sonnet-5.5")
    assert [step.source for step in found.steps] == ["user", "agent", "agent"]
    step = found.steps[2]
    assert (step.number, step.thought, step.message) == (3, "Table 3 may be gone.", "Look at table 3.")
    assert step.calls[0].text == "psql -c 'select count(*) from t3'"
    assert step.observations[0].failed and step.observations[0].exit_code == 1
    assert (step.tokens_in, step.tokens_cached, step.tokens_out, step.cost_usd) == (1000, 800, 50, 0.01)
    assert (found.tokens_in, found.tokens_cached, found.tokens_out) == (2000, 1600, 100)
    assert found.cost_usd == pytest.approx(0.02)


def test_final_metrics_count_more_than_the_sum_and_copied_steps_are_not_counted_twice(tmp_path: Path) -> None:
    made = sessions.atif(2)
    made["steps"][1]["is_copied_context"] = True
    found = read(write_json(tmp_path / "a.json", made))
    assert (found.tokens_in, found.steps[1].tokens_in) == (1000, None)
    made["final_metrics"] = {"total_prompt_tokens": 9_999, "total_cost_usd": 1.5}
    found = read(write_json(tmp_path / "a.json", made))
    assert (found.tokens_in, found.cost_usd, found.tokens_out) == (9_999, 1.5, 50)


def test_a_sum_that_misses_steps_is_partial_case_68(tmp_path: Path) -> None:
    made = sessions.atif(2)
    whole = read(write_json(tmp_path / "a.json", made))
    assert not whole.partial and not whole.cost_partial
    del made["steps"][1]["metrics"]["cost_usd"]
    found = read(write_json(tmp_path / "a.json", made))
    assert not found.partial and found.cost_partial
    del made["steps"][1]["metrics"]
    found = read(write_json(tmp_path / "a.json", made))
    assert (found.tokens_in, found.partial, found.cost_partial) == (1000, True, True)
    made["final_metrics"] = {"total_prompt_tokens": 2_000, "total_completion_tokens": 90, "total_cost_usd": 0.02}
    found = read(write_json(tmp_path / "a.json", made))
    assert not found.partial and not found.cost_partial


def test_pictures_and_other_agents_sessions_are_named_in_atif(tmp_path: Path) -> None:
    made = sessions.atif(1)
    made["steps"][0]["message"] = [{"type": "text", "text": "See"}, {"type": "image", "source": {"path": "a.png"}}]
    made["steps"][1]["observation"]["results"][0] = {
        "content": None,
        "subagent_trajectory_ref": [{"trajectory_path": "sub.json"}],
    }
    found = read(write_json(tmp_path / "a.json", made))
    assert found.steps[0].message == "See\n[image]"
    assert found.steps[1].observations[0].text == "[another agent's session: sub.json]"


def test_terminus_is_known_by_its_name_in_atif(tmp_path: Path) -> None:
    made = sessions.atif(1, agent="terminus-2")
    made["steps"][1]["tool_calls"][0]["arguments"] = {"keystrokes": "ls -la\n", "duration": 0.1}
    found = read(write_json(tmp_path / "trajectory.json", made))
    assert found.format == "terminus" and found.steps[1].calls[0].text == "ls -la\n"


def test_case_67_claude_codes_tokens_in_include_the_cached_and_one_message_counts_once(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "claude-code.txt", sessions.claude_stream()))
    assert found.format == "claude-code" and found.model == "sonnet-5.5"
    step = found.steps[0]
    assert (step.tokens_in, step.tokens_cached, step.tokens_out) == (13_503, 12_000, 900)
    assert (found.tokens_in, found.tokens_cached, found.tokens_out, found.cost_usd) == (13_503, 12_000, 907, 0.25)
    assert found.ended == "success" and not found.errors


def test_claude_codes_lines_of_one_message_are_one_step_with_its_results(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "x.jsonl", sessions.claude_stream()))
    step, last = found.steps
    assert (step.thought, step.message, step.line) == ("Which table?", "I look.", 2)
    assert [(call.tool, call.text) for call in step.calls] == [("Bash", "psql"), ("Read", '{"file_path": "/app/a"}')]
    assert [(seen.call, seen.failed, seen.exit_code) for seen in step.observations] == [
        ("t2", False, None),
        ("t1", True, 2),
    ]
    assert (last.message, last.line) == ("Done.", 7)


def test_claude_codes_session_file_tells_times_and_whose_words_they_are(tmp_path: Path) -> None:
    def common(second: int) -> dict[str, Any]:
        return {
            "timestamp": f"2026-03-01T10:00:{second:02}Z",
            "sessionId": "s",
            "version": "2.1.0",
            "uuid": f"u{second}",
        }

    def user(second: int, said: str, **more: Any) -> dict[str, Any]:
        return {"type": "user", "message": {"role": "user", "content": said}, **common(second), **more}

    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    lines = [
        {"type": "summary", "summary": "Old", "leafUuid": "z"},
        user(0, "Do it."),
        user(1, "Caveat: …", isMeta=True),
        sessions.claude_message("m1", call, **common(2)),
        sessions.claude_result("t1", "ok", **common(9)),
        sessions.claude_message("m1", call, **common(2)),
        user(10, "Look for the file", isSidechain=True),
    ]
    found = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [step.source for step in found.steps] == ["user", "system", "agent", "system"]
    assert found.agent_version == "2.1.0"
    assert found.steps[2].seconds == 7.0 and len(found.steps[2].calls) == 1
    assert found.tokens_in is None and found.cost_usd is None


def test_what_went_wrong_in_claude_code_is_told_with_its_step(tmp_path: Path) -> None:
    said = 'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}'
    synthetic = {"id": "m9", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": said}]}
    refused = sessions.claude_message("m3", {"type": "text", "text": "I can't."})
    refused["message"]["stop_reason"] = "refusal"
    lines = [
        *sessions.claude_stream()[:-1],
        {"type": "system", "subtype": "api_error", "error": {"status": 429, "message": "slow down"}, "retryAttempt": 2},
        {"type": "assistant", "message": synthetic, "isApiErrorMessage": True},
        refused,
        {"type": "result", "subtype": "error_max_turns", "session_id": "s", "is_error": True, "num_turns": 30},
    ]
    found = read(write_lines(tmp_path / "s.jsonl", lines))
    assert found.errors == (
        (2, "API error 429 slow down (try 2)"),
        (3, said),
        (4, "stop_reason: refusal"),
        (4, "error_max_turns"),
    )
    assert found.ended == "error_max_turns" and found.model == "sonnet-5.5"
    assert found.steps[2].tokens_in is None


def test_case_67_codex_counts_include_the_cached_already(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "codex.txt", sessions.codex_events()))
    assert (found.tokens_in, found.tokens_cached, found.tokens_out) == (1_270_492, 1_202_176, 8_679)
    assert found.cost_usd is None and found.steps[0].tokens_in is None


def test_codex_events_are_steps_that_end_where_something_came_back(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "codex.txt", sessions.codex_events()))
    first, second, last = found.steps
    assert (first.thought, first.calls[0].tool, first.calls[0].text) == (
        "**Running the tests**",
        "shell",
        "make test",
    )
    assert (first.observations[0].failed, first.observations[0].exit_code) == (True, 2)
    assert second.calls[0].text == "update /app/a.py" and not second.observations[0].failed
    assert last.message == "Fixed." and found.ended == "completed"


def test_codexs_word_about_a_model_it_does_not_know_is_no_error(tmp_path: Path) -> None:
    item = {"id": "item_9", "type": "error", "message": "Model metadata for `m` not found. Defaulting to fallback."}
    odd = {"id": "item_10", "type": "error", "message": "Odd."}
    said = [{"type": "item.completed", "item": each} for each in (item, odd)]
    found = read(write_lines(tmp_path / "codex.txt", [*sessions.codex_events(), *said]))
    assert [words for _, words in found.errors if "metadata" in words or "Odd" in words] == ["Odd."]


def test_codex_events_that_run_side_by_side_are_one_step(tmp_path: Path) -> None:
    def event(stage: str, name: str) -> dict[str, Any]:
        return {"type": f"item.{stage}", "item": {"id": name, "type": "command_execution", "command": name}}

    lines = [
        {"type": "thread.started", "thread_id": "t"},
        event("started", "a"),
        event("started", "b"),
        event("completed", "b"),
        event("completed", "a"),
        {"type": "error", "message": "stream disconnected, reconnecting 1/5"},
        {"type": "turn.failed", "error": {"message": "usage limit reached"}},
    ]
    found = read(write_lines(tmp_path / "codex.txt", lines))
    assert [call.text for call in found.steps[0].calls] == ["a", "b"]
    assert [seen.call for seen in found.steps[0].observations] == ["b", "a"]
    assert found.errors == ((1, "stream disconnected, reconnecting 1/5"), (1, "usage limit reached"))
    assert found.ended == "failed"


def test_codexs_session_file_tells_tokens_a_step_and_counts_a_repeated_count_once(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "rollout-x.jsonl", sessions.codex_rollout()))
    assert [step.source for step in found.steps] == ["system", "user", "agent", "agent"]
    step = found.steps[2]
    assert (step.thought, step.calls[0].text, step.model) == ("Run them first", "make test", "sol-6.1")
    assert (step.observations[0].text, step.observations[0].exit_code, step.seconds) == ("1 failed\n", 1, 5.0)
    assert [each.tokens_in for each in found.steps] == [None, None, 100, 100]
    assert (found.tokens_in, found.tokens_cached, found.agent_version) == (200, 40, "0.65.0")


def test_codexs_header_above_an_output_tells_how_it_ended(tmp_path: Path) -> None:
    lines = sessions.codex_rollout()
    lines[8]["payload"]["output"] = "Chunk ID: a\nWall time: 0.05 seconds\nProcess exited with code 127\nOutput:\nx"
    found = read(write_lines(tmp_path / "r.jsonl", lines))
    assert found.steps[2].observations[0].exit_code == 127
    lines[8]["payload"]["output"] = "it says: Process exited with code 3\n"
    assert read(write_lines(tmp_path / "r.jsonl", lines)).steps[2].observations[0].exit_code is None


def test_mini_swe_agent_2(tmp_path: Path) -> None:
    found = read(write_json(tmp_path / "a.traj.json", sessions.mini_v2()))
    assert (found.format, found.ended, found.cost_usd) == ("mini-swe-agent", "LimitsExceeded", 0.05)
    step = found.steps[2]
    assert (step.calls[0].text, step.seconds, step.model) == ("pwd && ls", 2.5, "deepseek-chat")
    assert (step.observations[0].exit_code, step.observations[0].call) == (1, "c1")
    assert (step.tokens_in, step.tokens_cached, step.tokens_out, step.cost_usd) == (2_182, 320, 89, 0.0005)


def test_mini_swe_agent_1_and_case_68_a_cost_of_nothing_after_calls_is_unknown(tmp_path: Path) -> None:
    found = read(write_json(tmp_path / "a.traj.json", sessions.mini_v1()))
    step = found.steps[2]
    assert (step.thought, step.message, step.calls[0].text) == ("Where am I?", "", "pwd")
    assert step.observations[0].exit_code == 0 and not step.observations[0].failed
    assert found.cost_usd is None and found.tokens_in is None and found.ended == "Submitted"


def test_mini_swe_agent_with_answers_of_the_responses_api(tmp_path: Path) -> None:
    made = sessions.mini_v2()
    made["messages"][2:] = [
        {
            "object": "response",
            "usage": {"input_tokens": 70, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 30}},
            "output": [
                {"type": "reasoning", "summary": [{"text": "hm"}]},
                {"type": "function_call", "call_id": "c", "name": "bash", "arguments": '{"command": "ls"}'},
            ],
        },
        {"type": "function_call_output", "call_id": "c", "output": "a\n", "extra": {"returncode": 0}},
    ]
    step = read(write_json(tmp_path / "a.traj.json", made)).steps[2]
    assert (step.thought, step.calls[0].text, step.observations[0].text) == ("hm", "ls", "a\n")
    assert (step.tokens_in, step.tokens_cached) == (70, 30)


def test_terminus_in_folders_of_episodes(tmp_path: Path) -> None:
    found = read(sessions.episodes(tmp_path / "agent-logs", 12))
    assert (found.format, len(found.steps), found.ended) == ("terminus", 13, "task_complete")
    step = found.steps[11]
    assert (step.thought, step.calls[0].text) == ("At 10.\n\nGo on.", "ls 10\n")
    assert step.observations[0].text == "root@box:/app# ls 10\n"
    assert (step.tokens_in, step.tokens_cached, step.cost_usd) == (100, 90, 0.02)


def test_an_episode_whose_answer_is_no_json_is_shown_as_it_is(tmp_path: Path) -> None:
    folder = sessions.episodes(tmp_path / "agent-logs", 1)
    (folder / "episode-0" / "response.txt").write_text("<commands><keystrokes>ls\n</keystrokes></commands> [/red]")
    (folder / "episode-0" / "debug.json").write_text("{half")
    step = read(folder).steps[1]
    assert step.calls[0].text == "ls\n" and "[/red]" in step.message


def test_words_around_an_answers_json_do_no_harm(tmp_path: Path) -> None:
    folder = sessions.episodes(tmp_path / "agent-logs", 1)
    answer = json.dumps({"analysis": "a", "plan": "b", "commands": [{"keystrokes": "pwd\n"}], "task_complete": True})
    (folder / "episode-0" / "response.txt").write_text(f"Here it is:\n{answer}\nThanks")
    found = read(folder)
    assert (found.steps[1].thought, found.steps[1].calls[0].text) == ("a\n\nb", "pwd\n")
    assert found.ended == "task_complete"
