"""In which order things happen in a trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Phase
from tests.engine.fake_environment import FakeEnvironment, FakeProvider
from tests.engine.trial.trials import BAKED, FRESH, Rig, writes

pytestmark = pytest.mark.anyio

EVERYTHING = (
    'artifacts = ["/app/out", {source = "/var/lib/db", service = "db"}]\n'
    + FRESH
    + """
[[verifier.collect]]
command = "dump main"
[[verifier.collect]]
command = "dump db"
service = "db"
"""
)


def found(provider: FakeProvider, *words: str) -> list[int]:
    """Where each of these stands among the calls; each is there once."""
    places = []
    for word in words:
        whole = [number for number, call in enumerate(provider.calls) if call == word]
        (place,) = whole or [number for number, call in enumerate(provider.calls) if word in call]
        places.append(place)
    return places


async def test_a_fresh_verifier_comes_after_everything_was_collected(tmp_path: Path) -> None:
    rig = Rig(tmp_path, EVERYTHING, services=("main", "db"))
    rig.provider.when("work", does=writes({"/app/out/a": "1"}))
    rig.provider.when("dump db", does=writes({"/var/lib/db/x": "2"}))
    rig.scores()
    end = await rig.trial()
    assert (end.outcome, end.reward, end.passed) == ("scored", 1.0, True)
    places = found(
        rig.provider,
        "agent: start",
        "agent: note_processes",
        "bash -c work",
        "agent: changes",
        "bash -c dump main",
        "agent: download main:/logs/artifacts",
        "agent: download main:/app/out",
        "agent: stop main",
        "sh -c dump db",
        "agent: download db:/var/lib/db",
        "agent: down",
        "verifier: start",
        "verifier: upload /app/out",
        "verifier: upload /var/lib/db",
        "verifier: upload_bytes /tests/test.sh",
        "verifier: execute main: bash -c if [ -x",
        "verifier: download main:/logs/verifier",
        "verifier: down",
    )
    assert places == sorted(places)
    assert rig.provider.up() == []


async def test_a_shared_verifier_runs_where_the_agent_worked_and_main_is_not_stopped(tmp_path: Path) -> None:
    rig = Rig(tmp_path, '[verifier]\n[[verifier.collect]]\ncommand = "dump"\n')
    rig.scores()
    assert (await rig.trial()).passed
    assert len(rig.provider.environments) == 1
    assert rig.provider.said("stop main", "keep") == []
    places = found(rig.provider, "bash -c work", "bash -c dump", "agent: upload_bytes /tests/test.sh", "agent: down")
    assert places == sorted(places)


async def test_tests_reach_the_agents_environment_only_after_the_agent(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    seen: list[bool] = []
    rig.provider.when("work", does=lambda command: seen.append(command.environment.place("/tests").exists()))
    rig.scores()
    await rig.trial()
    assert seen == [False]
    assert not rig.agent().place("/solution").exists()


def bake(rig: Rig, script: bytes | None, mode: int = 0o755) -> None:
    """The verifier's image has this test.sh."""

    def image(environment: FakeEnvironment) -> None:
        if environment.spec.environment == "verifier" and script is not None:
            environment.write("/tests/test.sh", script)
            environment.place("/tests/test.sh").chmod(mode)

    rig.provider.image = image


async def test_an_image_that_owns_its_tests_gets_none_uploaded(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH, BAKED)
    bake(rig, b"#!/bin/bash\n")
    rig.scores()
    assert (await rig.trial()).passed
    assert rig.provider.said("verifier: upload /tests", "verifier: upload_bytes /tests") == []


async def test_an_image_that_should_own_its_tests_and_doesnt_is_a_failed_set_up_case_40(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH, BAKED)
    bake(rig, None)
    end = await rig.trial()
    assert (end.outcome, end.reward) == ("unscored", None)
    assert "has no /tests/test.sh" in rig.issue(Code.VERIFIER_SETUP_FAILED).message


@pytest.mark.parametrize(
    ("script", "mode", "repaired"),
    [
        (b"#!/bin/bash\necho\n", 0o755, False),
        (b"#!/bin/bash\necho\n", 0o644, True),
        (b"# canary\n#!/bin/bash\necho\n", 0o755, True),
        (b"#!/bin/bash\r\necho\r\n", 0o755, True),
    ],
)
async def test_a_baked_script_is_repaired_only_where_it_must_be_case_20(
    tmp_path: Path, script: bytes, mode: int, repaired: bool
) -> None:
    rig = Rig(tmp_path, FRESH, BAKED)
    bake(rig, script, mode)
    rig.scores()
    assert (await rig.trial()).passed
    assert bool(rig.provider.said("verifier: upload_bytes /tests/test.sh")) is repaired
    assert rig.verifier().place("/tests/test.sh").stat().st_mode & 0o111


async def test_every_phase_begins_and_ends_once_in_order(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.scores()
    await rig.trial()
    spans = [
        (type(event).__name__, event.phase)
        for event in rig.events
        if isinstance(event, ev.PhaseStarted | ev.PhaseFinished)
    ]
    expected = [(name, phase) for phase in Phase for name in ("PhaseStarted", "PhaseFinished")]
    assert spans == expected
    assert all(event.ok for event in rig.of(ev.PhaseFinished))
    assert rig.record is not None and rig.record.finished not in rig.events  # it is for the caller to send
