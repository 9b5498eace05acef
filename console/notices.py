"""What a person wants to hear of a run even when they look elsewhere: each event once, over all runs that are open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from console.settings import Notifications
from engine.issues import Severity
from engine.readers.reader import Liveness
from engine.text import clean_line
from screens import format as fmt
from screens.run_alarm import AlarmWatch
from screens.run_filter import INTERRUPTED_EXIT
from screens.source import RunSource

MOST_CHARS = 200


@dataclass(frozen=True)
class Notice:
    text: str
    bad: bool = False


@dataclass
class _Watched:
    alarms: AlarmWatch
    known: bool = False
    said: set[str] = field(default_factory=set)
    issues: int = 0


class Notices:
    """`look` is called after a run changed. What a run already was when it was opened is no news."""

    def __init__(self, wanted: Notifications) -> None:
        self._wanted = wanted
        self._runs: dict[RunSource, _Watched] = {}

    def look(self, source: RunSource, dirty: Collection[str]) -> list[Notice]:
        watched = self._runs.get(source)
        if watched is None:
            watched = self._runs[source] = _Watched(AlarmWatch(source.state))
        watched.alarms.update(dirty)
        if not source.caught_up or source.liveness is Liveness.STARTING:
            return []
        found = self._found(source, watched)
        first, watched.known = not watched.known, True
        new = [notice for key, notice in found if key not in watched.said]
        watched.said |= {key for key, _ in found}
        return [] if first else new

    def forget(self, open_runs: Collection[RunSource]) -> None:
        """Of runs that are closed."""
        for source in self._runs.keys() - set(open_runs):
            del self._runs[source]

    def _found(self, source: RunSource, watched: _Watched) -> list[tuple[str, Notice]]:
        state = source.state
        name = clean_line(state.plan.name if state.plan and state.plan.name else source.folder.name, 60)
        session = state.sessions
        found: list[tuple[str, Notice]] = []
        if self._wanted.run_ends and _has_ended(source):
            passed = sum(arm.passed for arm in state.arms.values())
            done = fmt.count(state.done, "trial")
            how = "was interrupted" if state.finished and state.finished.exit_code == INTERRUPTED_EXIT else "has ended"
            found.append((f"ended {session}", Notice(f"{name} {how}: {passed} of {done} passed")))
        if not self._wanted.goes_bad:
            return found
        if source.stale:
            found.append((f"stale {session}", Notice(f"{name}: its engine is gone, the run is not over", bad=True)))
        for alarm in watched.alarms.alarms():
            text = f"{name}: {alarm.text(clean_line(alarm.arm, 40))}"
            found.append((f"alarm {alarm.arm} {alarm.code}", Notice(text, bad=True)))
        for number, issue in enumerate(state.run_issues):
            if issue.severity is Severity.FATAL:
                text = clean_line(f"{name}: {issue.code}: {issue.message}", MOST_CHARS)
                found.append((f"issue {number}", Notice(text, bad=True)))
        return found


def _has_ended(source: RunSource) -> bool:
    """By its last event as well, in a run of ours: its owner is looked for once a second only, so that one which goes
    on again is still called finished for a moment, with the sums of its trials half way."""
    over = source.liveness is Liveness.FINISHED and not source.pending
    return over and (source.state.finished is not None or not source.run.ours)


def terminal_sequence(notice: Notice, wanted: Notifications, *, in_tmux: bool) -> str:
    """What is written to the terminal beside the screen: the bell, and a notification of the desktop."""
    text = clean_line(notice.text, MOST_CHARS).replace(";", ",")
    sequence = {"osc9": f"\x1b]9;{text}\x07", "osc777": f"\x1b]777;notify;trialdeck;{text}\x07"}.get(wanted.desktop, "")
    if sequence and in_tmux:
        sequence = "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return ("\a" if wanted.bell else "") + sequence
