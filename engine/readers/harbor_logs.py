"""The logs of a Harbor trial that a person can open."""

from __future__ import annotations

from pathlib import Path

from engine.layout import LogFile
from engine.readers.inside import files_in, folders_in

_TEXT = (".txt", ".log", ".jsonl", ".json", ".cast", ".ansi", ".pane", ".yaml")
_FOR_MACHINES = (".json", ".cast")
"""What nobody reads first."""
_DEEPEST = 3
_MOST = 200
_ORDER = {"agent": 0, "verifier": 1, "engine": 2, "other": 3}


def harbor_logs(run: Path, trial: Path) -> list[LogFile]:
    """What agents left (commands and setup included), what verifiers left, then Harbor's own words; steps by name."""
    logs: list[LogFile] = []
    for base, prefix in [(trial, ""), *((step, f"{step.name}: ") for step in folders_in(trial / "steps", most=_MOST))]:
        for kind, part in (("agent", "agent"), ("agent", "user-agent"), ("verifier", "verifier")):
            logs += _below(run, base / part, kind, prefix, _DEEPEST)
    for name, label in (("trial.log", "trial"), ("exception.txt", "exception")):
        logs += [LogFile("engine", label, path) for path in files_in(run, trial) if path.name == name]
    return sorted(logs[:_MOST], key=lambda log: _ORDER[log.kind])


def _below(run: Path, folder: Path, kind: str, prefix: str, deep: int) -> list[LogFile]:
    files = [path for path in files_in(run, folder, most=_MOST) if path.suffix in _TEXT]
    files.sort(key=lambda path: (path.suffix in _FOR_MACHINES, path.stem != "test-stdout", path.name))
    found = [
        LogFile(kind, prefix + (path.stem if path.suffix in (".txt", ".log") else path.name), path) for path in files
    ]
    if deep > 1 and len(found) < _MOST:
        for inner in folders_in(folder, most=50):
            found += _below(run, inner, kind, f"{prefix}{inner.name}/", deep - 1)
    return found[:_MOST]
