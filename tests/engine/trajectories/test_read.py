"""Finding sessions, reading what is broken or hostile or large, and reading on as they grow."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.trajectories import follow, held_line
from engine.trajectories.draft import MOST_TEXT
from engine.trajectories.follow import TrajectoryFollower
from engine.trajectories.read import find_trajectories, read_trajectory
from tests.engine.trajectories import sessions
from tests.engine.trajectories.sessions import write_json, write_lines


def test_sessions_are_found_by_what_they_hold_the_most_complete_first(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "agent" / "claude-code.txt", sessions.claude_stream())
    kept = write_lines(tmp_path / "agent" / "sessions" / "projects" / "-app" / "s.jsonl", sessions.claude_stream() * 2)
    aside = write_lines(kept.parent / "subagents" / "agent-1.jsonl", sessions.claude_stream())
    whole = write_json(tmp_path / "agent" / "trajectory.json", sessions.atif())
    write_json(tmp_path / "agent" / "settings.json", {"steps": [], "agent": {}})
    write_json(tmp_path / "result.json", sessions.atif())
    (tmp_path / "agent" / "notes.txt").write_text("{not json\n")
    assert find_trajectories(tmp_path) == [whole, kept, stream, aside]


def test_each_step_of_a_task_has_its_own_session_in_order(tmp_path: Path) -> None:
    made = [write_json(tmp_path / "steps" / name / "agent" / "t.json", sessions.atif()) for name in ("1-a", "2-b")]
    assert find_trajectories(tmp_path) == made


def test_episodes_and_files_beside_the_trials_result_are_found(tmp_path: Path) -> None:
    folder = sessions.episodes(tmp_path / "agent-logs")
    traj = write_json(tmp_path / "astropy-1.traj.json", sessions.mini_v2())
    assert find_trajectories(tmp_path) == [folder, traj]


def test_links_are_not_followed_and_the_walk_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = write_json(tmp_path / "outside" / "trajectory.json", sessions.atif())
    trial = tmp_path / "trial"
    (trial / "agent").mkdir(parents=True)
    (trial / "agent" / "trajectory.json").symlink_to(outside)
    (trial / "sessions").symlink_to(outside.parent)
    os.mkfifo(trial / "agent" / "pipe.jsonl")
    assert find_trajectories(trial) == []
    for number in range(20):
        write_json(trial / "agent" / f"a{number:02}.json", sessions.atif())
    monkeypatch.setattr("engine.trajectories.read.MOST_ENTRIES", 5)
    assert len(find_trajectories(trial)) == 5


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"hello\n", b'{"steps": 3}', b"\xff\xfe\x00", b'{"type":"user"}\n']
)
def test_what_is_no_session_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    assert read_trajectory(path) is None
    assert read_trajectory(tmp_path / "missing.json") is None
    assert read_trajectory(tmp_path) is None


def test_a_half_written_session_gives_its_whole_steps_and_says_so(tmp_path: Path) -> None:
    text = json.dumps(sessions.atif(5))
    path = tmp_path / "trajectory.json"
    path.write_text(text[: text.index('"step_id": 5') - 2])
    found = read_trajectory(path)
    assert found is not None and [step.number for step in found.steps] == [1, 2, 3, 4]
    assert found.problems == ("the file breaks off: half-written; what stands before it is shown",)


def test_a_last_line_that_breaks_off_is_told_and_one_without_its_newline_is_read(tmp_path: Path) -> None:
    whole = write_lines(tmp_path / "a.jsonl", sessions.claude_stream()).read_bytes()
    path = tmp_path / "b.jsonl"
    path.write_bytes(whole[:-1])
    found = read_trajectory(path)
    assert found is not None and found.ended == "success" and not found.problems
    path.write_bytes(whole[:-30])
    found = read_trajectory(path)
    assert found is not None and found.ended == "" and found.problems == ("line 8 breaks off: half-written",)


def test_other_text_between_the_lines_is_counted_not_lost_in_silence(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "claude-code.txt", sessions.claude_stream())
    path.write_bytes(b"npm warn deprecated\n" + path.read_bytes() + b"\x00\xff\n\n[1, 2]\n")
    found = read_trajectory(path)
    assert found is not None and found.problems == ("3 lines of other text, left out",)
    assert found.steps[0].line == 3


WRONG: list[Any] = [
    None,
    7,
    -3,
    True,
    "x",
    [],
    {},
    [None, 3, "s", {"type": "text"}],
    {"a": [{}]},
    1e400,
    10**40,
    "\ud800",
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_nothing_of_another_type_than_expected_raises(tmp_path: Path, wrong: Any) -> None:
    def spoilt(value: Any, depth: int) -> list[Any]:
        """The value with each of its parts replaced, one at a time."""
        found: list[Any] = []
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
        for key in keys:
            for part in (wrong, *(spoilt(value[key], depth - 1) if depth else [])):
                copy = dict(value) if isinstance(value, dict) else list(value)
                copy[key] = part
                found.append(copy)
        return found

    path = tmp_path / "x.json"
    for whole in (sessions.atif(1), sessions.mini_v2(), sessions.mini_v1()):
        for made in spoilt(whole, 4):
            path.write_text(json.dumps(made))
            read_trajectory(path)
    for lines in (sessions.claude_stream(), sessions.codex_events(), sessions.codex_rollout()):
        for number, line in enumerate(lines):
            made = [json.dumps(each) for each in spoilt(line, 3)]
            head = [json.dumps(each) for each in lines[:number] or lines[:1]]
            path.write_text("\n".join([*head, *made]))
            assert read_trajectory(path) is not None


def test_deep_nesting_and_endless_numbers_are_said_not_raised(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    text = json.dumps(sessions.atif(1))
    for evil in ("[" * 200_000, "9" * 10_000, '{"a":' * 200_000):
        path.write_text(text[:-1] + f', "extra": {evil}')
        found = read_trajectory(path)
        assert found is not None and len(found.steps) == 2 and found.problems
    lines = write_lines(tmp_path / "y.jsonl", sessions.claude_stream())
    lines.write_bytes(lines.read_bytes() + b'{"type": "user", "x": ' + b"[" * 200_000 + b"\n")
    found = read_trajectory(lines)
    assert found is not None and found.problems == ("1 line of other text, left out",)


def test_a_field_of_megabytes_is_cut_in_its_middle_with_a_word(tmp_path: Path) -> None:
    made = sessions.atif(1)
    made["steps"][1]["observation"]["results"][0]["content"] = "a" * 500_000 + "THE END"
    found = read_trajectory(write_json(tmp_path / "x.json", made))
    assert found is not None
    text = found.steps[1].observations[0].text
    assert len(text) < MOST_TEXT + 100 and text.endswith("THE END") and "436,007 characters left out" in text


def test_a_file_larger_than_the_bound_is_read_to_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "MOST_WHOLE", 20_000)
    found = read_trajectory(write_json(tmp_path / "x.json", sessions.atif(100)))
    assert found is not None and 5 < len(found.steps) < 100
    assert found.problems[-1].startswith("only the first")


def test_lines_larger_than_the_bound_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_line, "MOST_LINE", 2_000_000)
    path = write_lines(tmp_path / "x.jsonl", sessions.claude_stream()[:3])
    with path.open("ab") as file:
        file.write(b'{"type": "user", "message": "' + b"x" * 5_000_000 + b'"}\n')
        file.write(json.dumps(sessions.claude_stream()[-1]).encode() + b"\n")
    found = read_trajectory(path)
    assert found is not None and found.ended == "success"
    assert any("in a line, left out" in problem for problem in found.problems)


def test_a_session_is_read_on_as_it_grows_and_anew_when_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "agent.jsonl"
    follower = TrajectoryFollower(path)
    assert follower.poll() is None
    lines = [json.dumps(record) + "\n" for record in sessions.claude_stream()]
    path.write_text("".join(lines[:2]))
    first = follower.poll()
    assert first is not None and len(first.steps) == 1 and first.steps[0].message == ""
    assert follower.poll() is None
    with path.open("a") as file:
        file.write(lines[2][:10])
        file.flush()
        assert follower.poll() is None
        file.write(lines[2][10:] + "".join(lines[3:6]))
    more = follower.poll()
    assert more is not None and len(more.steps) == 1
    assert more.steps[0].message == "I look." and len(more.steps[0].observations) == 2
    path.write_text("".join(lines[:2]))
    again = follower.poll()
    assert again is not None and again.steps == first.steps
    follower.close()


def test_steps_that_did_not_change_stay_the_same_objects(tmp_path: Path) -> None:
    path = tmp_path / "agent.jsonl"
    lines = [json.dumps(record) + "\n" for record in sessions.claude_stream()]
    path.write_text("".join(lines[:6]))
    follower = TrajectoryFollower(path)
    before = follower.poll()
    with path.open("a") as file:
        file.write(lines[6])
    after = follower.poll()
    follower.close()
    assert before is not None and after is not None
    assert after.steps[0] is before.steps[0] and len(after.steps) == 2


def test_a_file_written_anew_and_a_new_episode_are_noticed(tmp_path: Path) -> None:
    path = write_json(tmp_path / "trajectory.json", sessions.atif(1))
    follower = TrajectoryFollower(path)
    found = follower.poll()
    assert found is not None and len(found.steps) == 2 and follower.poll() is None
    write_json(path, sessions.atif(3))
    found = follower.poll()
    assert found is not None and len(found.steps) == 4
    folder = sessions.episodes(tmp_path / "logs", 2)
    follower = TrajectoryFollower(folder)
    found = follower.poll()
    assert found is not None and len(found.steps) == 3 and follower.poll() is None
    (folder / "episode-2").mkdir()
    (folder / "episode-2" / "response.txt").write_text("thinking")
    found = follower.poll()
    assert found is not None and len(found.steps) == 4


@pytest.mark.parametrize("kind", [[], {}, None, 1, "\ud800"])
def test_a_line_whose_kind_is_no_text_is_of_no_format(tmp_path: Path, kind: object) -> None:
    agent = tmp_path / "agent"
    agent.mkdir()
    path = write_lines(agent / "a.jsonl", [{"type": kind, "payload": {}}, {"type": kind, "message": kind}])
    assert find_trajectories(tmp_path) == []
    assert read_trajectory(path) is None
