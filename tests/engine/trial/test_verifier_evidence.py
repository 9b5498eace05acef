"""Did the verifier get to its tests? Signs for and against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.trial import verifier_evidence
from engine.trial.verifier_evidence import TestCounts as Counts
from engine.trial.verifier_evidence import VerifierEvidence, look, read_counts

PYTEST = b"============================= test session starts ==============================\n"
INFRA = b"VERIFIER INFRA ERROR: the database never came up\n"


def seen(folder: Path, output: bytes, exit_code: int | None = 1, report: object = None) -> VerifierEvidence:
    (folder / "out").write_bytes(output)
    if report is not None:
        (folder / "ctrf.json").write_text(report if isinstance(report, str) else json.dumps(report))
    return look(folder / "out", folder / "ctrf.json", exit_code)


def ctrf(passed: int, failed: int, *, tests: int | None = None, listed: list[str] | None = None) -> dict[str, Any]:
    total = passed + failed if tests is None else tests
    summary = {"tests": total, "passed": passed, "failed": failed, "pending": 0, "skipped": 0, "other": 0}
    results: dict[str, Any] = {"tool": {"name": "pytest"}, "summary": summary}
    if listed is not None:
        results["tests"] = [{"name": f"t{number}", "status": status} for number, status in enumerate(listed)]
    return {"results": results}


def test_the_marker_counts_only_at_the_start_of_a_line(tmp_path: Path) -> None:
    found = seen(tmp_path, b"starting\n" + INFRA)
    assert found.setup_failure == INFRA.decode().strip() and found.line == 2
    assert not seen(tmp_path, b"echo " + INFRA).setup_failure
    assert not seen(tmp_path, b"+ echo 'VERIFIER INFRA ERROR'\n").setup_failure


@pytest.mark.parametrize(
    "banner",
    [
        PYTEST,
        PYTEST.replace(b"\n", b"\r\n"),
        b"\x1b[1m" + PYTEST.strip() + b"\x1b[0m\n",
        b"\x1b[1m=========== test session starts ===========\x1b[0m\n",
        b"collecting ...\r=== test session starts ===\n",
        b"\x1b]0;pytest\x07=== test session starts ===\n",
    ],
)
def test_a_pytest_banner_rules_a_failed_set_up_out_also_in_colour_case_28(tmp_path: Path, banner: bytes) -> None:
    found = seen(tmp_path, INFRA + banner + b"E: Unable to locate package x\n", 127)
    assert found.tests_ran == "a pytest session" and not found.setup_failure


@pytest.mark.parametrize(
    "words", [b"the test session starts now\n", b"== test session ==\n", b"echo === test session starts ===\n"]
)
def test_words_like_a_banner_are_none(tmp_path: Path, words: bytes) -> None:
    assert not seen(tmp_path, words).tests_ran


@pytest.mark.parametrize("prefix", [b"\x1b[31m", b"\x1b[1;31m\x1b[K", b"\x1b(B\x1b[m", b"50%\r"])
def test_colours_before_a_sign_dont_hide_it_case_28(tmp_path: Path, prefix: bytes) -> None:
    assert seen(tmp_path, prefix + INFRA).setup_failure == INFRA.decode().strip()
    assert seen(tmp_path, prefix + b"E: Unable to locate package curl\x1b[0m\n").setup_failure


def test_a_consistent_report_is_proof_that_tests_ran(tmp_path: Path) -> None:
    found = seen(tmp_path, INFRA, 1, ctrf(2, 1, listed=["passed", "failed", "passed"]))
    assert found.counts == Counts(2, 3) and not found.setup_failure


@pytest.mark.parametrize(
    "report",
    [
        ctrf(2, 1, tests=5),
        ctrf(0, 0),
        ctrf(3, -1),
        ctrf(2, 1, listed=["passed"]),
        ctrf(2, 1, listed=["passed", "failed", "failed"]),
        "{",
        "",
        "[]",
        {"results": {"summary": {"tests": "3"}}},
        {"results": {}},
    ],
)
def test_a_report_that_contradicts_itself_proves_nothing(tmp_path: Path, report: object) -> None:
    found = seen(tmp_path, INFRA, 1, report)
    assert found.counts is None and found.setup_failure


@pytest.mark.parametrize("number", [10**400, 10**30, -3])
def test_a_report_of_numbers_that_cannot_be_true_is_no_report(tmp_path: Path, number: int) -> None:
    (tmp_path / "report").write_text(json.dumps(ctrf(number, 0)))
    assert read_counts(tmp_path / "report") is None


def test_a_report_that_is_no_utf8_or_a_link_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b'{"results": "\xff"}')
    assert read_counts(tmp_path / "bytes") is None
    (tmp_path / "good").write_text(json.dumps(ctrf(1, 0)))
    (tmp_path / "link").symlink_to(tmp_path / "good")
    assert read_counts(tmp_path / "link") is None
    assert read_counts(tmp_path / "missing") is None


@pytest.mark.parametrize(("code", "words"), [(126, "not executable"), (127, "not found")])
def test_exit_codes_of_a_script_that_did_not_start(tmp_path: Path, code: int, words: str) -> None:
    assert words in seen(tmp_path, b"", code).setup_failure


@pytest.mark.parametrize("code", [0, 1, 2, 137, None])
def test_other_exit_codes_say_nothing(tmp_path: Path, code: int | None) -> None:
    assert seen(tmp_path, b"some output\n", code) == VerifierEvidence()


@pytest.mark.parametrize(
    "line",
    [
        b"E: Unable to locate package nosuch",
        b"E: Package 'x' has no installation candidate",
        b"E: Failed to fetch http://archive.example.org/x.deb  Connection failed",
        b"Err:1 http://archive.example.org bookworm InRelease Temporary failure resolving 'archive.example.org'",
        b"W: Failed to fetch http://archive.example.org/x  Could not resolve 'archive.example.org'",
        b"E: Could not get lock /var/lib/dpkg/lock-frontend",
        b"curl: (6) Could not resolve host: astral.sh",
        b"curl: (7) Failed to connect to packages.example.org port 443 after 2 ms: Couldn't connect to server",
        b"curl: (60) SSL certificate problem: unable to get local issuer certificate",
        b"wget: unable to resolve host address 'example.com'",
        "wget: unable to resolve host address ‘example.com’".encode(),
        b"error: Request failed after 3 retries",
        b"ERROR: Could not find a version that satisfies the requirement nosuch (from versions: none)",
        b"ERROR: No matching distribution found for nosuch",
        b"npm ERR! code ENOTFOUND",
        b"npm error network request failed",
        b"/tests/test.sh: line 3: uvx: command not found",
        b"test.sh: 3: pytest: not found",
        b"fatal: unable to access 'https://github.com/x/y/': Could not resolve host: github.com",
    ],
)
def test_package_managers_and_downloads_that_failed_are_signs(tmp_path: Path, line: bytes) -> None:
    found = seen(tmp_path, b"first\n" + line + b"\nlast\n", 0)
    assert found.setup_failure == line.decode() and found.line == 2


@pytest.mark.parametrize(
    "line",
    [
        b"curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server",
        b"curl: (7) Failed to connect to 127.0.0.1 port 80: Connection refused",
        b"curl: (7) Failed to connect to ::1 port 80: Connection refused",
        b"curl: (7) Failed to connect to api port 3000 after 1 ms: Couldn't connect to server",
        b"curl: (6) Could not resolve host: db",
        b"curl: (22) The requested URL returned error: 404",
        b"curl: (52) Empty reply from server",
        b"wget: unable to resolve host address 'redis'",
        "wget: unable to resolve host address ‘redis’".encode(),
        b"bash: line 1: answer: command not found",
        b"AssertionError: curl: (6) Could not resolve host: packages.example.org",
        b"the agent said: E: Unable to locate package x",
    ],
)
def test_a_service_under_test_that_doesnt_answer_is_no_failed_set_up(tmp_path: Path, line: bytes) -> None:
    assert not seen(tmp_path, line + b"\n", 1).setup_failure


def test_a_later_sign_counts_although_an_earlier_one_is_a_neighbours(tmp_path: Path) -> None:
    output = b"curl: (6) Could not resolve host: db\ncurl: (6) Could not resolve host: packages.example.org\n"
    assert seen(tmp_path, output).line == 2


def test_of_a_huge_output_both_ends_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier_evidence, "_READ", 1000)
    middle = b"x" * 99 + b"\n"
    assert seen(tmp_path, INFRA + middle * 100).line == 1
    late = seen(tmp_path, middle * 100 + INFRA)
    assert late.setup_failure and late.line == 0  # nobody counted the lines between
    assert not seen(tmp_path, middle * 50 + INFRA + middle * 50).setup_failure
    assert seen(tmp_path, middle * 50 + b"y" * 940 + INFRA + b"z" * 970).setup_failure == ""


def test_an_output_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert look(tmp_path / "none", tmp_path / "none.json", 1) == VerifierEvidence()
