"""From a folder to the run in it, whichever system wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.layout import LogFile
from engine.readers.agentcompass import AGENTCOMPASS
from engine.readers.csv_table import CSV
from engine.readers.harbor import HARBOR
from engine.readers.reader import RunFormat, RunReader
from engine.readers.run_folder import TRIALDECK
from engine.readers.swe_bench import SWE_BENCH
from engine.readers.terminal_bench import TERMINAL_BENCH

FORMATS: tuple[RunFormat, ...] = (TRIALDECK, HARBOR, AGENTCOMPASS, TERMINAL_BENCH, SWE_BENCH, CSV)
"""The first one that recognises a folder reads it: ours also look like Harbor's jobs."""


@dataclass(frozen=True)
class OpenedRun:
    """A run folder and the format that reads it."""

    folder: Path
    format: RunFormat

    @property
    def kind(self) -> str:
        return self.format.kind

    @property
    def ours(self) -> bool:
        return self.format.ours

    @property
    def identity(self) -> str:
        return self.format.identity(self.folder)

    def reader(self) -> RunReader:
        return self.format.reader(self.folder)

    def trial_folder(self, trial: str) -> Path:
        return self.format.trial_folder(self.folder, trial)

    def logs(self, trial: str) -> list[LogFile]:
        return self.format.logs(self.folder, trial)


def recognise(folder: Path) -> OpenedRun | None:
    """The run that `folder` itself is; None where no format knows it."""
    for known in FORMATS:
        if known.is_run(folder):
            return OpenedRun(folder, known)
    return None


def open_run(folder: Path) -> OpenedRun:
    """As `recognise`; a folder that nobody knows (yet) is taken for one of ours that is about to be written."""
    return recognise(folder) or OpenedRun(folder, TRIALDECK)
