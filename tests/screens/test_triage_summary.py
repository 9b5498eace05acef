"""The summary of triage, its exports and imports, and the disagreements of people."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine.triage.causes import Cause
from screens.triage_disagreements import DisagreementsScreen
from screens.triage_summary import SummaryScreen
from tests.screens import fake_triage
from tests.screens.deck import pasted, screen_lines, screen_text, until
from tests.screens.fake_triage import (
    FAILURES,
    OOM,
    OOM_TOO,
    PASSED,
    PLAIN,
    by_others,
    labels_in,
    settle,
    triage_opened,
    written,
)

pytestmark = pytest.mark.anyio

SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fake_triage.write(tmp_path / "run")


def row(text: str, word: str) -> str:
    return " ".join(next(line for line in text.splitlines() if line.strip().startswith(word)).split())


# --- the summary ---


@pytest.mark.parametrize("size", SIZES)
async def test_the_rate_of_each_cause_is_shown_per_arm(run: Path, size: tuple[int, int]) -> None:
    async with triage_opened(run, size, trial=OOM) as (app, pilot, screen):
        await pilot.press("i", "S")
        await until(pilot, lambda: isinstance(app.screen, SummaryScreen))
        await settle(pilot)
        text = screen_text(app)
        assert "A sonnet-5.5" in text and "B sol-6.1" in text
        assert row(text, "assigned") == "assigned 7 7" and row(text, "of them undecided") == "of them undecided 2 2"
        assert row(text, "infrastructure") == "infrastructure 1 14.3 % 1 proposed 0 1 proposed"
        assert row(text, "task") == "task 0 1 proposed 0", "what the rules propose stands beside it"
        assert "only ada has labelled" in text and "no cause differs between arms" in text
        assert all(len(line) <= size[0] for line in screen_lines(app))
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen is screen


async def test_at_sixty_columns_every_count_is_read_and_what_is_said_goes_on_below(run: Path) -> None:
    async with triage_opened(run, (60, 24), trial=OOM) as (app, pilot, screen):
        await pilot.press("i", "S")
        await written(pilot, screen)
        text = screen_text(app)
        assert row(text, "infrastructure") == "infrastructure 1 14.3 % 1? 0 1?"
        assert "3?: proposed" in text
        said = " ".join(text.split())
        assert "no cause differs between arms by more than chance least p 1.00" in said
        assert "labels: /" in said, "a path longer than the room is cut at its end"


@pytest.mark.parametrize(("people", "more"), [(5, ""), (6, "3 pairs of people more")])
async def test_pairs_of_people_that_are_not_shown_are_counted(run: Path, people: int, more: str) -> None:
    for number in range(people):
        by_others(run, OOM, Cause.AGENT, who=f"person {number}")
    async with triage_opened(run, (120, 40), trial=PLAIN) as (app, pilot, _):
        await pilot.press("S")
        await settle(pilot)
        assert (more or "person 0 and person 1") in screen_text(app)
        assert ("people more" in screen_text(app)) is bool(more)


async def test_labels_on_passes_are_told_apart_so_that_the_numbers_add_up(run: Path) -> None:
    async with triage_opened(run, trial=PASSED) as (app, pilot, _):
        await pilot.press("g", "S")
        await until(pilot, lambda: isinstance(app.screen, SummaryScreen))
        await settle(pilot)
        text = screen_text(app)
        assert row(text, "passes labelled") == "passes labelled 1 0"
        assert row(text, "of them undecided") == "of them undecided 3 2"


async def test_an_asymmetry_between_arms_is_flagged(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.triage.asymmetry.UNLIKELY", 1.1)
    async with triage_opened(run, trial=OOM) as (app, pilot, _):
        await pilot.press("i", "S")
        await until(pilot, lambda: "▲ asymmetry: infrastructure" in screen_text(app))
        assert "A sonnet-5.5 1 of 7, B sol-6.1 0 of 7" in screen_text(app)


async def test_blind_the_summary_names_no_arm(run: Path) -> None:
    async with triage_opened(run, blind=True) as (app, pilot, _):
        await pilot.press("i", "i", "i", "S")
        await until(pilot, lambda: isinstance(app.screen, SummaryScreen))
        await settle(pilot)
        text = screen_text(app)
        assert "arm 1" in text and "arm 2" in text and "sonnet-5.5" not in text and "sol-6.1" not in text


async def test_agreement_is_told_and_what_others_alone_decided_is_not_counted(run: Path) -> None:
    by_others(run, OOM, Cause.INFRASTRUCTURE, who="bob")
    by_others(run, OOM_TOO, Cause.GRADER, who="bob")
    by_others(run, PLAIN, Cause.MODEL, who="bob")
    async with triage_opened(run, (200, 60), trial=OOM) as (app, pilot, screen):
        await pilot.press("i")
        await settle(pilot)
        assert screen.walk.current == OOM_TOO
        await pilot.press("m", "S")
        await until(pilot, lambda: "kappa" in screen_text(app))
        text = screen_text(app)
        assert "ada and bob" in text and "the same on 1 of 2" in text
        assert "1 disagreement not settled, counted as ambiguous" in text
        assert "1 trial decided by others, not counted here until you have decided" in text
        assert "model" not in text, "nobody learns what bob said about what ada has not decided"
        assert row(text, "ambiguous").startswith("ambiguous 0 1")


# --- files ---


@pytest.mark.parametrize("kind", ["csv", "json"])
async def test_labels_go_out_and_come_in_again_once(run: Path, tmp_path: Path, kind: str) -> None:
    by_others(run, OOM, Cause.AGENT, who="bob", note="=cmd()")
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("i", "S")
        await written(pilot, screen)
        await pilot.press(kind[0])
        await until(pilot, lambda: "2 records written to" in screen_text(app))
        file = run / f"labels.{kind}"
        assert "bob" in file.read_text()
    other = fake_triage.write(tmp_path / "other" / "run")
    async with triage_opened(other) as (app, pilot, screen):
        for said in ("2 labels taken in", "0 labels taken in, 2 known before"):
            await pilot.press("S", "i")
            await pasted(pilot, str(file))
            await pilot.press("enter")
            await until(pilot, lambda said=said: said in screen_text(app), said)  # type: ignore[misc]
            await written(pilot, screen)
            await pilot.press("escape")
            await settle(pilot)
    assert len(labels_in(other)) == 2


async def test_before_an_export_replaces_a_file_it_is_asked(run: Path) -> None:
    mine = run / "labels.csv"
    mine.write_text("somebody's own")
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("i", "S")
        await written(pilot, screen)
        await pilot.press("c")
        await until(pilot, lambda: "There is a file of that name" in screen_text(app))
        await pilot.press("escape")
        await settle(pilot)
        assert mine.read_text() == "somebody's own"
        await pilot.press("c")
        await until(pilot, lambda: "There is a file of that name" in screen_text(app))
        await pilot.press("y")
        await until(pilot, lambda: "1 record written to" in screen_text(app))
        assert "infrastructure" in mine.read_text()


async def test_an_import_that_is_wrong_says_where_and_takes_nothing_in(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # names alone: what is said of a long path is cut at the screen's edge
    file = Path("wrong.csv")
    file.write_text("trial,who,at,cause\nx,bob,yesterday,sunspots\n")
    async with triage_opened(run) as (app, pilot, _):
        for path, said in (
            (file, "wrong.csv: nothing taken in. row 2"),
            (Path("none.csv"), "No such file"),
            (Path("labels.txt"), "expected a file that ends in .csv or .json"),
        ):
            await pilot.press("S", "i")
            await pasted(pilot, str(path))
            await pilot.press("enter")
            await until(pilot, lambda said=said: said in screen_text(app), said)  # type: ignore[misc]
            await pilot.press("escape")
            await settle(pilot)
    assert labels_in(run) == []


async def test_an_export_that_fails_says_why(run: Path) -> None:
    (run / "labels.csv").mkdir()
    async with triage_opened(run) as (app, pilot, _):
        await pilot.press("S", "c")
        await until(pilot, lambda: "can't write" in screen_text(app))


# --- disagreements ---


@pytest.mark.parametrize("size", SIZES)
async def test_disagreements_stand_side_by_side_and_one_key_settles_them(run: Path, size: tuple[int, int]) -> None:
    by_others(run, OOM, Cause.AGENT, who="bob", note="the harness hung")
    async with triage_opened(run, size, trial=OOM) as (app, pilot, screen):
        await pilot.press("i", "D")
        await until(pilot, lambda: isinstance(app.screen, DisagreementsScreen))
        await settle(pilot)
        text = screen_text(app)
        assert "1 disagreement" in text and "live-database-cutover" in text
        assert "ada  (you)" in text and "bob" in text and "the harness hung" in text
        assert "infrastructure" in text and "agent" in text and "no note" in text
        await pilot.press("n", *"docker", "enter", "i")
        await written(pilot, screen)
        text = screen_text(app)
        assert "⚖ settled: infrastructure" in text and "0 disagreements" in text
        assert all(len(line) <= size[0] for line in screen_lines(app))
    last = labels_in(run)[-1]
    assert (last.kind, last.cause, last.note, last.who) == ("settle", Cause.INFRASTRUCTURE, "docker", "ada")


async def test_a_note_goes_with_the_trial_that_it_was_written_for(run: Path) -> None:
    for trial in (OOM, PLAIN):
        by_others(run, trial, Cause.AGENT, who="bob")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        screen.desk.label((OOM, PLAIN), Cause.MODEL)
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, DisagreementsScreen))
        await settle(pilot)
        await pilot.press("n", *"docker", "enter", "down")
        await settle(pilot)
        assert "docker" not in screen_text(app)
        await pilot.press("m", "i")
        await written(pilot, screen)
    settled = {label.trial: label.note for label in labels_in(run) if label.kind == "settle"}
    assert sorted(settled.values()) == ["", "docker"] and len(settled) == 2


async def test_a_note_does_not_go_to_another_trial_when_its_own_is_settled_meanwhile(run: Path) -> None:
    for trial in (OOM, PLAIN):
        by_others(run, trial, Cause.AGENT, who="bob")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        screen.desk.label((OOM, PLAIN), Cause.MODEL)
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, DisagreementsScreen))
        await settle(pilot)
        shown = app.screen
        assert isinstance(shown, DisagreementsScreen) and shown.trial is not None
        own = shown.trial
        await pilot.press("n", *"docker")
        screen.desk.settle(own, Cause.TASK, note="", blind=False)
        await until(pilot, lambda: shown.trial not in (own, None))
        await pilot.press("enter")
        await settle(pilot)
        assert shown.notes == {own: "docker"}


async def test_a_settlement_of_what_was_seen_by_name_is_not_blind(run: Path) -> None:
    by_others(run, OOM, Cause.AGENT, who="bob")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("i", "B", "D")
        await until(pilot, lambda: isinstance(app.screen, DisagreementsScreen))
        await settle(pilot)
        await pilot.press("m")
        await written(pilot, screen)
    assert [label.blind for label in labels_in(run) if label.kind == "settle"] == [False]


async def test_a_long_note_is_folded_by_its_cells_and_its_end_is_marked(run: Path) -> None:
    by_others(run, OOM, Cause.AGENT, who="bob", note="🦊 wide " * 200)
    async with triage_opened(run, (80, 24), trial=OOM) as (app, pilot, _):
        await pilot.press("i", "D")
        await until(pilot, lambda: isinstance(app.screen, DisagreementsScreen))
        await settle(pilot)
        lines = [line for line in screen_text(app).splitlines() if "🦊" in line]
        assert len(lines) == 6 and [line.rstrip().endswith("…") for line in lines] == [False] * 5 + [True]


async def test_a_settlement_can_be_taken_back(run: Path) -> None:
    by_others(run, OOM, Cause.AGENT, who="bob")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("i", "D")
        await settle(pilot)
        await pilot.press("k")
        await settle(pilot)
        assert "0 disagreements" in screen_text(app)
        await pilot.press("u")
        await written(pilot, screen)
        assert "1 disagreement" in screen_text(app) and "took back settlement as task" in screen_text(app)


async def test_only_trials_that_one_has_labelled_are_listed(run: Path) -> None:
    for who, cause in (("bob", Cause.AGENT), ("eve", Cause.MODEL)):
        by_others(run, OOM, cause, who=who)
    async with triage_opened(run, trial=PLAIN) as (app, pilot, _):
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, DisagreementsScreen))
        await settle(pilot)
        assert "0 disagreements" in screen_text(app) and "eve" not in screen_text(app)


async def test_blind_a_disagreement_names_no_arm(run: Path) -> None:
    for trial in FAILURES:
        by_others(run, trial, Cause.TASK, who="bob", note="sonnet-5.5 again")
    async with triage_opened(run, blind=True) as (app, pilot, _):
        await pilot.press("i", "i", "i", "i", "i", "D")
        await until(pilot, lambda: isinstance(app.screen, DisagreementsScreen))
        await settle(pilot)
        for _ in FAILURES:
            text = screen_text(app)
            assert "sonnet-5.5" not in text and "sol-6.1" not in text and "▒▒▒ again" in text
            await pilot.press("down")
            await settle(pilot)


async def test_enter_looks_at_the_trial_in_triage(run: Path) -> None:
    by_others(run, OOM, Cause.AGENT, who="bob")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("i", "m", "D", "enter")
        await until(pilot, lambda: app.screen is screen)
        await settle(pilot)
        assert screen.walk.current == OOM and "≠ bob: agent" in screen_text(app)


def test_an_export_is_json_that_says_what_it_is(run: Path, tmp_path: Path) -> None:
    from engine.triage.label_book import LabelBook
    from screens.triage_exchange import export_labels

    label = by_others(run, OOM, Cause.AGENT, who="bob")
    done = export_labels(LabelBook([label]), label.run, tmp_path / "out.json", "json")
    assert not done.problem and "1 record written" in done.said
    document = msgspec.json.decode((tmp_path / "out.json").read_bytes())
    assert document["run"] == label.run and document["labels"][0]["who"] == "bob"
