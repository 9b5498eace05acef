"""Rules about the grader: did it start, did its tests run, did it say something, and was it the one who said it?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from engine.analysis.wording import many
from engine.issues import Code, Evidence, Severity
from engine.readers.csv_table import SOURCE as TABLE
from engine.text import clean_line
from engine.triage.causes import Cause
from engine.triage.failed_tests import CTRF, failed_tests, place_of
from engine.triage.no_test_ran import may_say_none, nothing_ran, ran
from engine.triage.proposal import Finding, Strength
from engine.triage.rules_environment import NETWORK_WORDS, of_issue
from engine.triage.trial_case import SHOWN, TrialCase
from engine.trial_state import FAILED, PASSED

_FETCH_WORDS = re.compile(
    r"Failed to fetch|Unable to fetch|Could not get lock|Connection (?:failed|timed out)|unable to access"
    r"|Request failed|curl: \((?:5|6|7|28|35|56|60)\)|code E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT)"
)
_NOTHING_COLLECTED = re.compile(r"^(?:collected 0 items\s*(?:$|/ \d+ (?:deselected|skipped))|=+ no tests ran in )")
_COLLECTION_FAILED = re.compile(r"^(?:=+ .*\b\d+ errors? in |!+ Interrupted: \d+ errors? during collection !+)")
_COLLECTED = re.compile(r"^collected [1-9]\d* items?\b")
_REWARD = r"(?:reward\.(?:txt|json)|ctrf\.json)"
_WRITES = (
    r"(?:>>?\|?|\btee[ \t]+(?:-a[ \t]+)?|\b(?:cp|mv|ln|install|rsync|sed[ \t]+-i)[ \t][^\n;|&]{0,300}?[ \t]"
    r"|\bof=|\bopen\(\s*|\bwrite_text\(|\btouch\s+)"
)
_WRITES_REWARD = re.compile(
    _WRITES
    + rf"\s*[\"']?/logs/verifier/{_REWARD}"
    + rf"|/logs/verifier/{_REWARD}[\"']?\)?\s*(?:,\s*[\"']w|\.write_)"
    + r"|\b(?:cd|pushd)[ \t]+[\"']?/logs/verifier/?[\"']?[ \t]*(?:&&|;|\n)[^\0]{0,300}?"
    + rf"{_WRITES}[ \t]*[\"']?(?:\./)?{_REWARD}",
)
_MOST_COMMAND = 200_000
_TEST_HOOKS = frozenset({"conftest.py", "pytest.ini", "sitecustomize.py", "usercustomize.py", "tox.ini", "setup.cfg"})
_CACHES = re.compile(r"/__pycache__(?:/|$)|\.pyc$|/\.pytest_cache(?:/|$)|^/(?:tmp|var/tmp|root/\.cache|run)(?:/|$)")


def verifier_issues(case: TrialCase) -> Iterator[Finding]:
    """The verifier never started, crashed, or left no reward (cases 20 and 59)."""
    for issue in case.issues(Code.VERIFIER_SETUP_FAILED):
        words = "\n".join([issue.message, *(item.text for item in issue.evidence if item.label == "sign")])
        cause, source = Cause.GRADER, "verifier"
        if NETWORK_WORDS.search(words):
            cause, source = Cause.INFRASTRUCTURE, "verifier: a name could not be resolved"
        elif _FETCH_WORDS.search(words):
            cause, source = Cause.INFRASTRUCTURE, "verifier: its set-up could not fetch or lock something"
        sure = issue.severity is not Severity.WARNING  # a warning is of a try that another followed, or a guess
        yield of_issue("verifier_not_started", cause, issue, source, strong=sure)
    for issue in case.issues(Code.VERIFIER_CRASHED):
        yield of_issue("verifier_crashed", Cause.GRADER, issue, "exit code of test.sh")
    for issue in case.issues(Code.VERIFIER_RESULT_INVALID):
        yield of_issue("missing_reward", Cause.GRADER, issue, "verifier")
    for issue in case.issues(Code.VERIFIER_TIMEOUT):
        yield of_issue("verifier_time_limit", Cause.GRADER, issue, case.clock, strong=False)
    for issue in case.issues(Code.ARTIFACT_COLLECT_FAILED):
        if not _passed_with(case, issue.code):
            yield of_issue("collect_failed", Cause.GRADER, issue, "collect hook", strong=False)


def no_tests_collected(case: TrialCase) -> Iterator[Finding]:
    """By the report for machines, else by the runners' own lines: none collected, or none of them run."""
    report = _summary(case)
    if report is not None:
        total, ran, file = report
        if total == 0 or ran == 0:
            text = "the tests' report lists no test" if total == 0 else f"0 of {total} tests ran"
            yield Finding(
                rule="no_tests_collected",
                cause=Cause.GRADER,
                strength=Strength.STRONG,
                text=text,
                source="ctrf.json",
                evidence=(Evidence("report", text, file, 1),),
            )
        return
    for log in case.logs_of("verifier"):
        if log.path.suffix == ".json":
            continue
        lines = case.lines(log.path)
        if any(_COLLECTED.search(line.text) for line in lines):
            continue
        broken = [line for line in lines if _COLLECTION_FAILED.search(line.text)]
        nothing = [line for line in lines if _NOTHING_COLLECTED.search(line.text)]
        if not broken and not nothing:
            continue
        line = (broken or nothing)[0]
        yield Finding(
            rule="no_tests_collected",
            cause=Cause.AMBIGUOUS if broken else Cause.GRADER,
            strength=Strength.WEAK if broken else Strength.STRONG,
            text="the tests could not be collected: theirs or the agent's code fails to import"
            if broken
            else "pytest collected no test",
            source=log.label,
            evidence=(case.evidence(log.path, line, "pytest"),),
        )
        return
    if (finding := _no_test_of_any_runner(case)) is not None:
        yield finding


