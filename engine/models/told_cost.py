"""What a provider says that a call cost; gateways do, in the usage or in a header."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.json_numbers import finite

_HEADERS = ("x-litellm-response-cost",)


def told_cost(usage: Mapping[str, object], headers: Mapping[str, str]) -> float | None:
    """USD, None where the answer says nothing (or nothing that can be a cost). A told zero is a zero."""
    cost = finite(usage.get("cost"))
    if cost is not None and cost >= 0:
        return cost
    for name, text in headers.items():
        if name.lower() in _HEADERS and re.fullmatch(r"\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,3})?", text.strip(), re.I):
            return float(text)
    return None
