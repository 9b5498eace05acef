"""Filter, order, marks, replay and settings in a real terminal with real keys, in full colour, sixteen and none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.end_to_end.terminal import terminal

RECORDED = Path(__file__).parents[2] / "sample_runs" / "recorded" / "demo"

FILTERED = 16
"""So many of the recorded trials of arm B did not pass."""

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    shutil.copytree(RECORDED, tmp_path / "runs" / "demo")
    return tmp_path


def own(here: Path, *more: str) -> list[str]:
    """An environment with the person's places inside of the test's folder."""
    return [f"XDG_CONFIG_HOME={here / 'config'}", f"XDG_STATE_HOME={here / 'state'}", *more]


@pytest.mark.parametrize("colours", [(), ("TERM=xterm",), ("NO_COLOR=1",)], ids=["full", "sixteen", "none"])
def test_filter_sort_marks_and_leave_and_all_is_there_again(here: Path, colours: tuple[str, ...]) -> None:
    with terminal("watch", "demo", cwd=here, env=own(here, *colours)) as seen:
        seen.sees("finished", "60 of 60   sort: state ↑")
        seen.type("/")
        seen.type("arm:b (state:failed or state:unscored)")
        seen.press("Enter")
        seen.sees("/ arm:b (state:failed or state:unscored)", f"{FILTERED} of 60   sort")
        seen.press("s")
        seen.sees("sort: ", ", state ↑")
        seen.press("M")
        seen.sees(f"{FILTERED} marked   ")
        if colours:
            assert "\x1b[38;2;" not in seen.escapes() and "\x1b[48;2;" not in seen.escapes()
        seen.press("q")
        seen.ends_with(0)
    with terminal("watch", "demo", cwd=here, env=own(here, *colours)) as seen:
        seen.sees("/ arm:b (state:failed or state:unscored)", f"{FILTERED} marked   ", ", state ↑")
        seen.press("q")
        seen.ends_with(0)


def test_a_wrong_filter_is_named_while_it_is_typed_and_the_list_stays(here: Path) -> None:
    with terminal("watch", "demo", cwd=here, env=own(here)) as seen:
        seen.sees("60 of 60   sort")
        seen.type("/")
        seen.type("/tight(")
        seen.sees("regex: missing )", "tight-memory")
        seen.press("C-u")
        seen.type("nofield:x")
        seen.sees("no field 'nofield'")
        seen.back("60 of 60   sort", gone="no field")
        seen.press("q")
        seen.ends_with(0)


def test_a_finished_run_is_played_again_and_put_to_its_end(here: Path) -> None:
    with terminal("watch", "demo", "--replay", "0.01", cwd=here, env=own(here)) as seen:
        seen.sees("▶ replay ×0.01", "0 of 60")
        seen.press("p")
        seen.sees("‖ replay ×0.01")
        seen.press("p")
        seen.press(">")
        seen.sees("✓ finished", "60 of 60")
        seen.press("q")
        seen.ends_with(0)


def test_settings_are_used_and_what_is_wrong_in_them_is_said_before_anything_is_shown(here: Path) -> None:
    file = here / "config" / "trialdeck" / "settings.toml"
    file.parent.mkdir(parents=True)
    file.write_text('theme = "light"\n[keys]\n"run.filter" = "F"\n')
    with terminal("watch", "demo", "--read-only", cwd=here, env=own(here)) as seen:
        seen.sees("read-only", "F filter")
        seen.type("F")
        seen.type("tight")
        seen.press("Enter")
        seen.sees("/ tight")
        seen.press("q")
        seen.ends_with(0)
    assert not (here / "state" / "trialdeck").exists(), "looking only writes nothing"
    file.write_text('[keys]\n"run.filter" = "q"\n')
    with terminal("watch", "demo", cwd=here, env=own(here)) as seen:
        seen.ends_with(2)
        assert "q is also the key of everywhere.leave" in seen.screen().replace("\n", " ")
