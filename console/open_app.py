"""Opening the Textual app: on one run, or on the list of runs."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from console.app import TrialDeckApp
from console.engine_end import last_words, wait_for_end
from console.errors import Unusable
from console.follow import in_browser
from console.habits import read_habits
from console.terminal_gone import ends_with_its_terminal
from engine.events import EngineStarted, decode
from engine.layout import ENGINE_LOG, EVENTS
from engine.readers.followed_file import FollowedFile
from engine.readers.open_run import open_run
from engine.text import clean_line
from screens.run_filter import INTERRUPTED_EXIT

if TYPE_CHECKING:
    from screens.analysing import AnalysisWish
    from screens.comparing import Wish

START_SEC = 30.0
TURN_SEC = 0.0005
"""How long a thread may keep the interpreter while another one waits for it (Python: 5 ms)."""
_BEGIN = b'{"type":"engine_started"'


def show_run(
    folder: Path,
    *,
    engine: subprocess.Popen[bytes] | None,
    read_only: bool = False,
    replay_speed: float | None = None,
) -> int:
    """Show a run until the person leaves; `engine` is its process where this command started it. Returns the exit code:
    the run's own where it was started here and is over, 128 + n after a signal, else 0."""
    if engine is not None:
        wait_for_begin(folder, engine)
    habits = read_habits(read_only=read_only, replay_speed=replay_speed)
    app = TrialDeckApp(folder, started_here=engine is not None, habits=habits)
    code = run_app(app)
    say_farewell(app, folder)
    if app.source is not None and app.source.state.finished is not None:
        wait_for_end(engine)
    return code


def say_farewell(app: TrialDeckApp, folder: Path) -> None:
    """On the terminal, if it is still there: it may be what ended the console."""
    source = app.source
    finished = source.state.finished if source is not None else None
    cut_off = source is not None and (source.stale or (finished is not None and finished.exit_code == INTERRUPTED_EXIT))
    if not in_browser():
        with suppress(OSError):
            print(farewell(folder, over=finished is not None, cut_off=cut_off), flush=True)


def farewell(folder: Path, *, over: bool, cut_off: bool = False) -> str:
    """What stays on the terminal when the console has gone from it. `cut_off`: cancelled, or its engine is gone."""
    run = shlex.quote(clean_line(str(folder)))
    if not open_run(folder).ours:
        return f"{run}: `trialdeck show {run}` prints it, `trialdeck watch {run}` opens it again"
    if cut_off:
        why = "was interrupted" if over else "is not over, but its engine is gone"
        return f"the run {run} {why}: `trialdeck resume {run}` goes on with it, `trialdeck show {run}` prints it"
    if over:
        return f"the run is in {run}: `trialdeck show {run}` prints it, `trialdeck watch {run}` opens it again"
    return f"the run {run} is not over: `trialdeck watch {run}` attaches again, `trialdeck cancel {run}` ends it"


def show_home(places: Sequence[Path], *, read_only: bool = False) -> int:
    habits = read_habits(read_only=read_only)
    return run_app(TrialDeckApp(runs_dir=places[0], places=places, habits=habits))


def show_comparison(runs: Sequence[Path], wish: Wish) -> int:
    """The comparison of these runs, over the list of the runs beside the first."""
    return run_app(TrialDeckApp(runs_dir=runs[0].parent, habits=read_habits(), compared=runs, wish=wish))


def show_analysis(runs: Sequence[Path], wish: AnalysisWish) -> int:
    """Numbers over these runs, over the list of the runs beside the first."""
    return run_app(TrialDeckApp(runs_dir=runs[0].parent, habits=read_habits(), analysed=runs, analysis_wish=wish))


def run_app(app: TrialDeckApp) -> int:
    """With an interpreter tuned for short waits: a key must not wait for the reading thread's turn to end, nor for the
    garbage collector to walk through every module that was ever imported (45 ms)."""
    sys.setswitchinterval(TURN_SEC)
    app.collector.begin()
    with ends_with_its_terminal():
        app.run()
    return app.return_code or 0


def wait_for_begin(folder: Path, engine: subprocess.Popen[bytes]) -> None:
    """Until this engine has begun, whatever earlier ones have written: what they left as finished or stale is neither
    from then on. Raises Unusable where it ended before, with its last words, and where it takes too long."""
    deadline = time.monotonic() + START_SEC
    events = FollowedFile(folder / EVENTS)
    try:
        while True:
            ended = engine.poll() is not None
            while lines := events.new_lines():
                if any(_begins(line, engine.pid) for line in lines):
                    return
            if ended:
                log = folder / ENGINE_LOG
                words = last_words(log).removeprefix("trialdeck: ")
                raise Unusable(f"the run did not start: {words}" if words else f"the run did not start; see {log}")
            if time.monotonic() > deadline:
                way = f"`trialdeck watch {shlex.quote(str(folder))}` attaches to it"
                raise Unusable(f"the run has not begun within {START_SEC:g} s; process {engine.pid} is at it: {way}")
            time.sleep(0.02)
    finally:
        events.close()


def _begins(line: bytes, pid: int) -> bool:
    if not line.startswith(_BEGIN):
        return False
    event = decode(line)
    return isinstance(event, EngineStarted) and event.pid == pid
