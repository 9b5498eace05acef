"""What another trial left, put back as it was (case 55): nothing of it is guessed, nothing is left out in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.agents.agent import AgentConfigInvalid
from engine.agents.restore import RestoreAgent, kept_artifacts
from engine.events import ArmInfo
from engine.issues import Code, TrialFailed
from tests.engine.agents.sessions import Session

pytestmark = pytest.mark.anyio

FRESH = '[verifier]\nenvironment_mode = "separate"\n'
APP = {"source": "/app", "destination": "artifacts/app", "type": "directory", "path": "/app"}
REPORT = {"source": "out/report", "destination": "artifacts/report", "path": "/app/out/report"}
MISSING = {"source": "/gone", "destination": "", "status": "missing", "path": "/gone"}


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    return tmp_path / "trial"


def left(folder: Path, rows: list[dict[str, Any]], files: dict[str, bytes], deleted: tuple[str, ...] = ()) -> None:
    for name, content in files.items():
        path = folder / "artifacts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "artifacts").mkdir(parents=True, exist_ok=True)
    (folder / "artifacts" / "manifest.json").write_text(json.dumps(rows))
    (folder / "changes.json").write_text(json.dumps({"added": [], "changed": [], "deleted": deleted}))


def session(tmp_path: Path, trial: Path, toml: str = FRESH, **settings: Any) -> tuple[RestoreAgent, Session]:
    arm = ArmInfo(name="again", agent="restore", parameters={"trial": str(trial)})
    return RestoreAgent(arm), Session(tmp_path, arm, toml=toml, **settings)


async def test_every_artifact_comes_back_byte_for_byte_where_it_was(tmp_path: Path, trial: Path) -> None:
    left(trial, [APP, REPORT, MISSING], {"app/a\nb": b"\xff\r\n\0", "app/d/x": b"1", "report": b"ok"})
    agent, given = session(tmp_path, trial)
    await agent.set_up(given.given)
    assert (await agent.run(given.given)).note == "put 2 artifacts back"
    assert given.environment.read("/app/a\nb") == b"\xff\r\n\0"
    assert given.environment.read("/app/d/x") == b"1"
    assert given.environment.read("/app/out/report") == b"ok"
    assert given.issues == []


async def test_what_the_agent_had_deleted_there_does_not_come_back_from_the_image(tmp_path: Path, trial: Path) -> None:
    kept = {**APP, "exclude": ["*.log"]}
    left(trial, [kept], {"app/x": b"1"}, ("/app/old", "/app/run.log", "/etc/motd"))
    agent, given = session(tmp_path, trial)
    await agent.run(given.given)
    (removed,) = given.provider.commands
    assert (removed.text, removed.user) == ("rm -rf -- /app/old", "0")


async def test_what_cant_be_deleted_again_fails_the_trial(tmp_path: Path, trial: Path) -> None:
    """Else the verifier would see what its agent had done away with, and nobody would know."""
    left(trial, [APP], {"app/x": b"1"}, ("/app/old",))
    agent, given = session(tmp_path, trial)
    given.provider.when("rm -rf", exit_code=127, err=b"rm: not found")
    with pytest.raises(TrialFailed, match="had deleted can't be removed: rm: not found"):
        await agent.run(given.given)


async def test_a_verifier_that_shares_main_is_said_to_see_the_artifacts_alone(tmp_path: Path, trial: Path) -> None:
    left(trial, [APP], {"app/x": b"1"})
    agent, given = session(tmp_path, trial, toml="")
    await agent.run(given.given)
    assert [issue.code for issue in given.issues] == [Code.TASK_WARNING]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([MISSING], "nothing that could be verified again"),
        ([{**APP, "destination": "artifacts/gone"}], "not there any more"),
        ([{**APP, "destination": "../outside"}], "leads out of the trial's folder"),
        ([{**APP, "destination": "artifacts/door"}], "leads out of the trial's folder"),
        ([{**APP, "destination": "artifacts/circle"}], "artifacts/circle can't be read"),
        ([{**APP, "destination": "artifacts/a\0b"}], "can't be read"),
        ([{**APP, "destination": "a" * 5_000}], "can't be read"),
        ([{**APP, "service": "side"}], "there is no service side"),
        ({"rows": []}, "manifest.json"),
    ],
)
async def test_what_cant_be_put_back_fails_its_trial_and_nothing_is_left_out(
    tmp_path: Path, trial: Path, rows: Any, words: str
) -> None:
    (tmp_path / "outside").mkdir()
    left(trial, rows, {"app/x": b"1"})
    (trial / "artifacts" / "door").symlink_to(tmp_path / "outside")
    (trial / "artifacts" / "circle").symlink_to("circle")
    agent, given = session(tmp_path, trial)
    with pytest.raises(TrialFailed, match=words) as failed:
        await agent.run(given.given)
    assert failed.value.issue.code is Code.AGENT_SETUP_FAILED


async def test_each_step_gets_what_was_left_in_it(tmp_path: Path, trial: Path) -> None:
    for name in ("one", "two"):
        left(trial / "steps" / name, [APP], {"app/x": name.encode()})
    left(trial, [], {}, ("/app/old",))
    steps = '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
    files = {f"steps/{name}/instruction.md": "do" for name in ("one", "two")}
    for name, removed in (("one", 0), ("two", 1)):
        agent, given = session(tmp_path / name, trial, toml=FRESH + steps, step=name, files=files)
        await agent.run(given.given)
        assert given.environment.read("/app/x") == name.encode()
        assert len(given.provider.commands) == removed  # what was deleted is known as it was in the end


def test_a_trial_without_a_manifest_is_told(tmp_path: Path) -> None:
    with pytest.raises(AgentConfigInvalid, match=r"manifest\.json: No such file"):
        kept_artifacts(tmp_path)
