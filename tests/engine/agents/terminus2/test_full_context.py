"""A context that is full: notes are taken, and the work goes on from them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from engine.issues import Code
from engine.models.conversation import Turn
from engine.models.model_call import Stop, Usage
from tests.engine.agents.terminus2.bench import Bench
from tests.engine.agents.terminus2.model import DONE, Says, fails, reply, says

pytestmark = pytest.mark.anyio


def by_kind(
    notes: str = "NOTES", questions: str = "QUESTIONS", answers: str = "ANSWERS"
) -> Callable[[list[Turn]], str]:
    """Answers notes, questions and answers as such, and every turn with keys."""

    def say(turns: list[Turn]) -> str:
        last = turns[-1].text
        if last.startswith("The conversation is getting longer"):
            return notes
        if "You can ask only once" in last:
            return questions
        if last.startswith("Whoever goes on with your notes"):
            return answers
        return DONE if "You have worked on this task for a while" in turns[0].text else says("ls\n")

    return say


async def test_a_nearly_full_context_goes_on_from_notes(bench: Callable[..., Bench]) -> None:
    big = reply(says("ls\n"), usage=Usage(tokens_in=29_000, tokens_out=10))
    work = bench(says("ls\n"), says("ls\n"), big, rest=by_kind(), context_tokens=30_000)
    await work.run()
    kinds = [
        msgspec.json.decode(line)["kind"] for line in (work.session.folder / "model.jsonl").read_bytes().splitlines()
    ]
    assert kinds == ["turn", "turn", "turn", "notes", "questions", "answers", "turn", "turn"]
    anew = work.model.told(6)
    assert len(work.model.asked[6]) == 1
    for part in ("The task:\n\ndo it\n", "NOTES", "QUESTIONS", "ANSWERS", "the whole screen"):
        assert part in anew
    assert work.issues == []
    assert [step.what for step in work.session.steps][3] == "takes notes, its context is nearly full"
    assert anew in [step.message for step in work.trajectory.steps if step.source == "user"]


async def test_a_context_that_the_server_calls_full_goes_on_from_notes(bench: Callable[..., Bench]) -> None:
    work = bench(says("ls\n"), fails(Code.MODEL_CONTEXT_FULL), rest=by_kind())
    await work.run()
    assert work.issues == []
    assert "NOTES" in work.model.asked[-1][0].text


async def test_an_answer_that_the_context_cut_off_is_treated_alike(bench: Callable[..., Bench]) -> None:
    work = bench(says("ls\n"), reply("{", stop=Stop.CONTEXT), rest=by_kind())
    await work.run()
    assert work.issues == []
    assert len(work.session.steps) == 7


async def test_notes_that_do_not_fit_either_are_asked_for_with_less(bench: Callable[..., Bench]) -> None:
    full = fails(Code.MODEL_CONTEXT_FULL)
    work = bench(*[says("ls\n")] * 6, full, full, full, rest=by_kind())
    await work.run()
    assert work.issues == []
    lengths = [len(turns) for turns in work.model.asked[6:10]]
    assert lengths[0] > lengths[1] > lengths[2] > lengths[3]


@pytest.mark.parametrize("notes", ["", fails(Code.MODEL_CONTEXT_FULL)])
async def test_without_notes_it_begins_again_from_the_screen(bench: Callable[..., Bench], notes: Says) -> None:
    full = fails(Code.MODEL_CONTEXT_FULL)
    said = [says("ls\n")] * 8
    tries = [notes] * (1 if isinstance(notes, str) else 3)
    work = bench(*said, full, *tries, DONE, DONE)
    await work.run()
    assert work.issues == []
    assert "your notes of it are lost" in work.model.asked[-1][0].text
    assert "the whole screen" in work.model.asked[-1][0].text


async def test_questions_that_do_not_fit_are_left_out(bench: Callable[..., Bench]) -> None:
    full = fails(Code.MODEL_CONTEXT_FULL)
    work = bench(says("ls\n"), says("ls\n"), full, "NOTES", full, DONE, DONE)
    await work.run()
    assert "NOTES" in work.model.asked[-1][0].text
    assert "Questions about the notes" not in work.model.asked[-1][0].text


async def test_a_context_that_stays_full_ends_it(bench: Callable[..., Bench]) -> None:
    work = bench(says("ls\n"), says("ls\n"), rest=fails(Code.MODEL_CONTEXT_FULL, "prompt is too long"))
    await work.run()
    (issue,) = work.issues
    assert issue.code is Code.MODEL_CONTEXT_FULL
    assert issue.evidence[0].text == "prompt is too long"
    assert work.model.calls < 10


async def test_a_small_context_takes_no_notes_at_every_turn(bench: Callable[..., Bench]) -> None:
    work = bench(rest=by_kind(), context_tokens=100, parameters={"max_turns": "9"})
    await work.run()
    kinds = [
        msgspec.json.decode(line)["kind"] for line in (work.session.folder / "model.jsonl").read_bytes().splitlines()
    ]
    assert kinds == ["turn", "turn", "turn", "notes", "questions", "answers", "turn", "turn"]


async def test_without_summaries_a_full_context_ends_it(bench: Callable[..., Bench]) -> None:
    full = fails(Code.MODEL_CONTEXT_FULL)
    work = bench(says("ls\n"), full, parameters={"summarise": "off"})
    await work.run()
    assert work.codes == [Code.MODEL_CONTEXT_FULL]
    assert "summarise=off" in work.issues[0].message


async def test_limits_hold_while_notes_are_taken(bench: Callable[..., Bench]) -> None:
    work = bench(says("ls\n"), fails(Code.MODEL_CONTEXT_FULL), "NOTES", parameters={"max_tokens": "215"})
    await work.run()
    assert work.codes == [Code.AGENT_LIMIT_REACHED]


async def test_a_failure_while_notes_are_taken_is_a_failure(bench: Callable[..., Bench]) -> None:
    work = bench(says("ls\n"), fails(Code.MODEL_CONTEXT_FULL), fails(Code.MODEL_AUTH_FAILED))
    await work.run()
    assert work.codes == [Code.MODEL_AUTH_FAILED]
