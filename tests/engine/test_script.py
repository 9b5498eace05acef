"""Scripts from any editor, run with a real Bash (case 20)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.environments.script import launch, normalised
from tests.engine.tasks.task_folders import UNTIMED

FORMS = {
    "crlf": b"#!/bin/bash\r\necho 1 > reward.txt\r\n",
    "crlf without a shebang": b"echo 1 > reward.txt\r\n",
    "comment": b"# canary 1234\n#!/bin/bash\n[[ 1 == 1 ]] && echo 1 > reward.txt\n",
    "comment and crlf": b"# canary 1234\r\n#!/bin/bash\r\n[[ 1 == 1 ]] && echo 1 > reward.txt\r\n",
    "blank line first": b"\n#!/bin/bash\n[[ 1 == 1 ]] && echo 1 > reward.txt\n",
    "bom": b"\xef\xbb\xbf#!/bin/bash\necho 1 > reward.txt\n",
    "bom and crlf": b"\xef\xbb\xbf#!/bin/bash\r\necho 1 > reward.txt\r\n",
    "none": b"[[ 1 == 1 ]] && echo 1 > reward.txt\n",
    "good": b"#!/bin/bash\necho 1 > reward.txt\n",
    "env": b"#!/usr/bin/env bash\n[[ 1 == 1 ]] && echo 1 > reward.txt\n",
    "sh": b"#!/bin/sh\necho 1 > reward.txt\n",
    "no newline at the end": b"#!/bin/bash\necho 1 > reward.txt",
}


def run(folder: Path, script: bytes, mode: int = 0o755) -> subprocess.CompletedProcess[bytes]:
    path = folder / "it's a test.sh"
    path.write_bytes(normalised(script))
    path.chmod(mode)
    return subprocess.run(launch(str(path)), cwd=folder, capture_output=True, check=False)


@pytest.mark.parametrize("mode", [0o755, 0o644])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_runs_as_bash_would_have_it(tmp_path: Path, form: str, mode: int) -> None:
    done = run(tmp_path, FORMS[form], mode)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "reward.txt").read_text() == "1\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["it's a test.sh", "reward.txt"]


def test_a_valid_first_line_is_honoured(tmp_path: Path) -> None:
    script = b"#!/usr/bin/perl\nprint 'perl';\n"
    assert run(tmp_path, script).stdout == b"perl"


def test_a_shebang_below_comments_is_honoured_too(tmp_path: Path) -> None:
    script = b"# one\n   # two\n#!/usr/bin/perl -w\nprint 'perl';\n"
    assert run(tmp_path, script).stdout == b"perl"


def test_a_shebang_below_code_is_only_a_comment(tmp_path: Path) -> None:
    script = b"echo first\n#!/usr/bin/perl\necho second\n"
    assert normalised(script) == script
    assert run(tmp_path, script).stdout == b"first\nsecond\n"


@pytest.mark.parametrize("code", [0, 1, 3, 126, 127])
def test_the_scripts_exit_code_is_the_exit_code(tmp_path: Path, code: int) -> None:
    assert run(tmp_path, f"#!/bin/bash\nexit {code}\n".encode()).returncode == code
    assert run(tmp_path, f"exit {code}\n".encode(), 0o644).returncode == code


def test_an_interpreter_that_isnt_there_is_127_or_126(tmp_path: Path) -> None:
    assert run(tmp_path, b"#!/no/such/thing\n").returncode in (126, 127)


def test_a_here_document_with_crlf_inside_a_script_with_lf_stays() -> None:
    script = b"#!/bin/bash\ncat > windows.txt <<EOF\none\r\ntwo\r\nEOF\n"
    assert normalised(script) == script


@UNTIMED
@given(st.binary(max_size=200))
def test_making_a_script_fit_twice_is_making_it_fit_once(script: bytes) -> None:
    once = normalised(script)
    assert normalised(once) in (once, normalised(normalised(once)))
    if script.startswith(b"#!") and b"\r" not in script:
        assert once == script
