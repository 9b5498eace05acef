"""Capsules of Python, Codex and mini-swe-agent: what is in them, pinned, the same bytes each time, working anywhere."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.agents.capsules import codex, mini_swe_agent
from engine.agents.capsules.build import build
from engine.agents.capsules.capsule import Capsule, CapsuleUnusable
from engine.agents.capsules.python_v1 import PYTHON_TAG, packages_of
from engine.agents.capsules.store import folder_of
from engine.tasks.task import NetworkMode, NetworkPolicy
from tests.engine.agents.capsules.bare_image import bare_image
from tests.engine.agents.capsules.fake_clients import FakeNpm
from tests.engine.agents.capsules.programs import program
from tests.engine.environments.rig import Rig

Build = Callable[..., list[Capsule]]
NEEDS_MUCH = """
import asyncio, bz2, ctypes, curses, decimal, email, hashlib, json, lzma, readline, socket, sqlite3, ssl, sys, zlib
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
print(sys.version.split()[0], json.__cached__, [one for one in loaded if not one.startswith(sys.prefix)])
"""


def silent(line: str) -> None:
    """Nobody listens."""


def distribution(folder: Path, name: str, requires: tuple[str, ...] = ()) -> None:
    made = folder / f"{name}-1.0.0.dist-info"
    made.mkdir(parents=True)
    lines = [f"Name: {name}", "Version: 1.0.0", "Metadata-Version: 2.1", *(f"Requires-Dist: {one}" for one in requires)]
    (made / "METADATA").write_text("\n".join(lines) + "\n")


def test_a_python_holds_nothing_of_this_machine_s_packages(built_capsules: Build) -> None:
    [found] = built_capsules(PYTHON_TAG)
    assert found.versions == {"python": platform.python_version()}
    assert not packages_of(found.folder).exists()
    links = [path for path in found.folder.rglob("*") if path.is_symlink()]
    assert all(path.resolve().is_relative_to(found.folder.resolve()) for path in links)
    held = {
        path.name for path in (found.folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}").iterdir()
    }
    assert "os.py" in held and not held & {"test", "idlelib", "tkinter", "ensurepip"}


def test_the_same_python_has_the_same_bytes_whenever_it_is_built(
    built_capsules: Build, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    [found] = built_capsules(PYTHON_TAG)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert build(PYTHON_TAG, silent).digest == found.digest


def test_codex_comes_from_the_package_for_this_machine_without_what_no_trial_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    cat = program("cat").read_bytes()
    npm = FakeNpm(tmp_path / "npm", monkeypatch)
    vendor = "package/vendor/aarch64-unknown-linux-musl"
    npm.package({f"{vendor}/bin/codex": cat, f"{vendor}/codex-path/rg": cat, f"{vendor}/codex-resources/voice/x": b"x"})
    found = build(codex.tag_of("1.0.0"), silent)
    assert npm.asked[-1].split()[1] == "@openai/codex@1.0.0-linux-arm64"
    assert found.programs == {"codex": f"{found.place}/bin/codex"}
    assert (found.folder / "codex-path" / "rg").is_file() and not (found.folder / "codex-resources" / "voice").exists()


def test_codex_of_another_content_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    FakeNpm(tmp_path / "npm", monkeypatch)
    with pytest.raises(CapsuleUnusable, match="expected sha512-"):
        build(codex.tag_of(codex.VERSION), silent)
    assert not folder_of(codex.tag_of(codex.VERSION)).exists()


def test_a_package_of_codex_without_its_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    FakeNpm(tmp_path / "npm", monkeypatch).package({"package/README.md": b"empty"})
    with pytest.raises(CapsuleUnusable, match="bin/codex"):
        build(codex.tag_of("1.0.0"), silent)


def test_codex_is_not_built_for_a_machine_that_it_is_not_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(CapsuleUnusable, match="riscv64"):
        build(codex.tag_of("1.2.3"), silent)


def test_every_package_of_mini_swe_agent_is_pinned() -> None:
    file = Path(mini_swe_agent.__file__).with_name("mini_swe_agent_packages.txt")
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 50 and all(
        re.fullmatch(r'[a-z0-9-]+==[0-9][0-9a-z.]*(; python_version < "3.11")?', line) for line in lines
    )
    assert not {"datasets", "boto3", "mini-swe-agent"} & {line.partition("==")[0] for line in lines}


def test_a_version_that_needs_more_than_the_capsule_holds_is_told_apart(tmp_path: Path) -> None:
    needs = ("PyYAML>=6", "new_thing[x]>=2", "datasets", 'modal; extra == "modal"')
    distribution(tmp_path, "mini_swe_agent", needs)
    distribution(tmp_path, "pyyaml")
    assert mini_swe_agent.missing_packages(tmp_path) == ["new_thing[x]>=2"]


@pytest.mark.anyio
@pytest.mark.docker
async def test_python_works_in_an_image_that_has_nothing(rig: Rig, built_capsules: Build, tmp_path: Path) -> None:
    [found] = built_capsules(PYTHON_TAG)
    mounts = {found.folder: found.place}
    policy = NetworkPolicy(mode=NetworkMode.NO_NETWORK)
    async with rig.up(network=policy, bind_read_only=mounts, **bare_image(tmp_path / "image")) as environment:
        command = [found.programs["python3"], "-I", "-c", NEEDS_MUCH]
        result = await environment.execute(command, user="1000", env={"PYTHONHOME": "/nowhere"}, timeout_sec=60)
        assert result.exit_code == 0, result.tail
        version, compiled, elsewhere = result.tail.strip().split(" ", 2)
        assert version == platform.python_version() and elsewhere == "[]"
        assert compiled.startswith(f"{found.place}/lib/") and compiled.endswith(".pyc")
