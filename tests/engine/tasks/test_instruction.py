"""The bytes that the agent is told."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.tasks.folder import read_task
from engine.tasks.instruction import read_instruction, without_canary
from tests.engine.tasks.task_folders import UNTIMED, make_task

AWKWARD = b"""Don't run `reboot`; fix foo(bar) in "a b.txt" $HOME $(id) \\\\ !x
EOF
'; touch /pwned; '
\xff\xfe\x00 \r
run the tests;
"""


def test_any_bytes_arrive_with_an_equal_sha256(tmp_path: Path) -> None:
    """Case 61."""
    folder = make_task(tmp_path / "hello", files={"instruction.md": AWKWARD})
    told = read_instruction(read_task(folder))
    assert sha256(told).digest() == sha256((folder / "instruction.md").read_bytes()).digest()


@UNTIMED
@given(st.binary())
def test_without_a_canary_nothing_is_touched(data: bytes) -> None:
    """Case 61."""
    assume(b"canary" not in data.lower())
    assert without_canary(data) == data


@UNTIMED
@given(
    st.lists(st.sampled_from([b"# canary", b"<!-- x CANARY GUID 1 -->", b"  #canary \t", b"# Canary\r"]), min_size=1),
    st.binary(),
)
def test_leading_canary_lines_go_and_the_rest_arrives_as_it_is(canaries: list[bytes], rest: bytes) -> None:
    assume(b"canary" not in rest.lower())
    told = b"! " + rest
    assert without_canary(b"\n".join([*canaries, told])) == told
    assert without_canary(b"\n".join([*canaries, b"", b" \r", told])) == told


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (b"# canary\n\n# Title\n", b"# Title\n"),
        (b"# canary\n\n# canary\nx", b"# canary\nx"),
        (b"# Title\n# canary\n", b"# Title\n# canary\n"),
        (b"\n# canary\nx\n", b"\n# canary\nx\n"),
        (b"\n\nx", b"\n\nx"),
        (b"canary\nx", b"canary\nx"),
        (b"<!-- canary\n-->\nx", b"<!-- canary\n-->\nx"),
        (b"<!-- canary --> x\ny", b"<!-- canary --> x\ny"),
        (b"\xef\xbb\xbf# canary\nx", b"x"),
        (b"\xef\xbb\xbfx", b"\xef\xbb\xbfx"),
        (b"# canary", b""),
        (b"# canary\n", b""),
        (b"", b""),
    ],
)
def test_only_leading_comment_lines_are_canaries(written: bytes, told: bytes) -> None:
    assert without_canary(written) == told


def test_a_step_has_an_instruction_of_its_own(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {"steps/one/instruction.md": b"# canary\n\xffone"}
    task = read_task(make_task(tmp_path / "hello", '[[steps]]\nname = "one"\n', files))
    assert read_instruction(task, task.steps[0]) == b"\xffone"
