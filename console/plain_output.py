"""A run followed without a screen: one line per change for logs, or every event as a JSON line.

Data goes to stdout, diagnostics to stderr. Nothing here moves a cursor or colours anything.
"""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from console.change_lines import change_line, heartbeat_line
from console.engine_end import DEAD, last_words
from console.errors import abandon_stdout, say
from console.find_run import typed
from console.out import Out
from console.run_condition import STALE, Condition, in_words
from console.run_text import comparison_text, header_lines, summary_lines
from engine import events as ev
from engine.layout import ENGINE_LOG
from engine.owner import owner_alive, read_owner
from engine.readers.open_run import open_run
from engine.readers.reader import Liveness
from engine.state import RunState
from engine.trial_state import RUNNING

BUSY_SEC = 0.02
"""Pause between two looks while events come."""
IDLE_SEC = 0.05
"""Longest pause between two looks."""
LIVENESS_SEC = 1.0
"""How often the owner of a run that was started elsewhere is looked for."""
START_SEC = 10.0
"""How long a run without an engine is waited for."""
END_SEC = 10.0
"""How long an engine that has finished its run is waited for: it may still tell of leftovers."""
QUIET_SEC = 3.0
"""How long a run of another system must have shown no sign of life, from our first look on, to be called stale: on
another host only its growing files are one."""
HEARTBEAT_SEC = 30.0
UNUSABLE, INTERRUPTED = 2, 130


def follow_plain(
    folder: Path, *, as_json: bool, engine: subprocess.Popen[bytes] | None, on_interrupt: Callable[[int], None]
) -> int:
    """Follow a run to its end; returns the exit code.

    `engine` is set where this process started it: an interrupt (Ctrl-C, TERM) then calls `on_interrupt` with 1, later
    ones with 2, and the run is followed on to its end. Without it an interrupt leaves, and the run goes on. A reader of
    stdout that goes away ends this too, cleanly.
    """
    follower = PlainFollower(folder, Out(), as_json=as_json, engine=engine)
    with ExitStack() as stack:
        stack.callback(follower.close)
        interrupts = _Interrupts(stack, terminate_too=engine is not None)
        try:
            return follower.follow(interrupts.take, on_interrupt)
        except BrokenPipeError:
            abandon_stdout()
            if follower.engine_lives():
                say(f"nobody reads the output any more; the run goes on: `trialdeck watch {typed(folder)}`")
            return 0


class _Interrupts:
    """Counts signals; what they ask for is done by the loop, not in the handler."""

    def __init__(self, stack: ExitStack, *, terminate_too: bool) -> None:
        self._pending = 0
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, *((signal.SIGTERM,) if terminate_too else ())):
            stack.callback(signal.signal, number, signal.signal(number, self._count))

    def _count(self, number: int, frame: FrameType | None) -> None:
        self._pending += 1

    def take(self) -> int:
        taken, self._pending = self._pending, 0
        return taken


