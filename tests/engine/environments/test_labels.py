"""Names that Docker takes, and owners that can be told from others."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from engine.environments.docker import labels

NAMES = [
    "org/Fix_Build",
    "org-fix_build",
    "ORG.fix-build",
    "-Größe-42",
    "日本語/タスク",
    "x" * 300,
    "",
    "--",
    "a.b/c:d",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_task_name_gives_a_valid_project(name: str) -> None:
    """Case 1."""
    project = labels.project_name(name, "verifier")
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", project)
    assert len(f"{project}-some-service-1") < 100


def test_names_that_clean_to_the_same_stay_apart() -> None:
    """Case 1."""
    assert len({labels.project_name("org/Fix_Build", "agent") for _ in range(50)}) == 50


@pytest.mark.parametrize("name", NAMES)
def test_image_tags_are_valid_and_of_one_run(name: str) -> None:
    tag = labels.image_tag(name, "0123456789abcdef", "run-1")
    assert re.fullmatch(r"[a-z0-9]+(?:-+[a-z0-9]+)*:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}", tag)
    assert tag != labels.image_tag(name, "0123456789abcdef", "run-2")
    assert tag == labels.image_tag(name, "0123456789abcdef", "run-1")


def test_an_owner_is_alive_only_as_the_very_process() -> None:
    """A number that another process took over, or that comes from before the last boot, is a dead owner."""
    mine = labels.owner()
    pid, start, boot = mine.split(":")
    assert labels.owner_alive(mine)
    assert not labels.owner_alive(f"{pid}:{float(start) - 1}:{boot}")
    assert not labels.owner_alive(f"{pid}:{start}:00000000")


def test_an_ended_process_is_a_dead_owner() -> None:
    child = subprocess.Popen(["sleep", "600"])
    owner = labels.owner(child.pid)
    assert labels.owner_alive(owner)
    child.kill()
    child.wait()
    assert not labels.owner_alive(owner)


@pytest.mark.parametrize("label", ["", "nonsense", "1:2", pytest.param(f"{os.getpid()}", id="no-start-time")])
def test_an_owner_that_cannot_be_read_is_left_alone(label: str) -> None:
    assert labels.owner_alive(label)
