"""SWE-bench evaluations as runs: folders of logs, entries of the leaderboard, and reports alone."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from engine.layout import LogFile
from engine.readers.inside import files_in, folders_in, is_inside, read_inside
from engine.readers.swe_bench_instance import LOG, OUTPUT, PATCH, REPORT
from engine.readers.swe_bench_layout import Place, Shape, place
from engine.readers.swe_bench_reader import SweBenchReader
from engine.readers.swe_bench_report import read_report

_LOGS = {OUTPUT: ("verifier", "tests"), REPORT: ("verifier", "report"), LOG: ("engine", "evaluation")}
_OTHER = {PATCH: ("agent", "patch"), "eval.sh": ("other", "eval.sh")}
_MOST_LOOKED_AT = 5_000
_TIME_LENGTH = 23


class SweBenchFormat:
    kind = "swe-bench"
    ours = False

    def is_run(self, folder: Path) -> bool:
        """`folder` may be a report: a file."""
        return place(folder) is not None

    def identity(self, folder: Path) -> str:
        """Of the moment at which the first instance began, which no other run has, whatever the folder is called by
        now. Where no log tells one, the run's id (and model), with a digest of the instances that a report names."""
        found = place(folder)
        if found is None:
            return folder.name
        models = [] if found.shape is Shape.RUN else sorted(found.models)[:1]
        reported = _reported(found)
        if not reported and (first := _first_moment(found)):
            begun = f"{found.shape} {first}".encode("utf-8", "backslashreplace")
            return f"swe-bench-{hashlib.sha256(begun).hexdigest()[:24]}"
        told = [found.run_id, *models, *reported]
        digest = hashlib.sha256("\0".join(told).encode("utf-8", "backslashreplace")).hexdigest()[:16]
        return f"{re.sub(r'[^A-Za-z0-9._]+', '_', '-'.join([found.run_id, *models]))[:80]}-{digest}"

    def reader(self, folder: Path) -> SweBenchReader:
        return SweBenchReader(place(folder) or Place(folder, Shape.MODEL, folder.name, {folder.name: folder}))

    def trial_folder(self, folder: Path, trial: str) -> Path:
        found = place(folder)
        return found.trial_folder(trial) if found is not None else folder

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        found = place(folder)
        if found is None:
            return []
        where = found.trial_folder(trial)
        if where == found.root:
            path = next((path for model in found.models or [""] if (path := found.report_of(model)) is not None), None)
            there = path is not None and path.is_file() and is_inside(found.top or found.root, path)
            return [LogFile("verifier", path.name, path)] if path is not None and there else []
        here = {path.name: path for path in files_in(found.root, where)}
        kinds = {**_LOGS, **_OTHER}
        known = [LogFile(*kinds[name], here[name]) for name in kinds if name in here]
        return known + [LogFile("other", name, path) for name, path in here.items() if name not in kinds]


def _reported(found: Place) -> list[str]:
    """The instances of a report that is all there is: it changes no more."""
    path = found.report_of("") if found.shape in (Shape.REPORT, Shape.LEADERBOARD) else None
    read = read_report(found.root, path) if path is not None else None
    return sorted(read.endings) if read is not None else []


def _first_moment(found: Place) -> str:
    """As the logs write it, with the instance; those that come later begin later. "" where no log tells."""
    moments = []
    for folder in found.models.values():
        for instance in folders_in(folder, _MOST_LOOKED_AT):
            head = read_inside(found.root, instance / LOG, _TIME_LENGTH)
            if head is not None and head[:4].isdigit():
                moments.append(f"{head.decode('ascii', 'replace')} {instance.name}")
    return min(moments, default="")


SWE_BENCH = SweBenchFormat()
