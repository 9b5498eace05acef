"""A trajectory that grows on disk: valid after every step, equal when read back, linear in what is written."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.agents.agent import StepReport
from engine.agents.atif_writer import AtifWriter
from engine.issues import Code, Phase
from engine.models.model_call import CostSource
from engine.trajectories.read import find_trajectories, read_trajectory
from engine.trajectories.steps import Call, Observation, Step
from tests.harbor import require_harbor

AT = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)


def writer(folder: Path) -> AtifWriter:
    return AtifWriter(folder / "trajectory.json", agent="tester", agent_version="1", model="m", session_id="s")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def step(number: int, **fields: Any) -> Step:
    given_: dict[str, Any] = {
        "at": AT + timedelta(seconds=number),
        "message": f"step {number}",
        "calls": (Call(tool="bash", text=f"echo {number}", id=f"c{number}"),),
        "observations": (Observation(text=str(number), call=f"c{number}"),),
        "tokens_in": 100,
        "tokens_cached": 10,
        "tokens_out": 5,
        "cost_usd": 0.5,
        **fields,
    }
    return Step(number=number, source=given_.pop("source", "agent"), **given_)


def content(folder: Path) -> dict[str, Any]:
    return msgspec.json.decode((folder / "trajectory.json").read_bytes(), type=dict[str, Any])


def steps_in(folder: Path) -> tuple[Step, ...]:
    found = read_trajectory(folder / "trajectory.json")
    assert found is not None
    assert not found.problems
    return found.steps


def test_after_every_step_a_valid_file_is_there_that_reads_back_equal(tmp_path: Path) -> None:
    writing = writer(tmp_path)
    told: list[Step] = []
    for number in range(1, 40):
        told.append(step(number, thought="hm" * number))
        writing.add(told[-1])
        assert steps_in(tmp_path) == tuple(told)
        assert content(tmp_path)["final_metrics"]["total_steps"] == number
    writing.finish("submitted")
    found = read_trajectory(tmp_path / "trajectory.json")
    assert found is not None
    assert (found.agent, found.agent_version, found.model, found.ended) == ("tester", "1", "m", "submitted")
    assert (found.tokens_in, found.tokens_cached, found.tokens_out, found.cost_usd) == (3900, 390, 195, 19.5)
    assert names_in(tmp_path) == ["trajectory.json"]
    assert find_trajectories(tmp_path) == [tmp_path / "trajectory.json"]


def test_a_step_of_which_more_is_known_later_is_written_again(tmp_path: Path) -> None:
    writing = writer(tmp_path)
    told = [step(1, observations=(), cost_usd=None), step(2), step(3)]
    for each in told:
        writing.add(each)
    for again in (step(1, message="longer " * 50), step(3, message=""), step(2, tokens_out=1000)):
        told[again.number - 1] = again
        writing.add(again)
        assert steps_in(tmp_path) == tuple(told)
    told.append(step(4))
    writing.add(told[-1])
    writing.finish()
    assert steps_in(tmp_path) == tuple(told)
    assert content(tmp_path)["final_metrics"]["total_completion_tokens"] == 5 + 1000 + 5 + 5


def test_steps_are_numbered_without_a_gap(tmp_path: Path) -> None:
    writing = writer(tmp_path)
    with pytest.raises(ValueError, match="without a gap"):
        writing.add(step(2))
    assert not (tmp_path / "trajectory.json").exists()


def test_what_was_written_grows_with_the_session_and_not_with_its_square(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0
    real = Path.open

    def counting(self: Path, *args: Any, **kwargs: Any) -> Any:
        file = real(self, *args, **kwargs)
        if args and "+" in args[0]:
            write = file.write

            class Counted:
                def __getattr__(self, name: str) -> Any:
                    return getattr(file, name)

                def __enter__(self) -> Counted:
                    return self

                def __exit__(self, *_: object) -> None:
                    file.close()

                def write(self, data: bytes) -> int:
                    nonlocal written
                    written += len(data)
                    return int(write(data))

            return Counted()
        return file

    monkeypatch.setattr(Path, "open", counting)
    writing = writer(tmp_path)
    for number in range(1, 401):
        writing.add(step(number, message="x" * 5000))
    writing.finish()
    size = (tmp_path / "trajectory.json").stat().st_size
    assert size > 400 * 5000
    assert size < written < 3 * size


def test_without_hard_links_the_file_is_still_whole_and_still_linear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "not here")

    monkeypatch.setattr(os, "link", no_links)
    writing = writer(tmp_path)
    seen = set()
    for number in range(1, 301):
        writing.add(step(number))
        seen.add(len(steps_in(tmp_path)))
    assert 20 < len(seen) < 100
    writing.finish()
    assert writing.failed is None
    assert steps_in(tmp_path) == tuple(step(number) for number in range(1, 301))


def test_a_full_disk_loses_no_step_that_fits_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = writer(tmp_path)
    writing.add(step(1))
    writing.add(step(2))
    real = Path.replace

    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    writing.add(step(3))
    writing.add(step(4))
    writing.add(step(3, message="again"))
    assert steps_in(tmp_path) == (step(1), step(2))
    complaint = writing.complaint(Phase.AGENT)
    assert complaint is not None
    assert complaint.code is Code.DISK_FULL
    assert "trajectory.json is not complete: No space left" in complaint.message
    monkeypatch.setattr(Path, "replace", real)
    writing.add(step(5))
    assert writing.complaint(Phase.AGENT) is None
    assert steps_in(tmp_path) == (step(1), step(2), step(3, message="again"), step(4), step(5))


def test_what_a_killed_writer_left_is_replaced(tmp_path: Path) -> None:
    first = writer(tmp_path)
    for number in (1, 2, 3):
        first.add(step(number))
    assert len(names_in(tmp_path)) == 2  # never finished: the spare is still there
    again = writer(tmp_path)
    again.add(step(1, message="anew"))
    again.finish()
    assert steps_in(tmp_path) == (step(1, message="anew"),)
    assert names_in(tmp_path) == ["trajectory.json"]


def test_a_reader_that_holds_the_file_sees_what_it_opened(tmp_path: Path) -> None:
    writing = writer(tmp_path)
    writing.add(step(1))
    before = (tmp_path / "trajectory.json").read_bytes()
    with (tmp_path / "trajectory.json").open("rb") as held:
        writing.add(step(2))
        assert held.read() == before


def test_bytes_that_are_no_utf8_survive_as_escapes(tmp_path: Path) -> None:
    raw = b"caf\xe9 \x00 \xff\xfe".decode("utf-8", "surrogateescape")
    writing = writer(tmp_path)
    writing.add(step(1, message=raw, observations=(Observation(text="\ud800half é", call="c1"),)))
    (found,) = steps_in(tmp_path)
    assert found.message == "caf\\xe9 \x00 \\xff\\xfe"
    assert found.observations[0].text == "\\ud800half é"


def test_unknown_costs_stay_unknown_and_a_partial_sum_says_so(tmp_path: Path) -> None:
    """Case 68."""
    unknown = step(1, tokens_in=None, tokens_cached=None, tokens_out=7, cost_usd=None)
    writing = writer(tmp_path)
    writing.add(step(1, source="user", calls=(), observations=()))
    writing.add(msgspec.structs.replace(unknown, number=2))
    metrics = content(tmp_path)["final_metrics"]
    assert metrics == {"total_steps": 2, "total_completion_tokens": 7}
    writing.add(step(3))
    metrics = content(tmp_path)["final_metrics"]
    assert metrics["total_cost_usd"] == 0.5
    assert metrics["extra"] == {
        "steps_without_tokens_in": 1,
        "steps_without_tokens_cached": 1,
        "steps_without_cost_usd": 1,
    }


def test_what_a_report_knows_beside_the_step_is_kept(tmp_path: Path) -> None:
    bare = step(1, tokens_in=None, tokens_cached=None, tokens_out=None, cost_usd=None)
    report = StepReport(
        what="w",
        tokens_in=9,
        tokens_cached=3,
        tokens_cache_written=2,
        tokens_out=4,
        tokens_reasoning=1,
        cost_usd=0.25,
        cost_source=CostSource.PRICES,
    )
    writing = writer(tmp_path)
    writing.add(bare, report=report, arguments={"c1": {"keystrokes": "ls\n", "duration": 2.5}}, error="it broke")
    (found,) = content(tmp_path)["steps"]
    assert found["metrics"] == {
        "prompt_tokens": 9,
        "completion_tokens": 4,
        "cached_tokens": 3,
        "cost_usd": 0.25,
        "extra": {"cache_written_tokens": 2, "reasoning_tokens": 1, "cost_source": "prices"},
    }
    assert found["tool_calls"][0]["arguments"] == {"keystrokes": "ls\n", "duration": 2.5}
    trajectory = read_trajectory(tmp_path / "trajectory.json")
    assert trajectory is not None
    assert trajectory.errors == ((1, "it broke"),)


TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
COUNT = st.none() | st.integers(0, 10**9)
AGENT_STEP = st.builds(
    lambda **fields: Step(number=1, source="agent", **fields),
    at=st.none() | st.datetimes(timezones=st.just(UTC), min_value=datetime(1971, 1, 1)),
    thought=TEXT,
    message=TEXT,
    calls=st.lists(st.tuples(TEXT, TEXT.filter(lambda said: not said or bool(said.strip()))), max_size=3).map(
        lambda calls: tuple(Call(tool=tool, text=said, id=f"id{at}") for at, (tool, said) in enumerate(calls))
    ),
    observations=st.lists(
        st.builds(
            lambda said, code, failed: Observation(text=said, exit_code=code, failed=failed or bool(code)),
            TEXT.map(lambda said: f"-{said}-"),
            st.none() | st.integers(-(2**31) + 1, 2**31 - 1),
            st.booleans(),
        ),
        max_size=3,
    ).map(tuple),
    model=TEXT,
    tokens_in=COUNT,
    tokens_cached=COUNT,
    tokens_out=COUNT,
    cost_usd=st.none() | st.floats(0, 1e6),
    seconds=st.none() | st.floats(0, 1e6),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(AGENT_STEP, min_size=1, max_size=4))
def test_any_steps_read_back_equal(steps: list[Step]) -> None:
    told = [msgspec.structs.replace(each, number=number) for number, each in enumerate(steps, 1)]
    with tempfile.TemporaryDirectory() as folder:
        writing = writer(Path(folder))
        for each in told:
            writing.add(each)
        found = read_trajectory(Path(folder) / "trajectory.json")
    assert found is not None
    assert found.steps == tuple(told)


def test_harbor_itself_takes_it(tmp_path: Path) -> None:
    python = require_harbor().parent / "python"
    writing = writer(tmp_path)
    writing.add(step(1, source="user", thought="t", calls=(), observations=()))
    writing.add(step(2, thought="why", seconds=3.5), error="some error")
    writing.add(step(3, calls=(Call(tool="bash", text='{"a": 1}'), Call(tool="x", text="")), cost_usd=None))
    writing.add(step(4, source="odd", observations=(Observation(text="o", call="c4", failed=True, exit_code=1),)))
    writing.add(step(5), report=StepReport(what="", cost_source=CostSource.PROVIDER), copied=True)
    check = (
        "import sys; from harbor.models.trajectories import Trajectory; "
        "t = Trajectory.model_validate_json(open(sys.argv[1]).read()); print(t.schema_version, len(t.steps))"
    )
    writing.finish("ended")
    said = [str(python), "-c", check, str(tmp_path / "trajectory.json")]
    done = subprocess.run(said, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "ATIF-v1.7 5\n", done.stderr
