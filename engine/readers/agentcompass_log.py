"""AgentCompass's `run.log`: the warnings that nothing else tells, and which trial each belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.issues import Code
from engine.readers.masked_text import masked

_LINE = re.compile(rb"(\d\d):(\d\d):(\d\d) (DEBUG|INFO|WARNING|ERROR|CRITICAL) +(\S+) +(.*)", re.DOTALL)
_TASK = re.compile(r"\btask(?:_id)?=(?P<task>[^|;,\s][^|;,]*?)\s*(?:[|;,]|$)")
_ATTEMPT = re.compile(r"\battempt=(\d{1,5})\b")
_VERSION = re.compile(r"\bversion=(?P<version>[^|]{1,80})")
_LONGEST = 4_000
_TOLD_BY_EVENTS = ("Attempt retry scheduled",)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class LogLine:
    """A warning or an error. `task` and `attempt` are "" and 0 where the line belongs to the run."""

    number: int
    at: datetime | None
    level: str
    logger: str
    text: str
    task: str = ""
    attempt: int = 0

    @property
    def code(self) -> Code:
        """What such a line speaks of, as far as who wrote it tells."""
        if self.level == "WARNING":
            return Code.TASK_WARNING
        kinds = {
            "environments": Code.ENVIRONMENT_FAILED,
            "harnesses": Code.HARNESS_FAILED,
            "benchmarks": Code.VERIFIER_CRASHED,
        }
        return next((code for name, code in kinds.items() if self.logger.startswith(name)), Code.ENGINE_FAILED)


class RunLog:
    """Folds the lines of the log in their order. `version`: what the agent said it is."""

    def __init__(self) -> None:
        self.version = ""
        self._number = 0
        self._attempts: dict[str, int] = {}
        self._at: datetime | None = None

    def begin(self, started_at: datetime | None) -> None:
        """The log has times of day only; this is the moment, with its zone, at which it begins."""
        if self._at is None and started_at is not None and started_at.tzinfo is not None:
            self._at = started_at

    def feed(self, lines: Iterable[bytes]) -> list[LogLine]:
        """New warnings and errors; lines that go on with one (a traceback) are left to whoever opens the log."""
        found: list[LogLine] = []
        for line in lines:
            self._number += 1
            match = _LINE.match(line[:_LONGEST])
            if match is None:
                continue
            level = match[4].decode()
            text = masked(match[6].decode("utf-8", "replace").strip())
            at = self._moment(int(match[1]), int(match[2]), int(match[3]))
            task, attempt = self._whose(text)
            if level in ("WARNING", "ERROR", "CRITICAL"):
                if not any(told in text for told in _TOLD_BY_EVENTS):
                    logger = match[5].decode("utf-8", "replace")
                    found.append(LogLine(self._number, at, level, logger, text, task, attempt))
            elif not self.version and "installation verified" in text and (version := _VERSION.search(text)):
                self.version = version["version"].strip()
        return found

    @property
    def lines(self) -> int:
        return self._number

    def _whose(self, text: str) -> tuple[str, int]:
        """The attempts of a task follow one another: a line without a number belongs to the last one that began."""
        named = _TASK.search(text)
        if named is None:
            return "", 0
        task = named["task"]
        number = _ATTEMPT.search(text)
        if number is not None:
            self._attempts[task] = int(number[1])
        return task, self._attempts.get(task, 0)

    def _moment(self, hour: int, minute: int, second: int) -> datetime | None:
        """Times only grow; one that is much earlier than the last belongs to the next day."""
        if self._at is None or hour > 23 or minute > 59 or second > 59:
            return None
        try:
            at = self._at.replace(hour=hour, minute=minute, second=second, microsecond=0)
            if self._at - at > _DAY / 2:
                at += _DAY
        except OverflowError:
            return None
        self._at = max(self._at, at)
        return at
