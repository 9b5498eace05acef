"""What lies beside a trial's result: the manifest of its artifacts, its test report, and signs of processes killed."""

from __future__ import annotations

import re
from pathlib import Path

from engine.events import ArtifactRecorded
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers import json_values as values
from engine.readers.harbor_log import TRIAL_LOG, FailedDownload, TrialLog
from engine.readers.inside import files_in, read_inside
from engine.readers.json_file import NotJson, parse_json, read_json

MANIFEST = "artifacts/manifest.json"
CONVENTIONAL = "/logs/artifacts"
"""Collected without being asked for; nothing need be there."""
MOST_ROWS = 1_000
_MOST_MANIFEST = 4 << 20
_MOST_LOG = 8 << 20
_MOST_LOGS = 8
_STATUS = {"ok": "collected", "empty": "empty", "failed": "failed", "skipped": "skipped"}
_KILLED = re.compile(r"^.*\bline \d+:\s+\d+ Killed\b.*$")
_EXIT_CODE = "exit-code.txt"
_SIGKILL = 137


def artifacts(
    trial: str, folder: Path, log: TrialLog, *, reached_agent: bool, step: str = ""
) -> tuple[list[ArtifactRecorded], list[Issue]]:
    """The rows of one manifest, and why some of them failed, as far as the log tells."""
    base = f"steps/{step}/" if step else ""
    data = read_inside(folder, folder / f"{base}{MANIFEST}", _MOST_MANIFEST)
    try:
        manifest = parse_json(data) if data else None
    except NotJson:
        manifest = None
    lines = (data or b"").decode("utf-8", "replace").splitlines()
    events, issues = [], []
    for row in values.rows(manifest)[:MOST_ROWS]:
        source = values.text(row.get("source"))
        service = values.text(row.get("service"))
        told = values.text(row.get("status"))
        failed = _download(log, source, service)
        status = "missing" if told == "failed" and failed is not None and failed.missing else _STATUS.get(told, told)
        note = failed.why if failed is not None else ""
        size = values.count(row.get("bytes")) or 0
        events.append(
            ArtifactRecorded(
                trial=trial, service=service or "main", source=source, status=status, bytes=size, note=note, step=step
            )
        )
        if told not in ("failed", "skipped") or (source == CONVENTIONAL and not reached_agent):
            continue
        place = Evidence("manifest", f"{source}: {told}", f"{base}{MANIFEST}", _line_of(lines, source))
        issues.append(_artifact_issue(source, service, told, failed, log, place, step))
    return events, issues


def _download(log: TrialLog, source: str, service: str) -> FailedDownload | None:
    wanted = source, service or "main"
    return next((one for one in log.downloads if (one.source, one.service) == wanted), None)


def _artifact_issue(
    source: str, service: str, told: str, failed: FailedDownload | None, log: TrialLog, place: Evidence, step: str
) -> Issue:
    where = f"{service or 'main'}:{source}"
    evidence = [place]
    if told == "skipped":
        code, said = Code.ARTIFACT_COLLISION, f"artifact {where} was skipped: its place was taken by another one"
        line = log.collisions.get((source, service))
        if line is not None:
            evidence.append(Evidence("log", "Artifact collision", TRIAL_LOG, line))
    elif failed is None:
        code = Code.ARTIFACT_MISSING
        said = f"artifact {where} is not there: it was missing, or its download failed; no log tells which"
    else:
        evidence.append(Evidence("log", failed.why, TRIAL_LOG, failed.line))
        if failed.missing:
            code, said = Code.ARTIFACT_MISSING, f"declared artifact {where} is missing"
        else:
            code, said = Code.ARTIFACT_TRANSFER_FAILED, f"downloading {where} failed: {failed.why}"
    return Issue(Severity.WARNING, Phase.COLLECT, code, said, tuple(evidence), service=service or "main", step=step)


def _line_of(lines: list[str], source: str) -> int:
    return next((number for number, line in enumerate(lines, 1) if source and f'"{source}"' in line), 0)


def test_counts(folder: Path, step: str = "") -> tuple[int, int] | None:
    """Passed and all tests of the verifier's own report, where it wrote one."""
    base = folder / "steps" / step if step else folder
    summary = values.within(read_json(folder, base / "verifier" / "ctrf.json"), "results", "summary")
    passed, total = values.count(values.within(summary, "passed")), values.count(values.within(summary, "tests"))
    return None if passed is None or total is None or passed > total else (passed, total)


def agent_exit(folder: Path, step: str = "") -> int | None:
    """Only some agents have it written down."""
    base = folder / "steps" / step if step else folder
    data = read_inside(folder, base / "agent" / _EXIT_CODE, 16)
    try:
        return int(data) if data else None
    except ValueError:
        return None


def killed_signs(folder: Path, exit_code: int | None, *, ended_by_harbor: bool, step: str = "") -> list[Issue]:
    """A process killed while agent or verifier ran, as far as files tell: neither Docker's record nor a memory
    reading is kept by Harbor. `ended_by_harbor`: out of time or cancelled, so kills are to be expected."""
    base = f"steps/{step}/" if step else ""
    issues = []
    line = _killed_line(folder, f"{base}agent")
    if not ended_by_harbor and (line is not None or exit_code == _SIGKILL):
        code = Evidence("exit code", f"{exit_code} (128 + 9: SIGKILL)", f"{base}agent/{_EXIT_CODE}", 1)
        facts = [*([line] if line is not None else []), *([code] if exit_code == _SIGKILL else [])]
        issues.append(_killed(line is not None, exit_code == _SIGKILL, tuple(facts), step))
    verifying = _killed_line(folder, f"{base}verifier")
    if verifying is not None:
        issues.append(
            Issue(
                Severity.WARNING,
                Phase.VERIFY,
                Code.KILLED_UNKNOWN,
                "a process of the verifier was killed, says its shell; Harbor's files don't tell by whom or why",
                (verifying,),
                step=step,
            )
        )
    return issues


def _killed(by_shell: bool, by_code: bool, facts: tuple[Evidence, ...], step: str) -> Issue:
    if by_shell and by_code:
        said = (
            "probably out of memory: its shell reports a process as Killed and the agent ended with 137. This rests on "
            "these two signs alone: Harbor keeps no record of memory, and a kill by hand looks the same"
        )
        return Issue(Severity.WARNING, Phase.AGENT, Code.OUT_OF_MEMORY, said, facts, step=step)
    sign = "its shell reports a process as Killed" if by_shell else "the agent ended with exit code 137"
    said = f"a process was killed while the agent ran ({sign}): by a memory limit or by hand, no file tells"
    return Issue(Severity.WARNING, Phase.AGENT, Code.KILLED_UNKNOWN, said, facts, step=step)


def _killed_line(folder: Path, part: str) -> Evidence | None:
    """The last such line of a shell in the logs there; of a very long log its beginning is looked at."""
    logs = [path for path in files_in(folder, folder / part) if path.suffix in (".txt", ".log")]
    for path in logs[:_MOST_LOGS]:
        data = read_inside(folder, path, _MOST_LOG)
        if data is None or b" Killed" not in data:
            continue
        lines = data.decode("utf-8", "replace").splitlines()
        for number in range(len(lines), 0, -1):
            if _KILLED.match(lines[number - 1]):
                return Evidence("shell", lines[number - 1].strip(), f"{part}/{path.name}", number)
    return None
