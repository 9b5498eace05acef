"""Capsules of what registries give: real ones, looked at on the host. Tests in containers take them from here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

import pytest

from engine.agents.capsules import claude_code, codex, mini_swe_agent, node, store
from engine.agents.capsules.capsule import Capsule

PINNED = {
    node.NODE_TAG: node.VERSION,
    claude_code.tag_of(claude_code.VERSION): claude_code.VERSION,
    codex.tag_of(codex.VERSION): codex.VERSION,
    mini_swe_agent.tag_of(mini_swe_agent.VERSION): mini_swe_agent.VERSION,
}


@pytest.mark.parametrize("tag", PINNED)
def test_it_holds_the_pinned_version_and_its_programs_and_every_byte_is_vouched_for(
    built_capsules: Callable[..., list[Capsule]], tag: str
) -> None:
    [found] = built_capsules(tag)
    assert PINNED[tag] in found.versions.values()
    assert found.programs
    for program in found.programs.values():
        inside = found.folder / PurePosixPath(program).relative_to(found.place)
        assert inside.is_file() or inside.is_symlink(), program
    assert store.find(tag, whole=True) == found
