"""McNemar's test on paired verdicts, exact however many pairs disagree.

Under the null hypothesis each discordant pair goes to either side with probability 1/2, so the smaller
count is binomial (McNemar 1947; the exact form is the sign test). Mid-p counts the observed split half
(Fagerland, Lydersen and Laake 2013).
"""

from __future__ import annotations

import msgspec


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """Two-sided p-values; `discordant` is how many pairs they rest on."""

    exact: float
    mid_p: float
    discordant: int


def mcnemar(a_only: int, b_only: int) -> McNemar:
    """Whole numbers throughout; one correctly rounded division at the end, so no count is too large to be
    exact.
    """
    if a_only < 0 or b_only < 0:
        raise ValueError(f"counts can't be negative: {a_only}, {b_only}")
    discordant = a_only + b_only
    below, observed = _tail(discordant, min(a_only, b_only))
    splits = 1 << discordant
    return McNemar(
        exact=min(1.0, 2 * below / splits),
        mid_p=min(1.0, (2 * below - observed) / splits),
        discordant=discordant,
    )


def _tail(n: int, upto: int) -> tuple[int, int]:
    """The sum of C(n, k) for k = 0 … upto, and its last term C(n, upto)."""
    term = total = 1
    for k in range(1, upto + 1):
        term = term * (n - k + 1) // k
        total += term
    return total, term
