"""`./dev` seen from outside: its words, its errors, and what it needs of Python."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from console.machine.__main__ import activation, runs_of_demo
from console.machine.command import NOT_FOUND, TIMED_OUT, run
from console.machine.disk import require_space
from console.machine.progress import Progress
from console.machine.trouble import Trouble

ROOT = Path(__file__).resolve().parents[3]
DEV = ROOT / "dev"


def dev(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(DEV), *words], env={**os.environ, **environ}, cwd="/", capture_output=True, text=True, check=False
    )


def test_help_names_every_command() -> None:
    done = dev("--help")
    assert done.returncode == 0
    for command in ("demo", "test", "bench", "setup"):
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize("words", [("no-such-command",), (), ("setup", "--now")])
def test_wrong_usage_is_exit_2_with_the_usage(words: tuple[str, ...]) -> None:
    done = dev(*words)
    assert done.returncode == 2
    assert "usage: ./dev" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def fake_python(folder: Path, name: str, version: str, new_enough: bool) -> None:
    script = f'#!/bin/sh\ncase "$2" in *print*) echo {version};; *) exit {0 if new_enough else 1};; esac\n'
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)


def test_an_old_python_is_named_with_the_way_out(tmp_path: Path) -> None:
    fake_python(tmp_path, "python3", "3.9", new_enough=False)
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    done = dev("--help", PATH=str(tmp_path), PYTHON="")
    assert done.returncode == 2
    assert "3.11 or newer; found: 3.9" in done.stderr
    assert "PYTHON=" in done.stderr


def test_a_newer_python_further_down_the_list_is_found(tmp_path: Path) -> None:
    fake_python(tmp_path, "python3", "3.9", new_enough=False)
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    (tmp_path / "python3.12").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "python3.12").chmod(0o755)
    assert dev("--help", PATH=str(tmp_path), PYTHON="").returncode == 0


def test_what_runs_before_the_environment_exists_needs_the_standard_library_alone() -> None:
    program = (
        "import sys, console.machine.__main__ as m;"
        "from pathlib import Path;"
        "own = {n.partition('.')[0] for n in sys.modules} - set(sys.stdlib_module_names) - {'__main__', 'console'};"
        "print(sorted(own))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_a_missing_program_and_one_that_does_not_end_are_outcomes_and_not_errors(tmp_path: Path) -> None:
    assert run([str(tmp_path / "none")], timeout=5).code == NOT_FOUND
    cut = run(["sh", "-c", "echo begun; exec sleep 60"], timeout=2.0)
    assert cut.code == TIMED_OUT
    assert cut.output.startswith("begun\n")


def test_a_program_gets_its_input_and_both_streams_are_kept_in_order() -> None:
    done = run(["sh", "-c", "cat; echo err >&2; echo out; exit 3"], timeout=20, stdin="in\n")
    assert (done.code, done.output) == (3, "in\nerr\nout\n")


def test_a_disk_without_room_is_refused_before_the_work(tmp_path: Path) -> None:
    require_space(tmp_path / "not" / "yet" / "made", 0.0, "making it")
    with pytest.raises(Trouble) as caught:
        require_space(tmp_path / "not" / "yet" / "made", 10.0**9, "making it")
    assert str(tmp_path) in caught.value.what
    assert "df -h" in caught.value.way_out


def test_steps_are_whole_lines_without_control_codes_where_there_is_no_terminal() -> None:
    out = StringIO()
    progress = Progress(out, clock=iter([0.0, 12.5, 20.0, 21.0]).__next__)
    with progress.step("making it"):
        pass
    with pytest.raises(Trouble), progress.step("breaking it"):
        progress.say("a word between")
        raise Trouble("broken", "mend it")
    assert out.getvalue() == (
        "  making it … 12.5 s\n  breaking it … \na word between\n  breaking it … failed after 1.0 s\n"
    )


def test_the_demo_tells_paths_that_hold_where_it_was_called_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = ROOT / ".venv" / "bin" / "python"
    monkeypatch.setenv("DEV_CALLED_FROM", str(ROOT))
    assert (runs_of_demo([]), activation(python)) == ([], ". .venv/bin/activate")
    monkeypatch.setenv("DEV_CALLED_FROM", str(tmp_path))
    assert runs_of_demo(["--attempts", "2"]) == ["--runs-dir", str(ROOT / "runs")]
    assert runs_of_demo(["--runs-dir=there"]) == runs_of_demo(["--runs-dir", "there"]) == []
    assert activation(python) == f". {shlex.quote(f'{ROOT}/.venv/bin/activate')}"
