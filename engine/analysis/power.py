"""What difference a paired design detects, and how many tasks a wanted difference needs.

Normal approximation of the paired difference: the standard error of A − B over n tasks of which a share ψ
is discordant is √(ψ/n) under no difference (Connor 1987, to first order), so the detectable difference is
(z₁₋α/₂ + z_power) standard errors. Differences are fractions, not points.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import msgspec

ALPHA = 0.05
POWER = 0.8


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """`detectable` is None where no two tasks disagree: then nothing says how large the noise is."""

    detectable: float | None
    power: float = POWER
    alpha: float = ALPHA
    basis: str = ""


def standard_errors_apart(power: float = POWER, alpha: float = ALPHA) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)


def detectable(standard_error: float, power: float = POWER, alpha: float = ALPHA) -> float:
    """The difference that an estimate with this standard error detects; never above 1."""
    return min(1.0, standard_errors_apart(power, alpha) * standard_error)


def detectable_from_discordance(
    tasks: int, discordant: float, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """One attempt per task and arm; `discordant` of `tasks` differ, as seen or as assumed when planning."""
    if tasks <= 0 or discordant <= 0:
        return None
    return detectable(math.sqrt(discordant / tasks / tasks), power, alpha)


def tasks_needed(difference: float, discordance: float, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """How many tasks detect `difference` where a share `discordance` of them is discordant. None: it
    can't be, since the difference is 0 or larger than the share of tasks that disagree.
    """
    difference = abs(difference)
    if difference == 0 or difference > discordance:
        return None
    return math.ceil(discordance * (standard_errors_apart(power, alpha) / difference) ** 2)
