"""Where things lie in a results folder of AgentCompass, wherever a task has moved to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.layout import LogFile
from engine.readers import json_values as values
from engine.readers.followed_file import FollowedFile
from engine.readers.inside import files_in, folders_in, is_inside, read_inside
from engine.readers.json_file import read_json

STATES = ("running", "normal", "error", "fatal")
LOG_FROM_TRIAL = "../../../../run.log"
"""From `details/<state>/<task>/attempt-<n>`."""
_TRIAL = re.compile(r"[^/\0]+--[0-9a-f]{64}/attempt-[1-9][0-9]{0,5}")
_TASK = re.compile(r"(?P<readable>.+)--[0-9a-f]{64}")
_ATTEMPT = re.compile(r"attempt-([1-9][0-9]{0,5})")
_SHOWN = (".txt", ".log", ".json", ".jsonl", ".md", ".diff", ".patch", ".cast")
_MOST_ARTIFACTS = 200


@dataclass(frozen=True)
class TaskIndex:
    task: str
    category: str
    attempts: tuple[int, ...]


class AgentCompassFolder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._states: dict[str, str] = {}

    def followed(self, name: str) -> FollowedFile:
        """One that leads out of the folder is not followed: it has no lines."""
        path = self.folder / name
        return FollowedFile(path if is_inside(self.folder, path) else self.folder / "details" / "\x01")

    def task_folders(self) -> list[Path]:
        """Of every state; those of a layout without states too."""
        details = self.folder / "details"
        found = [task for state in STATES for task in folders_in(details / state)]
        found += [task for task in folders_in(details) if task.name not in STATES]
        return [task for task in found if _TASK.fullmatch(task.name)]

    def index(self, task: Path) -> TaskIndex:
        """From `task.json`; from the folders' names where that can't be read."""
        value = read_json(self.folder, task / "task.json", 4 << 20)
        named = _TASK.fullmatch(task.name)
        name = values.text(values.within(value, "task_id")) or (named["readable"] if named else task.name)
        numbers = [match[1] for path in folders_in(task) if (match := _ATTEMPT.fullmatch(path.name))]
        return TaskIndex(name, values.text(values.within(value, "category")), tuple(sorted(map(int, numbers))))

    def trial_folder(self, trial: str) -> Path:
        """Where the attempt lies now: its task moves out of `running` when it ends."""
        details = self.folder / "details"
        if not _TRIAL.fullmatch(trial) or trial.startswith(("../", "./")):
            return details / "running" / "unknown"
        known = self._states.get(trial)
        for state in ([known] if known else []) + [*STATES[1:], STATES[0], ""]:
            path = details / state / trial
            if path.is_dir():
                self._states[trial] = state
                return path
        return details / "running" / trial

    def read(self, trial: str, name: str) -> bytes | None:
        return read_inside(self.folder, self.trial_folder(trial) / name)

    def logs(self, trial: str) -> list[LogFile]:
        folder = self.trial_folder(trial)
        logs = [
            LogFile("other" if path.name == "checkpoint.json" else "verifier", path.stem, path)
            for path in files_in(self.folder, folder)
            if path.suffix in _SHOWN
        ]
        logs.sort(key=lambda log: log.kind != "verifier")
        logs += [
            LogFile("other", f"set aside: {path.stem.partition('.')[2] or path.stem}", path)
            for path in files_in(self.folder, folder / "retries")
        ]
        logs = [*self._artifacts(folder / "artifacts"), *logs]
        log = self.folder / "run.log"
        whole = folder / LOG_FROM_TRIAL if folder.is_dir() else log
        there = log.is_file() and is_inside(self.folder, log)
        return [*logs, LogFile("engine", "run.log", whole)] if there else logs

    def _artifacts(self, top: Path) -> list[LogFile]:
        found: list[LogFile] = []
        folders = [top]
        while folders and len(found) < _MOST_ARTIFACTS:
            folder = folders.pop(0)
            found += [
                LogFile("agent", str(path.relative_to(top)), path)
                for path in files_in(self.folder, folder)
                if path.suffix in _SHOWN
            ]
            folders += folders_in(folder, _MOST_ARTIFACTS)
        return sorted(found[:_MOST_ARTIFACTS], key=lambda log: log.path.suffix == ".cast")
