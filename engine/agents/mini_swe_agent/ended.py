"""How mini-swe-agent ended, in its own words, and what that means."""

from __future__ import annotations

from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.models.failure_words import code_of_text
from engine.text import clean_line
from engine.trajectories.untyped import Record, as_json, items, record, text, whole

_DONE = "Submitted"
_LIMITS = frozenset({"LimitsExceeded", "TimeExceeded"})
_NO_CALLS = "RepeatedFormatError"
_WORDS_CHARS = 300


class MiniSweAgentEnd:
    """Watches what is told. `log` is how evidence names the file that it stands in."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._line = 0
        self._exit: Record = {}
        self._calls: int | None = None
        self.ended = ""

    def watch(self, line: int, found: Record) -> None:
        for message in map(record, items(found.get("messages"))):
            if message.get("role") == "exit":
                self._line, self._exit = line, message
                self.ended = text(record(message.get("extra")).get("exit_status"))
        calls = whole(record(record(found.get("info")).get("model_stats")).get("api_calls"))
        self._calls = calls if calls is not None else self._calls

    def issue(self) -> Issue | None:
        if not self.ended or self.ended == _DONE:
            return None
        said = text(record(self._exit.get("extra")).get("exception_str"))
        code, message = self._meaning(said)
        return Issue(
            Severity.WARNING,
            Phase.AGENT,
            code,
            message,
            (Evidence("its last word", said or as_json(self._exit), self._log, self._line),),
        )

    def _meaning(self, said: str) -> tuple[Code, str]:
        after = f" after {self._calls} answers of the model" if self._calls is not None else ""
        if self.ended in _LIMITS:
            return Code.AGENT_LIMIT_REACHED, f"mini-swe-agent stopped at a limit of its own{after} ({self.ended})"
        if self.ended == _NO_CALLS:
            return (
                Code.MODEL_CALL_MALFORMED,
                f"mini-swe-agent gave up{after}: several in a row held no call that it could read ({self.ended})",
            )
        words = clean_line(f"{self.ended}: {said}", _WORDS_CHARS)
        return code_of_text(words, vouched=True) or Code.HARNESS_FAILED, f"mini-swe-agent gave up{after}: {words}"
