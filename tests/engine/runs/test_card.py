"""The run card: what it pins, what it lets change, and a card that somebody edited."""

from __future__ import annotations

import os
import shutil
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from console.begin_run import refusal_lines
from engine.events import ArmInfo, HostInfo, TaskSetInfo
from engine.issues import Code
from engine.layout import CARD
from engine.runs.card import CardInvalid, CardTask, Conduct, RunCard, read_card, write_card
from engine.runs.from_card import changed_tasks, plan_from_card
from engine.runs.start import FolderUnusable, amended, new_run_folder, save_card, visible_environment
from engine.tasks.folder import read_task
from engine.trial.job import Keep
from tests.engine.tasks.task_folders import make_task

NOP = ArmInfo(name="nop", agent="nop", agent_version="1")


def card(**changes: Any) -> RunCard:
    given: dict[str, Any] = {
        "run": "r",
        "name": "n",
        "created": datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
        "engine_version": "1.2",
        "arms": (NOP, ArmInfo(name="x", agent="command", parameters={"run": 'echo "a\\nb"\nüñ\t'})),
        "task_set": TaskSetInfo(name="set", version="abc", digest="d"),
        "tasks": (CardTask(id="t", folder="/tasks/t", digest="1" * 64), CardTask(id="b", folder="/b", digest="")),
        **changes,
    }
    return RunCard(**given)


FROZEN: list[dict[str, Any]] = [
    {"arms": (NOP,)},
    {"arms": (msgspec.structs.replace(NOP, model="other"),)},
    {"tasks": (CardTask(id="t", folder="/tasks/t", digest="2" * 64),)},
    {"attempts": 2},
    {"seed": 7},
    {"timeout_factor": 2.0},
    {"allowed_host_env": ("TOKEN",)},
    {"cpus_cap": 2.0},
    {"memory_mb_cap": 100},
    {"engine_version": "2"},
    {"include": ("a*",)},
    {"task_set": TaskSetInfo(name="set", version="other", digest="d")},
]
FREE: list[dict[str, Any]] = [
    {"run": "another"},
    {"name": "another"},
    {"created": datetime(2027, 1, 1, tzinfo=UTC)},
    {"conduct": Conduct(concurrency=8, max_cost_usd=1.5, keep=Keep.ALWAYS, host=HostInfo(name="h", cpus=4))},
    {
        "tasks": (
            CardTask(id="t", folder="/moved/t", digest="1" * 64),
            CardTask(id="b", folder="/moved/b", digest=""),
        )
    },
]


@pytest.mark.parametrize("changes", FROZEN, ids=lambda changes: next(iter(changes)))
def test_what_is_measured_is_in_the_digest_cases_58_and_79(changes: dict[str, Any]) -> None:
    assert card(**changes).digest != card().digest


@pytest.mark.parametrize("changes", FREE, ids=lambda changes: next(iter(changes)))
def test_how_and_where_it_is_conducted_is_not_case_79(changes: dict[str, Any]) -> None:
    assert card(**changes).digest == card().digest


@pytest.mark.parametrize("changes", [{}, *FROZEN, *FREE])
def test_a_card_comes_back_from_its_file_as_it_was(tmp_path: Path, changes: dict[str, Any]) -> None:
    write_card(tmp_path, card(**changes))
    assert read_card(tmp_path) == card(**changes)


def test_what_is_none_is_left_out_of_the_file(tmp_path: Path) -> None:
    write_card(tmp_path, card(conduct=Conduct(concurrency=3)))
    plain = tomllib.loads((tmp_path / CARD).read_text())
    assert "max_cost_usd" not in plain["conduct"] and "cpus_cap" not in plain
    assert read_card(tmp_path).conduct.max_cost_usd is None


def edit(folder: Path, old: str, new: str) -> None:
    text = (folder / CARD).read_text()
    assert old in text
    (folder / CARD).write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("attempts = 2", "attempts = 3"),
        ('agent = "nop"', 'agent = "oracle"'),
        ("1" * 64, "3" * 64),
        ('digest = "', 'digest = "0'),
    ],
)
def test_an_edited_frozen_part_is_refused_with_the_way_out_case_79(tmp_path: Path, old: str, new: str) -> None:
    write_card(tmp_path, card(attempts=2))
    edit(tmp_path, old, new)
    with pytest.raises(CardInvalid) as caught:
        read_card(tmp_path)
    message = str(caught.value)
    assert str(tmp_path / CARD) in message and "frozen part was changed" in message and "trialdeck run" in message


