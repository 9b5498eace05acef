"""What a task's rules leave out is what Harbor leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("harbor", reason="run by test_with_harbor, where Harbor is")

from harbor.models.task.file_filter import TaskFileFilter

from engine.tasks.harbor_ignore import NAME, HarborIgnore
from tests.engine.tasks.task_folders import make_task
from tests.engine.tasks.test_harbor_ignore import FILES

RULES = (
    "*.bak\n/notes/\n!keep.bak\n",
    "*\n!test.sh\n",
    "deep/\n!deep/a.bak\n",
    "**/key\n\\!odd\n a.bak\n",
    "/deep/*\n!/deep/secret\nnotes\n",
    "to-secret\n",
)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("deeper", ["", "!a.bak\nsecret\n"])
def test_the_same_files_are_left_out(tmp_path: Path, rules: str, deeper: str) -> None:
    task = make_task(tmp_path / "t", files={**FILES, "tests/.harborignore": rules, "tests/deep/.harborignore": deeper})
    (task / "tests" / "to-secret").symlink_to("deep/secret")
    (task / "tests" / "to-key").symlink_to("deep/secret/key")
    ours, theirs = HarborIgnore(task), TaskFileFilter(task)
    every = [path for path in sorted(task.rglob("*")) if path.name != NAME]
    assert len(every) > 20
    assert [ours.leaves_out(path) for path in every] == [theirs.is_excluded(path) for path in every]
