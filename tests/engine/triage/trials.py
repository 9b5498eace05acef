"""Trials for rules to look at: a run of a few events, and files in a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.layout import trial_logs
from engine.state import RunState
from engine.triage.proposal import Finding, Proposal
from engine.triage.propose import propose
from tests.engine.run_events import at, finished, started

MODEL_ARM = ev.ArmInfo(name="a", agent="claude-code", model="m")
OTHER_ARM = ev.ArmInfo(name="b", agent="codex", model="n")
ORACLE_ARM = ev.ArmInfo(name="o", agent="oracle")
NOP_ARM = ev.ArmInfo(name="n", agent="nop")
ARMS = (MODEL_ARM, OTHER_ARM, ORACLE_ARM, NOP_ARM)


def issue(code: Code, message: str = "it went wrong", **more: Any) -> Issue:
    given: dict[str, Any] = {"severity": Severity.ERROR, "phase": Phase.AGENT, **more}
    return Issue(given.pop("severity"), given.pop("phase"), code, message, **given)


class Run:
    """A run that is put together trial by trial; `t` is the trial that tests look at."""

    def __init__(self, folder: Path, *, source: str = "trialdeck") -> None:
        self.folder = folder
        self.state = RunState()
        self.state.apply(
            ev.RunPlanned(
                at=at(0),
                run="r",
                name="run",
                task_set=ev.TaskSetInfo(name="set"),
                arms=ARMS,
                tasks=1,
                trials=1,
                source=source,
            )
        )

    def trial(
        self,
        name: str = "t",
        reward: float | None = 0.0,
        *,
        task: str = "fix",
        arm: str = "a",
        attempt: int = 1,
        issues: Sequence[Issue] = (),
        events: Sequence[ev.Event] = (),
        second: float = 100,
        limit: float | None = None,
        **finish: Any,
    ) -> Run:
        limits = {Phase.AGENT: limit} if limit else {}
        planned = ev.TrialPlanned(
            at=at(0), trial=name, task=task, arm=arm, attempt=attempt, position=1, limits=limits, memory_mb=64
        )
        self.state.apply_all(
            [
                planned,
                started(name),
                ev.PhaseStarted(at=at(2), trial=name, phase=Phase.AGENT),
                *events,
                *(ev.IssueRaised(at=at(5), trial=name, issue=found) for found in issues),
                finished(name, reward, second, **finish),
            ]
        )
        return self

    def file(self, path: str, content: str, trial: str = "t") -> Run:
        place = self.folder / trial / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
        return self

    def session(self, *lines: Mapping[str, Any], trial: str = "t") -> Run:
        """What Claude Code prints as stream-json."""
        head = {"type": "system", "subtype": "init", "session_id": "s", "model": "m"}
        text = "\n".join(json.dumps(line) for line in (head, *lines)) + "\n"
        return self.file("agent/claude-code.txt", text, trial)

    def propose(self, trial: str = "t") -> Proposal:
        place = self.folder / trial
        place.mkdir(parents=True, exist_ok=True)
        return propose(self.state.trials[trial], self.state, place, trial_logs(place))

    def found(self, rule: str, trial: str = "t") -> Finding | None:
        return next((finding for finding in self.propose(trial).findings if finding.rule == rule), None)

    def rules(self, trial: str = "t") -> set[str]:
        return {finding.rule for finding in self.propose(trial).findings}


def says(text: str = "ok", message: str = "m1", tokens: int = 10, **more: Any) -> dict[str, Any]:
    """The model speaks."""
    usage = {"input_tokens": tokens, "output_tokens": tokens}
    content = [{"type": "text", "text": text}]
    return {
        "type": "assistant",
        "message": {"id": message, "role": "assistant", "model": "m", "content": content, "usage": usage},
        **more,
    }


def runs(command: str, message: str = "m1", **more: Any) -> dict[str, Any]:
    """The model calls its shell."""
    content = [{"type": "tool_use", "id": f"c-{message}", "name": "Bash", "input": {"command": command}}]
    usage = {"input_tokens": 5, "output_tokens": 5}
    return {
        "type": "assistant",
        "message": {"id": message, "role": "assistant", "model": "m", "content": content, "usage": usage},
        **more,
    }


def prints(output: str, message: str = "m1", *, failed: bool = False) -> dict[str, Any]:
    """What the command printed."""
    result = {"type": "tool_result", "tool_use_id": f"c-{message}", "content": output, "is_error": failed}
    return {"type": "user", "message": {"role": "user", "content": [result]}}


def ends(subtype: str = "success", result: str = "done", *, error: bool = False, tokens: int = 10) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": tokens}
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": error,
        "result": result,
        "session_id": "s",
        "usage": usage,
    }


def api_error(text: str) -> dict[str, Any]:
    """A message that Claude Code wrote itself."""
    message = {
        "id": "e",
        "role": "assistant",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": text}],
    }
    return {"type": "assistant", "message": message, "isApiErrorMessage": True}


def evidence(text: str, file: str = "", line: int = 0, label: str = "log") -> Evidence:
    return Evidence(label, text, file, line)
