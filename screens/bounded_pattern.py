"""A person's regular expression, kept from running away.

`re` takes years for `(a+)+$` on a line of some dozen letters, and meanwhile no other thread of the process moves: the
console hears no key and no signal. This one gives up after a budget, and lets go of the interpreter while it works.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import monotonic
from typing import Any, Generic, TypeVar

import regex

AnyText = TypeVar("AnyText", str, bytes)

BUDGET_SEC = 0.5
"""For one text or one chunk of a log: a pattern that is fit for its purpose takes milliseconds."""
MOST_REPEATED = 20_000
"""Pieces that counts like `{40}` ask for in all, those inside of others multiplied: each takes some hundred bytes once
the pattern is compiled, and `a{99999999}` all the memory there is."""
_MOST_LATE = 3
"""Texts that used up their budget, after which none is looked at any more."""


class TooSlow(Exception):
    """The pattern takes too long on this text."""


class Timed(Generic[AnyText]):
    """The pattern with a clock that runs: all calls together have the budget. Raises `TooSlow`."""

    def __init__(self, expression: Any, budget: float) -> None:
        self._expression = expression
        self._ends = monotonic() + budget

    def search(self, text: AnyText, begin: int = 0, end: int | None = None) -> Any:
        try:
            return self._expression.search(text, begin, end, timeout=self._left(), concurrent=True)
        except TimeoutError:
            raise TooSlow from None

    def finditer(self, text: AnyText) -> Iterator[Any]:
        try:
            yield from self._expression.finditer(text, timeout=self._left(), concurrent=True)
        except TimeoutError:
            raise TooSlow from None

    def _left(self) -> float:
        left = self._ends - monotonic()
        if left <= 0:
            raise TooSlow
        return left


class BoundedPattern(Generic[AnyText]):
    """`search` and `finditer` find nothing where that takes too long; after a few such texts nowhere any more.
    Raises `re.error` for a text that is no regular expression."""

    def __init__(self, source: AnyText, flags: int = 0) -> None:
        try:
            re.compile(source, flags)  # what a pattern is, and what is wrong with it, is said as Python says it
        except (OverflowError, RecursionError, ValueError) as error:
            raise re.error(str(error)) from None
        if _pieces(source if isinstance(source, str) else source.decode("latin-1")) > MOST_REPEATED:
            raise re.error(f"its counts ask for more than {MOST_REPEATED:,} repeats")
        try:
            self._expression: Any = regex.compile(source, flags | regex.VERSION0)
        except regex.error as error:
            raise re.error(str(error)) from None
        self._late = 0

    def timed(self, budget: float = BUDGET_SEC) -> Timed[AnyText]:
        return Timed(self._expression, budget)

    @property
    def late(self) -> bool:
        """Whether a text took too long so far: it counted as one without a match, which has to be said."""
        return self._late > 0

    @property
    def gave_up(self) -> bool:
        return self._late >= _MOST_LATE

    def search(self, text: AnyText, budget: float = BUDGET_SEC / 5) -> Any:
        """The first match, or None."""
        if self.gave_up:
            return None
        try:
            return self.timed(budget).search(text)
        except TooSlow:
            self._late += 1
            return None

    def finditer(self, text: AnyText, budget: float = BUDGET_SEC / 5) -> Iterator[Any]:
        if self.gave_up:
            return
        try:
            yield from self.timed(budget).finditer(text)
        except TooSlow:
            self._late += 1


_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:P?<[^>]*>|[^<)]*?:|[=!#]|<[=!]))?|\)|\{(?P<least>\d*)(?:,\d*)?\}|[*+?]|\||.",
    re.DOTALL,
)


def _pieces(source: str) -> int:
    """How many pieces a pattern that is valid has once its counts are written out."""
    sums, last = [0], 0
    for token in _TOKEN.finditer(source):
        text = token[0]
        if token["least"] is not None and last:
            more = last * (int(token["least"] or 0) - 1)
            sums[-1] += max(0, more)
            last += max(0, more)
        elif text[0] == "(":
            sums.append(0)
            last = 0
        elif text == ")":
            last = sums.pop() if len(sums) > 1 else 1
            sums[-1] += last
        elif text not in ("*", "+", "?", "|"):
            last = 1
            sums[-1] += 1
    return max(sums)
