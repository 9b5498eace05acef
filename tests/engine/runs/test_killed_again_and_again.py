"""An engine that is killed at any moment, again and again (case 80): every resume works, and no verdict is lost or
doubled."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from engine import events as ev
from engine.layout import CONFIG, ENGINE, EVENTS, RESULT
from engine.readers.run_folder import RunFolderReader
from engine.runs.card import write_card
from engine.state import RunState
from tests.engine.runs.runs import RunRig

ROUNDS = 12
ROOT = Path(__file__).parents[3]


def events(folder: Path) -> list[ev.AnyEvent]:
    if not (folder / EVENTS).exists():  # killed before it wrote any
        return []
    return list(ev.decode_lines((folder / EVENTS).read_bytes().splitlines()))


def verdicts(folder: Path) -> dict[str, list[float | None]]:
    """Every verdict that the events hold, by trial."""
    found: dict[str, list[float | None]] = {}
    for event in events(folder):
        if isinstance(event, ev.TrialFinished) and event.outcome == "scored":
            found.setdefault(event.trial, []).append(event.reward)
    return found


def folded(folder: Path) -> RunState:
    reader, state = RunFolderReader(folder), RunState()
    while found := reader.poll():
        state.apply_all(found)
    reader.close()
    return state


def killed_after(folder: Path, number: int, seconds: float) -> int | None:
    """Run an engine, and kill it so long after it has begun; its exit code if it was quicker than that."""
    command = [sys.executable, "-m", "tests.engine.runs.fake_engine", str(folder), str(number)]
    before = (folder / ENGINE).stat().st_mtime_ns if (folder / ENGINE).exists() else 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as engine:
        began = time.monotonic()
        while engine.poll() is None and time.monotonic() - began < 120:
            if (folder / ENGINE).exists() and (folder / ENGINE).stat().st_mtime_ns != before:
                break
            time.sleep(0.002)
        time.sleep(seconds)
        if engine.poll() is not None:
            assert engine.stderr is not None
            said = engine.stderr.read()
            assert engine.returncode == 0, said
            return engine.returncode
        engine.kill()
    return None


def test_every_resume_works_and_no_verdict_is_lost_or_doubled_case_80(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, tuple("abcdefghij"), concurrency=2)
    rig.log.close()
    for name in (EVENTS, "host.jsonl"):
        (rig.folder / name).unlink()
    write_card(rig.folder, rig.card)
    chance = random.Random(80)
    known: dict[str, list[float | None]] = {}
    for number in range(ROUNDS):
        killed_after(rig.folder, number, chance.random() * 0.12)
        now = verdicts(rig.folder)
        assert all(now[trial] == rewards for trial, rewards in known.items())  # nothing that was there is gone
        known = now
    command = [sys.executable, "-m", "tests.engine.runs.fake_engine", str(rig.folder), str(ROUNDS)]
    last = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert last.returncode == 0, last.stderr
    state = folded(rig.folder)
    assert Counter(trial.state for trial in state.trials.values()) == {"passed": 2, "failed": 8}
    assert all(len(rewards) == 1 for rewards in verdicts(rig.folder).values())
    assert state.sessions >= 2
    for trial in state.trials.values():
        folder = rig.folder / trial.trial
        assert (folder / CONFIG).is_file() and (folder / RESULT).is_file()
    kept = [event.folder for event in events(rig.folder) if isinstance(event, ev.TrialInterrupted) and event.folder]
    assert len(set(kept)) == len(kept) and all(any((rig.folder / folder).iterdir()) for folder in kept)
    spent = state.cost_usd
    assert spent is not None and spent >= 10  # a dollar for each verdict, and what was thrown away
