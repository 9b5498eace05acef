"""Where tasks come from few families (repositories, sites): families are drawn, then tasks inside of each.

Tasks of one repository resemble each other, so 500 tasks of twelve repositories know less than 500 tasks would. A draw
takes as many families as there are, with replacement, and for each time a family was drawn as many tasks as it has; the
mean is over all tasks drawn (Davison and Hinkley 1997, §3.8, with replacement on both floors). As in `bootstrap`, tasks
with equal values are one cell of a multinomial.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from engine.analysis.bootstrap import DRAWS, SEED, Bootstrap, Floats, mean_interval, summarised
from engine.analysis.pairs import Pair

FAMILY_BOOTSTRAP = "hierarchical bootstrap over families, then tasks"
TOO_FEW_FAMILIES = 6
_DECIMALS = 12
_BATCH_CELLS = 1 << 20


class FamilyDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A − B of one pair of arms, with the interval over tasks and the one over families. `standard_error` is clustered
    by family. `too_few`: so few families say nothing about families that were not looked at."""

    a: str
    b: str
    benchmark: str
    tasks: int
    families: int
    largest_family: int
    estimate: float
    low: float
    high: float
    task_low: float
    task_high: float
    standard_error: float | None
    too_few: bool
    draws: int
    seed: int
    method: str = FAMILY_BOOTSTRAP


def family_interval(
    values: Sequence[float] | Floats, families: Sequence[str], *, draws: int = DRAWS, seed: int = SEED
) -> Bootstrap:
    """The mean of `values` (one a task) whose tasks belong to `families`, in the same order. `tasks` of the answer
    counts tasks; the standard error is clustered by family. Raises ValueError where lengths differ or nothing is
    there."""
    array: Floats = np.asarray(np.round(np.asarray(values, dtype=np.float64), _DECIMALS), dtype=np.float64)
    if array.size != len(families):
        raise ValueError(f"{array.size} values for {len(families)} families")
    if array.size == 0:
        raise ValueError("no tasks to resample")
    groups = _groups(array, families)
    generator = np.random.default_rng(seed)
    means = np.empty(draws)
    step = max(1, _BATCH_CELLS // max(len(groups), max(group.size for group in groups)))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        times = generator.multinomial(len(groups), np.full(len(groups), 1 / len(groups)), size=size)
        sums, counts = np.zeros(size), np.zeros(size)
        for place, group in enumerate(groups):
            drawn = times[:, place] * group.size
            cells, shares = np.unique(group, return_counts=True)
            if len(cells) == 1:
                sums += drawn * cells[0]
            else:
                sums += generator.multinomial(drawn, shares / group.size) @ cells
            counts += drawn
        means[start : start + size] = sums / counts
    found = summarised(float(array.mean()), np.round(means, _DECIMALS), array, draws, seed)
    return msgspec.structs.replace(found, standard_error=family_standard_error(array, families))


def family_difference(
    names: tuple[str, str],
    pairs: Sequence[Pair],
    given: Mapping[str, str],
    separator: str = "",
    *,
    benchmark: str = "",
    draws: int = DRAWS,
    seed: int = SEED,
) -> FamilyDifference | None:
    """A − B over the families of their tasks, as `families_of` knows them; None where every task is a family of its
    own."""
    families = families_of([pair.task for pair in pairs], given, separator)
    if len(set(families)) == len(families):
        return None
    values = [
        sum(one.resolved for one in pair.a) / len(pair.a) - sum(one.resolved for one in pair.b) / len(pair.b)
        for pair in pairs
    ]
    wide = family_interval(values, families, draws=draws, seed=seed)
    plain = mean_interval(values, draws=draws, seed=seed)
    return FamilyDifference(
        a=names[0],
        b=names[1],
        benchmark=benchmark,
        tasks=len(pairs),
        families=len(set(families)),
        largest_family=max(Counter(families).values()),
        estimate=wide.estimate,
        low=wide.low,
        high=wide.high,
        task_low=plain.low,
        task_high=plain.high,
        standard_error=wide.standard_error,
        too_few=len(set(families)) < TOO_FEW_FAMILIES,
        draws=draws,
        seed=seed,
    )


def family_standard_error(values: Sequence[float] | Floats, families: Sequence[str]) -> float | None:
    """Of the mean over tasks, clustered by family: √(Σ over families of (Σ(x − x̄))² · G/(G − 1)) / n. None of one
    family alone."""
    array = np.asarray(values, dtype=np.float64)
    groups = _groups(array, families)
    if len(groups) < 2:
        return None
    mean = array.mean()
    squares = math.fsum(float((group - mean).sum()) ** 2 for group in groups)
    return math.sqrt(squares * len(groups) / (len(groups) - 1)) / array.size


def families_of(tasks: Sequence[str], given: Mapping[str, str], separator: str = "") -> list[str]:
    """The family of each task: as `given`, else what stands before `separator`, else the task alone is one."""
    found = []
    for task in tasks:
        before = task.split(separator, 1)[0] if separator and separator in task else task
        found.append(given.get(task) or before)
    return found


def _groups(array: Floats, families: Sequence[str]) -> list[Floats]:
    """In the order of names, so that the order of tasks changes nothing."""
    members: dict[str, list[float]] = {}
    for value, family in zip(array.tolist(), families, strict=True):
        members.setdefault(family, []).append(value)
    return [np.sort(np.array(members[name])) for name in sorted(members)]
