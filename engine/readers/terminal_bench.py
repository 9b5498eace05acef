"""Run folders of Terminal-Bench 0.x, and submissions that hold several of them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from engine.layout import LogFile
from engine.readers.inside import files_in, folders_in, is_inside
from engine.readers.terminal_bench_plan import identity, runs_of
from engine.readers.terminal_bench_reader import TerminalBenchReader

_RUN_LOGS = ("run.log", "harness.log", "tb.log")
_TEXT = (".txt", ".log", ".cast", ".json", ".jsonl")
_MOST = 200
_DEEPEST = 4


class TerminalBenchFormat:
    kind = "terminal-bench"
    ours = False

    def is_run(self, folder: Path) -> bool:
        return bool(runs_of(folder))

    def identity(self, folder: Path) -> str:
        """The run's UUID; of a submission, a digest over its runs'."""
        return identity(runs_of(folder), folder)

    def reader(self, folder: Path) -> TerminalBenchReader:
        return TerminalBenchReader(folder)

    def trial_folder(self, folder: Path, trial: str) -> Path:
        parts = [part for part in PurePosixPath(trial).parts if part not in ("/", "..")]
        return folder.joinpath(*parts)

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        place = self.trial_folder(folder, trial)
        logs = _trial_logs(folder, place) if place != folder else []
        for base in [place, *place.parents]:
            if base == folder.parent:
                break
            logs += [LogFile("engine", path.name, path) for path in files_in(folder, base) if path.name in _RUN_LOGS]
        return logs


def _trial_logs(run: Path, trial: Path) -> list[LogFile]:
    """Sessions, panes before and after, commands, what the agent itself wrote; the tests last."""
    if not is_inside(run, trial):
        return []
    found = [path for part in ("sessions", "panes") for path in files_in(run, trial / part) if path.suffix in _TEXT]
    found += [path for path in files_in(run, trial) if path.name == "commands.txt"]
    found += _below(run, trial / "agent-logs", _DEEPEST)
    logs = [
        LogFile(
            "verifier" if _of_tests(path) else "agent",
            path.stem if path.suffix in (".log", ".txt") else path.name,
            path,
        )
        for path in found[:_MOST]
    ]
    return sorted(logs, key=lambda log: (log.kind != "agent", log.path.suffix == ".cast"))


def _of_tests(path: Path) -> bool:
    return path.stem in ("tests", "post-test")


def _below(run: Path, folder: Path, deep: int) -> list[Path]:
    found = [path for path in files_in(run, folder, most=_MOST) if path.suffix in _TEXT]
    if deep > 1 and len(found) < _MOST:
        for inner in folders_in(folder, most=50):
            found += _below(run, inner, deep - 1)
    return found[:_MOST]


TERMINAL_BENCH = TerminalBenchFormat()
