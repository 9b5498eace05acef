"""Verification: what is handed over, what counts as a verdict, and what never does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import events as ev
from engine.environments.environment import FileChange
from engine.issues import Code, Phase, Severity
from engine.trial import verify
from tests.engine.fake_environment import Command, FakeEnvironment, broken
from tests.engine.trial.trials import FRESH, LIMIT_SEC, Rig, writes

pytestmark = pytest.mark.anyio

INFRA = b"VERIFIER INFRA ERROR: no network\n"


async def test_artifacts_stand_at_their_own_places_in_the_fresh_verifier(tmp_path: Path) -> None:
    entries = 'artifacts = [{source = "/app/out", destination = "elsewhere"}, "rel.txt"]\n'
    rig = Rig(tmp_path, entries + FRESH)
    left: dict[str, str | bytes] = {
        "/app/out/a": "1",
        "/app/rel.txt": "2",
        "/logs/artifacts/p.diff": b"a\r\n\xff no newline at the end",
    }
    rig.provider.when("work", does=writes(left))
    rig.scores()
    assert (await rig.trial()).passed
    verifier = rig.verifier()
    assert verifier.read("/app/out/a") == b"1"
    assert verifier.read("/app/rel.txt") == b"2"
    assert verifier.read("/logs/artifacts/p.diff") == left["/logs/artifacts/p.diff"]  # case 56: bytes, never text


async def test_what_the_agent_deleted_does_not_come_back_from_the_verifiers_image(tmp_path: Path) -> None:
    """And what the verifier's image has of its own in that folder, and what the artifact excludes, stays."""

    def image(environment: FakeEnvironment) -> None:
        environment.write("/app/original.py", "from the image")
        environment.write("/app/.hidden/x", "from the image")
        environment.write("/app/node_modules/lib", "from the image")
        if environment.spec.environment == "verifier":
            environment.write("/app/fixtures/secret", "the verifier's own")

    rig = Rig(tmp_path, 'artifacts = [{source = "/app", exclude = ["node_modules"]}]\n' + FRESH)
    rig.provider.image = image
    gone = ("/app/original.py", "/app/node_modules/lib", "/etc/hosts")
    rig.provider.changed = [FileChange(path, "deleted") for path in gone]

    def work(command: object) -> None:
        app = rig.agent().place("/app")
        (app / "original.py").rename(app / "renamed.py")

    rig.provider.when("work", does=work)
    rig.scores()

    def again(command: Command) -> None:
        for path in command.words[3:]:
            command.environment.place(path).unlink()

    rig.provider.when("rm -rf -- /app", does=again)
    await rig.trial()
    left = {path.name for path in rig.verifier().place("/app").iterdir()}
    assert left == {".hidden", "renamed.py", "node_modules", "fixtures"}
    assert rig.command("rm -rf -- /app").words[3:] == ("/app/original.py",)
    assert rig.verifier().read("/app/node_modules/lib") == b"from the image"


