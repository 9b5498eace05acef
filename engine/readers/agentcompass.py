"""Results folders of AgentCompass (1.0) as runs."""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine.layout import LogFile
from engine.readers import json_values as values
from engine.readers.agentcompass_layout import AgentCompassFolder
from engine.readers.agentcompass_plan import run_info
from engine.readers.agentcompass_reader import AgentCompassReader
from engine.readers.inside import read_inside
from engine.readers.json_file import NotJson, parse_json, read_json

_HEAD = 1 << 16


class AgentCompassFormat:
    kind = "agentcompass"
    ours = False

    def is_run(self, folder: Path) -> bool:
        """By its first event, or by its `run_info.json` beside one of the things that only AgentCompass has there."""
        try:
            if _first_event(folder):
                return True
            if not (folder / "run_info.json").is_file():
                return False
            return (folder / "progress.json").is_file() or (folder / "details").is_dir()
        except (OSError, ValueError):
            return False

    def identity(self, folder: Path) -> str:
        info = run_info(read_json(folder, folder / "run_info.json"))
        if info.run and info.started_at:
            return info.identity
        first = _first_event(folder)
        parts = [str(first.get(name)) for name in ("run_id", "timestamp", "orchestration_id")] if first else []
        told = "\0".join(parts or [folder.parent.name, folder.name])
        return f"agentcompass-{hashlib.sha256(told.encode('utf-8', 'backslashreplace')).hexdigest()[:24]}"

    def reader(self, folder: Path) -> AgentCompassReader:
        return AgentCompassReader(folder)

    def trial_folder(self, folder: Path, trial: str) -> Path:
        return AgentCompassFolder(folder).trial_folder(trial)

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        return AgentCompassFolder(folder).logs(trial)


def _first_event(folder: Path) -> dict[str, object]:
    """The first line of `progress.jsonl` where it is one of AgentCompass's; else nothing."""
    head = read_inside(folder, folder / "progress.jsonl", _HEAD)
    try:
        event = values.mapping(parse_json(head.partition(b"\n")[0])) if head else {}
    except NotJson:
        return {}
    return event if {"run_id", "event", "timestamp", "task_id"} <= event.keys() else {}


AGENTCOMPASS = AgentCompassFormat()
