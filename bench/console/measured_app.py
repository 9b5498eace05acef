"""The real console, with a clock on what it folds: `python -m bench.console.measured_app RUN_FOLDER OUTPUT_FILE`.

The app and its screens are the product's own; only the `RunState` that it folds into notes, for every eighth event,
when it was written and how long after that it was folded. The notes are stored when the console ends.
"""

from __future__ import annotations

import sys
import time
from array import array
from pathlib import Path
from unittest import mock

from console.app import TrialDeckApp
from console.open_app import run_app
from engine.events import Event, now
from engine.state import RunState
from screens.source import Clock, RunSource

EVERY = 8


class MeasuredState(RunState):
    """`notes` alternate: written at (wall clock), folded after (seconds)."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: array[float] = array("d")

    def apply(self, event: Event) -> None:
        super().apply(event)
        if self.events % EVERY == 0:
            written = event.at.timestamp()
            self.notes.extend((written, time.time() - written))


class MeasuredSource(RunSource):
    def __init__(self, folder: Path, clock: Clock = now) -> None:
        super().__init__(folder, clock)
        self.state: MeasuredState = MeasuredState()


def main(folder: Path, output: Path) -> None:
    app = TrialDeckApp(folder)
    with mock.patch("console.open_sources.RunSource", MeasuredSource):
        run_app(app)
    if isinstance(app.source, MeasuredSource):
        output.write_bytes(app.source.state.notes.tobytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
