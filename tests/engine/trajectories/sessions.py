"""Sessions as the agents write them, small and made up, in each format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Rec = dict[str, Any]


def write_lines(path: Path, records: Iterable[Rec]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_json(path: Path, value: Rec) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1))
    return path


def atif(steps: int = 2, agent: str = "claude-code", version: str = "ATIF-v1.7", **more: Any) -> Rec:
    """A user's step, then `steps` of the agent, each with one command; every third command fails."""
    made: list[Rec] = [
        {"step_id": 1, "timestamp": "2026-03-01T10:00:00Z", "source": "user", "message": "Repair the shop database."}
    ]
    for number in range(2, steps + 2):
        failed = number % 3 == 0
        made.append(
            {
                "step_id": number,
                "timestamp": f"2026-03-01T1{number // 3600}:{number // 60 % 60:02}:{number % 60:02}Z",
                "source": "agent",
                "message": f"Look at table {number}.",
                "reasoning_content": f"Table {number} may be gone.",
                "tool_calls": [
                    {
                        "tool_call_id": f"call_{number}",
                        "function_name": "bash",
                        "arguments": {"command": f"psql -c 'select count(*) from t{number}'"},
                    }
                ],
                "observation": {
                    "results": [
                        {
                            "source_call_id": f"call_{number}",
                            "content": "no such table" if failed else f"{number}",
                            "extra": {"exit_code": 1 if failed else 0},
                        }
                    ]
                },
                "metrics": {"prompt_tokens": 1000, "cached_tokens": 800, "completion_tokens": 50, "cost_usd": 0.01},
            }
        )
    return {
        "schema_version": version,
        "session_id": "s1",
        "agent": {"name": agent, "version": "2.0", "model_name": "sonnet-5.5"},
        "steps": made,
        **more,
    }


def claude_message(message: str, *blocks: Rec, usage: Rec | None = None, **more: Any) -> Rec:
    said: Rec = {"id": message, "role": "assistant", "model": "sonnet-5.5", "content": list(blocks)}
    if usage is not None:
        said["usage"] = usage
    return {"type": "assistant", "message": said, **more}


def claude_result(call: str, output: str, *, is_error: bool = False, **more: Any) -> Rec:
    block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **more}


CACHED = {"input_tokens": 3, "cache_read_input_tokens": 12_000, "cache_creation_input_tokens": 1_500}


def claude_stream() -> list[Rec]:
    return [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "sonnet-5.5", "tools": ["Bash"]},
        claude_message("m1", {"type": "thinking", "thinking": "Which table?"}, usage={**CACHED, "output_tokens": 2}),
        claude_message("m1", {"type": "text", "text": "I look."}, usage={**CACHED, "output_tokens": 2}),
        claude_message(
            "m1",
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "psql", "description": "Look"}},
            {"type": "tool_use", "id": "t2", "name": "Read", "input": {"file_path": "/app/a"}},
            usage={**CACHED, "output_tokens": 900},
        ),
        claude_result("t2", "contents of a"),
        claude_result("t1", "Exit code 2\nno such table", is_error=True),
        claude_message("m2", {"type": "text", "text": "Done."}, usage={"input_tokens": 5, "output_tokens": 7}),
        {
            "type": "result", "subtype": "success", "session_id": "s", "is_error": False, "duration_ms": 9_000,
            "num_turns": 2, "result": "Done.", "total_cost_usd": 0.25,
            "usage": {**CACHED, "output_tokens": 907},
        },
    ]  # fmt: skip


def codex_events() -> list[Rec]:
    def item(stage: str, **fields: Any) -> Rec:
        return {"type": f"item.{stage}", "item": fields}

    shell = {"id": "item_1", "type": "command_execution", "command": "bash -lc 'make test'"}
    return [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        item("completed", id="item_0", type="reasoning", text="**Running the tests**"),
        item("started", **shell, aggregated_output="", exit_code=None, status="in_progress"),
        item("completed", **shell, aggregated_output="2 failed\n", exit_code=2, status="failed"),
        item(
            "completed", id="item_2", type="file_change", status="completed",
            changes=[{"path": "/app/a.py", "kind": "update"}],
        ),
        item("completed", id="item_3", type="agent_message", text="Fixed."),
        {"type": "turn.completed", "usage": {"input_tokens": 1_270_492, "cached_input_tokens": 1_202_176,
                                             "output_tokens": 8_679}},
    ]  # fmt: skip