def _no_test_of_any_runner(case: TrialCase) -> Finding | None:
    """Where one of the verifier's logs says that nothing ran, and none of them that something did. A log that is too
    large to be read whole says neither."""
    logs = [log for log in case.logs_of("verifier") if log.path.suffix != ".json"]
    told = [(log, lines) for log in logs if (lines := case.lines(log.path))]
    if not any(may_say_none(lines) for _, lines in told):
        return None
    if any(lines[0].number == 0 for _, lines in told) or any(ran(lines) for _, lines in told):
        return None
    for log, lines in told:
        if (found := nothing_ran(lines)) is not None:
            return Finding(
                rule="no_tests_collected",
                cause=Cause.GRADER,
                strength=Strength.STRONG,
                text=f"{found.runner} ran no test: {clean_line(found.line.text.strip(), 80)}",
                source=log.label,
                evidence=(case.evidence(log.path, found.line, found.runner),),
            )
    return None


def reward_by_agent(case: TrialCase) -> Iterator[Finding]:
    """A command of the agent that writes where only the verifier should."""
    for trajectory in case.trajectories:
        for step in trajectory.steps:
            if step.source != "agent":
                continue
            for call in step.calls:
                found = _WRITES_REWARD.search(call.text[:_MOST_COMMAND])
                if found is None:
                    continue
                line = next((part for part in call.text.split("\n") if "/logs/verifier" in part), found[0])
                yield Finding(
                    rule="reward_by_agent",
                    cause=Cause.GRADER,
                    strength=Strength.STRONG,
                    text=f"the agent wrote into the verifier's folder: {clean_line(line.strip(), 120)}",
                    source=f"step {step.number}",
                    evidence=(case.step_evidence(trajectory, step.number, line.strip(), "command"),),
                    step=step.number,
                )
                return
    if (finding := _written_before_the_verifier(case)) is not None:
        yield finding


def only_test_hooks_changed(case: TrialCase) -> Iterator[Finding]:
    """All that the agent changed is what test runners load by themselves (case 52)."""
    changes = case.changes
    if case.trial.state != PASSED or changes is None or changes.unseen:
        return
    touched = [path for path in (*changes.added, *changes.changed, *changes.deleted) if not _CACHES.search(path)]
    if touched and all(path.rpartition("/")[2] in _TEST_HOOKS for path in touched):
        yield Finding(
            rule="only_test_hooks_changed",
            cause=Cause.GRADER,
            strength=Strength.STRONG,
            text=f"all that the agent changed is loaded by the tests' runner: {', '.join(sorted(touched)[:3])}",
            source="changes.json",
            evidence=(Evidence("changed", touched[0], "changes.json", 1),),
        )


