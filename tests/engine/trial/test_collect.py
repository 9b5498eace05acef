"""Hooks and artifacts: what fails is told, and everything continues; what can't be transferred ends the trial."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import pytest

from engine import events as ev
from engine.environments.environment import Transfer
from engine.issues import Code, Phase, Severity
from engine.trial import collect
from tests.engine.fake_environment import broken
from tests.engine.trial.trials import FRESH, Rig, late, writes

pytestmark = pytest.mark.anyio

HOOKS = """
[verifier]
[[verifier.collect]]
command = "first"
timeout_sec = 60
user = "postgres"
[[verifier.collect]]
command = "second"
service = "db"
[[verifier.collect]]
command = "third"
"""


def declared(*entries: str) -> str:
    return f"artifacts = [{', '.join(entries)}]\n"


async def test_a_hook_that_fails_is_a_warning_and_everything_continues(tmp_path: Path) -> None:
    rig = Rig(tmp_path, HOOKS, services=("main", "db"))
    rig.provider.when("first", 3, out=b"dumping\n", err=b"\x1b[31mno such table\x1b[0m\n")
    rig.scores()
    assert (await rig.trial()).passed
    issue = rig.issue(Code.ARTIFACT_COLLECT_FAILED)
    assert (issue.severity, issue.phase, issue.service) == (Severity.WARNING, Phase.COLLECT, "main")
    assert "exit 3" in issue.message
    facts = {fact.label: fact for fact in issue.evidence}
    assert facts["command"].text == "first"
    assert facts["output"].text == "dumping\nno such table"
    assert (facts["output"].file, facts["output"].line) == ("logs/hooks.log", 3)
    assert len(rig.of(ev.HookFinished)) == 3


async def test_hooks_run_main_first_each_in_its_own_shell(tmp_path: Path) -> None:
    rig = Rig(tmp_path, HOOKS, services=("main", "db"))
    rig.scores()
    await rig.trial()
    hooks = [command for command in rig.provider.commands if command.words[-1] in ("first", "second", "third")]
    assert [(hook.service, hook.text, hook.user) for hook in hooks] == [
        ("main", "bash -c first", "postgres"),
        ("main", "bash -c third", None),
        ("db", "sh -c second", None),
    ]
    assert [(event.number, event.of, event.command) for event in rig.of(ev.HookFinished)] == [
        (1, 3, "first"),
        (2, 3, "third"),
        (3, 3, "second"),
    ]


async def test_a_hook_out_of_time_is_a_warning_with_its_limit(tmp_path: Path) -> None:
    rig = Rig(tmp_path, HOOKS, services=("main", "db"))
    rig.provider.when("first", does=late, forever=True)
    rig.scores()
    assert (await rig.trial()).passed
    issue = rig.issue(Code.ARTIFACT_COLLECT_FAILED)
    assert "timed out" in issue.message and "limit 60 s" in issue.message
    assert [event.timed_out for event in rig.of(ev.HookFinished)] == [True, False, False]


async def test_a_hook_in_a_service_that_is_down_or_unknown_is_a_warning_too(tmp_path: Path) -> None:
    rig = Rig(tmp_path, HOOKS, services=("main", "db"))
    rig.provider.when("second", None, kills_environment=True)
    rig.scores()
    assert (await rig.trial()).passed
    assert "could not run" in rig.issue(Code.ARTIFACT_COLLECT_FAILED).message
    other = tmp_path / "other"
    other.mkdir()
    rig = Rig(other, HOOKS, services=("main", "db"))
    rig.provider.services = ("main",)
    rig.scores()
    assert (await rig.trial()).passed
    assert rig.issue(Code.ARTIFACT_COLLECT_FAILED).service == "db"


@pytest.mark.parametrize(("starts", "words"), [(False, "could not be started"), (True, "nobody knows how")])
async def test_a_hook_that_was_not_started_or_of_which_nothing_is_known_has_no_exit_code(
    tmp_path: Path, starts: bool, words: str
) -> None:
    rig = Rig(tmp_path, HOOKS, services=("main", "db"))
    rig.provider.when("second", None, starts=starts)
    rig.scores()
    assert (await rig.trial()).passed
    message = rig.issue(Code.ARTIFACT_COLLECT_FAILED).message
    assert words in message and "None" not in message


async def test_a_hook_whose_exec_itself_fails_is_fatal(tmp_path: Path) -> None:
    rig = Rig(tmp_path, HOOKS, services=("main", "db"))
    rig.provider.faults["agent: execute main: bash -c third"] = broken(Code.DAEMON_UNREACHABLE, phase=Phase.COLLECT)
    assert (await rig.trial()).outcome == "unscored"
    assert rig.codes == [Code.DAEMON_UNREACHABLE]
    assert rig.manifest() == {}


async def test_the_output_of_all_hooks_stands_in_one_log_told_apart(tmp_path: Path) -> None:
    rig = Rig(tmp_path, HOOKS, services=("main", "db"))
    rig.provider.when("first", 0, out=b"one\n")
    rig.provider.when("third", 1, out=b"no newline at its end")
    rig.scores()
    await rig.trial()
    lines = (rig.folder / "logs" / "hooks.log").read_text().splitlines()
    assert lines[0] == "--- hook 1/3 · main · first" and lines[1] == "one"
    assert "no newline at its end" in lines
    assert sum(line.startswith("--- exit") for line in lines) == 3


async def test_every_artifact_gets_its_row(tmp_path: Path) -> None:
    rig = Rig(tmp_path, declared('"/app/results.d"', '"/app/Makefile"', '"/app/not-there"', '"out/rel.txt"'))
    left = {"/app/results.d/r": "1", "/app/Makefile": "all:", "/app/out/rel.txt": "2", "/logs/artifacts/log": "l"}
    rig.provider.when("work", does=writes(left))
    rig.scores()
    assert (await rig.trial()).passed
    rows = rig.manifest()
    assert {key: (row["status"], row["type"], row["bytes"]) for key, row in rows.items()} == {
        "main:/logs/artifacts": ("collected", "directory", 1),
        "main:/app/results.d": ("collected", "directory", 1),
        "main:/app/Makefile": ("collected", "file", 4),
        "main:/app/not-there": ("missing", "file", 0),
        "main:out/rel.txt": ("collected", "file", 1),
    }
    assert rows["main:/app/Makefile"]["sha256"] == hashlib.sha256(b"all:").hexdigest()
    assert rows["main:out/rel.txt"]["destination"] == "artifacts/app/out/rel.txt"
    assert (rig.folder / "artifacts/app/out/rel.txt").read_text() == "2"
    assert {event.source: event.status for event in rig.of(ev.ArtifactRecorded)} == {
        row["source"]: row["status"] for row in rows.values()
    }


async def test_a_declared_artifact_that_is_missing_is_shown_case_41(tmp_path: Path) -> None:
    rig = Rig(tmp_path, declared('"/app/not-there"'))
    rig.scores()
    assert (await rig.trial()).passed
    issue = rig.issue(Code.ARTIFACT_MISSING)
    assert issue.severity is Severity.WARNING and "main:/app/not-there" in issue.message


async def test_the_implicit_folder_may_be_empty_or_missing_in_silence(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.scores()
    await rig.trial()
    assert rig.manifest()["main:/logs/artifacts"]["status"] == "empty"
    assert rig.codes == []


async def test_two_sources_for_one_place_are_a_collision_and_the_first_stays_case_41(tmp_path: Path) -> None:
    entries = declared('{source="/var/log/x"}', '{source="/var/log/x", service="side"}')
    rig = Rig(tmp_path, entries, services=("main", "side"))
    rig.provider.when("work", does=writes({"/var/log/x": "main's"}))
    rig.scores()
    assert (await rig.trial()).passed
    assert rig.manifest()["side:/var/log/x"]["status"] == "skipped"
    issue = rig.issue(Code.ARTIFACT_COLLISION)
    assert "side:/var/log/x" in issue.message and "main:/var/log/x" in issue.message
    assert (rig.folder / "artifacts/var/log/x").read_text() == "main's"


async def test_a_destination_of_its_own_avoids_the_collision_case_41(tmp_path: Path) -> None:
    entries = declared('"/var/log/x"', '{source="/var/log/x", service="side", destination="side/x"}')
    rig = Rig(tmp_path, entries, services=("main", "side"))
    rig.provider.when("work", does=writes({"/var/log/x": "m"}))
    rig.provider.image = lambda environment: environment.write("/var/log/x", "s", "side")
    rig.scores()
    await rig.trial()
    assert (rig.folder / "artifacts/side/x").read_text() == "s"
    assert rig.codes == []


async def test_a_part_of_a_collected_folder_is_a_part_and_no_collision_case_41(tmp_path: Path) -> None:
    rig = Rig(tmp_path, declared('"/app/out"', '"/app/out/a.txt"', '"/app/out/b.txt"', '"/logs/artifacts/c"'))
    rig.provider.when("work", does=writes({"/app/out/a.txt": "a"}))
    rig.scores()
    await rig.trial()
    rows = {key: (row["status"], row["note"]) for key, row in rig.manifest().items()}
    assert rows["main:/app/out/a.txt"] == ("skipped", "a part of main:/app/out")
    assert rows["main:/app/out/b.txt"][0] == "missing"
    assert rows["main:/logs/artifacts/c"][0] == "missing"
    assert rig.codes == [Code.ARTIFACT_MISSING, Code.ARTIFACT_MISSING]


async def test_a_part_that_its_folder_leaves_out_is_told(tmp_path: Path) -> None:
    rig = Rig(tmp_path, declared('{source="/app", exclude=["*.bin"]}', '"/app/x.bin"'))
    rig.provider.when("work", does=writes({"/app/x.bin": "x", "/app/y": "y"}))
    rig.scores()
    await rig.trial()
    assert not (rig.folder / "artifacts/app/x.bin").exists()
    assert "main:/app/x.bin was left out" in rig.issue(Code.ARTIFACT_COLLISION).message


async def test_an_artifact_cant_take_the_manifests_place(tmp_path: Path) -> None:
    rig = Rig(tmp_path, declared('"/manifest.json"'))
    rig.provider.when("work", does=writes({"/manifest.json": "forged"}))
    rig.scores()
    await rig.trial()
    assert rig.manifest()["main:/manifest.json"]["status"] == "skipped"
    assert rig.codes == [Code.ARTIFACT_COLLISION]


async def test_the_same_entry_twice_is_one_and_with_two_destinations_it_is_two(tmp_path: Path) -> None:
    rig = Rig(tmp_path, declared('"/a"', '"/a"', '{source="/a", destination="again"}'))
    rig.provider.when("work", does=writes({"/a": "a"}))
    rig.scores()
    await rig.trial()
    assert [event.source for event in rig.of(ev.ArtifactRecorded)] == ["/logs/artifacts", "/a", "/a"]
    assert (rig.folder / "artifacts/again").read_text() == "a"


async def test_a_transfer_that_fails_is_fatal_and_the_manifest_says_what_there_was(tmp_path: Path) -> None:
    rig = Rig(tmp_path, declared('"/a"', '"/b"', '"/c"') + FRESH)
    rig.provider.when("work", does=writes({"/a": "a", "/b": "b"}))
    rig.provider.faults["agent: download main:/b"] = broken(Code.ARTIFACT_TRANSFER_FAILED, "broke off", Phase.COLLECT)
    assert (await rig.trial()).outcome == "unscored"
    assert rig.codes == [Code.ARTIFACT_TRANSFER_FAILED]
    rows = {key: (row["status"], row["note"]) for key, row in rig.manifest().items()}
    assert rows["main:/a"] == ("collected", "")
    assert rows["main:/b"] == ("failed", "broke off")
    assert "main:/c" not in rows
    assert rig.provider.said("verifier") == [] and rig.provider.up() == []


async def test_a_full_disk_is_told_as_the_cause_and_leaves_no_half_manifest_case_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, declared('"/a"'))
    rig.provider.faults["agent: download main:/a"] = broken(Code.DISK_FULL, "an artifact filled it", Phase.COLLECT)
    plain = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name != "manifest.json":
            return plain(path, data)
        plain(path, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert (await rig.trial()).outcome == "unscored"
    assert "an artifact filled it" in rig.issue(Code.DISK_FULL).message
    assert not (rig.folder / "artifacts" / "manifest.json").exists()


async def test_a_transfer_has_a_budget_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "DOWNLOAD_SEC", 0.02)
    rig = Rig(tmp_path, declared('"/a"'))
    rig.provider.hangs["agent: download main:/a"] = 60
    assert (await rig.trial()).outcome == "unscored"
    assert "took longer than" in rig.issue(Code.ARTIFACT_TRANSFER_FAILED).message


@pytest.mark.parametrize(
    ("transfer", "code"),
    [
        (Transfer(status="refused", skipped=("/a: a device, pipe or socket",)), Code.ARTIFACT_REFUSED),
        (Transfer(status="too_large", skipped=("a: 3000000000 bytes",)), Code.ARTIFACT_TOO_LARGE),
        (Transfer(status="collected", files=1, bytes=1, is_folder=True, skipped=("x: a link",)), Code.ARTIFACT_REFUSED),
    ],
)
async def test_what_was_left_out_is_named_case_37(tmp_path: Path, transfer: Transfer, code: Code) -> None:
    rig = Rig(tmp_path, declared('"/a"') + FRESH)
    rig.provider.transfers["main:/a"] = transfer
    rig.scores()
    assert (await rig.trial()).passed  # and the fresh verifier is given what there is: nothing that isn't there
    assert rig.issue(code).evidence[0].text == transfer.skipped[0]
    assert rig.manifest()["main:/a"]["status"] == transfer.status
    assert rig.provider.said("verifier: upload /a") == []


async def test_names_that_are_not_utf8_stand_in_the_manifest_case_19(tmp_path: Path) -> None:
    rig = Rig(tmp_path, declared('"/a"'))
    rig.provider.transfers["main:/a"] = Transfer(status="refused", skipped=("bad\udcffname: a pipe",))
    rig.scores()
    await rig.trial()
    assert rig.manifest()["main:/a"]["note"] == "bad\\udcffname: a pipe"
