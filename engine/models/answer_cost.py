"""What an answer cost, and who says so."""

from __future__ import annotations

from collections.abc import Mapping

from engine.models.heard import Heard
from engine.models.model_call import CostSource, Usage
from engine.models.prices import cost_of
from engine.models.told_cost import told_cost


def answer_cost(
    asked: str, heard: Heard, usage: Usage, headers: Mapping[str, str]
) -> tuple[float, CostSource] | tuple[None, None]:
    """The provider's own figure, else from prices: those of the name that was asked for, then of the one that
    answered. An answer that was served in a tier of its own (priority, flex, fast) has a price of its own, which no
    table of ours knows. Raises ModelInvalid for a price file of the user's."""
    told = told_cost(heard.usage, headers)
    if told is not None:
        return told, CostSource.PROVIDER
    if heard.tier:
        return None, None
    cost = cost_of(asked, usage)
    if cost is None and heard.model:
        cost = cost_of(heard.model, usage)
    return (None, None) if cost is None else (cost, CostSource.PRICES)
