"""How the arms stand while the run goes on: their rates, and A against B over finished pairs.

The numbers are those of the comparison screen. NumPy is loaded by `work_out`, not by whoever holds its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.analysis.outcomes import TrialOutcome
from engine.analysis.rates import Rate, live_rate

if TYPE_CHECKING:
    from engine.analysis.pairs import Difference


@dataclass(frozen=True)
class Standings:
    """`difference` and `p` (McNemar, exact, of first attempts) are there where a run has just two arms."""

    rates: Mapping[str, Rate] = field(default_factory=dict)
    difference: Difference | None = None
    p: float | None = None


def work_out(by_arm: Mapping[str, Sequence[TrialOutcome]]) -> Standings:
    """Takes up to some hundredths of a second, and 0.1 s more the first time: call it in a thread."""
    from engine.analysis.mcnemar import mcnemar
    from engine.analysis.pairs import difference, firsts, form_pairs, tabulate

    rates = {}
    for arm, trials in by_arm.items():
        try:
            rates[arm] = live_rate(trials)
        except ValueError:  # a folder that names one attempt twice
            continue
    if len(by_arm) != 2 or len(rates) != 2:
        return Standings(rates)
    a, b = by_arm.values()
    pairs = form_pairs(a, b)
    table = tabulate(firsts(pairs))
    return Standings(rates, difference(pairs), mcnemar(table.a_only, table.b_only).exact if table.tasks else None)
