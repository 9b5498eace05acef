"""How far two people agree beyond chance: Cohen's kappa over the trials that both have labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import combinations

import msgspec

from engine.triage.label_book import LabelBook


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """`n` trials have a label of both; on `agreed` of them it is the same. `kappa` None: not defined, `why` says so."""

    a: str
    b: str
    n: int
    agreed: int
    kappa: float | None
    why: str = ""


def agreements(book: LabelBook) -> list[Agreement]:
    """Of every two people with a label, by their standing labels; a settlement changes nobody's own."""
    return [_agreement(book, a, b) for a, b in combinations(book.people, 2)]


def cohens_kappa(pairs: Iterable[tuple[Hashable, Hashable]]) -> float | None:
    """(observed − expected) / (1 − expected) agreement; None without pairs, and where chance alone would agree on
    everything: both gave one and the same answer throughout."""
    given = list(pairs)
    if not given:
        return None
    n = len(given)
    first, second = Counter(a for a, _ in given), Counter(b for _, b in given)
    agreed = sum(a == b for a, b in given)
    by_chance = sum(first[answer] * second[answer] for answer in first)  # times n²
    if by_chance == n * n:
        return None
    return (agreed * n - by_chance) / (n * n - by_chance)


def _agreement(book: LabelBook, a: str, b: str) -> Agreement:
    pairs = [
        (first.cause, second.cause)
        for trial in book.trials
        if (first := book.of(trial, a)) is not None and (second := book.of(trial, b)) is not None
    ]
    kappa = cohens_kappa(pairs)
    why = ""
    if kappa is None:
        why = "both gave one and the same cause throughout" if pairs else "no trial has a label of both"
    return Agreement(a=a, b=b, n=len(pairs), agreed=sum(x == y for x, y in pairs), kappa=kappa, why=why)
