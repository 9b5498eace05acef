"""Several runs that one set of numbers is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.analysis.labels import Labels
from engine.text import clean_line
from screens.source import RunSource

LabelsOf = Callable[[RunSource], Labels]


class RunsTogether:
    def __init__(self, sources: Sequence[RunSource]) -> None:
        self.sources = list(sources)

    @property
    def labels(self) -> dict[RunSource, str]:
        """A short name for each run: its folder's, with a number where two are called alike."""
        found: dict[RunSource, str] = {}
        for source in self.sources:
            name = clean_line(source.folder.name or str(source.folder), 60)
            taken = set(found.values())
            number = 2
            unique = name
            while unique in taken:
                unique = f"{name} #{number}"
                number += 1
            found[source] = unique
        return found

    @property
    def caught_up(self) -> bool:
        return all(source.caught_up for source in self.sources)

    @property
    def to_go(self) -> int:
        """Trials that aren't over, as far as runs are read."""
        return sum(len(source.state.trials) - source.state.done for source in self.sources if source.caught_up)