class PlainFollower:
    """Reads, prints, and knows when there is nothing more to come."""

    def __init__(
        self,
        folder: Path,
        out: Out,
        *,
        as_json: bool,
        engine: subprocess.Popen[bytes] | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.folder = folder
        self.state = RunState()
        self._out = out
        self._as_json = as_json
        self._engine = engine
        self._clock = clock
        self._sleep = sleep
        self._run = open_run(folder)
        self._reader = self._run.reader()
        self._ours = engine is None  # have we seen the engine that we follow begin?
        self._header_shown = False
        self._began = self._last_line = clock()
        self._look_at = 0.0
        self._finished_at: float | None = None
        self._engine_gone = False
        self._interrupts = 0

    def close(self) -> None:
        self._reader.close()

    def follow(self, interrupts: Callable[[], int], on_interrupt: Callable[[int], None]) -> int:
        """Returns the exit code."""
        pause = BUSY_SEC
        while True:
            for _ in range(interrupts()):
                self._interrupts += 1
                on_interrupt(min(self._interrupts, 2))
                if self._engine is None:
                    say(f"left; the run is not affected: `trialdeck watch {typed(self.folder)}` attaches again")
                    return INTERRUPTED
                self._say_interrupted()
            events = self._reader.poll()
            for event in events:
                self._take(event)
            if events:
                pause = BUSY_SEC
                continue
            code = self._ended()
            if code is not None:
                return code
            self._heartbeat()
            self._sleep(pause)
            pause = min(pause * 1.5, IDLE_SEC)

    def engine_lives(self) -> bool:
        if self._engine is not None:
            return self._engine.poll() is None
        if not self._run.ours:
            return self.state.finished is None
        return self.state.finished is None and owner_alive(read_owner(self.folder)) is not False

    # --- what comes ---

    def _take(self, event: ev.AnyEvent) -> None:
        self.state.apply(event)
        if self._as_json:
            self._out.json(ev.encode(event))
        if isinstance(event, ev.ResourceSampled | ev.HostSampled):
            return
        if isinstance(event, ev.EngineStarted) and self._engine is not None and event.pid == self._engine.pid:
            self._ours = True
        if self._as_json or not self._ours:  # what an earlier engine did is in the summary, not in this log
            return
        if not self._header_shown and self.state.plan is not None:
            self._header_shown = True
            self._print(*header_lines(self.state, self.folder), "")
        line = change_line(event, self.state)
        if line is not None:
            self._print(line)

    def _print(self, *lines: str) -> None:
        self._out.lines(list(lines))
        self._last_line = self._clock()

    def _heartbeat(self) -> None:
        if self._as_json or not self._ours or self._clock() - self._last_line < HEARTBEAT_SEC:
            return
        if self.state.finished is None and self.state.count(RUNNING):
            self._print(heartbeat_line(self.state, ev.now()))

    def _say_interrupted(self) -> None:
        if self._interrupts == 1:
            say("cancelling: running trials are cleaned up; once more forces it")
        else:
            say("cancelling by force")

    # --- the end ---

    def _ended(self) -> int | None:
        """The exit code once nothing more will come; None while something may."""
        if self.state.finished is not None and self._ours:
            return self._finish() if self._settled() else None
        if self._engine is not None:
            if self._engine.poll() is None:
                return None
            if not self._engine_gone:  # it may have written between our look and its end: look once more
                self._engine_gone = True
                return None
            return self._died(self._engine.returncode)
        if self._clock() < self._look_at:
            return None
        self._look_at = self._clock() + LIVENESS_SEC
        match self._reader.liveness():
            case Liveness.STALE if not self._run.ours and self._clock() - self._began < QUIET_SEC:
                pass
            case Liveness.STALE if not self._engine_gone:
                self._engine_gone = True
                self._look_at = 0.0
            case Liveness.STALE:
                return self._stale()
            case Liveness.STARTING if self._clock() - self._began > START_SEC:
                say(f"{self.folder}: no engine has begun this run; `trialdeck resume {typed(self.folder)}` starts it")
                self._close_log()
                return 0
            case Liveness.FINISHED if not self._run.ours and self._engine_gone:  # over, in its files' own word
                self._close_log()
                return 0
            case found:
                self._engine_gone = found is Liveness.FINISHED and not self._run.ours
        return None

    def _settled(self) -> bool:
        """Has the engine said everything, or gone, or had its time?"""
        if self._finished_at is None:
            self._finished_at = self._clock()
        if not self._run.ours or not self.state.engine_running or self._clock() - self._finished_at > END_SEC:
            return True
        if self._engine_gone:
            return True
        if self._engine is not None:
            self._engine_gone = self._engine.poll() is not None
        else:
            self._engine_gone = owner_alive(read_owner(self.folder)) is not True
        return False

    def _finish(self) -> int:
        self._close_log()
        assert self.state.finished is not None
        return self.state.finished.exit_code

    def _stale(self) -> int:
        self._close_log(alive=False)
        if not self._run.ours:
            words = in_words(Condition(STALE), self.state.last_event_at)
            say(f"{self.folder}: {words}: nobody is seen to work on it, and {_unfinished(self.state)}")
            return 0
        say(
            f"{self.folder}: stale: its engine is gone and {_unfinished(self.state)}; "
            f"`trialdeck resume {typed(self.folder)}` goes on with it"
        )
        return 0

    def _died(self, returncode: int) -> int:
        """The engine that we started is gone and has not finished its run."""
        log = self.folder / ENGINE_LOG
        words = last_words(log)
        if returncode == UNUSABLE and words:
            say(words.removeprefix("trialdeck: "))
            return UNUSABLE
        self._close_log(alive=False)
        if returncode == INTERRUPTED:
            return INTERRUPTED
        how = f"was killed by {_signal_name(-returncode)}" if returncode < 0 else f"ended with code {returncode}"
        said = f"; its last words: {words} (all of them in {log})" if words else f"; it left no word in {log}"
        say(
            f"the engine {how} and {_unfinished(self.state)}{said}; "
            f"`trialdeck resume {typed(self.folder)}` goes on with the run"
        )
        return INTERRUPTED if self._interrupts else DEAD

    def _close_log(self, *, alive: bool = True) -> None:
        """The summary of whatever there is."""
        if self._as_json or self.state.plan is None:
            return
        if not self._header_shown:
            self._header_shown = True
            self._print(*header_lines(self.state, self.folder))
        self._print("", *summary_lines(self.state, self.folder, alive=alive))
        comparison = comparison_text(self.state, self._out.width)
        if comparison:
            self._print("", *comparison)


def _unfinished(state: RunState) -> str:
    total = max(len(state.trials), state.plan.trials if state.plan else 0)
    return f"{state.done} of {total} trials are done" if total else "nothing was begun"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
