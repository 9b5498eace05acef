from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.out import Out
from console.plain_output import HEARTBEAT_SEC, PlainFollower, follow_plain
from engine import events as ev
from engine.layout import ENGINE, ENGINE_LOG, EVENTS
from engine.owner import this_process
from engine.runs.atomic_file import write_json
from tests.console.run_folders import (
    HOSTILE,
    begun,
    broken_build,
    ended,
    planned,
    scored,
    started,
    unscored,
    whole_run,
    write,
)
from tests.screens.fake_run import at

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def nobody(times: int) -> None:
    raise AssertionError("nobody interrupted this")


def followed(folder: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool = False) -> tuple[int, str, str]:
    code = follow_plain(folder, as_json=as_json, engine=None, on_interrupt=nobody)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_finished_run_is_told_from_its_header_to_its_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = followed(write(tmp_path / "run", whole_run()), capsys)
    lines = out.splitlines()
    assert code == 3
    assert err == ""
    assert lines[0] == "run      small"
    for what in ("samples 1.0", "A oracle", "B replay", "2 tasks × 2 arms × 1 attempt", "concurrency 2", "folder"):
        assert what in "\n".join(lines[:7])
    assert any("● started" in line and "hello · oracle" in line for line in lines)
    assert any("prepare" in line and "limit 10 min" in line for line in lines)
    assert any(
        "✓ passed" in line and "hello · oracle · reward 1.00" in line and "1 of 4 done" in line for line in lines
    )
    assert any("✗ unscored" in line and "redis · replay" in line and "4 of 4 done" in line for line in lines)
    assert any(line.startswith("McNemar") for line in lines)


def test_an_issue_names_its_task_arm_phase_code_and_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = followed(write(tmp_path / "run", whole_run()), capsys)
    line = next(line for line in out.splitlines() if "✗ fatal" in line)
    assert "redis · replay · prepare" in line
    assert "image_build_failed: step 3 of 5 failed: no such package → name a package there is" in line


def test_the_summary_has_every_denominator_and_an_unknown_cost_is_no_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = followed(write(tmp_path / "run", whole_run()), capsys)
    assert "0/2 passed of assigned  0.0 %" in out
    assert "0/1 of completed  0.0 % · 1 failed · 1 unscored · bounds 0.0–50.0" in out
    assert "cost     unknown" in out
    assert "$0" not in out
    assert "issues   1 fatal" in out


def test_a_cost_that_is_partly_unknown_is_a_lower_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = [started(), *planned(["hello"]), *begun("hello__oracle__1"), *scored("hello__oracle__1", True, 0.5)]
    run += [*begun("hello__replay__1"), *scored("hello__replay__1", True), *ended()]
    _, out, _ = followed(write(tmp_path / "run", run), capsys)
    assert "cost     at least $0.50, unknown for 1 trial" in out


def test_no_control_code_of_a_task_reaches_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = f"task {HOSTILE}"
    run = [started(), *planned([task], arms=[f"arm {HOSTILE}"])]
    trial = next(event.trial for event in run if isinstance(event, ev.TrialPlanned))
    run += begun(trial)
    run += [ev.IssueRaised(at=at(2), trial=trial, issue=broken_build(HOSTILE))]
    run += [ev.RunIssue(at=at(2), issue=broken_build(HOSTILE)), ev.TrialWaiting(at=at(2), trial=trial, reason=HOSTILE)]
    run += [*scored(trial, False), *ended(3, reason=HOSTILE)]
    folder = write(tmp_path / "run \x1b[2J\x9b", run)
    for as_json in (False, True):
        _, out, _ = followed(folder, capsys, as_json=as_json)
        assert CONTROL.findall(out) == []
        assert "[/bold]" in out


def test_json_lines_are_the_events_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = [*whole_run(), ev.RunIssue(at=at(9), issue=broken_build(HOSTILE))]
    folder = write(tmp_path / "run", run)
    code, out, err = followed(folder, capsys, as_json=True)
    stored = [json.loads(line) for line in (folder / EVENTS).read_bytes().splitlines()]
    assert [json.loads(line) for line in out.splitlines()] == stored
    assert (code, err) == (3, "")


def test_a_stale_run_shows_what_there_is_and_says_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = [started(), *planned(["hello"]), *begun("hello__oracle__1"), *scored("hello__oracle__1", True)]
    code, out, err = followed(write(tmp_path / "run", run), capsys)
    assert code == 0
    assert "✓ passed" in out
    assert "1/1 passed of assigned" in out
    assert "stale" in err
    assert "1 of 2 trials are done" in err
    assert f"trialdeck resume {tmp_path / 'run'}" in err, "it is not where runs lie: its name alone would not be found"


