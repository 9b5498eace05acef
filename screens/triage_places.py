"""Where a finding leads: a file of the trial and a line in it, never outside of the run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.issues import Evidence
from engine.layout import LogFile
from engine.text import clean_line
from engine.triage.proposal import Finding


@dataclass(frozen=True)
class LogPlace:
    """`line` counts from 1; 0 is the end of the log."""

    log: LogFile
    line: int = 0


def file_of(evidence: Evidence, trial_folder: Path, run_folder: Path) -> Path | None:
    """The file of a piece of evidence, if it lies in the run folder and is there."""
    if not evidence.file:
        return None
    path = trial_folder / evidence.file
    try:
        inside = path.resolve().is_relative_to(run_folder.resolve())
        return path if inside and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def place_words(evidence: Evidence, path: Path | None, logs: Sequence[LogFile]) -> str:
    """`db, line 40,112`: the log's name, or the file's; "" where it leads nowhere."""
    if path is None:
        return ""
    log = next((log for log in logs if log.path == path), None)
    name = clean_line(log.label if log else evidence.file, 40)
    return f"{name}, line {evidence.line:,}" if evidence.line else name


def places_of(finding: Finding, logs: Sequence[LogFile], trial_folder: Path, run_folder: Path) -> list[LogPlace]:
    """All places that its evidence leads to, the first one first. A session is no log: its step is named instead."""
    found = []
    for evidence in finding.evidence:
        path = file_of(evidence, trial_folder, run_folder)
        if path is None:
            continue
        log = next((log for log in logs if log.path == path), LogFile("other", path.name, path))
        if finding.step and log.kind == "other":
            continue
        found.append(LogPlace(log, max(0, evidence.line)))
    return found


def side_by_side(places: Sequence[Sequence[LogPlace]], logs: Sequence[LogFile], chosen: int) -> list[LogPlace]:
    """At most two logs: what the chosen finding leads to, and beside it another log that says most about the rest.

    `places` has an entry for each finding. The agent's log stands at the left where it is one of the two.
    """
    wanted: list[LogPlace] = []
    if 0 <= chosen < len(places):
        wanted += places[chosen]
    wanted += [place for number, found in enumerate(places) if number != chosen for place in found]
    wanted += [LogPlace(log) for kind in ("agent", "verifier", "service") for log in logs if log.kind == kind][:6]
    wanted += [LogPlace(log) for log in logs]
    two: list[LogPlace] = []
    for place in wanted:
        if all(place.log.path != other.log.path for other in two):
            two.append(place)
        if len(two) == 2:
            break
    return sorted(two, key=lambda place: place.log.kind != "agent")
