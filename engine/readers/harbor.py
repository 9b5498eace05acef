"""Harbor's job folders (0.26, and what older ones have in common with it)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine.layout import LogFile
from engine.readers import json_values as values
from engine.readers.harbor_logs import harbor_logs
from engine.readers.harbor_reader import JOB_LOG, HarborReader
from engine.readers.inside import folders_in, is_inside, read_inside
from engine.readers.json_file import read_json

_MOST_CONFIG = 8 << 20
_MOST_ASKED = 5


class HarborFormat:
    kind = "harbor"
    ours = False

    def is_run(self, folder: Path) -> bool:
        """A job, told from a trial (which has a config.json too), a task and a folder of jobs."""
        config = values.mapping(read_json(folder, folder / "config.json", _MOST_CONFIG))
        if config:
            return "trial_name" not in config and ("agents" in config or "n_attempts" in config)
        result = values.mapping(read_json(folder, folder / "result.json", _MOST_CONFIG))
        return "n_total_trials" in result and "stats" in result

    def identity(self, folder: Path) -> str:
        """The job's UUID; while its result.json is being written, as its trials know it."""
        found = values.text(values.within(read_json(folder, folder / "result.json", _MOST_CONFIG), "id"))
        for trial in folders_in(folder, most=_MOST_ASKED) if not found else ():
            found = (
                values.text(values.within(read_json(folder, trial / "config.json", _MOST_CONFIG), "job_id")) or found
            )
        if found:
            return found
        for name in ("lock.json", "config.json"):
            if data := read_inside(folder, folder / name):
                return hashlib.sha256(data).hexdigest()
        return folder.name

    def reader(self, folder: Path) -> HarborReader:
        return HarborReader(folder)

    def trial_folder(self, folder: Path, trial: str) -> Path:
        return folder / Path(trial).name if trial not in ("", ".", "..") else folder

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        """The trial's own, then the job's log; only the job's for a trial that has no folder."""
        place = self.trial_folder(folder, trial)
        logs = harbor_logs(folder, place) if place != folder else []
        job = folder / JOB_LOG
        if job.is_file() and is_inside(folder, job):
            logs.append(LogFile("engine", "job", job))
        return logs


HARBOR = HarborFormat()