def engine_that(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script])


def test_an_engine_that_dies_is_told_by_its_last_word_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = engine_that("raise SystemExit(1)")
    folder = write(tmp_path / "run", [started(engine.pid), *planned(["hello"]), *begun("hello__oracle__1")])
    (folder / ENGINE_LOG).write_text(
        'Traceback (most recent call last):\n  File "x.py"\n  | ValueError: \x1b[2Jno such\n    +------------\n'
    )
    code = follow_plain(folder, as_json=False, engine=engine, on_interrupt=nobody)
    said = capsys.readouterr()
    assert code == 1
    assert "ValueError: no such" in said.err
    assert str(folder / ENGINE_LOG) in said.err
    assert "Traceback" not in said.out + said.err
    assert "trials   0 of 2 done · 1 cut off · 1 queued" in said.out


def test_an_engine_that_was_killed_is_told_by_its_signal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = engine_that("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    folder = write(tmp_path / "run", [started(engine.pid), *planned(["hello"])])
    assert follow_plain(folder, as_json=False, engine=engine, on_interrupt=nobody) == 1
    assert "killed by SIGKILL" in capsys.readouterr().err


def test_an_engine_that_refuses_the_card_passes_its_message_and_its_code_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ENGINE_LOG).write_text("trialdeck: card.toml: seed is no number\n")
    code = follow_plain(tmp_path, as_json=False, engine=engine_that("raise SystemExit(2)"), on_interrupt=nobody)
    said = capsys.readouterr()
    assert (code, said.out, said.err) == (2, "", "trialdeck: card.toml: seed is no number\n")


class Stage:
    """A follower whose time passes only when it sleeps; `acts` happen one at each sleep."""

    def __init__(self, folder: Path, engine: subprocess.Popen[bytes] | None, acts: list[Callable[[], object]]) -> None:
        self.time = 0.0
        self.acts = acts
        self.interrupts = 0
        self.asked: list[int] = []
        self.text = io.StringIO()
        self.follower = PlainFollower(
            folder, Out(self.text), as_json=False, engine=engine, clock=lambda: self.time, sleep=self.sleep
        )

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        if self.acts:
            self.acts.pop(0)()

    def interrupt(self) -> None:
        self.interrupts += 1

    def take(self) -> int:
        taken, self.interrupts = self.interrupts, 0
        return taken

    def play(self) -> int:
        try:
            return self.follower.follow(self.take, self.asked.append)
        finally:
            self.follower.close()


@pytest.fixture
def engine() -> Iterator[subprocess.Popen[bytes]]:
    """An engine's process that lives as long as the test."""
    process = engine_that("import time; time.sleep(600)")
    yield process
    process.kill()
    process.wait()


def test_an_interrupt_cancels_and_the_run_is_followed_to_its_end(
    tmp_path: Path, engine: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "run", [started(engine.pid), *planned(["hello"]), *begun("hello__oracle__1")])
    cancelled = ev.TrialFinished(at=at(3), trial="hello__oracle__1", outcome="cancelled")
    stage = Stage(folder, engine, [])
    stage.acts = [
        stage.interrupt,
        lambda: write(folder, [ev.CancelRequested(at=at(2))]),
        stage.interrupt,
        stage.interrupt,
        lambda: write(folder, [cancelled, *ended(130, "cancelled")]),
    ]
    assert stage.play() == 130
    assert stage.asked == [1, 2, 2]
    assert "⊘ cancelling" in stage.text.getvalue()
    assert "⊘ cancelled" in stage.text.getvalue()
    assert "once more forces it" in capsys.readouterr().err


def test_an_interrupt_only_leaves_a_run_that_was_started_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "run", [started(), *planned(["hello"])])
    write_json(folder / ENGINE, this_process())
    stage = Stage(folder, None, [])
    stage.acts = [stage.interrupt]
    assert stage.play() == 130
    assert "not affected" in capsys.readouterr().err


