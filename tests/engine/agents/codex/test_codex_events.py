"""What Codex really prints (recorded with a scripted model), as steps, activities and issues."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.agents.codex.ended import MOST_WAITS, CodexEnd
from engine.issues import Code, Issue, Severity
from engine.trajectories.codex_events import CodexEventsFold
from engine.trajectories.steps import Step
from engine.trajectories.untyped import decoded

RECORDED = Path(__file__).with_name("recorded")
LOG = "agent/codex.txt"


class Told:
    """A recorded run, read as it is read live. `stopped`: at the line after which Codex would be stopped."""

    def __init__(self, lines: list[bytes], *, tail: str = "") -> None:
        fold = CodexEventsFold()
        self.activities: list[str] = []
        self.stopped: list[int] = []
        self._line = 0
        end = CodexEnd(LOG, self.activities.append, lambda: self.stopped.append(self._line))
        for self._line, line in enumerate(lines, 1):
            record = decoded(line)
            assert record is not None
            fold.take(self._line, record)
            end.watch(self._line, record)
        self.steps: tuple[Step, ...] = fold.session.trajectory(RECORDED).steps
        self.issues: list[Issue] = end.issues(tail)
        self.ended = end.ended()
        self.thread = end.thread


def told(name: str) -> Told:
    return Told((RECORDED / f"{name}.jsonl").read_bytes().splitlines())


def test_a_solved_task_is_three_steps_and_no_issue() -> None:
    found = told("done")
    assert [(step.message, [call.text for call in step.calls]) for step in found.steps] == [
        ("I write it.", ["echo 42 > answer.txt; cat answer.txt"]),
        ("", ["exit 3"]),
        ("It is written.", []),
    ]
    assert found.steps[0].thought == "It wants a number."
    assert found.steps[1].observations[0].exit_code == 3 and found.steps[1].observations[0].failed
    assert (found.ended, found.issues, found.stopped) == ("completed", [], []) and found.thread


@pytest.mark.parametrize("name", ["rate_limited", "broken_off"])
def test_case_62_a_try_that_helped_is_an_activity_and_no_issue(name: str) -> None:
    found = told(name)
    assert found.ended == "completed" and found.issues == [] and found.stopped == []
    assert len(found.activities) == 1 and "asks the model again" in found.activities[0]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("unauthorized", Code.MODEL_AUTH_FAILED),
        ("overloaded", Code.MODEL_OVERLOADED),
        ("context_full", Code.MODEL_CONTEXT_FULL),
        ("cut_off", Code.MODEL_CUT_OFF),
        ("filtered", Code.MODEL_FILTERED),
    ],
)
def test_cases_62_and_64_why_codex_gave_up_has_the_code_and_the_line_of_its_event(name: str, code: Code) -> None:
    found = told(name)
    [issue] = found.issues
    assert (issue.code, issue.severity, found.ended) == (code, Severity.ERROR, "failed")
    [evidence] = issue.evidence
    lines = (RECORDED / f"{name}.jsonl").read_text().splitlines()
    assert evidence.file == LOG and decoded(lines[evidence.line - 1].encode()) == decoded(evidence.text.encode())


@pytest.mark.parametrize("name", ["unauthorized", "filtered_midway"])
def test_case_64_what_no_try_can_mend_is_not_tried_again(name: str) -> None:
    found = told(name)
    first = next(n for n, line in enumerate((RECORDED / f"{name}.jsonl").read_text().splitlines(), 1) if "1/" in line)
    assert found.stopped[0] == first


def test_a_refusal_and_a_call_that_codex_could_not_read_are_no_event_of_its_own() -> None:
    """The engine's gateway tells of the one; of the other the model itself was told."""
    for name in ("refused", "malformed_call"):
        found = told(name)
        assert (found.ended, found.issues, found.stopped) == ("completed", [], [])


def test_case_65_a_model_that_nobody_answers_for_is_not_waited_for_for_ever() -> None:
    waits = (
        b'{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}'
    )
    few = Told([waits] * (MOST_WAITS - 1))
    assert few.stopped == [] and few.issues == []
    answered = b'{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Here."}}'
    assert Told([*[waits] * (MOST_WAITS - 1), answered, waits]).stopped == []
    many = Told([waits] * MOST_WAITS)
    assert many.stopped == [MOST_WAITS] and [issue.code for issue in many.issues] == [Code.MODEL_UNREACHABLE]


def test_a_server_of_the_task_that_does_not_start_is_named_as_what_it_is() -> None:
    tail = "Error: thread/start failed: required MCP servers failed to initialize: sums: No such file or directory"
    [issue] = Told([], tail=tail).issues
    assert issue.code is Code.MCP_SERVER_FAILED and "MCP server" in issue.message and tail in issue.evidence[0].text


def test_of_several_servers_the_ones_that_codex_names_have_failed() -> None:
    tail = "Error: required MCP servers failed to initialize: sums: No such file or directory"
    end = CodexEnd("codex.txt", lambda words: None, lambda: None)
    wrong = {"sums": "its command /sums is not in main", "others": "never asked"}
    [issue] = end.issues(tail, ["others", "sums", "su"], wrong)
    assert issue.message.endswith("(sums)")
    assert [(item.label, item.text) for item in issue.evidence[1:]] == [
        ("the task's definition", "sums: its command /sums is not in main")
    ]


def test_what_codex_says_beside_its_work_is_told_once_but_for_an_unknown_model() -> None:
    event = '{"type":"item.completed","item":{"id":"item_0","type":"error","message":"%s"}}'
    lines = [(event % words).encode() for words in ("Model metadata for `m` not found.", "Odd.", "Odd.", "Odder.")]
    [issue] = Told(lines).issues
    assert issue.code is Code.HARNESS_FAILED and "Odd. (and 1 more)" in issue.message
    assert (issue.evidence[0].text, issue.evidence[0].line) == ("Odd.\nOdder.", 2)
