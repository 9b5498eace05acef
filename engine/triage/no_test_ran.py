"""What test runners print where no test ran, and where some did: whole lines of theirs, never a number in a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from engine.triage.trial_case import Line


class NothingRan(msgspec.Struct, frozen=True):
    """`line` is the runner's own."""

    runner: str
    line: Line


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_RAN = _any(
    r"collected [1-9]\d* items?\b",  # pytest
    r"(?:=+ )?(?:\d+ \w+, )*[1-9]\d* (?:passed|failed)\b.* in \d+\.\d+s",
    r"Ran [1-9]\d* tests? in \d",  # unittest
    r"Tests:\s+(?:\d+ \w+, )*[1-9]\d* total$",  # jest
    r"\s*Tests\s+.*\([1-9]\d*\)$",  # vitest
    r"\s+[1-9]\d* (?:passing|failing)\b(?: \(|$)",  # mocha
    r"(?:ok|FAIL)\s+\S*[A-Za-z]\S*\s+(?:\d+\.\d+s|\(cached\))(?!.*\[no tests to run\])",  # go
    r"(?:=== RUN|--- (?:PASS|FAIL):) ",
    r"running [1-9]\d* tests?$",  # cargo
    r"(?:\[\w+\] +)?Tests run: [1-9]|OK \([1-9]\d* tests?\)$|\[ +[1-9]\d* tests found +\]$",  # JUnit
    r"\d+% tests passed, \d+ tests? failed out of [1-9]",  # ctest
    r"(?:not )?ok \d+\b",  # TAP
)
_BROKEN = _any(
    r"FAIL\s+\S+ \[(?:build|setup) failed\]$",  # go
    r"error(?:\[E\d+\])?: could not compile ",  # cargo
    r"error: test failed, to rerun pass ",
    r"\[ERROR\] COMPILATION ERROR",  # Maven
)
"""The tests could not be built, which is something else than that there are none."""

_UNITTEST = re.compile(r"Ran 0 tests in \d+\.\d+s$")
_UNITTEST_END = re.compile(r"(?:NO TESTS RAN|OK)\b")
_MOCHA_ASKED = re.compile(r"(?:> |\$ |\+ )(?:.*[ /])?mocha\b")
_MOCHA_NONE = re.compile(r" *0 passing \(\d+m?s\)$")
_MOCHA_OTHER = re.compile(r" +\d+ pending$")
_SURE = {
    "jest": re.compile(r"No tests found, exiting with code \d+$"),
    "vitest": re.compile(r" *No test files found, exiting with code \d+$"),
    "mocha": re.compile(r"Error: No test files found(?:: |$)"),
    "go test": _any(
        r"\?\s+\S+\s+\[no test files\]$",
        r"testing: warning: no tests to run$",
        r"ok\s+\S+\s+(?:\d+\.\d+s|\(cached\))\s+\[no tests to run\]$",
    ),
    "cargo test": re.compile(r"running 0 tests$"),
    "JUnit": _any(
        r"(?:\[\w+\] +)?Tests run: 0, Failures: 0, Errors: 0(?:, Skipped: 0)?$",
        r"\[INFO\] No tests to run\.$",
        r"OK \(0 tests\)$",
        r"\[ +0 tests found +\]$",
    ),
    "ctest": re.compile(r"No tests were found!!!$"),
    "TAP": re.compile(r"1\.\.0(?:\s+#.*)?$"),
}
"""Lines that say it by themselves, so long as nothing else in the log says that a test ran."""


_MOST = 400
"""A longer line is no runner's, and a pattern would take its time with it."""
_SAYS_NONE = (
    "0 tests",
    "No test",
    "no test",
    "0 passing",
    "Tests run: 0",
    "1..0",
)
"""One of these is in every line that says it, so that other lines cost nothing."""


def ran(lines: Sequence[Line]) -> bool:
    """Does any runner say that a test ran, or that the tests could not be built?"""
    return any(
        len(line.text) <= _MOST and (_RAN.match(line.text) or _BROKEN.match(line.text)) is not None for line in lines
    )


def may_say_none(lines: Sequence[Line]) -> bool:
    """Is it worth to look?"""
    return any(len(line.text) <= _MOST and any(words in line.text for words in _SAYS_NONE) for line in lines)


def nothing_ran(lines: Sequence[Line]) -> NothingRan | None:
    """Of one whole log, without colour codes, of which `ran` is false."""
    found: NothingRan | None = None
    asked_mocha, mocha = False, None
    unittest: Line | None = None
    for line in lines:
        if len(line.text) > _MOST:
            continue
        text = line.text.rstrip()
        if unittest is not None and text:
            found = found or (NothingRan("unittest", unittest) if _UNITTEST_END.match(text) else None)
            unittest = None
        if _UNITTEST.match(text):
            unittest = line
        elif _MOCHA_ASKED.match(text):
            asked_mocha = True
        elif _MOCHA_NONE.match(text):
            mocha = line
        elif _MOCHA_OTHER.match(text):
            mocha = None
        elif found is None and any(words in text for words in _SAYS_NONE):
            runner = next((name for name, pattern in _SURE.items() if pattern.match(text)), "")
            found = NothingRan(runner, line) if runner else None
    if found is None and asked_mocha and mocha is not None:
        return NothingRan("mocha", mocha)
    return found
