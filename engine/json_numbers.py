"""Numbers out of files that others wrote: JSON has no largest one, and 400 digits are more than a `float` holds."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

LARGEST = (1 << 63) - 1
MOST = 10**15
"""A count above this is none: so sums of counts stay within `Whole`."""

Whole = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]
"""For fields that are decoded: what is far from any truth is refused, like text in its place."""
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]


def finite(value: object) -> float | None:
    """None for what is no number, a boolean, and what no `float` holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None
