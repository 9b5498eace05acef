from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from console.commands.resume import resume
from console.errors import Unusable
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