def test_ctrl_c_arrives_as_a_signal(tmp_path: Path, engine: subprocess.Popen[bytes]) -> None:
    folder = write(tmp_path / "run", [started(engine.pid), *planned(["hello"])])
    asked: list[int] = []

    def interrupted(times: int) -> None:
        asked.append(times)
        if times == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            write(folder, ended(130, "cancelled"))

    before = signal.getsignal(signal.SIGINT)

    def press() -> None:
        while signal.getsignal(signal.SIGINT) is before:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    assert follow_plain(folder, as_json=False, engine=engine, on_interrupt=interrupted) == 130
    presser.join()
    assert asked == [1, 2]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_resumed_run_is_not_over_where_its_last_session_ended_and_counts_the_whole_run(
    tmp_path: Path, engine: subprocess.Popen[bytes]
) -> None:
    first = [started(), *planned(["hello", "redis"]), *begun("hello__oracle__1"), *scored("hello__oracle__1", True)]
    first += [*begun("redis__oracle__1"), *ended(130, "cancelled")]
    folder = write(tmp_path / "run", first)
    aside = ev.TrialInterrupted(
        at=at(20), trial="redis__oracle__1", run_number=1, reason="was cut off", folder="redis__oracle__1/interrupted-1"
    )
    second: list[ev.Event] = [started(engine.pid, session=2), aside]
    second += [*begun("redis__oracle__1", 2), *scored("redis__oracle__1", False)]
    for trial in ("hello__replay__1", "redis__replay__1"):
        second += [*begun(trial), *unscored(trial)]
    stage = Stage(folder, engine, [lambda: None, lambda: write(folder, [*second, *ended(3)])])
    assert stage.play() == 3
    text = stage.text.getvalue()
    assert text.startswith("run      small")
    assert "✓ passed" not in text  # that was the first session's
    assert "↺ resumed    session 2 · 1 of 4 done" in text
    assert "its record is in redis__oracle__1/interrupted-1" in text
    assert "trials   4 of 4 done · 1 ran again" in text
    assert "1/2 passed of assigned" in text


def test_a_long_silence_is_broken_by_what_runs(tmp_path: Path, engine: subprocess.Popen[bytes]) -> None:
    folder = write(tmp_path / "run", [started(engine.pid), *planned(["hello"]), *begun("hello__oracle__1")])
    write(folder, [ev.ActivityChanged(at=at(2), trial="hello__oracle__1", activity="build image")])
    stage = Stage(folder, engine, [])

    def wait() -> None:
        stage.time += HEARTBEAT_SEC

    stage.acts = [wait, wait, lambda: write(folder, ended(130))]
    stage.play()
    beats = [line for line in stage.text.getvalue().splitlines() if "… still" in line]
    assert len(beats) == 2
    assert "0 of 2 done · 1 running: hello · oracle (prepare" in beats[0]
    assert "build image" in beats[0]


def test_the_last_events_of_an_engine_that_is_already_gone_are_read(tmp_path: Path) -> None:
    gone = engine_that("pass")
    gone.wait()
    folder = write(tmp_path / "run", [started(gone.pid), *planned(["hello"])])
    stage = Stage(folder, gone, [lambda: write(folder, ended(3))])
    assert stage.play() == 3


def test_leftovers_that_the_engine_tells_of_after_the_end_are_shown(
    tmp_path: Path, engine: subprocess.Popen[bytes]
) -> None:
    finished, stopped = ended(0)
    folder = write(tmp_path / "run", [started(engine.pid), *planned(["hello"]), finished])
    late = ev.RunIssue(at=at(9), issue=broken_build("images left behind"))
    stage = Stage(folder, engine, [lambda: write(folder, [late, stopped])])
    assert stage.play() == 0
    assert "images left behind" in stage.text.getvalue()


def test_a_reader_that_goes_away_is_a_clean_end(tmp_path: Path) -> None:
    run: list[ev.Event] = [started(), *planned([f"task-{number}" for number in range(2000)])]
    for event in list(run):
        if isinstance(event, ev.TrialPlanned):
            run += [*begun(event.trial), *scored(event.trial, True)]
    folder = write(tmp_path / "run", [*run, *ended()])
    script = (
        "import sys; from pathlib import Path; from console.plain_output import follow_plain; "
        f"sys.exit(follow_plain(Path({str(folder)!r}), as_json=False, engine=None, on_interrupt=print))"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


def test_an_encoding_without_glyphs_breaks_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", whole_run())
    raw = io.BytesIO()
    out = Out(io.TextIOWrapper(raw, encoding="ascii"))
    follower = PlainFollower(folder, out, as_json=False, engine=None)
    assert follower.follow(lambda: 0, nobody) == 3
    assert b"? passed" in raw.getvalue()


def test_following_a_run_loads_neither_textual_nor_numpy_nor_a_docker_library() -> None:
    script = (
        "import sys, console.plain_output, console.errors, console.find_run; "
        "print([name for name in ('textual', 'rich', 'numpy', 'aiodocker', 'docker', 'anyio') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
