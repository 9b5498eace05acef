"""No test ran: by the whole lines of the runners themselves, and by none of their numbers in other words."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.triage import trial_case
from engine.triage.causes import Cause
from engine.triage.no_test_ran import may_say_none, nothing_ran, ran
from engine.triage.proposal import Finding, Strength
from engine.triage.trial_case import Line
from tests.engine.triage.trials import Run

LOG = "verifier/test-stdout.txt"
CARGO = "     Running unittests src/lib.rs (target/debug/deps/x-1)\n\nrunning 0 tests\n\ntest result: ok. 0 passed\n\n"
CARGO_RAN = "   Doc-tests x\n\nrunning 1 test\ntest src/lib.rs - f (line 3) ... ok\n"
MAVEN = "[INFO] Results:\n[INFO] \n[WARNING] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n"
MAVEN_CLASS = "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.04 s - in a.BTest\n"

NOTHING = {
    "unittest": ("\n----------\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", 3),
    "unittest before 3.12": ("Ran 0 tests in 0.000s\n\nOK\n", 1),
    "jest": ("No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\n", 1),
    "vitest": ("\n RUN  v3.0.0 /app\n\nNo test files found, exiting with code 1\n\ninclude: **/*.test.ts\n", 4),
    "vitest in colours": ("\x1b[1m RUN \x1b[22m\n\x1b[31mNo test files found, exiting with code 1\x1b[39m\n", 2),
    "mocha": ('Error: No test files found: "test/x.js"\n', 1),
    "mocha that npm called": ("\n> app@1.0.0 test\n> mocha --exit\n\n\n  0 passing (1ms)\n\n", 6),
    "go test": ("?   \tex.org/a\t[no test files]\n?   \tex.org/b\t[no test files]\n", 1),
    "go test with a filter": (
        "testing: warning: no tests to run\nPASS\nok  \tex.org/a\t0.002s [no tests to run]\n",
        1,
    ),
    "cargo test": (CARGO + CARGO, 3),
    "JUnit by surefire": (MAVEN, 3),
    "JUnit 4": ("JUnit version 4.13\n\nTime: 0.001\n\nOK (0 tests)\n", 5),
    "JUnit's console": ("[         0 containers failed     ]\n[         0 tests found           ]\n", 2),
    "ctest": ("Test project /app/build\nNo tests were found!!!\n", 2),
    "ctest in colours": ("Test project /app\n\x1b[33mNo tests were found!!!\x1b[0m\r\n", 2),
    "TAP": ("TAP version 13\n1..0 # SKIP nothing to do\n", 2),
}

SOMETHING = {
    "the number in a text": "the log said: Ran 0 tests in 0.000s\nNO TESTS RAN\n",
    "unittest without an end": "Ran 0 tests in 0.000s\nand so on\n",
    "mocha's count alone": "  0 passing (2ms)\n",
    "mocha that failed": "> mocha\n\n  0 passing (2ms)\n  1 failing\n",
    "mocha with tests to be written": "> mocha\n\n  0 passing (2ms)\n  3 pending\n",
    "go, one of two packages": "?   \tex.org/a\t[no test files]\nok  \tex.org/b\t0.011s\n",
    "go, from the cache": "?   \tex.org/a\t[no test files]\nok  \tex.org/b\t(cached)\n",
    "go that did not build": "?   \tex.org/a\t[no test files]\nFAIL\tex.org/b [build failed]\n",
    "cargo, the last of its sections": CARGO + CARGO_RAN,
    "cargo that did not build": CARGO + "error: could not compile `x` (lib test) due to 1 previous error\n",
    "a module without tests": MAVEN + MAVEN_CLASS,
    "a total of some": MAVEN_CLASS + "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n",
    "TAP with a test": "1..0\nok 1 - works\n",
    "TAP in a subtest": "    1..0\n",
    "a longer number": "1..01\n1..0.5\nrunning 0 tests of 5\n",
    "jest after pytest": "== 3 passed in 0.10s ==\nNo tests found, exiting with code 1\n",
    "vitest that ran": " Test Files  1 passed (1)\n      Tests  3 passed (3)\n0 tests found\n",
    "ctest that ran": "No tests were found!!!\n100% tests passed, 0 tests failed out of 4\n",
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def told(run: Run) -> Finding | None:
    return run.found("no_tests_collected")


@pytest.mark.parametrize(("output", "line"), NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_runner_s_own_line_says_that_no_test_ran(run: Run, reward: float, output: str, line: int) -> None:
    run.trial(reward=reward).file(LOG, output)
    found = told(run)
    assert found is not None
    assert (found.cause, found.strength) == (Cause.GRADER, Strength.STRONG)
    assert [(item.file, item.line) for item in found.evidence] == [(LOG, line)]
    assert "\x1b" not in found.text + found.evidence[0].text
    assert run.propose().cause is Cause.GRADER


@pytest.mark.parametrize("output", SOMETHING.values(), ids=SOMETHING)
def test_other_words_and_runs_that_ran_prove_nothing(run: Run, output: str) -> None:
    run.trial().file(LOG, output)
    assert told(run) is None


def test_a_test_in_another_log_of_the_verifier_ran(run: Run) -> None:
    run.trial().file(LOG, "No tests found, exiting with code 1\n").file("verifier/unit.log", "Ran 4 tests in 0.1s\n")
    assert told(run) is None


def test_the_report_for_machines_outranks_the_words(run: Run) -> None:
    report = '{"results": {"summary": {"tests": 2, "passed": 2, "failed": 0}, "tests": []}}'
    run.trial().file(LOG, "1..0\n").file("verifier/ctrf.json", report)
    assert told(run) is None


def test_a_log_of_which_only_the_end_is_read_proves_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.trial().file(LOG, CARGO_RAN + "x\n" * 100 + CARGO)
    monkeypatch.setattr(trial_case, "MOST_WHOLE", 100)
    assert told(run) is None


def test_a_line_that_is_too_long_for_a_runner_is_not_looked_at() -> None:
    lines = [Line(1, "1 passed, " * 100_000), Line(2, "> " + "mocha " * 100_000), Line(3, "1..0 # " + "x" * 500)]
    assert not may_say_none(lines) and not ran(lines) and nothing_ran(lines) is None
