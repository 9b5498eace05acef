from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from console.commands import sweep as command
from console.commands.sweep import leftover_line, sweep
from engine.environments.docker import labels
from engine.environments.docker.removal import Thing
from engine.environments.docker.sweep import Leftover

CONTAINER = Thing("container", "4f5e", "trialdeck-hello-1a2b3c4d")
NETWORK = Thing("network", "5e6f", "trialdeck-hello-1a2b3c4d_default")


def leftovers() -> list[Leftover]:
    return [
        Leftover(thing=CONTAINER, run="run-1", trial="hello__oracle__1"),
        Leftover(thing=NETWORK, run="run-1", kept=True),
    ]


def test_each_is_named_with_its_run_and_trial() -> None:
    container, network = leftovers()
    assert leftover_line(container, {}, dry_run=False) == (
        "removed  container trialdeck-hello-1a2b3c4d  (run run-1, trial hello__oracle__1)"
    )
    assert leftover_line(network, {}, dry_run=True).endswith("(run run-1, kept on purpose)")
    assert leftover_line(network, {}, dry_run=True).startswith("found ")


def answered(
    monkeypatch: pytest.MonkeyPatch, found: list[Leftover], left: dict[Thing, str]
) -> list[tuple[object, ...]]:
    """The engine's answer; what it was asked comes back."""
    asked: list[tuple[object, ...]] = []

    async def answer(*question: object) -> tuple[list[Leftover], dict[Thing, str]]:
        asked.append(question)
        return found, left

    monkeypatch.setattr(command, "_sweep", answer)
    return asked


def test_a_dry_run_says_that_nothing_was_touched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = answered(monkeypatch, leftovers(), {})
    sweep(dry_run=True)
    assert asked == [("", False, True)]
    assert capsys.readouterr().out.splitlines()[-1] == "2 to remove; nothing was touched (--dry-run)"


def test_what_could_not_be_removed_is_named_with_its_reason_and_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answered(monkeypatch, leftovers(), {NETWORK: "has active endpoints"})
    with pytest.raises(typer.Exit) as exit_:
        sweep()
    said = capsys.readouterr()
    assert exit_.value.exit_code == 2
    assert "left     network trialdeck-hello-1a2b3c4d_default" in said.out
    assert "has active endpoints" in said.out
    assert "removed 1" in said.out.splitlines()
    assert "1 could not be removed" in said.err


def test_a_run_is_named_by_folder_or_by_id_even_where_its_folder_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = answered(monkeypatch, [], {})
    sweep(run="2025-11-30__gone", runs_dir=tmp_path)
    (tmp_path / "2025-11-30__here").mkdir()
    (tmp_path / "2025-11-30__here" / "events.jsonl").write_text("")
    sweep(run="2025-11-30__h", runs_dir=tmp_path)
    assert [question[0] for question in asked] == ["2025-11-30__gone", "2025-11-30__here"]
    assert "run 2025-11-30__gone is alive or left nothing here" in capsys.readouterr().out


class Made:
    """Volumes and networks on the engine, as a dead run, a live run and someone else would have left them."""

    def __init__(self) -> None:
        self.run = f"sweep-test-{secrets.token_hex(4)}"
        dead = f"999999999:1:{labels.owner().rsplit(':', 1)[1]}"
        self.dead = self._volume("dead", dead)
        self.kept = self._volume("kept", dead, **{labels.KEPT: "1", labels.PROJECT: f"{self.run}-kept"})
        self.box = f"{self.run}-box"
        marks = (f"{labels.PROJECT}={self.run}-kept", f"{labels.OWNER}={dead}", f"{labels.HOST}={labels.host()}")
        marked = (word for mark in (*marks, f"{labels.RUN}={self.run}") for word in ("--label", mark))
        docker("create", "--name", self.box, *marked, "debian:bookworm-slim", "true")
        self.live = self._volume("live", labels.owner())
        self.elsewhere = self._volume("elsewhere", dead, **{labels.HOST: "another-host"})
        self.foreign = f"{self.run}-foreign"
        docker("volume", "create", self.foreign)

    def _volume(self, name: str, owner: str, **more: str) -> str:
        marks = {labels.RUN: self.run, labels.OWNER: owner, labels.HOST: labels.host(), **more}
        full = f"{self.run}-{name}"
        docker(
            "volume", "create", *(word for key, value in marks.items() for word in ("--label", f"{key}={value}")), full
        )
        return full

    @property
    def there(self) -> set[str]:
        return set(docker("volume", "ls", "-q", "-f", f"name={self.run}").split())


def docker(*words: str) -> str:
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def made() -> Iterator[Made]:
    found = Made()
    yield found
    docker("rm", "-f", found.box)
    for name in found.there:
        docker("volume", "rm", "-f", name)


@pytest.mark.docker
def test_only_what_a_dead_run_left_goes(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    everything = made.there
    sweep(dry_run=True, run=made.run)
    assert f"found    volume {made.dead}  (run {made.run})" in capsys.readouterr().out
    assert made.there == everything
    sweep(run=made.run)
    assert f"removed  volume {made.dead}  (run {made.run})" in capsys.readouterr().out
    assert made.there == everything - {made.dead}


@pytest.mark.docker
def test_what_was_kept_goes_when_asked_for(made: Made) -> None:
    everything = made.there
    sweep(include_kept=True, run=made.run)
    assert made.there == everything - {made.dead, made.kept}


@pytest.mark.docker
def test_what_is_left_of_a_kept_one_whose_containers_were_removed_by_hand_goes_unasked(made: Made) -> None:
    """Its network would hold an address range for ever, and nobody can have a shell in it."""
    docker("rm", "-f", made.box)
    everything = made.there
    sweep(run=made.run)
    assert made.there == everything - {made.dead, made.kept}
