"""What labels add up to, whoever wrote them and in whatever order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.triage.causes import Cause
from engine.triage.label_book import LabelBook
from engine.triage.labels import Label
from tests.engine.run_events import folded, planned
from tests.engine.triage.labels import label, undo

INFRA, M, G = Cause.INFRASTRUCTURE, Cause.MODEL, Cause.GRADER


def test_a_later_label_stands_in_place_of_an_earlier_one_and_undo_brings_it_back() -> None:
    book = LabelBook([label(cause=INFRA), label(cause=M)])
    assert book.cause("t", "ada") is M
    book.add(undo())
    assert book.cause("t", "ada") is INFRA
    book.add(undo())
    assert book.cause("t", "ada") is None
    assert book.undoable("ada") is None


def test_undo_takes_back_ones_own_only() -> None:
    book = LabelBook([label("ada", cause=INFRA), label("bob", cause=M), undo("bob"), undo("bob")])
    assert book.standing("t").keys() == {"ada"}


def test_a_skip_takes_no_label_back() -> None:
    book = LabelBook([label(cause=INFRA), label(cause=None, kind="skip")])
    assert book.cause("t", "ada") is INFRA
    assert not book.skipped("t", "ada")
    assert LabelBook([label(cause=None, kind="skip")]).skipped("t", "ada")


def test_others_labels_are_hidden_until_ones_own_is_set() -> None:
    book = LabelBook([label("ada", cause=INFRA)])
    assert book.visible("t", "bob") == {}
    assert book.cause("t", "bob") is None
    assert not book.decided("t", "bob")
    book.add(label("bob", cause=M))
    assert book.visible("t", "bob").keys() == {"ada", "bob"}
    assert book.cause("t", "bob") is M
    assert book.disagreements("bob") == ["t"]
    assert book.disagreements("eve") == []


def test_a_settlement_stands_above_all_and_can_be_taken_back() -> None:
    book = LabelBook([label("ada", cause=INFRA), label("bob", cause=M), label("eve", cause=G, kind="settle")])
    assert book.cause("t") is G
    assert book.cause("t", "bob") is G
    assert book.decided("t", "zoe")
    assert book.disagreements() == []
    book.add(undo("eve"))
    assert book.cause("t") is None
    assert book.disagreements() == ["t"]


def test_the_last_settlement_stands() -> None:
    book = LabelBook([label("ada", cause=INFRA, kind="settle"), label("bob", cause=M, kind="settle")])
    assert book.cause("t") is M


def test_analysis_takes_agreement_as_decided_and_disagreement_as_ambiguous() -> None:
    state = folded(*planned("t", "u", "v"))
    book = LabelBook(
        [
            label("ada", "t", INFRA),
            label("bob", "t", INFRA),
            label("ada", "u", INFRA),
            label("bob", "u", M),
            label("ada", "gone", INFRA),
        ]
    )
    assert book.as_analysis_labels(state) == {("t", "a", 1): "infrastructure", ("u", "a", 1): "ambiguous"}


def test_same_as_the_last_is_the_persons_own_last_cause() -> None:
    book = LabelBook([label("ada", "t", INFRA), label("bob", "u", M), label("ada", "v", None, kind="skip")])
    assert book.last_cause("ada") is INFRA
    assert book.last_cause("eve") is None


_KINDS = st.sampled_from(["label", "label", "undo", "skip", "settle"])


@st.composite
def records(draw: st.DrawFn) -> list[Label]:
    found = []
    for _ in range(draw(st.integers(0, 25))):
        kind = draw(_KINDS)
        cause = draw(st.sampled_from(list(Cause))) if kind in ("label", "settle") else None
        who, trial = draw(st.sampled_from(["ada", "bob"])), draw(st.sampled_from(["t", "u"]))
        found.append(label(who, trial, cause, kind=kind))
    return found


def _view(book: LabelBook) -> object:
    return [
        (trial, who, book.of(trial, who), book.cause(trial, who), book.settled(trial), book.skipped(trial, who))
        for trial in ("t", "u")
        for who in ("ada", "bob", "")
    ]


@given(records())
def test_folding_twice_or_in_portions_changes_nothing(found: list[Label]) -> None:
    whole = LabelBook(found)
    twice = LabelBook([*found, *found])
    assert _view(twice) == _view(whole)
    assert all(not twice.add(each) for each in found)


@given(
    records(),
    st.sampled_from(["ada", "bob"]),
    st.sampled_from(["t", "u"]),
    st.sampled_from(["label", "settle", "skip"]),
)
def test_undo_restores_what_was_before(found: list[Label], who: str, trial: str, kind: str) -> None:
    before, after = LabelBook(found), LabelBook(found)
    after.add(label(who, trial, None if kind == "skip" else Cause.TASK, kind=kind))
    assert after.undoable(who) is not None
    after.add(undo(who, trial))
    assert _view(after) == _view(before)


@given(records(), records())
def test_the_order_among_people_matters_for_settlements_only(mine: list[Label], theirs: list[Label]) -> None:
    ada = [each for each in mine if each.who == "ada" and each.kind != "settle"]
    bob = [each for each in theirs if each.who == "bob" and each.kind != "settle"]
    assert _view(LabelBook([*ada, *bob])) == _view(LabelBook([*bob, *ada]))


@given(records())
def test_undoing_everything_leaves_nothing(found: list[Label]) -> None:
    book = LabelBook(found)
    for who in ("ada", "bob"):
        while (last := book.undoable(who)) is not None:
            book.add(undo(who, last.trial))
    assert book.records() == []
    assert book.people == []