def doubtful_verdict(case: TrialCase) -> Iterator[Finding]:
    """What the engine noticed about a verdict that stands."""
    for issue in case.issues(Code.REWARD_CONTRADICTED):
        yield of_issue("reward_contradicted", Cause.GRADER, issue, "verifier")
    total, passed = case.trial.tests_total, case.trial.tests_passed
    if case.trial.state == PASSED and total is not None and passed is not None and passed < total:
        yield Finding(
            rule="reward_contradicted",
            cause=Cause.GRADER,
            strength=Strength.WEAK,
            text=f"reward {case.trial.reward:g}, and {passed} of {total} tests passed",
            source="ctrf.json",
        )
    for issue in case.issues(Code.PASSED_WITHOUT_CHANGES):
        if case.agent != "nop":
            yield of_issue("passed_without_changes", Cause.TASK, issue, "changes.json")


def nothing_handed_over(case: TrialCase) -> Iterator[Finding]:
    """A fresh verifier got nothing: the task names no artifact, or the agent made none of them (case 40)."""
    for issue in case.issues(Code.NOTHING_HANDED_OVER):
        others = [trial for trial in case.same_task if trial.state == PASSED]
        handed = [trial for trial in others if all(each.code is not issue.code for each in trial.issues)]
        cause = Cause.MODEL if handed else Cause.TASK
        more = f"; {many(len(handed), 'other trial')} of this task handed something over and passed" if handed else ""
        yield of_issue("nothing_handed_over", cause, issue, "artifacts", strong=False, more=more)


def tests_failed(case: TrialCase) -> Iterator[Finding]:
    """The plain case, last of all: the verifier did its work and said no. A table of results is no evidence of that."""
    trial = case.trial
    if trial.state != FAILED or case.source == TABLE:
        return
    failed = failed_tests(case)
    if failed is not None:
        text, source = failed.text, failed.file.rpartition("/")[2]
        evidence: tuple[Evidence, ...] = place_of(failed, case)
    else:
        text = f"the verifier did its work and gave {0 if trial.reward is None else trial.reward:g}"
        source, evidence = "reward", _last_words(case)
    if case.reached_model_work:
        yield Finding(
            rule="tests_failed",
            cause=Cause.MODEL,
            strength=Strength.WEAK,
            text=text,
            source=source,
            evidence=evidence,
        )


def _passed_with(case: TrialCase, code: Code) -> bool:
    """Another trial of the task passed in spite of such an issue."""
    return any(trial.state == PASSED and any(issue.code is code for issue in trial.issues) for trial in case.same_task)


def _summary(case: TrialCase) -> tuple[int, int, str] | None:
    """Tests in the report, those that ran, and the report's file."""
    for log in case.logs_of("verifier"):
        if log.path.name != CTRF:
            continue
        file = case.relative(log.path)
        summary = _part(_part(case.json(file), "results"), "summary")
        total, counts = summary.get("tests"), [summary.get(name, 0) for name in ("passed", "failed")]
        if isinstance(total, int) and all(isinstance(count, int) for count in counts):
            return total, sum(count for count in counts if isinstance(count, int)), file
    return None


def _part(value: object, name: str) -> dict[str, object]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _last_words(case: TrialCase) -> tuple[Evidence, ...]:
    for log in case.logs_of("verifier"):
        if log.path.suffix != ".json" and not log.path.name.startswith("reward") and (last := case.tail(log.path, 1)):
            return (case.evidence(log.path, last[0], "last line"),)
    return ()


def _written_before_the_verifier(case: TrialCase) -> Finding | None:
    """By the file's time, where the agent's folder holds files of the same run to trust it by: it was there while the
    agent ran. Folders that were copied carry later times, which say nothing."""
    agent = next((span for span in case.trial.phases if span.phase == "agent"), None)
    verify = next((span for span in case.trial.phases if span.phase == "verify"), None)
    if agent is None or verify is None or agent.step:
        return None
    for name in ("reward.json", "reward.txt"):
        path = case.folder / "verifier" / name
        try:
            written = path.stat(follow_symlinks=False).st_mtime
        except OSError:
            continue
        if agent.started_at.timestamp() + 1 < written < verify.started_at.timestamp() - 1:
            return _planted(path, case)
    return None


def _planted(path: Path, case: TrialCase) -> Finding:
    return Finding(
        rule="reward_by_agent",
        cause=Cause.GRADER,
        strength=Strength.WEAK,
        text=f"{path.name} is older than the verifier: it was written while the agent ran",
        source="the file's time",
        evidence=(Evidence("written", clean_line(path.name, SHOWN), case.relative(path), 1),),
    )
