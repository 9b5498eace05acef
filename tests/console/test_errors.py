from __future__ import annotations

import errno
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from console.errors import SAID_AS_THEY_ARE, Unusable, clear_errors
from engine.runs.card import CardInvalid
from engine.runs.control import NotReachable


@pytest.fixture
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def ending(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    """The exit code and what stderr says."""
    with pytest.raises(SystemExit) as left, clear_errors():
        raise error
    said = capsys.readouterr()
    assert said.out == ""
    return left.value.code, said.err


@pytest.mark.parametrize("kind", [Unusable, CardInvalid, NotReachable])
def test_what_was_foreseen_is_said_as_it_is_and_ends_with_2(
    kind: type[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    message = "card.toml: `seed` is no number; write one"
    assert ending(kind(message), capsys) == (2, f"trialdeck: {message}\n")


def test_every_exception_that_is_named_exists() -> None:
    for name in SAID_AS_THEY_ARE:
        module, _, kind = name.rpartition(".")
        assert issubclass(getattr(importlib.import_module(module), kind), Exception)


def test_a_full_disk_names_the_file_and_the_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ending(OSError(errno.ENOSPC, "No space left on device", "runs/x/events.jsonl"), capsys)
    assert code == 2
    assert said.startswith("trialdeck: runs/x/events.jsonl: No space left on device; free some space")


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), clear_errors():
        (tmp_path / "nothing").read_text()
    assert capsys.readouterr().err == f"trialdeck: {tmp_path / 'nothing'}: No such file or directory\n"


def test_an_interrupt_ends_with_130_and_no_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(KeyboardInterrupt(), capsys) == (130, "")


def test_what_nobody_foresaw_is_one_line_and_a_report(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ending(ZeroDivisionError("division by zero"), capsys)
    (report,) = (state_folder / "trialdeck" / "crashes").iterdir()
    assert code == 1
    assert said.splitlines() == [
        f"trialdeck: a fault in trialdeck: ZeroDivisionError: division by zero; everything about it is in {report}"
    ]
    text = report.read_text()
    assert "Traceback" in text
    assert "test_errors.py" in text


def test_a_report_has_the_command_and_not_its_arguments(
    state_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["trialdeck", "run", "--agent", "command:key=s3cret"])
    ending(ZeroDivisionError(), capsys)
    (report,) = (state_folder / "trialdeck" / "crashes").iterdir()
    assert "command: run\n" in report.read_text()
    assert "s3cret" not in report.read_text()


def test_where_no_report_can_be_written_the_line_says_where_it_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    code, said = ending(ZeroDivisionError("x"), capsys)
    assert code == 1
    assert "ZeroDivisionError: x in test_errors.py, line" in said
    assert "Traceback" not in said


def test_inside_a_task_group_the_error_that_says_something_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    group = ExceptionGroup("some", [ExceptionGroup("inner", [Unusable("no such run")])])
    assert ending(group, capsys) == (2, "trialdeck: no such run\n")


def test_control_codes_in_a_message_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(Unusable("task \x1b[2J\x07x"), capsys)[1] == "trialdeck: task �x\n"


def test_it_decorates_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    @clear_errors()
    def command() -> None:
        raise Unusable("not so")

    with pytest.raises(SystemExit):
        command()
    assert capsys.readouterr().err == "trialdeck: not so\n"


def test_exits_of_the_command_line_pass() -> None:
    with pytest.raises(typer.Exit), clear_errors():
        raise typer.Exit(3)
    with pytest.raises(SystemExit) as left, clear_errors():
        sys.exit(3)
    assert left.value.code == 3


def test_a_closed_pipe_is_a_clean_end() -> None:
    script = (
        "import sys\nfrom console.errors import clear_errors\nfrom console.out import Out\n"
        "with clear_errors():\n  for _ in range(100_000): Out().line('x' * 80)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 0)
