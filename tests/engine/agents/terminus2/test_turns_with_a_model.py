"""Turn after turn with a model that says what it is told to and a terminal that only pretends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import anyio
import msgspec
import pytest

from engine.agents.agent import AgentEnd
from engine.agents.terminus2.agent import TRAITS
from engine.agents.terminus2.keys import Stroke
from engine.agents.terminus2.terminal import TerminalGone, TerminalSilent
from engine.agents.terminus2.work import MOST_SILENT, MOST_UNREADABLE
from engine.issues import Code, Severity
from engine.models.model_call import CostSource, Stop, Usage
from engine.trajectories.read import find_trajectories
from tests.engine.agents.terminus2.bench import Bench, FakeTerminal
from tests.engine.agents.terminus2.model import DONE, fails, reply, says

pytestmark = pytest.mark.anyio


async def test_a_task_is_done_once_that_was_said_twice(bench: Callable[..., Bench]) -> None:
    work = bench(says(("ls\n", 2.0), "C-c"), DONE, DONE, terminal=FakeTerminal("$ ", "$ ls\na b", "$"))
    end = await work.run()
    assert end == AgentEnd(note="the agent said twice that the task is complete")
    assert work.issues == []
    assert work.terminal.sent == [Stroke(text=b"ls\r"), Stroke(names=("C-c",))]
    assert work.terminal.waited == [(2.0, True), (0.1, False)]
    assert "New in the terminal:\n\n$ ls\na b" in work.model.told(1)
    assert "Look at the task once more" in work.model.told(2)
    assert (work.terminal.ended, work.model.closed) == (1, 1)


async def test_who_goes_on_after_all_is_asked_again(bench: Callable[..., Bench]) -> None:
    work = bench(DONE, says("ls\n"), DONE, DONE)
    await work.run()
    assert work.model.calls == 4
    assert "Look at the task once more" not in work.model.told(2)
    assert "Look at the task once more" in work.model.told(3)


async def test_the_steps_are_told_and_written_as_they_come(bench: Callable[..., Bench]) -> None:
    first = reply(
        says("ls\n", analysis="An empty folder.\nSo far."),
        reasoning="let me think",
        model="m-2026",
        usage=Usage(tokens_in=100, tokens_cached=40, tokens_cache_written=9, tokens_out=7, tokens_reasoning=3),
        cost_usd=0.5,
        cost_source=CostSource.PRICES,
    )
    work = bench(first, DONE, DONE, terminal=FakeTerminal("$ ", "$ ls"))
    await work.run()
    assert [step.what for step in work.session.steps] == ["An empty folder.", "I see.", "I see."]
    told = work.session.steps[0]
    assert (told.tokens_in, told.tokens_cached, told.tokens_cache_written) == (100, 40, 9)
    assert (told.tokens_out, told.tokens_reasoning, told.cost_usd, told.cost_source) == (7, 3, 0.5, CostSource.PRICES)
    trajectory = work.trajectory
    assert (trajectory.format, trajectory.agent, trajectory.model, trajectory.ended) == (
        "terminus",
        "terminus2",
        "m",
        "task_complete",
    )
    system, user, step, confirm, end = trajectory.steps
    assert (system.source, user.source, step.source) == ("system", "user", "agent")
    assert (system.message, user.message) == (work.model.systems[0], work.model.told(0))
    assert (step.thought, step.message, step.model) == ("let me think", "An empty folder.\nSo far.\n\nGo on.", "m-2026")
    assert [(call.tool, call.text) for call in step.calls] == [("keystrokes", "ls\n")]
    assert [seen.text for seen in step.observations] == [work.model.told(1)]
    assert (step.tokens_in, step.tokens_cached, step.tokens_out, step.cost_usd) == (100, 40, 7, 0.5)
    assert [call.tool for call in confirm.calls] == [call.tool for call in end.calls] == ["task_complete"]
    assert (trajectory.tokens_in, trajectory.cost_usd) == (300, 1.0)
    assert find_trajectories(work.session.folder.parent) == [work.session.folder / "trajectory.json"]


async def test_every_question_is_kept_with_its_answer_as_it_came(bench: Callable[..., Bench]) -> None:
    work = bench("nonsense \x00", DONE, DONE)
    await work.run()
    lines = (work.session.folder / "model.jsonl").read_bytes().splitlines()
    kept = [msgspec.json.decode(line) for line in lines]
    assert [line["answer"] for line in kept] == ["nonsense \x00", DONE, DONE]
    assert [line["said"] for line in kept] == [turns[-1].text for turns in work.model.asked]
    assert [line["call"] for line in kept] == [1, 2, 3]


async def test_the_terminal_is_recorded(bench: Callable[..., Bench]) -> None:
    work = bench(DONE, DONE)
    await work.run()
    lines = [msgspec.json.decode(line) for line in (work.session.folder / "terminal.cast").read_bytes().splitlines()]
    assert (lines[0]["version"], lines[0]["width"]) == (2, 200)
    assert "".join(line[2] for line in lines[1:] if line[1] == "o") == "printed é\r\n"
    assert [line[2] for line in lines[1:] if line[1] == "m"] == ["call 1: turn", "call 2: turn"]


async def test_the_model_is_told_the_instruction_byte_by_byte(bench: Callable[..., Bench]) -> None:
    """Case 61."""
    instruction = (
        'Don\'t `reboot`; fix foo(bar) in "a b.txt" $HOME $(id) \\\\ !x\nEOF\n'
        "'; touch /pwned; '\nrun the tests;\r\n\té"
    )
    work = bench(DONE, DONE, instruction=instruction.encode())
    await work.run()
    told = work.model.told(0)
    part = told[len("The task:\n\n") : told.index("\n\n(end of the task)")]
    assert hashlib.sha256(part.encode()).hexdigest() == hashlib.sha256(instruction.encode()).hexdigest()


async def test_bytes_that_no_text_holds_are_named(bench: Callable[..., Bench]) -> None:
    work = bench(DONE, DONE, instruction=b"fix \xff")
    await work.run()
    assert "fix \\xff\n\n(This text has bytes that are no UTF-8" in work.model.told(0)
    assert "/logs/agent/instruction.md" in work.model.told(0)


async def test_warnings_are_told_back(bench: Callable[..., Bench]) -> None:
    work = bench('{"commands": [{"keystrokes": "ls\\n"}]}', says("x" * 5000), DONE, DONE)
    await work.run()
    assert work.model.told(1).startswith("About your last answer:\n- command 1: duration is missing")
    assert work.model.told(2).startswith("About your last answer:\n- too long\n\n")


# --- answers that can't be read ---


async def test_an_unreadable_answer_is_told_back_and_nothing_of_it_is_done(bench: Callable[..., Bench]) -> None:
    work = bench("rm -rf /", says("ls\n"), "Hm.", DONE, DONE)
    await work.run()
    assert work.model.told(1).startswith("Your answer couldn't be read, and nothing of it was done: there is no JSON")
    assert work.terminal.sent == [Stroke(text=b"ls\r")]
    assert work.issues == []
    whats = [step.what for step in work.session.steps]
    assert whats[0] == "an answer that can't be read: there is no JSON object in the answer"
    assert whats[1] == "I see."


async def test_too_many_unreadable_answers_in_a_row_end_it(bench: Callable[..., Bench]) -> None:
    work = bench(rest="Hm.")
    end = await work.run()
    assert work.model.calls == MOST_UNREADABLE
    (issue,) = work.issues
    assert (issue.code, issue.severity) == (Code.MODEL_CALL_MALFORMED, Severity.ERROR)
    assert "5 answers in a row" in issue.message
    assert issue.evidence[0].text == "Hm."
    assert end.exit_code is None
    assert work.trajectory.errors[0][1] == issue.message


async def test_a_cut_off_answer_is_told_and_counted(bench: Callable[..., Bench]) -> None:
    cut = reply('{"analysis": "' + "long " * 3000, stop=Stop.LENGTH)
    work = bench(cut, DONE, DONE)
    await work.run()
    assert work.model.told(1).startswith("Your answer was longer than an answer may be")
    assert len(work.model.asked[1][1].text) == 4000
    (issue,) = work.issues
    assert (issue.code, issue.severity) == (Code.MODEL_CUT_OFF, Severity.WARNING)
    assert issue.message.startswith("1 answer was cut off")


async def test_an_answer_that_is_complete_although_it_was_cut_off_is_done(bench: Callable[..., Bench]) -> None:
    work = bench(reply(says("ls\n") + "\n\nAnd as I", stop=Stop.LENGTH), DONE, DONE)
    await work.run()
    assert work.terminal.sent == [Stroke(text=b"ls\r")]
    assert work.codes == [Code.MODEL_CUT_OFF]


async def test_nothing_but_cut_off_answers_end_it(bench: Callable[..., Bench]) -> None:
    work = bench(rest=reply("so ", stop=Stop.LENGTH))
    await work.run()
    (issue,) = work.issues
    assert (issue.code, issue.severity) == (Code.MODEL_CUT_OFF, Severity.ERROR)


@pytest.mark.parametrize(("stop", "code"), [(Stop.REFUSAL, Code.MODEL_REFUSED), (Stop.FILTER, Code.MODEL_FILTERED)])
async def test_a_refusal_ends_it_at_once(bench: Callable[..., Bench], stop: Stop, code: Code) -> None:
    """Case 64."""
    work = bench(says("ls\n"), reply("I can't help with that.", stop=stop))
    await work.run()
    (issue,) = work.issues
    assert issue.code is code
    assert issue.evidence[0].text == "I can't help with that."
    assert len(work.session.steps) == 2


async def test_what_no_request_can_hold_does_not_come_back_in_one(bench: Callable[..., Bench]) -> None:
    work = bench("\ud800", '{"commands": [], "\\udc00": 1}', DONE, DONE)
    await work.run()
    for turns in work.model.asked:
        for turn in turns:
            assert turn.text.encode()


# --- a model that fails ---


async def test_a_failing_call_ends_it_with_what_the_server_said(bench: Callable[..., Bench]) -> None:
    """Case 62."""
    work = bench(says("ls\n"), fails(Code.MODEL_RATE_LIMITED, "slow down", tries=4, status=429))
    end = await work.run()
    (issue,) = work.issues
    assert (issue.code, issue.severity) == (Code.MODEL_RATE_LIMITED, Severity.ERROR)
    assert {(each.label, each.text) for each in issue.evidence} == {
        ("the server's or the connection's words", "slow down"),
        ("HTTP status", "429"),
        ("tries", "4"),
    }
    assert "4 times, after 1 answered calls" in end.note
    assert work.trajectory.ended == "model_rate_limited"
    assert work.model.closed == 1


async def test_a_model_that_never_answered_is_told_apart(bench: Callable[..., Bench]) -> None:
    """Case 65."""
    work = bench(fails(Code.MODEL_UNTRUSTED, "unable to get local issuer certificate"))
    await work.run()
    assert work.codes == [Code.MODEL_UNTRUSTED]
    assert "and none was answered before" in work.session.issues[0].message
    assert work.session.steps == []
    assert work.trajectory.steps[-1].source == "system"


# --- limits ---


@pytest.mark.parametrize(
    ("parameters", "calls", "said"),
    [
        ({"max_turns": "3"}, 3, "max_turns=3: the model was asked 3 times"),
        ({"max_tokens": "200"}, 2, "max_tokens=200: 220 tokens were used"),
        ({"max_cost": "0.6"}, 3, "max_cost=0.6: $0.7500 was spent"),
    ],
)
async def test_a_limit_ends_it_with_a_warning(
    bench: Callable[..., Bench], parameters: dict[str, str], calls: int, said: str
) -> None:
    """Case 71: it is a warning, and verification follows."""
    work = bench(rest=says("ls\n"), parameters=parameters)
    end = await work.run()
    (issue,) = work.issues
    assert (issue.code, issue.severity) == (Code.AGENT_LIMIT_REACHED, Severity.WARNING)
    assert said in issue.message
    assert said in end.note
    assert work.model.calls == calls
    assert work.trajectory.ended == "limit"
    assert work.terminal.ended == 1


async def test_a_limit_of_time_ends_a_wait(bench: Callable[..., Bench]) -> None:
    terminal = FakeTerminal()
    terminal.stands_still = True
    work = bench(says(("sleep 999\n", 60)), terminal=terminal, parameters={"max_seconds": "0.01"})
    await work.run()
    (issue,) = work.issues
    assert (issue.code, issue.message) == (
        Code.AGENT_LIMIT_REACHED,
        "the agent's own limit was reached: max_seconds=0.01",
    )


async def test_a_cost_limit_that_can_not_be_kept_is_told(bench: Callable[..., Bench]) -> None:
    """Case 68: unknown is not zero."""
    work = bench(reply(DONE, cost_usd=None), DONE, parameters={"max_cost": "9"})
    await work.run()
    (issue,) = work.issues
    assert "of 1 call the cost is unknown" in issue.message


async def test_when_time_is_up_what_was_said_is_on_disk(bench: Callable[..., Bench]) -> None:
    """Case 53: the trajectory has the step whose wait was cut."""
    terminal = FakeTerminal()
    terminal.stands_still = True
    work = bench(says(("sleep 999\n", 60)), terminal=terminal)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(work.run)
            while not terminal.waited:
                await anyio.lowlevel.checkpoint()
            scope.cancel()
    assert scope.cancelled_caught
    assert work.trajectory.ended == "interrupted"
    assert work.trajectory.steps[-1].calls[0].text == "sleep 999\n"
    assert work.model.closed == 1
    assert sorted(path.name for path in work.session.folder.iterdir()) == [
        "model.jsonl",
        "terminal.cast",
        "trajectory.json",
    ]


async def test_a_program_that_prints_for_ever_fills_no_disk(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.agents.terminus2.agent.MOST_OUTPUT", 3)
    monkeypatch.setattr("engine.agents.terminus2.cast.MOST_BYTES", 100)
    work = bench(DONE, DONE)
    await work.run()
    assert work.session.issues == []
    lines = (work.session.folder / "terminal.cast").read_bytes().splitlines()
    assert msgspec.json.decode(lines[-1])[1:] == ["m", "the recording ends at 0 MB"]


# --- a terminal that ends, or doesn't answer ---


async def test_only_a_terminal_that_is_gone_ends_it(bench: Callable[..., Bench]) -> None:
    """Case 70."""
    silent = TerminalSilent("tmux doesn't answer: exit code 1")
    work = bench(
        says("a\n"),
        says("b\n"),
        says("exit\n"),
        terminal=FakeTerminal("$", silent, "$", TerminalGone("no server running")),
    )
    end = await work.run()
    assert "The terminal doesn't answer now" in work.model.told(1)
    (issue,) = work.issues
    assert (issue.code, issue.severity) == (Code.HARNESS_INTERRUPTED, Severity.WARNING)
    assert end.note == "the terminal ended before the agent said that it was done"


async def test_who_ends_its_shell_and_says_that_it_is_done_is_done(bench: Callable[..., Bench]) -> None:
    work = bench(says("exit\n", done=True), terminal=FakeTerminal("$", TerminalGone("no server running")))
    await work.run()
    assert work.issues == []
    assert work.trajectory.ended == "task_complete"


async def test_a_terminal_that_never_answers_again_is_given_up(bench: Callable[..., Bench]) -> None:
    work = bench(rest=says("ls\n"), terminal=FakeTerminal("$", TerminalSilent("nothing")))
    await work.run()
    assert work.codes == [Code.HARNESS_FAILED]
    assert work.model.calls == MOST_SILENT


# --- XML ---


async def test_answers_in_xml(bench: Callable[..., Bench]) -> None:
    xml = (
        '<response><analysis>a</analysis><plan>p</plan><commands><keystrokes duration="1">a && b\n</keystrokes>'
        "</commands><task_complete>{}</task_complete></response>"
    )
    work = bench(xml.format("false"), "?", xml.format("true"), xml.format("true"), parameters={"answers": "xml"})
    await work.run()
    assert work.terminal.sent == [Stroke(text=b"a && b\r")] * 3
    assert "<keystrokes duration=" in work.model.systems[0]
    assert "in the <response> form" in work.model.told(2)


async def test_a_wait_can_be_had_in_full(bench: Callable[..., Bench]) -> None:
    work = bench(says(("make\n", 9)), DONE, DONE, parameters={"waits": "full"})
    await work.run()
    assert work.terminal.waited == [(9, False)]


def test_what_it_takes_is_told() -> None:
    assert TRAITS.calls_model
    assert not TRAITS.mcp
    assert not TRAITS.takes_skills
    assert TRAITS.capsules == ("tmux-v1",)
    assert set(TRAITS.parameters) == {
        "answers",
        "waits",
        "summarise",
        "max_turns",
        "max_tokens",
        "max_cost",
        "max_seconds",
    }
