"""A set-up that can't go on."""

from __future__ import annotations

from engine.environments.environment import ExecResult
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.tasks.task import MAIN
from engine.text import clean_line

_WORDS_CHARS = 2_000


def setup_failed(
    message: str, result: ExecResult | None = None, *, way_out: str = "", code: Code = Code.AGENT_SETUP_FAILED
) -> TrialFailed:
    """`result`: of the command that failed. `code`: of another fault than the agent's own."""
    evidence = [Evidence("way out", way_out)] if way_out else []
    if result is not None:
        how = (
            "it did not end in its time"
            if result.timed_out
            else "it could not be started"
            if not result.started
            else f"exit code {result.exit_code}"
        )
        message = f"{message}: {how}"
        evidence.append(Evidence("last output", result.tail))
    words = clean_line(message, _WORDS_CHARS)
    return TrialFailed(Issue(Severity.FATAL, Phase.AGENT, code, words, tuple(evidence), service=MAIN))