def codex_rollout() -> list[Rec]:
    def line(second: int, kind: str, **payload: Any) -> Rec:
        return {"timestamp": f"2026-03-01T10:00:{second:02}.000Z", "type": kind, "payload": payload}

    def counted(second: int, total: int) -> Rec:
        last = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 10}
        everything = {"input_tokens": total, "cached_input_tokens": 40, "output_tokens": 10}
        return line(
            second, "event_msg", type="token_count", info={"last_token_usage": last, "total_token_usage": everything}
        )

    said = [{"type": "input_text", "text": "<environment_context>\n<cwd>/app</cwd>\n</environment_context>"}]
    asked = [{"type": "input_text", "text": "Make the tests pass."}]
    answered = [{"type": "output_text", "text": "They pass."}]
    return [
        line(0, "session_meta", id="x", cli_version="0.65.0", cwd="/app"),
        line(0, "turn_context", model="sol-6.1"),
        line(1, "response_item", type="message", role="user", content=said),
        line(1, "response_item", type="message", role="user", content=asked),
        line(2, "response_item", type="reasoning", summary=[{"type": "summary_text", "text": "Run them first"}]),
        line(
            3, "response_item", type="function_call", name="shell", call_id="c1",
            arguments=json.dumps({"command": ["bash", "-lc", "make test"], "workdir": "/app"}),
        ),
        counted(3, 100),
        counted(3, 100),
        line(
            7, "response_item", type="function_call_output", call_id="c1",
            output=json.dumps({"output": "1 failed\n", "metadata": {"exit_code": 1, "duration_seconds": 3.5}}),
        ),
        line(8, "response_item", type="message", role="assistant", content=answered),
        counted(8, 200),
    ]  # fmt: skip


def mini_v2() -> Rec:
    usage = {"prompt_tokens": 2_182, "completion_tokens": 89, "prompt_tokens_details": {"cached_tokens": 320}}
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "pwd && ls"}'}}
    return {
        "info": {
            "model_stats": {"instance_cost": 0.05, "api_calls": 2},
            "config": {"model": {"model_name": "deepseek/deepseek-chat"}},
            "mini_version": "2.2.7",
            "exit_status": "LimitsExceeded",
        },
        "messages": [
            {"role": "system", "content": "You are helpful."},
            {"role": "user", "content": "Fix the bug."},
            {
                "role": "assistant", "content": "I look.", "tool_calls": [call],
                "extra": {"response": {"usage": usage, "model": "deepseek-chat"}, "cost": 0.0005,
                          "timestamp": 1_775_786_369.0},
            },
            {
                "role": "tool", "tool_call_id": "c1", "content": "<returncode>1</returncode>\n<output>\n/app</output>",
                "extra": {"returncode": 1, "timestamp": 1_775_786_371.5, "exception_info": ""},
            },
            {"role": "exit", "content": "LimitsExceeded", "extra": {"exit_status": "LimitsExceeded"}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
    }  # fmt: skip


def mini_v1() -> Rec:
    return {
        "info": {"exit_status": "Submitted", "submission": "x", "model_stats": {"instance_cost": 0.0, "api_calls": 3}},
        "messages": [
            {"role": "system", "content": "You are helpful."},
            {"role": "user", "content": "Fix the bug."},
            {"role": "assistant", "content": "THOUGHT: Where am I?\n\n```bash\npwd\n```"},
            {"role": "user", "content": "<returncode>0</returncode>\n<output>\n/app\n</output>"},
        ],
        "trajectory_format": "mini-swe-agent-1",
    }


def episodes(folder: Path, count: int = 3) -> Path:
    for number in range(count):
        episode = folder / f"episode-{number}"
        episode.mkdir(parents=True)
        (episode / "prompt.txt").write_text("Solve the task." if not number else f"root@box:/app# ls {number - 1}\n")
        commands = [{"keystrokes": f"ls {number}\n", "is_blocking": True, "timeout_sec": 5.0}]
        done = number == count - 1
        answer = {"state_analysis": f"At {number}.", "explanation": "Go on.", "commands": commands}
        (episode / "response.txt").write_text(json.dumps({**answer, "is_task_complete": done}))
        usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5}
        debug = {"model": "sonnet-5.5", "original_response": json.dumps({"usage": usage}), "response_cost": 0.02}
        (episode / "debug.json").write_text(json.dumps(debug))
    return folder
