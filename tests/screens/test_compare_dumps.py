"""What opens from a comparison, as text at three sizes, against dumps that a person has looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.app import TrialDeckApp
from engine.readers.open_run import open_run
from engine.triage.causes import Cause
from engine.triage.label_store import open_labels
from engine.triage.labels import Label
from screens.compare_screen import CompareScreen
from tests.screens import fake_run
from tests.screens.deck import read_and_painted, until
from tests.screens.fake_run import at
from tests.screens.looks import SIZES, looks_as_kept, size_name
from tests.screens.test_dumps import unfinished

pytestmark = pytest.mark.anyio


LABELLED = (
    (5, "sol-6.1", Cause.INFRASTRUCTURE),
    (52, "sol-6.1", Cause.INFRASTRUCTURE),
    (75, "sonnet-5.5", Cause.AMBIGUOUS),
    (90, "sol-6.1", Cause.AMBIGUOUS),
)
"""Task, arm and cause."""


def labelled(folder: Path) -> None:
    """Four trials called infrastructure or ambiguous."""
    run = open_run(folder)
    labels = open_labels(run)
    for number, (task, arm, cause) in enumerate(LABELLED):
        trial = fake_run.trial_id(task, arm, 1)
        name = fake_run.TASKS[task] if task < len(fake_run.TASKS) else f"task-{task:04}"
        labels.append(
            Label(
                id=str(number),
                at=at(1),
                who="ada",
                run=run.identity,
                trial=trial,
                task=name,
                arm=arm,
                attempt=1,
                cause=cause,
            )
        )


CASES = {
    "compare-picker": ("p",),
    "compare-both": ("enter",),
    "compare-both-other": ("enter", "tab"),
    "compare-labelled": (),
    "compare-sensitivity": ("s",),
    "compare-differences": ("d",),
    "compare-export": ("e",),
}


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("case", CASES)
async def test_the_screen_looks_as_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("run")  # so that no path of this machine stands on a screen
    fake_run.write(folder, unfinished())
    labelled(folder)
    app = TrialDeckApp(folder, clock=lambda: at(13_251))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: read_and_painted(app), "the run is read")
        assert app.source is not None
        screen = CompareScreen(app.source)
        await app.push_screen(screen)
        await until(pilot, lambda: len(screen.worked.movers if screen.worked else ()) == 4, "the labels count")
        for key in ("", *CASES[case]):
            if key:
                await pilot.press(key)
            await pilot.app.workers.wait_for_complete()
            for _ in range(3):
                await pilot.pause()
        await looks_as_kept(pilot, f"{case}-{size_name(size)}")
