"""Arms over the benchmarks of several runs: what was asked, and the numbers worked out from it in a thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.analysis.analysis import Analysis, analyse
from engine.analysis.arms import arm_refs, select
from engine.analysis.given_families import CATEGORY, read_families
from engine.analysis.labels import Labels
from engine.analysis.trial_facts import Seen, arms_of_runs, source_lines
from engine.tables.review_table import read_reviews
from engine.text import clean_line
from screens.read_sessions import read_sessions
from screens.runs_together import LabelsOf, RunsTogether
from screens.source import RunSource


@dataclass(frozen=True)
class AnalysisWish:
    """Names of arms (all where there are none), benchmarks that also belong to the index, its weights; `families` is
    `category`, `prefix:SEPARATOR` or a CSV file, `reviews` a CSV file or nothing. `sessions`: whether those of all
    trials are read."""

    arms: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    attempts: int | None = None
    families: str = CATEGORY
    reviews: str = ""
    sessions: bool = False
    labelled: bool = True


@dataclass(frozen=True)
class Analysed:
    """What a thread found. `problem` says why there is nothing, `key` what was asked; `seen` are the sessions that were
    read for it."""

    key: object
    found: Analysis | None = None
    problem: str = ""
    seen: Mapping[tuple[str, str], Seen] | None = None


class Analysing(RunsTogether):
    """Belongs to the UI thread, but for what `job` returns."""

    def __init__(self, sources: Sequence[RunSource], wish: AnalysisWish | None = None) -> None:
        super().__init__(sources)
        self.wish = wish or AnalysisWish()
        self.seen: Mapping[tuple[str, str], Seen] | None = None
        """By the run's label and the trial; None until sessions were read."""

    @property
    def key(self) -> object:
        wish = self.wish
        return (replace(wish, weights={}), tuple(wish.weights.items()))

    def ask(self, **changed: Any) -> None:
        self.wish = replace(self.wish, **changed)

    def job(self, labels_of: LabelsOf, *, read: bool) -> Callable[[], Analysed]:
        """To be called in a thread; labels are taken now. `read`: sessions are read anew."""
        wish, key = self.wish, self.key
        states = {label: source.state for source, label in self.labels.items()}
        runs = {label: source.run for source, label in self.labels.items()}
        labels: Mapping[str, Labels] = {}
        if wish.labelled:
            labels = {label: labels_of(source) for source, label in self.labels.items()}
        known = self.seen

        def work() -> Analysed:
            seen = known
            try:
                if read:
                    seen = {
                        (label, trial): one
                        for label, run in runs.items()
                        for trial, one in read_sessions(run, states[label]).items()
                    }
                reviews = read_reviews(Path(wish.reviews).expanduser()) if wish.reviews else None
                families, separator = read_families(wish.families)
                chosen = select(arm_refs(states), wish.arms, join=True)
                arms = arms_of_runs(states, labels, seen or {}, chosen)
                if not any(arm.facts for arm in arms):
                    return Analysed(key, problem="no arm with a trial: nothing to analyse", seen=seen)
                found = analyse(
                    arms,
                    also=wish.also,
                    weights=wish.weights,
                    attempts=wish.attempts,
                    families=families,
                    separator=separator,
                    reviews=reviews,
                    sources=source_lines(states),
                )
            except OSError as error:
                return Analysed(key, problem=clean_line(f"{error.filename}: {error.strerror or error}"), seen=seen)
            except ValueError as error:  # no such arm, benchmark or family; LookupError is a fault of ours
                return Analysed(key, problem=clean_line(str(error)), seen=seen)
            return Analysed(key, found, seen=seen)

        return work


def weights_in(text: str) -> dict[str, float]:
    """From `benchmark=2, other=1`; a benchmark's name may hold blanks. Raises ValueError."""
    weights = {}
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        name, equals, number = part.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            equals, weight = "", 0.0
        if not equals or not name.strip():
            raise ValueError(f"{clean_line(part, 60)!r}: expected BENCHMARK=NUMBER")
        weights[name.strip()] = weight
    return weights
