"""A real key on its way through the gateway of a real container: it reaches the server, and nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from engine.agents.agent import GATEWAY_SOCKET, AgentEnd, AgentSession
from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.provider import DockerProvider
from engine.events import ArmInfo, Endpoint
from engine.models.scripted.script import Say, Script, Tokens
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import Wire
from engine.runs.run import Run
from engine.trial_state import PASSED
from tests.engine.agents.model_agent import NAME, register
from tests.engine.runs.runs import RunRig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

KEY = "sk-marked-9f86d081884c7d659a2feaa0c55ad015"
HEADER = "team-marked-2c26b46b68ffc68ff99b453c1d30413413422d706"
BODY = '{"model": "m", "messages": [{"role": "user", "content": "hello"}]}'
CONNECT = f"""
use Socket;
socket(S, PF_UNIX, SOCK_STREAM, 0) or die;
my $open = connect(S, sockaddr_un('{GATEWAY_SOCKET}'));
"""
CALL = f"""{CONNECT}
$open or die "no way: $!";
select(S); $| = 1; select(STDOUT);
my $body = '{BODY}';
print S "POST /v1/chat/completions HTTP/1.1\\r\\nHost: model\\r\\nAuthorization: Bearer any\\r\\n";
print S "Content-Type: application/json\\r\\nContent-Length: " . length($body) . "\\r\\n";
print S "Connection: close\\r\\n\\r\\n$body";
print while <S>;
"""
LEFT_BEHIND = f"""
select(undef, undef, undef, 0.05) until -e '/tmp/go';
{CONNECT}
open(my $way, '>', '/tmp/way.new'); print $way $open ? "open" : "shut"; close($way);
rename('/tmp/way.new', '/tmp/way');
"""
"""What an agent may leave running: it tries the way to the model while the tests run."""
TESTS = """
touch /tmp/go
for n in $(seq 200); do [ -e /tmp/way ] && break; sleep 0.05; done
grep -qx shut /tmp/way && echo 1 >/logs/verifier/reward.txt
"""


@pytest.fixture
async def provider() -> AsyncIterator[DockerProvider]:
    async with DockerProvider.open() as provider:
        yield provider


def command_lines() -> bytes:
    """Of every process of this host, those in containers included."""
    return b"\n".join(_bytes(path) for path in Path("/proc").glob("[0-9]*/cmdline"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def test_a_key_is_nowhere_but_at_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: DockerProvider, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: dict[str, bytes] = {}

    async def work(session: AgentSession) -> AgentEnd:
        result = await session.execute(["perl", "-e", CALL], timeout_sec=30)
        seen["answer"] = result.tail.encode()
        environment = session.environment
        assert isinstance(environment, DockerEnvironment)
        container = environment._container("main").id
        seen["inspect"] = await environment._engine.raw("GET", f"containers/{container}/json")
        seen["environments"] = b"".join(_bytes(Path(f"/proc/{pid}/environ")) for pid in _processes(container))
        await session.execute(["sh", "-c", 'perl -e "$1" >/dev/null 2>&1 &', "sh", LEFT_BEHIND])
        seen["command lines"] = command_lines()
        return AgentEnd(exit_code=result.exit_code)

    register(monkeypatch, work, needs_gateway=True)
    monkeypatch.setenv("MARKED_KEY", KEY)
    monkeypatch.setenv("MARKED_HEADER", HEADER)
    said = Say(text="hi", tokens=Tokens(tokens_in=100, tokens_out=9), cost_usd=0.25)
    async with ScriptedServer(Script(turns=(said,)), key=KEY) as server:
        endpoint = Endpoint(
            base_url=server.base_url(Wire.OPENAI_CHAT), key_env="MARKED_KEY", headers={"X-Team": "${MARKED_HEADER}"}
        )
        arm = ArmInfo(name="a", agent=NAME, model="m", protocol="openai-chat", endpoint=endpoint)
        rig = RunRig(tmp_path, arms=(arm,), toml='[environment]\nnetwork_mode = "no-network"\n')
        (tmp_path / "tasks" / "t" / "tests" / "test.sh").write_text(TESTS)
        with anyio.fail_after(120):
            await Run(rig.folder, rig.card, rig.plan, list(rig.plan.trials), rig.log, provider, {}).execute()
    await provider.remove_run(rig.card.run)
    (trial,) = rig.state.trials.values()
    assert trial.state == PASSED, trial.issues  # without network; what was left behind found no way any more
    (heard,) = server.asked
    assert b"200 OK" in seen["answer"] and b"hi" in seen["answer"]
    assert heard.key_right and heard.headers["x-team"] == HEADER
    assert (trial.tokens_in, trial.cost_usd, trial.model_calls) == (100, 0.25, 1)
    files = {str(path): path.read_bytes() for path in rig.folder.rglob("*") if path.is_file()}
    captured = capfd.readouterr()
    files |= {"stdout": captured.out.encode(), "stderr": captured.err.encode(), **seen}
    assert len(files) > 10
    for secret in (KEY.encode(), HEADER.encode()):
        assert [name for name, content in files.items() if secret in content] == []
    assert json.loads(seen["inspect"])["HostConfig"]["NetworkMode"] == "none"


def _processes(container: str) -> list[str]:
    """Those of a container, by their control groups."""
    return [path.parent.name for path in Path("/proc").glob("[0-9]*/cgroup") if container.encode() in _bytes(path)]
