"""A trial's model: reached from the host, counted, its failures told, and out of reach once the agent is done."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import ClassVar

import pytest

from engine import events as ev
from engine.agents.agent import GATEWAY_FOLDER, AgentEnd, AgentSession, StepReport
from engine.events import ArmInfo, Endpoint
from engine.issues import Code, Issue, Severity
from engine.models.conversation import Turn
from engine.models.gateway import GatewayUnusable
from engine.models.model_call import CostSource, ModelCall, Usage
from engine.models.prices import prices_dated
from engine.models.scripted.script import Fail, Hang, Say, Script, Tokens
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import ModelSettings, Wire
from engine.trial.job import Keep
from tests.engine.agents.model_agent import NAME, register
from tests.engine.fake_environment import Command
from tests.engine.trial.trials import STEP_FILES, STEPS, Rig

pytestmark = pytest.mark.anyio

KEY = "sk-marked-0123456789"
HELLO = (Turn("user", "hello"),)
SAID = Say(text="hi", tokens=Tokens(tokens_in=100, tokens_out=9, cached=40, reasoning=4), cost_usd=0.25)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.connect.random.random", lambda: 0.0)
    monkeypatch.setenv("SOME_KEY", KEY)


def arm(server: ScriptedServer | None = None) -> ArmInfo:
    address = server.base_url(Wire.OPENAI_CHAT) if server is not None else "http://127.0.0.1:1/v1"
    return ArmInfo(
        name="a", agent=NAME, model="m", protocol="openai-chat", endpoint=Endpoint(base_url=address, key_env="SOME_KEY")
    )


async def ask(session: AgentSession) -> None:
    assert session.model is not None
    await session.model.client().ask(HELLO)


def server(*turns: Say | Fail | Hang) -> ScriptedServer:
    return ScriptedServer(Script(turns=turns), key=KEY)


async def test_calls_on_the_host_are_counted_told_and_paid_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    async def work(session: AgentSession) -> None:
        assert session.model is not None
        client = session.model.client()
        reply = await client.ask(HELLO)
        assert session.model.calls == 1
        session.report_step(StepReport(what="x", tokens_in=reply.usage.tokens_in, cost_usd=reply.cost_usd))
        await client.ask(HELLO)

    register(monkeypatch, work)
    async with server(SAID, SAID) as served:
        rig = Rig(tmp_path, agent=NAME, arm=arm(served))
        rig.scores()
        end = await rig.trial()
    first, second = rig.of(ev.ModelCalled)
    assert (first.number, second.number) == (1, 2)
    assert (first.tokens_in, first.tokens_cached, first.tokens_out, first.tokens_reasoning) == (100, 40, 9, 4)
    assert (end.tokens_in, end.tokens_out, end.cost_usd, end.cost_partial) == (200, 18, 0.5, False)
    assert (end.cost_source, end.model_calls, end.model_failures, end.passed) == ("provider", 2, 0, True)
    assert rig.issues == []


async def test_tries_that_failed_first_are_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    register(monkeypatch, ask)
    async with server(Fail(status=529, times=2), SAID) as served:
        rig = Rig(tmp_path, agent=NAME, arm=arm(served))
        rig.scores()
        end = await rig.trial()
    assert (end.model_calls, end.model_failures, end.model_retries, end.passed) == (1, 2, 2, True)
    assert rig.issue(Code.MODEL_RETRIED).severity is Severity.WARNING
    assert any("try 2 of" in one.activity for one in rig.of(ev.ActivityChanged))


async def test_a_model_that_fails_for_good_ends_the_agent_and_not_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    """Case 71: verified all the same; the verdict decides."""

    async def work(session: AgentSession) -> None:
        await ask(session)
        assert session.model is not None
        await session.model.client().ask((*HELLO, Turn("assistant", "hi"), Turn("user", "go on")))

    register(monkeypatch, work)
    async with server(SAID, Fail(status=401, times=0)) as served:
        rig = Rig(tmp_path, agent=NAME, arm=arm(served))
        rig.scores()
        end = await rig.trial()
    assert (end.outcome, end.passed, end.cost_usd) == ("scored", True, 0.25)
    issue = rig.issue(Code.MODEL_AUTH_FAILED)
    assert issue.severity is Severity.ERROR
    assert Code.HARNESS_FAILED not in rig.codes
    assert KEY not in json.dumps([str(event) for event in rig.events])


async def test_a_key_that_was_never_accepted_is_said_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    register(monkeypatch, ask)
    async with server(Fail(status=401, times=0)) as served:
        rig = Rig(tmp_path, agent=NAME, arm=arm(served))
        rig.scores("0\n")
        end = await rig.trial()
    assert (end.outcome, end.passed, end.model_calls, end.model_failures) == ("scored", False, 0, 1)
    assert (end.cost_usd, end.cost_partial) == (0.0, False)  # nothing was answered, nothing is paid
    assert rig.codes == [Code.MODEL_AUTH_FAILED]


async def test_an_issue_is_said_once_however_often_an_agent_raises_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    async def work(session: AgentSession) -> None:
        for _ in range(3):
            session.issue(Issue(Severity.ERROR, None, Code.MODEL_REFUSED, "it refused"))
        await ask(session)

    register(monkeypatch, work)
    async with server(SAID) as served:
        rig = Rig(tmp_path, agent=NAME, arm=arm(served))
        rig.scores()
        await rig.trial()
    assert rig.codes == [Code.MODEL_REFUSED]


async def test_a_trial_whose_key_is_gone_makes_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, ask)
    monkeypatch.delenv("SOME_KEY", raising=False)
    rig = Rig(tmp_path, agent=NAME, arm=arm())
    end = await rig.trial()
    assert (end.outcome, rig.provider.environments) == ("unscored", [])
    assert "SOME_KEY is not set" in rig.issue(Code.AGENT_UNAVAILABLE).message
    assert (end.cost_usd, end.cost_partial) == (0.0, False)


class FakeGateway:
    """Listens while it is entered."""

    opened: ClassVar[list[FakeGateway]] = []

    def __init__(
        self,
        settings: ModelSettings,
        wire: Wire,
        folder: Path,
        *,
        on_call: Callable[[ModelCall], None],
        activity: Callable[[str], None],
    ) -> None:
        self.folder, self.on_call = folder, on_call
        assert wire is settings.wire and settings.key.reveal() == KEY
        self.opened.append(self)

    async def __aenter__(self) -> FakeGateway:
        (self.folder / "socket").touch()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        (self.folder / "socket").unlink()


@pytest.fixture
async def gateways(monkeypatch: pytest.MonkeyPatch, no_pauses: None) -> AsyncIterator[list[FakeGateway]]:
    FakeGateway.opened = []
    monkeypatch.setattr("engine.models.gateway.Gateway", FakeGateway)
    yield FakeGateway.opened


async def test_the_gateway_listens_from_the_set_up_to_the_agent_s_end_and_not_for_the_verifier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateways: list[FakeGateway]
) -> None:
    seen: list[tuple[str, bool]] = []

    def look(when: str) -> None:
        seen.append((when, (gateways[-1].folder / "socket").exists()))

    async def prepares(session: AgentSession) -> None:
        look("set-up")

    async def work(session: AgentSession) -> AgentEnd:
        look("work")
        usage = Usage(tokens_in=10, tokens_out=2)
        gateways[-1].on_call(ModelCall(number=1, seconds=1, usage=usage, cost_usd=0.5, cost_source=CostSource.PRICES))
        return AgentEnd(exit_code=0)

    register(monkeypatch, work, prepares=prepares, needs_gateway=True)
    rig = Rig(tmp_path, STEPS, STEP_FILES, agent=NAME, arm=arm())

    def tests(command: Command) -> None:
        look("tests")
        command.environment.write("/logs/verifier/reward.txt", "1")

    rig.provider.when("/tests/test.sh", does=tests)
    end = await rig.trial()
    assert seen == [("set-up", True), ("work", True), ("tests", False)] * 2
    folder = gateways[0].folder
    spec = rig.provider.environments[0].spec
    assert spec.brings_in and spec.bind_read_only == {folder: GATEWAY_FOLDER} and gateways[1].folder == folder
    assert len(str(folder / "socket")) < 108 and folder.parent.name.startswith("trialdeck-")
    assert not folder.exists()
    assert (end.tokens_in, end.cost_usd, end.model_calls) == (20, 1.0, 2)
    assert end.cost_source == f"prices of {prices_dated()}"


async def test_a_kept_environment_keeps_the_folder_that_is_mounted_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateways: list[FakeGateway]
) -> None:
    register(monkeypatch, needs_gateway=True)
    rig = Rig(tmp_path, agent=NAME, arm=arm(), keep=Keep.ALWAYS)
    rig.scores()
    with tempfile.TemporaryDirectory(prefix="td-") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        await rig.trial()
        assert [path.name for path in gateways[0].folder.iterdir()] == ["kept"]
        assert str(gateways[0].folder).startswith(short)


async def test_nothing_is_mounted_where_the_engine_is_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateways: list[FakeGateway]
) -> None:
    register(monkeypatch, needs_gateway=True)
    rig = Rig(tmp_path, agent=NAME, arm=arm())
    rig.provider.mounts = False
    end = await rig.trial()
    assert (end.outcome, rig.codes, gateways) == ("unscored", [Code.AGENT_UNAVAILABLE], [])


@pytest.mark.parametrize("capsules", [("tmux-v1",), ()])
async def test_far_away_there_is_a_place_for_what_an_agent_carries_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_pauses: None, capsules: tuple[str, ...]
) -> None:
    register(monkeypatch, capsules=capsules)
    rig = Rig(tmp_path, agent=NAME, arm=arm())
    rig.provider.mounts = False
    rig.scores()
    await rig.trial()
    spec = rig.provider.environments[0].spec
    assert (spec.brings_in, spec.bind_read_only) == (bool(capsules), {})


async def test_an_agent_without_a_model_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    async def work(session: AgentSession) -> None:
        given.append(session.model)

    register(monkeypatch, work, wires=())
    rig = Rig(tmp_path, agent=NAME, arm=ArmInfo(name="a", agent=NAME))
    rig.scores()
    end = await rig.trial()
    assert given == [None] and end.model_calls is None and rig.issues == []


async def test_a_call_that_time_cuts_off_leaves_a_cost_that_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    """Case 68: what was asked last may have been paid for."""

    async def work(session: AgentSession) -> None:
        assert session.model is not None
        client = session.model.client()
        await client.ask(HELLO)
        await client.ask((*HELLO, Turn("assistant", "hi"), Turn("user", "go on")))

    register(monkeypatch, work)
    async with server(SAID, Hang()) as served:
        rig = Rig(tmp_path, "[agent]\ntimeout_sec = 2.0\n", agent=NAME, arm=arm(served))
        rig.scores()
        end = await rig.trial()
    assert (end.timed_out, end.passed, end.model_calls) == (True, True, 1)
    assert (end.cost_usd, end.cost_partial) == (0.25, True)
    assert rig.of(ev.ModelCalled)[-1].hung_up


async def test_a_gateway_that_can_t_listen_is_said_with_its_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateways: list[FakeGateway]
) -> None:
    async def fails(self: FakeGateway) -> FakeGateway:
        raise GatewayUnusable("the gateway can't listen: point TMPDIR at a shorter folder")

    monkeypatch.setattr(FakeGateway, "__aenter__", fails)
    register(monkeypatch, needs_gateway=True)
    rig = Rig(tmp_path, agent=NAME, arm=arm())
    end = await rig.trial()
    assert (end.outcome, rig.codes) == ("unscored", [Code.AGENT_UNAVAILABLE])
    assert "TMPDIR" in rig.issue(Code.AGENT_UNAVAILABLE).message
