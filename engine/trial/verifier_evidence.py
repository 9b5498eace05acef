"""Did the verifier get to its tests? Evidence for and against, from what it left behind."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from engine.json_numbers import Count

# Colours and titles that a tool writes; removed before anything is looked for, line ends stay.
_CODES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\^-~])")
_PYTEST_SESSION = re.compile(rb"^=+ test session starts =+\s*$", re.MULTILINE)
_MARKER = re.compile(rb"^VERIFIER INFRA ERROR.*$", re.MULTILINE)
_SETUP_FAILURES = re.compile(
    rb"^(?:"
    rb"E: (?:Unable to (?:locate package|fetch)|Failed to fetch|Could not get lock).*"
    rb"|E: Package .* has no installation candidate.*"
    rb"|(?:Err|W: Failed to fetch).*(?:Temporary failure resolving|Could not resolve|Connection (?:failed|timed out)).*"
    rb"|.*Temporary failure resolving .*"
    rb"|curl: \((?:5|6|7|28|35|56|60)\) .*"
    rb"|wget: unable to resolve host address.*"
    rb"|error: (?:Failed to fetch|Request failed after).*"
    rb"|ERROR: (?:Could not find a version that satisfies|No matching distribution found|Could not install packages).*"
    rb"|npm (?:ERR!|error) (?:code E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT)|network).*"
    rb"|.*: (?:line \d+: )?(?:uvx|uv|pytest|pip3?|python3?|npx|npm): (?:command )?not found"
    rb"|fatal: unable to access .*"
    rb")$",
    re.MULTILINE,
)
# What a test of a service may say of a service that doesn't answer: a neighbour, whose name has no dot, or this host.
_NEIGHBOUR = re.compile(
    rb"localhost|\b127\.|::1|\b0\.0\.0\.0"
    rb"|(?:Failed to connect to|resolve host:|host address) (?:['\"]|\xe2\x80.)*[\w-]+(?=$|[\s:'\"\xe2])"
)
_PASSED = "passed"
_READ = 4 << 20


class TestCounts(msgspec.Struct, frozen=True):
    """A consistent CTRF summary: `passed` of `total`."""

    passed: int
    total: int


class _Summary(msgspec.Struct):
    tests: Count
    passed: Count = 0
    failed: Count = 0
    pending: Count = 0
    skipped: Count = 0
    other: Count = 0


class _Test(msgspec.Struct):
    status: str = ""


class _Results(msgspec.Struct):
    summary: _Summary
    tests: list[_Test] = []


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
    """Counts of a CTRF report, None unless it is there and its numbers agree with each other and with its tests."""
    try:
        if report.is_symlink() or report.stat().st_size > _READ:
            return None
        results = msgspec.json.decode(report.read_bytes(), type=_Report).results
    except (OSError, msgspec.DecodeError):
        return None
    summary = results.summary
    parts = (summary.passed, summary.failed, summary.pending, summary.skipped, summary.other)
    if not summary.tests or sum(parts) != summary.tests:
        return None
    passed = sum(test.status == _PASSED for test in results.tests)
    if results.tests and (len(results.tests), passed) != (summary.tests, summary.passed):
        return None
    return TestCounts(summary.passed, summary.tests)


def look(output: Path, report: Path, exit_code: int | None) -> VerifierEvidence:
    """`output` is the verifier's stdout and stderr; its first and last 4 MiB are looked at, without colour codes.

    A carriage return begins a line as well: what a progress bar overwrote was said too.
    """
    head, tail = (_CODES.sub(b"", part).replace(b"\r", b"\n") for part in _ends(output))
    data = head + tail
    counts = read_counts(report)
    if counts is not None:
        return VerifierEvidence(tests_ran=f"a CTRF report with {counts.total} tests", counts=counts)
    if _PYTEST_SESSION.search(data):
        return VerifierEvidence(tests_ran="a pytest session")
    for pattern in (_MARKER, _SETUP_FAILURES):
        for found in pattern.finditer(data):
            text = found.group(0)
            if pattern is _SETUP_FAILURES and _NEIGHBOUR.search(text):
                continue
            line = data.count(b"\n", 0, found.start()) + 1 if found.start() < len(head) else 0
            return VerifierEvidence(setup_failure=text.decode("utf-8", "replace"), line=line)
    if exit_code in (126, 127):
        reason = "not executable" if exit_code == 126 else "a command was not found"
        return VerifierEvidence(setup_failure=f"the verifier ended with exit code {exit_code} ({reason})")
    return VerifierEvidence()


def _ends(path: Path) -> tuple[bytes, bytes]:
    """The first 4 MiB of a file, and of what follows the last 4 MiB from the beginning of a line on."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            head = file.read(_READ)
            if size <= 2 * _READ:
                return head, file.read(_READ)
            file.seek(size - _READ)
            return head.rpartition(b"\n")[0] + b"\n", file.read(_READ).partition(b"\n")[2]
    except OSError:
        return b"", b""
