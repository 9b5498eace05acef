"""What Codex' events say beside its steps: that it tries again, and why it gave up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from engine.agents.in_main.server_faults import servers_failed
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.models.failure_words import code_of_text
from engine.text import clean_line
from engine.trajectories.codex_events import HARMLESS
from engine.trajectories.untyped import Record, as_json, record, text

_TRIES_AGAIN = "Reconnecting..."
_WAITS = "Reconnecting... waiting for network"
MOST_WAITS = 5
"""So often in a row it may find nobody at the model's address, with growing pauses; it would go on so for ever."""
_NOT_LET_IN = re.compile(r"unexpected status 40[13]\b")
_NO_TRY_HELPS = frozenset({Code.MODEL_AUTH_FAILED, Code.MODEL_FILTERED, Code.MODEL_REFUSED, Code.MODEL_CONTEXT_FULL})
_CONTEXT_FULL = "ran out of room in the model's context window"
_AT_CAPACITY = "is at capacity"
_NOBODY = "waiting for network"
_CUT_OFF = "reason: max_output_tokens"
_MCP_SERVERS = "required MCP servers failed to initialize"
NOTHING_WRONG: Mapping[str, str] = {}
_WORDS_CHARS = 300
_MOST_NOTES = 20


class CodexEnd:
    """Watches the events. `activity` is told when it tries again, `stop` is called where it would try again what no try
    can mend: a key that isn't accepted, a filter, nobody at the address."""

    def __init__(self, log: str, activity: Callable[[str], None], stop: Callable[[], None]) -> None:
        self._log = log
        self._activity = activity
        self._stop = stop
        self._waits = 0
        self._failed: tuple[int, str, Record] | None = None
        self._notes: list[str] = []
        self._first_note = 0
        self.completed = False
        self.thread = ""

    def watch(self, line: int, found: Record) -> None:
        match text(found.get("type")):
            case "thread.started":
                self.thread = self.thread or text(found.get("thread_id"))
            case "turn.started":
                self.completed, self._failed = False, None
            case "turn.completed":
                self.completed, self._failed = True, None
            case "turn.failed":
                self._failed = line, text(record(found.get("error")).get("message")), found
            case "error":
                words = text(found.get("message"))
                if words.startswith(_TRIES_AGAIN):
                    self._tries_again(line, words, found)
                else:
                    self._failed = line, words, found
            case "item.completed":
                self._waits = 0
                item = record(found.get("item"))
                if item.get("type") == "error":
                    self._note(line, text(item.get("message")))

    def ended(self) -> str:
        """In a word."""
        return "completed" if self.completed else "failed" if self._failed is not None else ""

    def issues(self, tail: str, servers: Sequence[str] = (), wrong: Mapping[str, str] = NOTHING_WRONG) -> list[Issue]:
        """After its end. `tail` is the end of all that it printed: what kept it from starting is no event. `servers`
        are the names of the task's MCP servers, `wrong` what the task says of them that can't be right."""
        found = []
        if self._failed is not None:
            line, words, event = self._failed
            found.append(
                Issue(
                    Severity.ERROR,
                    Phase.AGENT,
                    _code(words),
                    f"codex gave up: {clean_line(words, _WORDS_CHARS) or 'it says no reason'}",
                    (Evidence("event", as_json(event), self._log, line),),
                )
            )
        elif not self.completed and _MCP_SERVERS in tail:
            said = tail.rpartition(_MCP_SERVERS)[2]
            failed = [name for name in servers if re.search(rf"[ ,;:]{re.escape(name)}:", said)] or list(servers)
            which = f" ({', '.join(failed)})" if failed else ""
            found.append(
                servers_failed(
                    f"codex did not start: an MCP server of the task could not be started or reached{which}",
                    Evidence("last output", tail, self._log),
                    failed,
                    wrong,
                )
            )
        if self._notes:
            found.append(
                Issue(
                    Severity.WARNING,
                    Phase.AGENT,
                    Code.HARNESS_FAILED,
                    f"codex says: {clean_line(self._notes[0], _WORDS_CHARS)}"
                    + (f" (and {len(self._notes) - 1} more)" if len(self._notes) > 1 else ""),
                    (Evidence("what it says", "\n".join(self._notes), self._log, self._first_note),),
                )
            )
        return found

    def _tries_again(self, line: int, words: str, event: Record) -> None:
        self._activity(f"codex asks the model again: {clean_line(words, _WORDS_CHARS)}")
        self._waits = self._waits + 1 if words.startswith(_WAITS) else 0
        if self._waits == MOST_WAITS or _code(words) in _NO_TRY_HELPS:
            self._failed = line, words.removeprefix(_TRIES_AGAIN).strip(), event
            self._stop()

    def _note(self, line: int, words: str) -> None:
        if words and not words.startswith(HARMLESS) and words not in self._notes and len(self._notes) < _MOST_NOTES:
            self._first_note = self._first_note or line
            self._notes.append(words)


def _code(words: str) -> Code:
    if _CONTEXT_FULL in words:
        return Code.MODEL_CONTEXT_FULL
    if _CUT_OFF in words:
        return Code.MODEL_CUT_OFF
    if _NOT_LET_IN.search(words):
        return Code.MODEL_AUTH_FAILED
    if _AT_CAPACITY in words:
        return Code.MODEL_OVERLOADED
    if _NOBODY in words:
        return Code.MODEL_UNREACHABLE
    return code_of_text(words, vouched=True) or Code.HARNESS_FAILED
