"""One instance's folder of a SWE-bench evaluation: its report and what its log tells.

report.json       the verdict, and each test by name
run_instance.log  lines with local times: container, patch, tests, whatever went wrong
test_output.txt   what the tests printed;  patch.diff, eval.sh: what was evaluated, and how
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers import json_values as values
from engine.readers.foreign_times import in_utc
from engine.readers.inside import read_inside
from engine.readers.json_file import NotJson, parse_json
from engine.readers.masked_text import masked

REPORT, LOG, OUTPUT, PATCH = "report.json", "run_instance.log", "test_output.txt", "patch.diff"
_MOST_LOG = 8 << 20
_LINE = re.compile(rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](\d{1,6}) - (?:\S+ - )?(DEBUG|INFO|WARNING|ERROR) - (.*)")
_TIMED_OUT = re.compile(rb"Test timed out after ([\d.]+) seconds")
_EXCEPTION = re.compile(rb"[A-Za-z_][\w.]*(?:Error|Exception|Failure|Interrupt|Timeout)\b:?.*")
_LONGEST = 4_000


@dataclass
class InstanceLog:
    """Times are UTC; lines count from 1 (0: not said)."""

    began: datetime | None = None
    last: datetime | None = None
    ready: datetime | None = None
    tests_began: datetime | None = None
    timed_out_line: int = 0
    timed_out_after: float | None = None
    patch_failed_line: int = 0
    build_failed: bool = False
    error_line: int = 0
    error: str = ""
    exception_line: int = 0
    exception: str = ""
    warnings: list[tuple[int, str]] = field(default_factory=list)

    @property
    def broke(self) -> bool:
        return bool(self.exception_line or self.error_line or self.timed_out_line or self.patch_failed_line)


def instance_log(data: bytes) -> InstanceLog:
    found = InstanceLog()
    for number, line in enumerate(data.split(b"\n"), 1):
        match = _LINE.match(line[:_LONGEST])
        if match is not None:
            _timed(found, number, match)
        elif found.exception_line and not found.exception and (raised := _EXCEPTION.match(line[:_LONGEST])):
            found.exception = masked(raised[0].decode("utf-8", "replace").strip())
            found.build_failed = found.build_failed or b"BuildImageError" in line
        elif line.startswith(b"Traceback (most recent call last)"):
            found.exception_line, found.exception = number, ""
    return found


def _timed(found: InstanceLog, number: int, match: re.Match[bytes]) -> None:
    at = in_utc(f"{match[1].decode()}.{match[2].decode()}")
    found.began = found.began or at
    found.last = at or found.last
    level, text = match[3], match[4]
    if text.startswith(b"Container for ") and b" started" in text:
        found.ready = at
    elif text.startswith(b"Eval script for "):
        found.tests_began = at
    elif b">>>>> Patch Apply Failed" in text:
        found.patch_failed_line = found.patch_failed_line or number
    elif (timed_out := _TIMED_OUT.search(text)) is not None:
        found.timed_out_line = number
        found.timed_out_after = float(timed_out[1])
    elif text.startswith(b"Traceback"):
        found.exception_line, found.exception = number, ""
    elif level == b"ERROR":
        found.error_line, found.error = number, masked(text.decode("utf-8", "replace"))
        found.build_failed = found.build_failed or b"building image" in text or b"BuildImageError" in text
    elif level == b"WARNING":
        found.warnings.append((number, masked(text.decode("utf-8", "replace"))))


@dataclass(frozen=True)
class Verdict:
    """`resolved` None: the report says nothing of it. Tests: passed and all of those that count."""

    resolved: bool | None = None
    applied: bool | None = None
    tests_passed: int | None = None
    tests_total: int | None = None
    rewards: dict[str, float] = field(default_factory=dict)


def read_verdict(root: Path, folder: Path) -> tuple[Verdict | None, str]:
    """The report and what is wrong with it: ("" and None: there is none yet)."""
    data = read_inside(root, folder / REPORT)
    if data is None:
        return None, ""
    try:
        value = parse_json(data)
    except NotJson:
        return None, "is not whole JSON" if data.strip() else "is empty"
    inner = values.mapping(values.within(value, folder.name)) or next(
        (item for item in values.mapping(value).values() if isinstance(item, dict)), {}
    )
    return verdict(inner), "" if isinstance(inner.get("resolved"), bool) else "does not say whether it is resolved"


def verdict(row: dict[str, object]) -> Verdict:
    passed = total = 0
    rewards: dict[str, float] = {}
    for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        tests = values.within(row, "tests_status", name)
        good, bad = values.within(tests, "success"), values.within(tests, "failure")
        if isinstance(good, list) and isinstance(bad, list):
            passed, total = passed + len(good), total + len(good) + len(bad)
            if good or bad:
                rewards[name.lower()] = len(good) / (len(good) + len(bad))
    resolved, applied = row.get("resolved"), row.get("patch_successfully_applied")
    return Verdict(
        resolved=resolved if isinstance(resolved, bool) else None,
        applied=applied if isinstance(applied, bool) else None,
        tests_passed=passed if total else None,
        tests_total=total or None,
        rewards=rewards,
    )


def read_log(root: Path, folder: Path) -> InstanceLog:
    return instance_log(read_inside(root, folder / LOG, _MOST_LOG) or b"")


def issues_of(log: InstanceLog, found: Verdict | None, broken: str) -> Iterator[Issue]:
    """What went wrong: a patch that did not apply is its own outcome, not failed tests (case 56)."""
    scored = found is not None and found.resolved is not None
    grave = Severity.ERROR if scored else Severity.FATAL
    if broken:
        place: tuple[Evidence, ...] = (Evidence(REPORT, broken, REPORT, 1),)
        yield Issue(Severity.FATAL, Phase.VERIFY, Code.VERIFIER_RESULT_INVALID, f"{REPORT} {broken}", place)
    if log.patch_failed_line or (found is not None and found.applied is False):
        place = (Evidence(LOG, "Patch Apply Failed", LOG, log.patch_failed_line),) if log.patch_failed_line else ()
        message = "the patch did not apply: no test ran on it"
        yield Issue(grave, Phase.VERIFY, Code.ARTIFACT_TRANSFER_FAILED, message, place)
    elif log.timed_out_line:
        message = f"the tests ran out of their time ({log.timed_out_after:g} s)"
        place = (Evidence(LOG, message, LOG, log.timed_out_line), Evidence("tests", "their output", OUTPUT, 0))
        yield Issue(grave, Phase.VERIFY, Code.VERIFIER_TIMEOUT, message, place)
    elif log.broke:
        text = log.exception or log.error or "an exception without words"
        line = log.exception_line or log.error_line
        code = Code.BUILD_FAILED if log.build_failed else Code.ENVIRONMENT_FAILED
        if log.tests_began is not None:
            code = Code.VERIFIER_CRASHED
        phase = Phase.PREPARE if log.tests_began is None else Phase.VERIFY
        yield Issue(grave, phase, code, text[:_LONGEST], (Evidence(LOG, text[:_LONGEST], LOG, line),))
    for number, text in log.warnings[:20]:
        yield Issue(Severity.WARNING, None, Code.TASK_WARNING, text, (Evidence(LOG, text, LOG, number),))
