"""What causes people found for trials, as the numbers take them."""

from __future__ import annotations

from collections.abc import Mapping

Labels = Mapping[tuple[str, str, int], str]
"""(task, arm, attempt) -> cause."""

INFRASTRUCTURE = "infrastructure"
AMBIGUOUS = "ambiguous"
