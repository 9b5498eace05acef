"""Deciding in triage: one key labels and goes on, notes go along, and all of it can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.habits import Habits
from engine.triage.causes import Cause
from screens.actions import key_text
from screens.help_screen import HelpScreen
from screens.question_screen import QuestionScreen
from screens.triage_causes import CAUSE_KEYS
from screens.triage_screen import TriageScreen
from screens.widgets.log_page import LogPage
from screens.widgets.triage_lines import CauseBar
from screens.widgets.triage_note import EntryInput
from tests.screens import fake_triage
from tests.screens.deck import pasted, screen_lines, screen_text, until
from tests.screens.fake_triage import (
    OOM,
    OOM_TOO,
    PLAIN,
    causes,
    labels_in,
    settle,
    triage_opened,
    written,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fake_triage.write(tmp_path / "run")


@pytest.mark.parametrize("entry", CAUSE_KEYS, ids=lambda entry: str(entry.cause))
async def test_a_causes_key_labels_and_goes_on_to_the_next_undecided(run: Path, entry: object) -> None:
    key, cause = entry.key, entry.cause  # type: ignore[attr-defined]
    async with triage_opened(run) as (app, pilot, screen):
        first = screen.walk.current
        await pilot.press(key)
        await written(pilot, screen)
        await until(pilot, lambda: "1 of 5 decided" in screen_text(app), "it is counted")
        assert screen.walk.current != first
        await until(pilot, lambda: f"✓ {cause}" in screen_text(app), "what was decided is said")
    [label] = labels_in(run)
    assert (label.trial, label.cause, label.who, label.kind) == (first, cause, "ada", "label")
    assert label.proposed is Cause.INFRASTRUCTURE and not label.blind


async def test_agreeing_with_the_proposal_costs_one_key(run: Path) -> None:
    async with triage_opened(run) as (_, pilot, screen):
        await pilot.press("space")
        await written(pilot, screen)
        first, second = causes(run)[0], screen.walk.current
        assert first[1] == "infrastructure" and second in {OOM, OOM_TOO} - {first[0]}
    assert labels_in(run)[0].evidence, "what the rules found goes with the label"


async def test_where_nothing_is_proposed_agreeing_decides_nothing(run: Path) -> None:
    async with triage_opened(run, trial=PLAIN) as (app, pilot, screen):
        await pilot.press("space")
        await settle(pilot)
        assert screen.walk.current == PLAIN and "nothing is proposed here" in screen_text(app)
    assert labels_in(run) == []


async def test_a_dot_gives_the_same_cause_as_the_last(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("full_stop")
        await settle(pilot)
        assert "you have given no cause yet" in screen_text(app)
        await pilot.press("b", "full_stop", "full_stop")
        await written(pilot, screen)
    assert [cause for _, cause in causes(run)] == ["budget"] * 3


async def test_all_forty_keys_typed_at_once_decide_one_trial_each(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("i", "p", "a", "m", "b")
        await written(pilot, screen)
        assert "5 of 5 decided" in screen_text(app) and "nothing is left undecided" in screen_text(app)
    assert len({trial for trial, _ in causes(run)}) == 5


async def test_causes_keys_work_while_a_log_has_the_keys(run: Path) -> None:
    """`k` and `g` move in a log elsewhere."""
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("tab")
        await settle(pilot)
        assert isinstance(app.focused, LogPage)
        await pilot.press("k")
        await settle(pilot)
        await pilot.press("g")
        await written(pilot, screen)
    assert [cause for _, cause in causes(run)] == ["task", "grader"]


async def test_a_question_mark_is_ambiguous_and_f1_is_help(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("question_mark")
        await written(pilot, screen)
        assert causes(run)[0][1] == "ambiguous"
        assert "✓ ambiguous  (help is F1 here)" in screen_text(app) and "F1 help" in screen_text(app)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert "It can't be told" in screen_text(app)


async def test_a_note_goes_with_the_label_and_its_letters_are_no_commands(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        first = screen.walk.current
        await pilot.press("n", *"impish", "space", "b")
        await settle(pilot)
        assert isinstance(app.focused, EntryInput) and app.focused.value == "impish b"
        await pilot.press("enter")
        await settle(pilot)
        assert screen.walk.current == first and "✎ note: impish b" in screen_text(app)
        await pilot.press("i")
        await written(pilot, screen)
    [label] = labels_in(run)
    assert (label.cause, label.note) == (Cause.INFRASTRUCTURE, "impish b")


async def test_what_is_pasted_into_a_note_is_taken_whole_safe_and_too_much_is_said(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        trial = screen.walk.current
        await pilot.press("n")
        await pasted(pilot, "Traceback:\n  \x1b[31mMemoryError\x1b[0m\n\nkilled\n")
        entry = app.screen.query_one(EntryInput)
        assert entry.value == "Traceback: MemoryError killed"
        await pasted(pilot, "x" * 20_000)
        await until(pilot, lambda: bool(app._notifications), "it is said")
        assert [said.message for said in app._notifications] == ["29 characters left out: 20,000 is the most"]
        await pilot.press("enter", "m")
        await written(pilot, screen)
    [label] = labels_in(run)
    assert label.trial == trial and label.note.endswith("x") and len(label.note) == 20_000


async def test_a_note_after_the_label_is_a_record_of_its_own(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        first = screen.walk.current
        await pilot.press("m", "left_square_bracket")
        await settle(pilot)
        assert screen.walk.current == first and "✓ you: model" in screen_text(app)
        await pilot.press("n", *"why", "enter")
        await written(pilot, screen)
        assert screen.walk.current == first and "“why”" in screen_text(app)
    assert [(label.cause, label.note) for label in labels_in(run)] == [(Cause.MODEL, ""), (Cause.MODEL, "why")]


async def test_escape_in_a_note_gives_it_up(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("n", *"gone", "escape")
        await settle(pilot)
        assert isinstance(app.screen, TriageScreen) and "✎" not in screen_text(app)
        await pilot.press("m")
        await written(pilot, screen)
    assert labels_in(run)[0].note == ""


async def test_undo_takes_back_one_decision_after_another_and_says_which(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        first = screen.walk.current
        await pilot.press("i")
        await settle(pilot)
        second = screen.walk.current
        await pilot.press("m", "u")
        await settle(pilot)
        assert screen.walk.current == second and "↶ took back model" in screen_text(app)
        await pilot.press("u")
        await written(pilot, screen)
        assert screen.walk.current == first and "↶ took back infrastructure" in screen_text(app)
        assert "0 of 5 decided" in screen_text(app)
        await pilot.press("u")
        await settle(pilot)
        assert "nothing of yours to take back" in screen_text(app)
    assert [label.kind for label in labels_in(run)] == ["label", "label", "undo", "undo"], "nothing is overwritten"


async def test_undo_brings_the_note_back_to_be_used_again(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("n", *"swap", "enter", "m", "u")
        await written(pilot, screen)
        assert "✎ note: swap" in screen_text(app)


async def test_the_last_of_an_earlier_sitting_can_be_taken_back(run: Path) -> None:
    async with triage_opened(run) as (_, pilot, screen):
        await pilot.press("k")
        await written(pilot, screen)
    async with triage_opened(run) as (app, pilot, screen):
        assert "1 of 5 decided" in screen_text(app)
        await pilot.press("u")
        await written(pilot, screen)
        assert "↶ took back task" in screen_text(app) and "0 of 5 decided" in screen_text(app)


async def test_the_same_strong_finding_is_offered_once_with_its_count(run: Path) -> None:
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("i")
        await settle(pilot)
        assert "w: 1 more with the same strong finding (out_of_memory)" in screen_text(app)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        assert "Label 1 trial as infrastructure?" in screen_text(app)
        await pilot.press("y")
        await written(pilot, screen)
    assert sorted(causes(run)) == sorted([(OOM, "infrastructure"), (OOM_TOO, "infrastructure")])


async def test_marked_trials_get_a_record_each_and_one_undo_takes_all_back(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("asterisk", "right_square_bracket", "asterisk", "right_square_bracket")
        await settle(pilot)
        assert "2 marked" in screen_text(app)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        assert "Label 2 marked trials as provider?" in screen_text(app)
        await pilot.press("y")
        await written(pilot, screen)
        assert len(labels_in(run)) == 2 and "2 of 5 decided" in screen_text(app)
        assert "marked" not in screen_text(app).replace("marked trials", "")
        await pilot.press("u")
        await written(pilot, screen)
        assert "↶ took back 2 × provider" in screen_text(app) and "0 of 5 decided" in screen_text(app)


async def test_escape_takes_the_marks_off_before_it_leaves(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("asterisk", "escape")
        await settle(pilot)
        assert app.screen is screen and not screen.deciding.marked
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen is not screen


@pytest.mark.parametrize(("columns", "lines"), [(200, 1), (80, 1), (60, 1), (48, 2)])
async def test_every_cause_stands_on_the_screen_at_every_width_and_can_be_clicked(
    run: Path, columns: int, lines: int
) -> None:
    async with triage_opened(run, (columns, 24)) as (app, pilot, screen):
        bar = app.screen.query_one(CauseBar)
        shown = screen_lines(app)[bar.region.y : bar.region.bottom]
        assert len(shown) == lines
        for entry in CAUSE_KEYS:
            assert f"{key_text(entry.key)} {entry.terse}" in "".join(shown)
        for word in ("infra", "ambig"):
            y = next(y for y, line in enumerate(shown) if word in line)
            await pilot.click(CauseBar, offset=(shown[y].index(word) + 1, y))
            await written(pilot, screen)
    assert [cause for _, cause in causes(run)] == ["infrastructure", "ambiguous"]


async def test_own_keys_stand_on_the_bar_of_causes_and_in_what_is_said(run: Path) -> None:
    own = {
        "triage.label_infrastructure": ("f2",),
        "triage.label_ambiguous": ("f3",),
        "triage.help_here": ("f4",),
        "triage.summary": ("f5",),
        "triage.same_finding": ("f6",),
        "disagreements.settle_task": ("f7",),
    }
    async with triage_opened(run, (120, 40), trial=OOM, habits=Habits(keys=own)) as (app, pilot, screen):
        bar = screen_lines(app)[-2]
        assert "F2 infrastructure" in bar and "p provider" in bar and " i infra" not in bar
        await pilot.press("i")
        await settle(pilot)
        assert not screen.desk.decided(OOM)
        await pilot.press("f2")
        await settle(pilot)
        assert screen.desk.decided(OOM) and "F6: 1 more with the same strong finding" in screen_text(app)
        await pilot.press("f3")
        await settle(pilot)
        assert "(help is F4 here)" in screen_text(app)
        await pilot.press("D")
        await settle(pilot)
        assert "F7 task" in screen_text(app)


async def test_what_is_said_of_a_decision_goes_on_below_itself_where_it_is_long(run: Path) -> None:
    async with triage_opened(run, (80, 24)) as (app, pilot, _):
        await pilot.press("B")
        await settle(pilot)
        assert "its label will not count as blind" in " ".join(screen_text(app).split())


async def test_a_click_on_a_cause_labels(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        line = next(line for line in screen_lines(app) if "g grader" in line)
        await pilot.click(CauseBar, offset=(line.index("grader") + 1, 0))
        await written(pilot, screen)
    assert [cause for _, cause in causes(run)] == ["grader"]
