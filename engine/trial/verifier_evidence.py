"""Did the verifier get to its tests? Evidence for and against, from what it left behind."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

_PYTEST_SESSION = re.compile(rb"^=+ test session starts =+\s*$", re.MULTILINE)
_MARKER = re.compile(rb"^VERIFIER INFRA ERROR.*$", re.MULTILINE)
_SETUP_FAILURES = re.compile(
    rb"^(?:"
    rb"E: (?:Unable to (?:locate package|fetch)|Failed to fetch|Package .* has no installation candidate|Could not get lock).*"
    rb"|(?:Err|W: Failed to fetch).*(?:Temporary failure resolving|Could not resolve|Connection (?:failed|timed out)).*"
    rb"|.*Temporary failure resolving .*"
    rb"|curl: \((?:5|6|7|28|35|52|56|60)\) .*"
    rb"|wget: unable to resolve host address.*"
    rb"|error: (?:Failed to fetch|Request failed after).*"
    rb"|ERROR: (?:Could not find a version that satisfies|No matching distribution found|Could not install packages).*"
    rb"|npm (?:ERR!|error) (?:code E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT)|network).*"
    rb"|.*: (?:line \d+: )?(?:uvx|uv|pytest|pip3?|python3?|npx|npm): (?:command )?not found"
    rb"|fatal: unable to access .*"
    rb")$",
    re.MULTILINE,
)
_READ = 4 << 20


class TestCounts(msgspec.Struct, frozen=True):
    """A consistent CTRF summary: `passed` of `total`."""

    passed: int
    total: int


class _Summary(msgspec.Struct):
    tests: int
    passed: int = 0
    failed: int = 0
    pending: int = 0
    skipped: int = 0
    other: int = 0


class _Results(msgspec.Struct):
    summary: _Summary
    tests: list[dict[str, object]] = []


class _Report(msgspec.Struct):
    results: _Results


class VerifierEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """`tests_ran`: proof that tests ran ("" if none). `setup_failure`: the line that says they can't have ("" if none),
    `line` its number in the output."""

    tests_ran: str = ""
    setup_failure: str = ""
    line: int = 0
    counts: TestCounts | None = None


def read_counts(report: Path) -> TestCounts | None:
    """Counts of a CTRF report, None unless it is there and its numbers agree with each other."""
    try:
        if report.is_symlink() or report.stat().st_size > _READ:
            return None
        results = msgspec.json.decode(report.read_bytes(), type=_Report).results
    except (OSError, msgspec.DecodeError):
        return None
    summary = results.summary
    parts = summary.passed + summary.failed + summary.pending + summary.skipped + summary.other
    if summary.tests <= 0 or parts != summary.tests or (results.tests and len(results.tests) != summary.tests):
        return None
    return TestCounts(summary.passed, summary.tests)


def look(output: Path, report: Path, exit_code: int | None) -> VerifierEvidence:
    """`output` is the verifier's stdout and stderr; its first and last 4 MiB are looked at."""
    data = _ends(output)
    counts = read_counts(report)
    if counts is not None:
        return VerifierEvidence(tests_ran=f"a CTRF report with {counts.total} tests", counts=counts)
    if _PYTEST_SESSION.search(data):
        return VerifierEvidence(tests_ran="a pytest session")
    for pattern in (_MARKER, _SETUP_FAILURES):
        found = pattern.search(data)
        if found is not None:
            text = found.group(0).decode("utf-8", "replace")
            return VerifierEvidence(setup_failure=text, line=data.count(b"\n", 0, found.start()) + 1)
    if exit_code in (126, 127):
        reason = "not executable" if exit_code == 126 else "a command was not found"
        return VerifierEvidence(setup_failure=f"the verifier ended with exit code {exit_code} ({reason})")
    return VerifierEvidence()


def _ends(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            head = file.read(_READ)
            if size <= _READ:
                return head
            file.seek(max(_READ, size - _READ))
            return head + file.read(_READ)
    except OSError:
        return b""
