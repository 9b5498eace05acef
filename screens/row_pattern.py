"""A regular expression in the filter of a list: over the short texts of many rows, between two keys."""

from __future__ import annotations

import re

from screens.bounded_pattern import BoundedPattern

LONGEST = 400
"""Characters of a text that are looked at."""
BUDGET_SEC = 0.02
"""For one text; after three that took longer none is looked at any more."""
TOO_SLOW = "too slow a pattern: where it gave up counts as no match"


class RowPattern:
    """Upper and lower case are the same. Raises `re.error`."""

    def __init__(self, source: str) -> None:
        self._pattern: BoundedPattern[str] = BoundedPattern(source, re.IGNORECASE)

    def in_any(self, texts: list[str]) -> bool:
        return any(self._pattern.search(text[:LONGEST], BUDGET_SEC) for text in texts)

    @property
    def too_slow(self) -> bool:
        """Whether it gave up on a text so far: a person has to be told."""
        return self._pattern.late
