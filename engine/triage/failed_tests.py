"""Which tests of a trial failed, by name, and the line that says most about the first of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.issues import Evidence
from engine.text import clean_line
from engine.triage.trial_case import Line, TrialCase

CTRF = "ctrf.json"
_RESULTS = "results.json"  # of Terminal-Bench 0.x: `parser_results`, a word for each test
_REPORT = "report.json"  # of SWE-bench: `tests_status`, lists of names
_SHOWN = 3
_WORDS = re.compile(r"(?i)\b(?:fail(?:ed|ure)?|error|not ok)\b|✗|✘|×")
_HEAD = re.compile(r"^_{3,} .* _{3,}$")
_ERROR = re.compile(r"^E\s+\S")
_FEW = 400
"""Lines after the head of a failure in which its error is looked for."""


@dataclass(frozen=True)
class FailedTests:
    """`total`: of all tests; `file`: what lists them, relative to the trial's folder."""

    names: Sequence[str]
    total: int
    file: str

    @property
    def text(self) -> str:
        shown = ", ".join(clean_line(name, 60) for name in self.names[:_SHOWN])
        more = f" and {len(self.names) - _SHOWN} more" if len(self.names) > _SHOWN else ""
        return f"{len(self.names)} of {self.total} tests failed: {shown}{more}"


def failed_tests(case: TrialCase) -> FailedTests | None:
    """By a report for machines; None where there is none, or where it names no failure."""
    return next((found for found in _reports(case) if found.names), None)


def place_of(found: FailedTests, case: TrialCase) -> tuple[Evidence, ...]:
    """Where the first failed test's own error stands in what the tests printed; else its line in the report."""
    name = found.names[0]
    for log in case.logs_of("verifier"):
        if log.path.suffix == ".json":
            continue
        line = _told(case.lines(log.path), name)
        if line is not None:
            return (case.evidence(log.path, line, "failed"),)
    lines = case.lines(case.folder / found.file)
    written = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
    line = next((line for line in lines if any(text in line.text for text in written)), None)
    return (Evidence("failed", found.text, found.file, line.number if line is not None else 1),)


def _reports(case: TrialCase) -> Iterator[FailedTests]:
    for log in case.logs_of("verifier"):
        if log.path.name == CTRF:
            file = case.relative(log.path)
            tests = _part(case.json(file), "results").get("tests")
            rows = [test for test in tests if isinstance(test, dict)] if isinstance(tests, list) else []
            yield _found(((str(row.get("name", "")), row.get("status") == "failed") for row in rows), file)
    tests = _part(case.json(_RESULTS), "parser_results")
    yield _found(((name, word == "failed") for name, word in tests.items()), _RESULTS)
    report = case.json(_REPORT)
    for instance in report.values() if isinstance(report, dict) else ():
        status = _part(instance, "tests_status")
        kinds = (_part(status, kind) for kind in ("FAIL_TO_PASS", "PASS_TO_PASS"))
        yield _found(
            (
                (str(name), key == "failure")
                for kind in kinds
                for key in ("success", "failure")
                for name in _listed(kind, key)
            ),
            _REPORT,
        )


def _found(tests: Iterable[tuple[str, bool]], file: str) -> FailedTests:
    every = list(tests)
    return FailedTests([name for name, failed in every if failed], len(every), file)


def _told(lines: Sequence[Line], name: str) -> Line | None:
    """pytest's error below the failure's head, else the first line that names the test and says that it failed."""
    short = name.rpartition("::")[2].strip()
    if not short:
        return None
    named = re.compile(rf"(?<![\w.-]){re.escape(short)}(?![\w-])")
    heads = (at for at, line in enumerate(lines) if _HEAD.match(line.text) and named.search(line.text))
    for at in heads:
        for line in lines[at + 1 : at + _FEW]:
            if _ERROR.match(line.text):
                return line
            if _HEAD.match(line.text):
                break
        return lines[at]
    telling = (line for line in lines if named.search(line.text))
    return next((line for line in telling if _WORDS.search(named.sub("", line.text))), None)


def _listed(value: dict[str, object], name: str) -> list[object]:
    found = value.get(name)
    return found if isinstance(found, list) else []


def _part(value: object, name: str) -> dict[str, object]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
