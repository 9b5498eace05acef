"""Cohen's kappa: known answers, and where it is not defined."""

from __future__ import annotations

import pytest

from engine.triage.agreement import agreements, cohens_kappa
from engine.triage.causes import Cause
from engine.triage.label_book import LabelBook
from tests.engine.triage.labels import label, undo

MODEL, INFRA = Cause.MODEL, Cause.INFRASTRUCTURE


def _pairs(both: int, a_only: int, b_only: int, neither: int) -> list[tuple[str, str]]:
    return [("y", "y")] * both + [("y", "n")] * a_only + [("n", "y")] * b_only + [("n", "n")] * neither


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        (_pairs(20, 5, 10, 15), 0.4),
        (_pairs(45, 15, 25, 15), 0.1304),
        (_pairs(25, 35, 5, 35), 0.2593),
        (_pairs(10, 0, 0, 10), 1.0),
        (_pairs(0, 10, 10, 0), -1.0),
        (_pairs(5, 5, 5, 5), 0.0),
    ],
)
def test_known_answers(pairs: list[tuple[str, str]], kappa: float) -> None:
    assert cohens_kappa(pairs) == pytest.approx(kappa, abs=5e-5)


@pytest.mark.parametrize("pairs", [[], _pairs(7, 0, 0, 0)])
def test_it_is_not_defined_where_chance_alone_explains_everything(pairs: list[tuple[str, str]]) -> None:
    assert cohens_kappa(pairs) is None


def test_three_causes_are_counted_by_their_margins() -> None:
    # observed 4/6; by chance (3·2 + 2·2 + 1·2) / 36
    pairs = [("m", "m"), ("m", "m"), ("m", "i"), ("i", "i"), ("i", "g"), ("g", "g")]
    assert cohens_kappa(pairs) == pytest.approx((4 / 6 - 12 / 36) / (1 - 12 / 36))


def test_every_two_people_are_compared_on_what_both_labelled() -> None:
    book = LabelBook(
        [
            *(label("ada", trial, MODEL) for trial in ("t", "u", "v")),
            label("bob", "t", MODEL),
            label("bob", "u", INFRA),
            label("eve", "w", INFRA),
            label("zoe", "t", MODEL),
            undo("zoe", "t"),
        ]
    )
    found = {(each.a, each.b): each for each in agreements(book)}
    assert set(found) == {("ada", "bob"), ("ada", "eve"), ("bob", "eve")}
    both = found["ada", "bob"]
    assert (both.n, both.agreed, both.kappa) == (2, 1, 0.0)
    assert found["ada", "eve"].kappa is None
    assert found["ada", "eve"].why == "no trial has a label of both"


def test_one_cause_throughout_is_said_not_to_tell_anything() -> None:
    book = LabelBook([label(who, trial, MODEL) for who in ("ada", "bob") for trial in ("t", "u")])
    assert [(each.n, each.kappa, each.why) for each in agreements(book)] == [
        (2, None, "both gave one and the same cause throughout")
    ]


def test_a_settlement_changes_nobody_s_own_label() -> None:
    book = LabelBook([label("ada", "t", MODEL), label("bob", "t", INFRA), label("ada", "t", INFRA, kind="settle")])
    assert agreements(book)[0].agreed == 0
