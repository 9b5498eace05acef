"""Names that differ by case or blanks only: most likely one thing written twice, reported and never merged."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def near_equal(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of different names that read alike, each sorted."""
    groups: dict[str, set[str]] = {}
    for name in names:
        plain = "".join(unicodedata.normalize("NFKC", name).split()).casefold()
        groups.setdefault(plain, set()).add(name)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


def near_equal_note(names: Iterable[str], what: str = "tasks") -> str:
    """One sentence, "" where every name stands for itself. Quoted, so that blanks can be seen."""
    groups = near_equal(names)
    if not groups:
        return ""
    shown = "; ".join(" and ".join(repr(name) for name in group) for group in groups[:3])
    more = f" and {len(groups) - 3} more" if len(groups) > 3 else ""
    return f"{what} whose names differ by case or blanks only are not merged: {shown}{more}"
