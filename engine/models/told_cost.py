"""What a provider says that a call cost; gateways do, in the usage or in a header."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

_HEADERS = ("x-litellm-response-cost",)


def told_cost(usage: Mapping[str, object], headers: Mapping[str, str]) -> float | None:
    """USD, None where the answer says nothing (or nothing that can be a cost). A told zero is a zero."""
    value = usage.get("cost")
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        return float(value)
    for name, text in headers.items():
        if name.lower() in _HEADERS and re.fullmatch(r"\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,3})?", text.strip(), re.I):
            return float(text)
    return None
