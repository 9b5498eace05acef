"""What an agent leaves: its files and logs, what it changed, and its own looking back at it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import events as ev
from engine.agents.agent import AgentSession, StepReport
from engine.environments.environment import FileChange
from engine.issues import Code, Severity
from engine.log_streams import read_ranges
from tests.engine.fake_environment import broken
from tests.engine.trial.scripted_agent import Scripted, use
from tests.engine.trial.trials import LIMIT_SEC, Rig, writes

pytestmark = pytest.mark.anyio


async def test_what_the_agent_wrote_is_fetched_and_our_own_log_wins(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    files = {"/logs/agent/notes.md": "n", "/logs/agent/command.txt": "forged", "/logs/agent/deep/command.txt": "own"}
    rig.provider.when("work", does=writes(files), out=b"real\n")
    rig.scores()
    await rig.trial()
    folder = rig.folder / "agent"
    assert (folder / "command.txt").read_bytes() == b"real\n"
    assert (folder / "notes.md").read_text() == "n"
    assert (folder / "deep" / "command.txt").read_text() == "own"


async def test_what_tells_our_logs_streams_apart_is_ours_alone(tmp_path: Path) -> None:
    forged = {f"/logs/{place}.streams": "0 stderr\n" for place in ("agent/command.txt", "verifier/test-stdout.txt")}
    rig = Rig(tmp_path)
    rig.provider.when("work", does=writes(forged), out=b"all went well\n")
    rig.provider.when("test.sh", does=writes({**forged, "/logs/verifier/reward.txt": "1"}), out=b"ok\n", err=b"slow\n")
    assert (await rig.trial()).passed
    assert not read_ranges(rig.folder / "agent" / "command.txt").told
    found = {path.name: path.read_text() for path in rig.folder.glob("*/*.streams")}
    assert found == {"test-stdout.txt.streams": "3 stderr\n"}


async def test_what_changed_is_listed_beside_the_verdict_without_our_own_files_case_19(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.changed = [
        FileChange("/app/new", "added"),
        FileChange("/etc/hosts", "changed"),
        FileChange("/app/bad\udcff", "deleted"),
        FileChange("/tmp/.trialdeck-replay-1-1.sh", "added"),
    ]
    rig.scores()
    await rig.trial()
    (changes,) = rig.of(ev.FilesChanged)
    assert (changes.added, changes.changed, changes.deleted) == (1, 1, 1)
    listing = json.loads((rig.folder / "changes.json").read_text())
    assert listing == {"added": ["/app/new"], "changed": ["/etc/hosts"], "deleted": ["/app/bad\\udcff"]}


async def test_a_list_of_changes_that_cant_be_had_costs_no_verdict(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.faults["agent: changes"] = broken(Code.ENVIRONMENT_FAILED)
    rig.scores()
    assert (await rig.trial()).passed
    assert rig.issue(Code.ENVIRONMENT_FAILED).severity is Severity.WARNING


async def test_a_log_folder_that_cant_be_fetched_is_fatal(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.faults["agent: download main:/logs/agent"] = broken(Code.ARTIFACT_TRANSFER_FAILED)
    rig.scores()
    assert (await rig.trial()).outcome == "unscored"
    assert rig.codes == [Code.ARTIFACT_TRANSFER_FAILED]


async def test_a_secret_that_main_knows_is_in_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("env", out=b"KEY=sk-0123456789\n")
    heard: list[bytes] = []

    async def work(session: AgentSession) -> None:
        session.hide("sk-0123456789")
        await session.execute(["env"], sink=lambda stream, data: heard.append(data))

    use(monkeypatch, Scripted(work))
    rig.scores()
    await rig.trial()
    assert heard == [b"KEY=sk-0123456789\n"]
    assert (rig.folder / "agent" / "scripted.txt").read_bytes() == b"KEY=***\n"


class LookingBack(Scripted):
    def __init__(self, run: object, back: object) -> None:
        super().__init__(run)
        self._back = back

    async def look_back(self, session: AgentSession) -> None:
        await self._back(session)  # type: ignore[operator]


async def test_an_agent_that_looks_back_finds_what_it_left_and_nothing_of_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, f"[agent]\ntimeout_sec = {LIMIT_SEC}\n")
    rig.provider.when("work", does=writes({"/logs/agent/session.jsonl": "{}"}, then_late=True), forever=True)
    found: list[bool] = []

    async def work(session: AgentSession) -> None:
        await session.execute(["work"])

    async def back(session: AgentSession) -> None:
        found.append((session.folder / "session.jsonl").is_file())
        found.append(bool(rig.provider.said("kill_agent")))
        session.report_step(StepReport(what="said at last", tokens_in=7))

    use(monkeypatch, LookingBack(work, back))
    rig.scores()
    end = await rig.trial()
    assert found == [True, True]
    assert (end.timed_out, end.passed, end.tokens_in) == (True, True, 7)


async def test_looking_back_in_vain_is_a_warning_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path)

    async def work(session: AgentSession) -> None:
        await session.execute(["work"])

    async def back(session: AgentSession) -> None:
        raise ValueError("half a file")

    use(monkeypatch, LookingBack(work, back))
    rig.scores()
    assert (await rig.trial()).passed
    issue = rig.issue(Code.HARNESS_FAILED)
    assert issue.severity is Severity.WARNING and "half a file" in issue.message