def test_edited_conduct_is_taken(tmp_path: Path) -> None:
    write_card(tmp_path, card(conduct=Conduct(concurrency=3)))
    edit(tmp_path, "concurrency = 3", "concurrency = 5")
    assert read_card(tmp_path).conduct.concurrency == 5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "missing required field"),
        (b"digest = 5\n", "missing required field"),
        (b"[[[", "card.toml"),
        (b"\xff\xfe", "card.toml"),
        (b'attempts = "two"\n', "card.toml"),
    ],
)
def test_a_broken_card_is_named_and_never_a_traceback(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / CARD).write_bytes(content)
    with pytest.raises(CardInvalid, match=words):
        read_card(tmp_path)


def test_a_folder_without_a_card_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(CardInvalid, match=r"is .* a run folder"):
        read_card(tmp_path)


def test_other_conduct_leaves_the_rest_alone(tmp_path: Path) -> None:
    before = card(conduct=Conduct(concurrency=3, max_cost_usd=1.0))
    after = amended(before, concurrency=None, max_cost_usd=5.0)
    assert after.conduct == Conduct(concurrency=3, max_cost_usd=5.0)
    assert after.digest == before.digest


def pinned(folder: Path) -> RunCard:
    task = read_task(make_task(folder / "a"))
    return card(tasks=(CardTask(id="a", folder=str(task.folder), digest=task.digest),), arms=(NOP,))


def test_a_task_that_changed_is_refused_and_not_answered_with_the_old_verdict_case_58(tmp_path: Path) -> None:
    run = pinned(tmp_path)
    assert [trial.task.id for trial in plan_from_card(run, {}).trials] == ["a"]
    make_task(tmp_path / "b")
    b = read_task(tmp_path / "b")
    run = msgspec.structs.replace(run, tasks=(*run.tasks, CardTask(id="b", folder=str(b.folder), digest=b.digest)))
    (tmp_path / "a" / "tests" / "test.sh").write_text("echo 0\n")
    plan = plan_from_card(run, {})
    assert {trial.task.id: trial.runnable for trial in plan.trials} == {"a": False, "b": True}
    ((task, issue),) = changed_tasks(run, plan)
    assert task == "a" and issue.code is Code.TASK_CHANGED
    assert issue.message.startswith(f"its files changed since the run began ({tmp_path / 'a'}): its content is ")
    assert refusal_lines(plan) == [
        f"a is not run: {issue.message} (restore it and resume again, or start another run with `trialdeck run`)"
    ]


def test_a_task_that_is_gone_or_broken_now_is_refused_too_case_58(tmp_path: Path) -> None:
    run = pinned(tmp_path)
    (tmp_path / "a" / "task.toml").write_text("[[[")
    ((_, broken),) = changed_tasks(run, plan_from_card(run, {}))
    shutil.rmtree(tmp_path / "a")
    ((_, gone),) = changed_tasks(run, plan_from_card(run, {}))
    assert "task.toml" in broken.message and gone.message != broken.message
    assert broken.code is gone.code is Code.TASK_CHANGED


def test_a_task_that_was_broken_stays_refused_although_it_reads_now(tmp_path: Path) -> None:
    make_task(tmp_path / "a")
    run = card(tasks=(CardTask(id="a", folder=str(tmp_path / "a"), digest="", refused="was broken"),), arms=(NOP,))
    (trial,) = plan_from_card(run, {}).trials
    assert not trial.runnable
    assert "was broken" in trial.task.refused[0].message
    assert changed_tasks(run, plan_from_card(run, {})) == []


def test_run_folders_never_meet_and_are_the_users_own(tmp_path: Path) -> None:
    made = [new_run_folder(tmp_path / "runs", "Größe / 日本\n..") for _ in range(3)]
    assert len(set(made)) == 3
    assert all(folder.parent == tmp_path / "runs" and folder.is_dir() for folder in made)
    assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in made)
    assert all(folder.name.isascii() for folder in made)


def test_a_folder_that_cant_be_made_or_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderUnusable, match="--runs-dir"):
        new_run_folder(tmp_path / "file", "n")
    with pytest.raises(FolderUnusable, match="the card can't be written"):
        save_card(tmp_path / "not there", card())


def test_a_path_that_is_not_utf8_is_said_and_no_traceback_case_19(tmp_path: Path) -> None:
    odd = card(tasks=(CardTask(id="t", folder=os.fsdecode(b"/tasks/\xff"), digest="1" * 64),))
    with pytest.raises(FolderUnusable, match="not UTF-8"):
        save_card(tmp_path, odd)


def test_only_allowed_variables_that_are_set_are_seen() -> None:
    assert visible_environment(("A", "B"), {"A": "1", "C": "2"}) == {"A": "1"}