async def test_nothing_handed_over_is_said_case_40(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.provider.when("work", does=writes({"/app/answer.txt": "dawn"}))
    rig.scores("0")
    assert (await rig.trial()).reward == 0.0
    issue = rig.issue(Code.NOTHING_HANDED_OVER)
    assert (issue.severity, issue.phase) == (Severity.WARNING, Phase.VERIFY)
    assert issue.evidence[0].label == "main:/logs/artifacts"


async def test_something_handed_over_needs_no_words(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.provider.when("work", does=writes({"/logs/artifacts/answer.txt": "dawn"}))
    rig.scores()
    await rig.trial()
    assert rig.codes == []


async def test_two_services_with_one_place_in_the_verifier_are_told_case_41(tmp_path: Path) -> None:
    entries = 'artifacts = ["/var/x", {source = "/var/x", service = "db", destination = "db"}]\n'

    def image(environment: FakeEnvironment) -> None:
        for name in ("main", "db"):
            environment.write("/var/x", name, name)

    rig = Rig(tmp_path, entries + FRESH, services=("main", "db"))
    rig.provider.image = image
    rig.scores()
    assert (await rig.trial()).passed
    assert "db:/var/x goes to /var/x" in rig.issue(Code.ARTIFACT_COLLISION).message
    assert rig.verifier().read("/var/x") == b"db"


@pytest.mark.parametrize("toml", ["", FRESH])
async def test_a_stale_or_planted_reward_is_removed_first_case_58(tmp_path: Path, toml: str) -> None:
    def image(environment: FakeEnvironment) -> None:
        environment.write("/logs/verifier/reward.json", '{"reward": 1}')
        environment.write("/logs/verifier/ctrf.json", "{}")
        environment.write("/logs/verifier/.hidden", "x")

    rig = Rig(tmp_path, toml)
    rig.provider.image = image
    rig.provider.when("/tests/test.sh", 1)
    end = await rig.trial()
    assert (end.outcome, end.reward) == ("unscored", None)
    assert "neither reward.json nor reward.txt" in rig.issue(Code.VERIFIER_RESULT_INVALID).message
    assert [path.name for path in (rig.folder / "verifier").iterdir()] == ["test-stdout.txt"]


async def test_a_planted_reward_that_cant_be_removed_is_no_verdict(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("work", does=writes({"/logs/verifier/reward.txt": "1"}))
    rig.provider.when("shopt", 126)  # the agent took the shell away
    end = await rig.trial()
    assert (end.outcome, end.reward) == ("unscored", None)
    assert rig.issue(Code.VERIFIER_SETUP_FAILED).severity is Severity.FATAL
    assert rig.provider.said("test.sh bash", "download main:/logs/verifier") == []


async def test_the_folder_for_rewards_is_there_and_open_case_44(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    modes: list[int] = []

    def work(command: object) -> None:
        place = rig.agent().place("/logs/verifier")
        modes.append(place.stat().st_mode & 0o777)
        place.rmdir()

    rig.provider.when("work", does=work)
    rig.scores()
    assert (await rig.trial()).passed
    assert modes == [0o777]
    assert rig.agent().place("/logs/verifier").stat().st_mode & 0o777 == 0o777


async def test_signs_of_a_failed_set_up_decide_in_a_fresh_verifier(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.scores("0", exit_code=1, out=INFRA)
    end = await rig.trial()
    assert (end.outcome, end.reward) == ("unscored", None)
    issue = rig.issue(Code.VERIFIER_SETUP_FAILED)
    assert issue.severity is Severity.FATAL
    assert issue.evidence[0].text == INFRA.decode().strip()
    assert (issue.evidence[0].file, issue.evidence[0].line) == ("verifier/test-stdout.txt", 1)
    assert rig.of(ev.RewardRecorded)[0].reward is None


async def test_the_same_signs_in_a_shared_verifier_are_only_a_proposal(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.scores("0", exit_code=1, out=INFRA)
    end = await rig.trial()
    assert (end.outcome, end.reward, end.passed) == ("scored", 0.0, False)
    issue = rig.issue(Code.VERIFIER_SETUP_FAILED)
    assert issue.severity is Severity.WARNING and "may never have got" in issue.message


@pytest.mark.parametrize("reward", ["1", "0.5"])
async def test_a_reward_above_nothing_outranks_every_sign(tmp_path: Path, reward: str) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.scores(reward, exit_code=127, out=INFRA)
    end = await rig.trial()
    assert (end.outcome, end.reward) == ("scored", float(reward))
    assert Code.VERIFIER_SETUP_FAILED not in rig.codes


async def test_tests_that_ran_rule_a_failed_set_up_out(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.scores("0", exit_code=1, out=INFRA + b"=== test session starts ===\n")
    assert (await rig.trial()).outcome == "scored"


@pytest.mark.parametrize("code", [126, 127])
async def test_a_script_that_could_not_start_is_no_zero_case_20(tmp_path: Path, code: int) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.provider.when("/tests/test.sh", code)
    end = await rig.trial()
    assert (end.outcome, end.reward) == ("unscored", None)
    assert rig.issue(Code.VERIFIER_SETUP_FAILED).severity is Severity.FATAL


@pytest.mark.parametrize(
    ("files", "exit_code", "words"),
    [
        ({}, 0, "exit code 0"),
        ({}, 1, "exit code 1"),
        ({"/logs/reward.txt": "1"}, 0, "neither"),
        ({"/logs/verifier/reward.txt/x": "1"}, 0, "is a folder"),
        ({"/logs/verifier/reward.txt": ""}, 0, "empty"),
        ({"/logs/verifier/reward.txt": "\n"}, 0, "empty"),
        ({"/logs/verifier/reward.txt": "nan"}, 0, "something else than one number"),
    ],
)
async def test_no_reward_is_neither_nought_nor_nothing_case_59(
    tmp_path: Path, files: dict[str, str], exit_code: int, words: str
) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("/tests/test.sh", exit_code, does=writes(files), out=b"its last words\n")
    end = await rig.trial()
    assert (end.outcome, end.reward, end.passed) == ("unscored", None, None)
    issue = rig.issue(Code.VERIFIER_RESULT_INVALID)
    assert issue.severity is Severity.WARNING
    assert words in issue.message and f"exit code {exit_code}" in issue.message
    assert any("its last words" in fact.text for fact in issue.evidence)


async def test_a_wrong_reward_shows_its_bytes_case_50(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.scores(b"\xff\xfe1\x00")
    await rig.trial()
    fact = rig.issue(Code.VERIFIER_RESULT_INVALID).evidence[0]
    assert (fact.text, fact.file) == (r"\xff\xfe1\x00", "verifier/reward.txt")


async def test_true_counts_as_1_with_a_warning(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.scores('{"reward": true}', name="reward.json")
    assert (await rig.trial()).passed
    assert rig.issue(Code.REWARD_IS_BOOLEAN).severity is Severity.WARNING


async def test_a_fraction_is_kept_and_fails(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.scores("0.75")
    end = await rig.trial()
    assert (end.outcome, end.reward, end.passed) == ("scored", 0.75, False)


async def test_counts_of_the_report_are_recorded(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    report = {"results": {"summary": {"tests": 3, "passed": 2, "failed": 1}}}
    files = {"/logs/verifier/reward.txt": "0", "/logs/verifier/ctrf.json": json.dumps(report)}
    rig.provider.when("/tests/test.sh", does=writes(files))
    await rig.trial()
    (recorded,) = rig.of(ev.RewardRecorded)
    assert (recorded.tests_passed, recorded.tests_total, recorded.source) == (2, 3, "reward.txt")


async def test_a_verifier_out_of_time_is_fatal_and_its_logs_are_kept(tmp_path: Path) -> None:
    rig = Rig(tmp_path, f"[verifier]\ntimeout_sec = {LIMIT_SEC}\n")
    rig.provider.when(
        "/tests/test.sh", does=writes({"/logs/verifier/x": "kept"}, then_late=True), forever=True, out=b"hanging\n"
    )
    assert (await rig.trial()).outcome == "unscored"
    issue = rig.issue(Code.VERIFIER_TIMEOUT)
    assert issue.severity is Severity.FATAL and "60 s" in issue.message
    assert (rig.folder / "verifier" / "x").read_text() == "kept"
    assert (rig.folder / "verifier" / "test-stdout.txt").read_bytes() == b"hanging\n"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"exit_code": 137, "out_of_memory": True}, "memory limit"),
        ({"exit_code": 139}, "exit code 139"),
    ],
)
async def test_a_verifier_that_crashed_is_told_apart(tmp_path: Path, reply: dict[str, object], words: str) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.provider.when("/tests/test.sh", **reply)  # type: ignore[arg-type]
    assert (await rig.trial()).outcome == "unscored"
    issue = rig.issue(Code.VERIFIER_CRASHED)
    assert issue.severity is Severity.ERROR and words in issue.message


async def test_a_verifier_that_lost_its_environment_is_not_to_blame(tmp_path: Path) -> None:
    """Case 25: somebody removed the container under it."""
    rig = Rig(tmp_path, FRESH)
    rig.provider.when("/tests/test.sh", exit_code=None, kills_environment=True)
    assert (await rig.trial()).outcome == "unscored"
    issue = rig.issue(Code.ENVIRONMENT_DIED)
    assert (issue.severity, issue.phase) == (Severity.ERROR, Phase.VERIFY) and "lost its environment" in issue.message
    assert Code.VERIFIER_CRASHED not in rig.codes


async def test_a_secret_of_the_host_that_a_task_prints_reaches_no_file_and_no_event(tmp_path: Path) -> None:
    """Whoever prints it: the agent, a hook, the tests. The task itself has it as it is."""
    toml = '[verifier]\nenv = {KEY = "${JUDGE_KEY}"}\n[[verifier.collect]]\ncommand = "dump"\n'
    rig = Rig(tmp_path, toml, allowed_host_env={"JUDGE_KEY": "sk-judge-0123456789"})
    for command in ("work", "dump"):
        rig.provider.when(command, 1, out=b"env: sk-judge-0123456789\n")
    rig.scores("nonsense", out=b"+ curl -H sk-judge-", err=b"sk-judge-0123456789\n")
    await rig.trial()
    assert rig.command("/tests/test.sh").env["KEY"] == "sk-judge-0123456789"
    texts = [path.read_bytes() for path in rig.folder.rglob("*") if path.is_file()]
    assert not any(b"sk-judge-0123456789" in text for text in [*texts, *map(ev.encode, rig.events)])
    assert sum(b"***" in text for text in texts) >= 3


async def test_our_record_of_the_output_wins_over_a_file_of_that_name(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    files = {"/logs/verifier/test-stdout.txt": "forged", "/logs/verifier/reward.txt": "1"}
    rig.provider.when("/tests/test.sh", does=writes(files), out=b"real\n")
    await rig.trial()
    assert (rig.folder / "verifier" / "test-stdout.txt").read_bytes() == b"real\n"


async def test_logs_that_never_arrive_are_no_missing_reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "DOWNLOAD_SEC", 0.02)
    rig = Rig(tmp_path)
    rig.scores()
    rig.provider.hangs["agent: download main:/logs/verifier"] = 60
    assert (await rig.trial()).outcome == "unscored"
    assert rig.codes == [Code.ARTIFACT_TRANSFER_FAILED]


async def test_a_verifier_that_cant_start_is_the_verifiers_and_not_the_agents_fault(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.provider.faults["verifier: start"] = broken(Code.BUILD_FAILED, phase=Phase.PREPARE)
    assert (await rig.trial()).outcome == "unscored"
    assert rig.issue(Code.BUILD_FAILED).phase is Phase.VERIFY
    assert rig.provider.up() == []


async def test_the_verifiers_variables_arrive_and_the_agent_never_sees_them(tmp_path: Path) -> None:
    toml = '[verifier]\nenv = {PLAIN = "a$b `c`", SECRET = "${TOKEN}", OTHER = "${NONE:-default}"}\n'
    rig = Rig(tmp_path, toml, allowed_host_env={"TOKEN": "s3cret"})
    rig.scores()
    await rig.trial()
    assert rig.command("test.sh").env == {"PLAIN": "a$b `c`", "SECRET": "s3cret", "OTHER": "default"}
    assert "SECRET" not in rig.command("work").env


async def test_a_pass_without_any_work_is_flagged_case_52(tmp_path: Path) -> None:
    rig = Rig(tmp_path, agent="nop")
    rig.provider.changed = []
    rig.scores()
    assert (await rig.trial()).passed
    assert rig.issue(Code.PASSED_WITHOUT_CHANGES).severity is Severity.WARNING


async def test_a_pass_is_not_flagged_where_work_may_lie_beside_the_layers_of_main_case_52(tmp_path: Path) -> None:
    rig = Rig(tmp_path, agent="nop")
    rig.provider.changed = []
    rig.provider.unseen = ("/data",)
    rig.scores()
    assert (await rig.trial()).passed
    assert Code.PASSED_WITHOUT_CHANGES not in rig.codes
    (changes,) = rig.of(ev.FilesChanged)
    assert (changes.added, changes.unseen) == (0, ("/data",))
    assert json.loads((rig.folder / "changes.json").read_text())["unseen"] == ["/data"]


async def test_a_pass_is_not_flagged_where_nobody_could_list_what_changed_case_52(tmp_path: Path) -> None:
    rig = Rig(tmp_path, agent="nop")
    rig.provider.faults["agent: changes"] = broken(Code.ENVIRONMENT_FAILED)
    rig.scores()
    assert (await rig.trial()).passed
    assert Code.PASSED_WITHOUT_CHANGES not in rig.codes


@pytest.mark.parametrize("services", [("main",), ("main", "db")])
async def test_work_that_shows_or_may_be_elsewhere_is_not_flagged_case_52(
    tmp_path: Path, services: tuple[str, ...]
) -> None:
    rig = Rig(tmp_path, services=services)
    rig.provider.changed = []
    if len(services) == 1:
        rig.provider.when("work", does=writes({"/logs/artifacts/a": "1"}))
    rig.scores()
    await rig.trial()
    assert rig.codes == []
