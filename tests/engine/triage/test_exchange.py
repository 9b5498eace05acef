"""Labels out and in again: nothing lost, nothing twice, nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.issues import Evidence
from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.exchange import ExchangeInvalid, Problem, labels_as_csv, labels_as_json, read_labels
from engine.triage.label_book import LabelBook
from engine.triage.labels import Label
from tests.engine.run_events import folded, planned
from tests.engine.triage.labels import label

MODEL = Cause.MODEL
HOSTILE = [
    "=1+2",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    "  =x",
    "'quoted",
    "''",
    'a"b',
    "a,b",
    "two\nlines",
    "\r",
    "日本語",
    "|x",
    "%x",
]


@pytest.fixture
def state() -> RunState:
    return folded(*planned("t", "u", "v"))


def _read(data: bytes | str, state: RunState, kind: str = "csv", book: LabelBook | None = None) -> list[Label]:
    given = data.encode() if isinstance(data, str) else data
    return list(read_labels(given, kind, state, "r", book or LabelBook()).labels)


def _export(book: LabelBook, kind: str) -> bytes:
    return labels_as_csv(book).encode() if kind == "csv" else labels_as_json(book, "r")


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_everything_comes_back_but_that_it_is_imported(kind: str, state: RunState) -> None:
    labels = [label(note=text, trial="t") for text in HOSTILE]
    labels += [
        label("bob", "u", Cause.TASK, kind="settle", blind=True, proposed=Cause.MODEL),
        label("bob", "v", None, kind="skip"),
        label("eve", "v", evidence=(Evidence("l", "=t", "logs/db.log", 7), Evidence("m", "n"))),
    ]
    found = _read(_export(LabelBook(labels), kind), state, kind)
    assert [msgspec.structs.replace(each, imported=False) for each in found] == labels
    assert all(each.imported for each in found)


@given(note=st.text(st.characters(codec="utf-8"), max_size=40), who=st.sampled_from(["ada", "=bob", "'eve", "日 本"]))
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_any_note_survives(kind: str, note: str, who: str) -> None:
    state = folded(*planned("t"))
    found = _read(_export(LabelBook([label(who, note=note)]), kind), state, kind)
    assert [(each.who, each.note) for each in found] == [(who, note)]


def test_no_cell_is_a_formula() -> None:
    rows = csv.reader(
        io.StringIO(labels_as_csv(LabelBook([label(note=text, trial="t") for text in HOSTILE])), newline="")
    )
    for row in rows:
        assert not any(cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\r", "|", "%")) for cell in row)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_importing_twice_adds_nothing(kind: str, state: RunState) -> None:
    data = _export(LabelBook([label(), label("bob", "u")]), kind)
    book = LabelBook()
    book.add_all(read_labels(data, kind, state, "r", book).labels)
    again = read_labels(data, kind, state, "r", book)
    assert (again.labels, again.known) == ((), 2)


def test_what_was_undone_is_not_exported() -> None:
    book = LabelBook([label(), label(cause=None, kind="undo")])
    assert json.loads(labels_as_json(book, "r"))["labels"] == []


BY_HAND = "trial,who,at,cause\nt,ada,2026-05-01T09:30:00+02:00,model\n"


def test_a_table_made_by_hand_needs_four_columns_and_gets_the_same_ids_each_time(state: RunState) -> None:
    first, second = _read(BY_HAND, state), _read(BY_HAND, state)
    assert first == second
    assert (first[0].who, first[0].cause, first[0].at) == ("ada", MODEL, datetime(2026, 5, 1, 7, 30, tzinfo=UTC))
    assert (first[0].task, first[0].arm, first[0].attempt, first[0].run) == ("t", "a", 1, "r")


def test_a_trial_is_found_by_task_arm_and_attempt_where_its_id_is_another_tool_s(state: RunState) -> None:
    text = "trial,task,arm,attempt,who,at,cause,run\nhello__x,u,a,1,ada,2026-05-01T09:30:00Z,model,elsewhere\n"
    found = read_labels(text.encode(), "csv", state, "r", LabelBook())
    assert found.labels[0].trial == "u"
    assert found.other_runs == ("elsewhere",)


def test_trials_of_another_run_are_listed(state: RunState) -> None:
    found = read_labels(BY_HAND.replace("\nt,", "\ngone,").encode(), "csv", state, "r", LabelBook())
    assert (found.labels, found.unknown) == ((), ("gone",))


def _problems(data: bytes | str, state: RunState, kind: str = "csv") -> list[str]:
    with pytest.raises(ExchangeInvalid) as found:
        _read(data, state, kind)
    return [str(problem) for problem in found.value.problems]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file: empty"),
        ("trial,who,at\nt,a,b\n", "row 1, cause: this column is needed"),
        ("trial,who,at,cause,x\n", "row 1, x: no such column"),
        ("trial,who,at,cause,who\n", "row 1, who: twice"),
        ("who,at,cause\n", "row 1, trial: this column is needed (or task, arm and attempt)"),
        (BY_HAND + "t,ada\n", "row 3: 2 cells, the header has 4"),
        (BY_HAND.replace("model", "luck"), "row 2, cause: 'luck'; expected one of infrastructure, provider"),
        (BY_HAND.replace("model", ""), "row 2, cause: missing"),
        (BY_HAND.replace("ada", " "), "row 2, who: missing"),
        (BY_HAND.replace("+02:00", ""), "row 2, at: '2026-05-01T09:30:00' has no offset"),
        (BY_HAND.replace("2026-05-01T09:30:00+02:00", "yesterday"), "row 2, at: 'yesterday'; expected a time"),
        ("trial,who,at,cause,kind\nt,a,2026-05-01T09:30:00Z,model,undo\n", "row 2, kind: 'undo'; expected one of"),
        ("trial,who,at,cause,attempt\nt,a,2026-05-01T09:30:00Z,model,0\n", "row 2, attempt: '0'; expected a whole"),
        ("trial,who,at,cause,blind\nt,a,2026-05-01T09:30:00Z,model,si\n", "row 2, blind: 'si'; expected yes"),
        ("trial,who,at,cause,evidence\nt,a,2026-05-01T09:30:00Z,model,[1]\n", "row 2, evidence: expected a list"),
        ('trial,who,at,cause,evidence\nt,a,2026-05-01T09:30:00Z,model,"[{""label"":""l"",""text"":""t"",""file"":""/etc/x""}]"\n',
         "row 2, evidence: '/etc/x'; expected a path"),
        ('trial,who,at,cause\n"t', "the file: not CSV"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_row_and_column(text: str, problem: str, state: RunState) -> None:
    assert any(each.startswith(problem) for each in _problems(text, state)), _problems(text, state)


def test_all_that_is_wrong_is_named_at_once(state: RunState) -> None:
    text = BY_HAND + "t,,2026-05-01T09:30:00Z,luck\nt,bob,never,model\n"
    assert [each.split(":")[0] for each in _problems(text, state)] == ["row 3, who", "row 3, cause", "row 4, at"]


@pytest.mark.parametrize("doubled", [BY_HAND + "t,ada,2026-05-01T09:30:00+02:00,model\n"])
def test_duplicate_rows_are_refused(doubled: str, state: RunState) -> None:
    """Case 89."""
    assert _problems(doubled, state) == ["row 3, id: the same label as in row 2"]


def test_an_equal_label_under_another_id_is_a_duplicate(state: RunState) -> None:
    first = label()
    data = labels_as_json(LabelBook([first, msgspec.structs.replace(first, id="other")]), "r")
    assert _problems(data, state, "json") == ["row 2: the same label as in row 1"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file: not JSON"),
        ("[]", 'the file, schema: expected an object with "schema": "trialdeck.labels/1"'),
        ('{"schema":"trialdeck.labels/1","labels":3}', "the file, labels: expected a list"),
        ('{"schema":"trialdeck.labels/1","labels":[3]}', "row 1: expected an object"),
        ('{"schema":"trialdeck.labels/1","labels":[{"x":1}]}', "row 1, x: no such key"),
        ('{"schema":"trialdeck.labels/1","labels":[{"who":3}]}', "row 1, who: expected text, found 3"),
        ("[" * 100_000, "the file: not JSON"),
    ],
)
def test_json_that_is_no_label_file_is_refused(text: str, problem: str, state: RunState) -> None:
    assert _problems(text, state, "json")[0].startswith(problem)


def test_bytes_that_are_not_utf_8_are_refused_and_a_byte_order_mark_is_not(state: RunState) -> None:
    assert _problems(b"trial\xff", state) == ["the file: not UTF-8 (byte 5)"]
    assert len(_read(b"\xef\xbb\xbf" + BY_HAND.encode(), state)) == 1


@pytest.mark.parametrize("mark", [";", "\t"])
def test_what_a_spreadsheet_writes_in_place_of_commas_is_read(mark: str, state: RunState) -> None:
    assert _read(BY_HAND.replace(",", mark), state) == _read(BY_HAND, state)


def test_a_long_list_of_problems_is_cut_in_words_only() -> None:
    error = ExchangeInvalid([Problem(row, "cause", "missing") for row in range(50)])
    assert len(error.problems) == 50
    assert str(error).endswith("and 30 more")
