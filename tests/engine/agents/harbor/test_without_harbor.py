"""What is true of Harbor's agents wherever Harbor is missing, and of the parts that need none of it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.begin_run import refusal_lines
from engine.agents.agent import AgentConfigInvalid
from engine.agents.arms import name_arms, parse_arm
from engine.agents.harbor import presence
from engine.agents.harbor.endings import cause_of, code_of, exit_code_of, issue_of
from engine.agents.harbor.listing import harbor_agents
from engine.agents.harbor.output import Output
from engine.agents.harbor.secrets import Secrets, names_a_secret
from engine.agents.registry import AGENTS, traits_of
from engine.events import ArmInfo, HostInfo
from engine.issues import Code, Severity
from engine.runs.agent_refusals import fit_of
from engine.runs.card import CardInvalid
from engine.runs.card_file import freeze, read_draft, resolve
from engine.runs.plan import make_plan
from engine.tasks.folder import read_task
from engine.tasks.task_set import TaskSet
from tests.engine.tasks.task_folders import make_task

NO_HARBOR = pytest.mark.skipif(bool(presence.harbor_version()), reason="Harbor is in this interpreter")
HOST = HostInfo(name="h", cpus=4, memory_mb=8000)
CARD = 'name = "c"\n[task_set]\npaths = ["tasks"]\n[[arms]]\nagent = "harbor"\nparameters = {agent = "nop"}\n' + (
    '[[arms]]\nagent = "oracle"\n'
)
SENTENCE = "pip install 'trialdeck[harbor]' on Python 3.12+"


@NO_HARBOR
def test_an_arm_is_refused_with_the_way_to_get_harbor() -> None:
    for refused in (
        lambda: traits_of(ArmInfo(name="a", agent="harbor", parameters={"agent": "nop"})),
        harbor_agents,
    ):
        with pytest.raises(AgentConfigInvalid) as caught:
            refused()
        assert str(caught.value).endswith(SENTENCE)


@NO_HARBOR
def test_without_harbor_only_its_arm_is_refused_and_the_others_run(tmp_path: Path) -> None:
    task = read_task(make_task(tmp_path / "t"))
    arms = name_arms(["harbor:agent=claude-code,model=anthropic/x", "nop"], [])
    assert [arm.name for arm in arms] == ["harbor-claude-code", "nop"]
    plan = make_plan(
        TaskSet(name="s", version="", digest="", tasks=(task,)),
        arms,
        attempts=1,
        seed=1,
        host=HOST,
        allowed_host_env={},
        fits=fit_of(arms, {}, HOST),
    )
    assert {trial.arm.name for trial in plan.trials if trial.runnable} == {"nop"}
    (line,) = refusal_lines(plan)
    assert line.startswith("arm harbor-claude-code is not run: ") and line.endswith(SENTENCE)


@NO_HARBOR
def test_a_mistake_in_an_arm_of_harbor_stops_the_command_also_where_harbor_is_missing() -> None:
    with pytest.raises(AgentConfigInvalid, match="unknown parameter colour"):
        parse_arm("harbor:agent=nop,colour=red")


@NO_HARBOR
def test_a_card_with_an_arm_of_harbor_runs_without_it_and_is_not_frozen_there(tmp_path: Path) -> None:
    make_task(tmp_path / "tasks" / "t")
    path = tmp_path / "card.toml"
    path.write_text(CARD)
    assert [arm.name for arm in resolve(path, read_draft(path))[0].arms] == ["harbor-nop", "oracle"]
    with pytest.raises(CardInvalid, match="Harbor's agents are not here") as refused:
        freeze(path)
    assert str(refused.value).endswith(SENTENCE) and path.read_text() == CARD


def test_harbor_under_an_older_python_is_no_harbor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 11, 9))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    with pytest.raises(AgentConfigInvalid, match=r"this is Python 3\.11\): pip install"):
        presence.require_harbor("arm a")


def test_a_harbor_that_does_not_fit_is_said_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "harbor_version", lambda: "9.0")
    with pytest.raises(AgentConfigInvalid, match=r"Harbor 9\.0 doesn't fit, 0\.26\.\* does .*no_such_part"):
        presence.load("engine.agents.harbor.no_such_part")


def test_the_agent_is_listed_with_what_it_takes() -> None:
    traits = AGENTS["harbor"].traits
    assert traits.takes_skills and traits.mcp == {"stdio", "streamable-http", "sse"}
    assert {"agent", "import_path", "gateway", "kwargs.*", "env.*"} == set(traits.parameters)
    assert SENTENCE in traits.summary


@given(st.lists(st.binary(max_size=30), max_size=12))
def test_output_is_whole_where_it_fits(pieces: list[bytes]) -> None:
    output = Output(most=1000)
    for piece in pieces:
        output.take("stdout", piece)
    assert output.text("stdout") == b"".join(pieces).decode("utf-8", "replace")
    assert output.text("stderr") == ""


@given(st.lists(st.integers(1, 70), min_size=10, max_size=60))
def test_of_long_output_beginning_and_end_are_kept_case_29(sizes: list[int]) -> None:
    said = b"".join(b"%05d\n" % number for number in range(sum(sizes)))
    output, at = Output(most=60), 0
    for size in sizes:
        output.take("stderr", said[at : at + 6 * size])
        at += 6 * size
    shown = output.text("stderr")
    assert shown.startswith(said[:30].decode()) and shown.endswith(said[-30:].decode())
    assert f"[{len(said) - 60} bytes left out]" in shown if len(said) > 60 else shown == said.decode()


def test_streams_are_kept_apart_and_no_byte_breaks_them_case_19() -> None:
    output = Output()
    output.take("stdout", b"\xf0\x9f")
    output.take("stderr", b"err\n")
    output.take("stdout", b"\x9a\x80\xff")
    assert output.text("stdout") == "\N{ROCKET}\N{REPLACEMENT CHARACTER}"
    assert output.text("stderr") == "err\n"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("x-api-key", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("GITHUB_TOKEN", True),
        ("max_thinking_tokens", False),
        ("PATH", False),
        ("CODEX_AUTH_JSON_PATH", False),
        ("MCP_AUTH_0123456789ABCDEF0123456789ABCDEF_0_0", False),
    ],
)
def test_names_of_secrets(name: str, secret: bool) -> None:
    assert names_a_secret(name) is secret


def test_secrets_are_told_once_and_flags_are_none() -> None:
    told: list[str] = []
    secrets = Secrets(told.append)
    secrets.add_named({"A_KEY": "sk-0123456789", "B_KEY": "sk-0123456789", "USE_AUTH": "true", "PORT_KEY": "12345678"})
    secrets.add(None)
    assert told == ["sk-0123456789"]
    assert secrets.out_of("key sk-0123456789!") == "key ***!"


def test_secrets_are_taken_out_of_every_file_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("sk-0123456789")
    folder = tmp_path / "agent"
    (folder / "sessions").mkdir(parents=True)
    (folder / "sessions" / "a.jsonl").write_bytes(b'\xff{"env": "sk-0123456789"}')
    (folder / "plain.txt").write_text("nothing")
    before = (folder / "plain.txt").stat().st_ino
    (folder / "link").symlink_to(outside)
    secrets = Secrets(lambda value: None)
    secrets.add("sk-0123456789")
    assert secrets.out_of_folder(folder) == []
    assert (folder / "sessions" / "a.jsonl").read_bytes() == b'\xff{"env": "***"}'
    assert (folder / "plain.txt").stat().st_ino == before
    assert outside.read_text() == "sk-0123456789" and (folder / "link").is_symlink()


def test_a_file_too_large_to_be_rewritten_is_taken_away_with_its_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.agents.harbor.secrets.MOST_BYTES", 100)
    (tmp_path / "large.log").write_text("x" * 200 + "sk-0123456789")
    (tmp_path / "clean.log").write_text("x" * 200)
    secrets = Secrets(lambda value: None)
    secrets.add("sk-0123456789")
    assert secrets.out_of_folder(tmp_path) == ["large.log"]
    assert [path.name for path in tmp_path.iterdir()] == ["clean.log"]


def failure(said_by: str, said: str = "", module: str = "litellm.exceptions") -> Exception:
    return kind(said_by, module)(said)


def kind(name: str, module: str, base: type[Exception] = Exception) -> type[Exception]:
    return type(name, (base,), {"__module__": module})


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (failure("RateLimitError", "429"), Code.MODEL_RATE_LIMITED),
        (failure("InternalServerError", "529 overloaded_error"), Code.MODEL_OVERLOADED),
        (failure("InternalServerError", "500"), Code.MODEL_FAILED),
        (failure("AuthenticationError"), Code.MODEL_AUTH_FAILED),
        (failure("ContentPolicyViolationError"), Code.MODEL_FILTERED),
        (failure("ContextLengthExceededError", module="harbor.llms.base"), Code.MODEL_CONTEXT_FULL),
        (failure("RateLimitError", module="somebody.else"), None),
        (ValueError("rate limit"), None),
    ],
)
def test_failures_of_a_model_are_told_apart_by_their_class_and_never_by_text_case_62(
    error: Exception, code: Code | None
) -> None:
    assert code_of(error) is code
    issue = issue_of(error, "terminus-2", Secrets(lambda value: None), in_main=False)
    assert issue is not None and issue.severity is Severity.ERROR
    assert issue.code is (code or Code.HARNESS_FAILED)


def test_what_harbor_reads_in_a_programs_output_is_only_a_warning_case_25() -> None:
    module = "harbor.agents.installed.base"
    plain = kind("NonZeroAgentExitCodeError", module)
    error = kind("ApiRateLimitError", module, plain)("Command failed (exit 3): x")
    issue = issue_of(error, "codex", Secrets(lambda value: None), in_main=True)
    assert issue is not None and (issue.severity, issue.code) == (Severity.WARNING, Code.MODEL_RATE_LIMITED)
    assert exit_code_of(error) == 3
    assert issue_of(plain("Command failed (exit 1): x"), "codex", Secrets(lambda value: None), in_main=True) is None


def test_no_secret_is_in_an_issue() -> None:
    secrets = Secrets(lambda value: None)
    secrets.add("sk-0123456789")
    issue = issue_of(ValueError("bad key sk-0123456789"), "x", secrets, in_main=False)
    assert issue is not None and "sk-0123456789" not in repr(issue) and "bad key ***" in issue.message


def test_the_cause_within_a_retry_is_found() -> None:
    class Attempt:
        def exception(self) -> BaseException:
            return failure("RateLimitError")

    class Retried(Exception):
        last_attempt = Attempt()

    assert type(cause_of(Retried())).__name__ == "RateLimitError"
