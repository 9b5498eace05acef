"""Where a SWE-bench evaluation lies: a run's folder, one model's folder in it, a leaderboard's folder, a report alone.

logs/run_evaluation/<run_id>/<model>/<instance_id>/   a run, with one arm a model; its reports lie beside `logs`
<date>_<system>/results/results.json, logs/<instance_id>/   an entry of the leaderboard; or per_instance_details.json
<model>.<run_id>.json                                 a report and nothing else
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from engine.readers.inside import folders_in, is_inside, read_inside
from engine.readers.json_file import NotJson, parse_json
from engine.readers.swe_bench_instance import LOG, REPORT
from engine.readers.swe_bench_report import is_name, is_report

LEADERBOARD = Path("results") / "results.json"
DETAILED = "per_instance_details.json"
_LOOKED_AT = 4
_HEAD = 4_096


class Shape(StrEnum):
    RUN = "run"
    MODEL = "model"
    LEADERBOARD = "leaderboard"
    REPORT = "report"


@dataclass(frozen=True)
class Place:
    """`models`: name and folder of each model that has instances here (a report alone may have none)."""

    path: Path
    shape: Shape
    run_id: str
    models: dict[str, Path] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """Nothing outside of it is read, but for reports beside `logs`."""
        return self.path.parent if self.shape is Shape.REPORT else self.path

    @property
    def top(self) -> Path | None:
        """Where the harness was started, if the folders say so: there its reports lie."""
        run = self.path if self.shape is Shape.RUN else self.path.parent
        if self.shape not in (Shape.RUN, Shape.MODEL) or not is_evaluation(run.parent):
            return None
        return run.parent.parent.parent

    def report_of(self, model: str) -> Path | None:
        match self.shape:
            case Shape.REPORT:
                return self.path
            case Shape.LEADERBOARD:
                detailed = self.path / DETAILED
                return detailed if detailed.is_file() else self.path / LEADERBOARD
        return None if self.top is None else self.top / f"{model}.{self.run_id}.json"

    def trial(self, model: str, instance: str) -> str:
        return f"{model}/{instance}" if self.shape is Shape.RUN else instance

    def trial_folder(self, trial: str) -> Path:
        model, _, instance = trial.rpartition("/")
        if not is_name(instance) or (model and not is_name(model)):
            return self.root / "unknown"
        base = self.models.get(model) if model else next(iter(self.models.values()), None)
        found = base / instance if base is not None else None
        return found if found is not None and found.is_dir() else self.root


def is_evaluation(folder: Path) -> bool:
    return folder.name == "run_evaluation" and folder.parent.name == "logs"


def place(path: Path) -> Place | None:
    """Looks at a few names and the heads of a few files. Never raises."""
    try:
        if path.is_file():
            return _report_place(path) if path.suffix == ".json" and _reads_as_report(path) else None
        if (path / LEADERBOARD).is_file() or (path / DETAILED).is_file():
            logs = path / "logs"
            return Place(path, Shape.LEADERBOARD, path.name, {path.name: logs} if logs.is_dir() else {})
        return _folder_place(path)
    except (OSError, ValueError):
        return None


def _folder_place(path: Path) -> Place | None:
    children = _some_folders(path)
    if any(_is_instance(child) for child in children):
        run_id = path.parent.name if is_evaluation(path.parent.parent) else path.name
        return Place(path, Shape.MODEL, run_id, {path.name: path})
    if any(_is_instance(inner) for child in children for inner in _some_folders(child)):
        return Place(path, Shape.RUN, path.name, {child.name: child for child in folders_in(path)})
    return None


def _some_folders(path: Path) -> list[Path]:
    """The first few, in the order in which the file system has them: cheap however many there are."""
    found: list[Path] = []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                found.append(Path(entry.path))
                if len(found) >= _LOOKED_AT:
                    break
    return found


def _is_instance(folder: Path) -> bool:
    if (folder / LOG).is_file():
        return True
    head = read_inside(folder, folder / REPORT, _HEAD)
    return head is not None and f'"{folder.name}"'.encode("utf-8", "replace") in head and b'"resolved"' in head


def _reads_as_report(path: Path) -> bool:
    """Each trial of a report asks where it lies, and a report may be large: it is read once while it stays as it is."""
    found = path.stat()
    return _is_report_file(path, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@lru_cache(maxsize=64)
def _is_report_file(path: Path, stamp: tuple[int, ...]) -> bool:
    head = read_inside(path.parent, path, 1 << 16)
    if head is None or not head.lstrip().startswith(b"{"):
        return False
    if not any(word in head for word in (b'_ids"', b'"resolved"', b"_instances", b'"no_generation"', b'"api_calls"')):
        return False
    data = read_inside(path.parent, path)
    try:
        return data is not None and is_report(parse_json(data))
    except NotJson:
        return False


def _report_place(path: Path) -> Place:
    """Names of models and runs may have dots in them: the logs beside the report tell where one ends."""
    parts = path.stem.split(".")
    splits = [(".".join(parts[:at]), ".".join(parts[at:])) for at in range(len(parts) - 1, 0, -1)]
    for model, run_id in splits:
        logs = path.parent / "logs" / "run_evaluation" / run_id / model
        if is_name(model) and is_name(run_id) and logs.is_dir() and is_inside(path.parent, logs):
            return Place(path, Shape.REPORT, run_id, {model: logs})
    model, run_id = splits[0] if splits else (path.stem, path.stem)
    return Place(path, Shape.REPORT, run_id, {model: path.parent / "\x01"})
