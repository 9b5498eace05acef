"""Which tests failed, and the line where a person sees why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.triage.proposal import Finding
from tests.engine.triage.trials import Run

PYTEST = """\
collected 2 items
test_outputs.py::test_status PASSED                                      [ 50%]
test_outputs.py::test_state FAILED                                       [100%]
=================================== FAILURES ===================================
__________________________________ test_state __________________________________

    def test_state():
>       assert read() == 3
E       AssertionError: assert 2 == 3

test_outputs.py:12: AssertionError
=========================== short test summary info ============================
FAILED test_outputs.py::test_state - AssertionError: assert 2 == 3
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path).trial()


def _ctrf(**statuses: str) -> str:
    tests = [{"name": f"test_outputs.py::{name}", "status": status} for name, status in statuses.items()]
    summary = {"tests": len(tests), "passed": 1, "failed": len(tests) - 1}
    return json.dumps({"results": {"summary": summary, "tests": tests}}, indent=1)


def _place(finding: Finding | None) -> tuple[str, int]:
    assert finding is not None
    assert len(finding.evidence) == 1
    return finding.evidence[0].file, finding.evidence[0].line


def _line(run: Run, file: str, number: int) -> str:
    return (run.folder / "t" / file).read_text(encoding="utf-8").split("\n")[number - 1]


def test_a_failed_test_leads_to_its_own_error_in_what_pytest_printed(run: Run) -> None:
    run.file("verifier/ctrf.json", _ctrf(test_status="passed", test_state="failed"))
    run.file("verifier/test-stdout.txt", PYTEST)
    finding = run.found("tests_failed")
    assert finding is not None
    assert finding.text == "1 of 2 tests failed: test_outputs.py::test_state"
    file, line = _place(finding)
    assert _line(run, file, line) == "E       AssertionError: assert 2 == 3"


def test_another_runner_s_line_that_names_the_test_as_failed_is_its_place(run: Run) -> None:
    """A test whose own name has the word in it, and passed, is not taken for it."""
    run.file(
        "verifier/ctrf.json",
        json.dumps(
            {
                "results": {
                    "tests": [
                        {"name": "an error is told", "status": "passed"},
                        {"name": "every setting", "status": "failed"},
                    ]
                }
            }
        ),
    )
    run.file(
        "verifier/test-stdout.txt", "PASSED  an error is told\nPASSED  every setting's comment\nFAILED  every setting\n"
    )
    assert _place(run.found("tests_failed")) == ("verifier/test-stdout.txt", 3)


def test_without_a_text_the_report_s_own_line_is_the_place(run: Run) -> None:
    run.file("verifier/ctrf.json", _ctrf(test_status="passed", test_state="failed"))
    file, line = _place(run.found("tests_failed"))
    assert file == "verifier/ctrf.json"
    assert "test_state" in _line(run, file, line)


def test_terminal_bench_s_results_name_the_tests(tmp_path: Path) -> None:
    run = Run(tmp_path, source="terminal-bench").trial()
    results = {"is_resolved": False, "parser_results": {"test_runs": "passed", "test_reply": "failed"}}
    run.file("results.json", json.dumps(results, indent=1))
    finding = run.found("tests_failed")
    assert finding is not None
    assert (finding.text, finding.source) == ("1 of 2 tests failed: test_reply", "results.json")
    file, line = _place(finding)
    assert _line(run, file, line).strip() == '"test_reply": "failed"'


def test_swe_bench_s_report_names_the_tests(tmp_path: Path) -> None:
    run = Run(tmp_path, source="swe-bench").trial()
    status = {
        "FAIL_TO_PASS": {"success": ["test_a"], "failure": ["test_b"]},
        "PASS_TO_PASS": {"success": ["test_c"], "failure": []},
    }
    run.file("report.json", json.dumps({"x__y-1": {"resolved": False, "tests_status": status}}, indent=1))
    finding = run.found("tests_failed")
    assert finding is not None
    assert finding.text == "1 of 3 tests failed: test_b"


@pytest.mark.parametrize("content", ["[]", "{", '{"parser_results": 3}', '{"parser_results": {"a": "passed"}}'])
def test_a_report_that_says_nothing_leaves_the_verdict_to_speak(run: Run, content: str) -> None:
    run.file("results.json", content)
    finding = run.found("tests_failed")
    assert finding is not None
    assert finding.text == "the verifier did its work and gave 0"
