from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import typer

from console.commands.resume import resume
from console.errors import Unusable
from engine import events as ev
from engine.agents.arms import parse_arm
from engine.layout import CARD, ENGINE
from engine.owner import this_process
from engine.runs.atomic_file import write_json
from engine.runs.start import save_card
from tests.engine.runs.runs import RunRig


def test_a_run_that_another_host_runs_is_left_alone_case_76(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    rig.log.close()
    save_card(rig.folder, rig.card)
    before = (rig.folder / CARD).read_bytes()
    write_json(rig.folder / ENGINE, msgspec.structs.replace(this_process(), host="elsewhere.invalid"))
    with pytest.raises(Unusable, match="its engine still runs"):
        resume(str(rig.folder), concurrency=7)
    assert (rig.folder / CARD).read_bytes() == before


def test_another_model_is_refused_with_the_difference_case_79(tmp_path: Path) -> None:
    rig = RunRig(tmp_path)
    rig.log.close()
    arm = parse_arm("terminus2:model=first,base_url=http://127.0.0.1:1/v1")
    save_card(rig.folder, msgspec.structs.replace(rig.card, arms=(arm,)))
    before = (rig.folder / CARD).read_bytes()
    with pytest.raises(Unusable, match=r"--model second is another model than the run's \(arm terminus2: first\)"):
        resume(str(rig.folder), model="second")
    assert (rig.folder / CARD).read_bytes() == before


def test_what_stays_is_told_also_of_a_task_that_changed_case_58(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rig = RunRig(tmp_path, ("a", "b"))
    rig.log.append(ev.TrialFinished(trial="a__a__1", outcome="scored", reward=1.0, passed=True))
    rig.log.close()
    save_card(rig.folder, rig.card)
    for task in ("a", "b"):
        (tmp_path / "tasks" / task / "instruction.md").write_text("Something else.\n")
    with pytest.raises(typer.Exit):
        resume(str(rig.folder), dry_run=True)
    told = capsys.readouterr().out.splitlines()
    assert told[:4] == [
        "1 stay, with their verdict",
        "  a__a__1",
        "0 run again, their record kept",
        "0 run for the first time",
    ]
    assert [line.partition(" (")[0] for line in told[4:]] == [
        f"{task} is not run: its files changed since the run began" for task in ("a", "b")
    ]
    with pytest.raises(Unusable, match="nothing is left to run"):
        resume(str(rig.folder))
    assert "b is not run: its files changed" in capsys.readouterr().err
