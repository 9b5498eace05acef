"""What a program in `main` is given before it is started: installed programs, skills, the task's servers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from engine.agents.capsules.capsule import Capsule
from engine.agents.in_main.carried import carried
from engine.agents.in_main.installed import CERTIFICATES, INSTALLED, npm_install, pip_install
from engine.agents.in_main.skills import copy_skills
from engine.agents.in_main.task_servers import servers_of
from engine.events import ArmInfo
from engine.issues import Code, TrialFailed
from tests.engine.agents.sessions import Session

pytestmark = pytest.mark.anyio

ARM = ArmInfo(name="x", agent="codex")
SERVER = '[[environment.mcp_servers]]\nname = "far"\ntransport = "streamable-http"\nurl = "http://side/mcp"\n'


def with_host(session: Session, allowed: Mapping[str, str], hidden: list[str]) -> Session:
    spec = msgspec.structs.replace(session.environment.spec, allowed_host_env=allowed)
    session.environment.spec = spec
    session.given = msgspec.structs.replace(session.given, hide=hidden.append)
    return session


def test_variables_of_the_host_in_a_header_are_filled_and_hidden(tmp_path: Path) -> None:
    hidden: list[str] = []
    toml = SERVER + 'headers = { Authorization = "Bearer ${TOKEN}", "X-Kind" = "${KIND:-plain}", "X-Cost" = "5$" }\n'
    session = with_host(Session(tmp_path, ARM, toml=toml), {"TOKEN": "t-123"}, hidden)
    [server] = servers_of(session.given)
    assert server.headers == {"Authorization": "Bearer t-123", "X-Kind": "plain", "X-Cost": "5$"}
    assert hidden == ["t-123"]


def test_a_variable_that_was_not_allowed_is_named_with_the_way_out(tmp_path: Path) -> None:
    toml = SERVER + 'headers = { Authorization = "Bearer ${TOKEN}" }\n'
    with pytest.raises(TrialFailed) as caught:
        servers_of(with_host(Session(tmp_path, ARM, toml=toml), {}, []).given)
    issue = caught.value.issue
    assert issue.code is Code.MCP_SERVER_FAILED and "far" in issue.message and "TOKEN" in issue.message
    assert "--allow-host-env TOKEN" in issue.evidence[0].text


async def test_npm_installs_one_version_as_root_with_the_certificates_of_this_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ca.pem").write_text("certificates")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("HTTPS_PROXY", "http://me:password@proxy:3128")
    monkeypatch.delenv("NPM_CONFIG_REGISTRY", raising=False)
    hidden: list[str] = []
    session = with_host(Session(tmp_path, ARM), {}, hidden)
    node, package = await npm_install(session.given, "@openai/codex", "1.2.3", node=None)
    assert (node, package) == ("node", f"{INSTALLED}/codex/node_modules/@openai/codex")
    [command] = session.provider.commands
    assert command.words[:2] == ("npm", "install") and command.words[-1] == "@openai/codex@1.2.3"
    assert command.user == "0" and command.timeout_sec
    assert command.env["NODE_EXTRA_CA_CERTS"] == command.env["NPM_CONFIG_CAFILE"] == CERTIFICATES
    assert command.env["HTTPS_PROXY"].endswith("proxy:3128") and hidden == ["http://me:password@proxy:3128"]
    assert session.environment.read(CERTIFICATES) == b"certificates"


async def test_npm_of_a_capsule_is_run_by_the_capsule_s_node(tmp_path: Path) -> None:
    session = Session(tmp_path, ARM)
    capsule = Capsule(tag="node24-v1", digest="", folder=tmp_path, programs={"node": "/cap/node", "npm": "/cap/npm"})
    node, _ = await npm_install(session.given, "@openai/codex", "1.2.3", node=capsule)
    [command] = session.provider.commands
    assert node == command.words[0] == "/cap/node" and "/cap/npm" in command.words


async def test_pip_installs_what_is_pinned_into_an_environment_of_its_own(tmp_path: Path) -> None:
    session = Session(tmp_path, ARM)
    python = await pip_install(session.given, "mini-swe-agent", "2.4.6", pinned=b"rich==15.0.0\n")
    making, installing = session.provider.commands
    assert making.words == ("python3", "-m", "venv", f"{INSTALLED}/mini-swe-agent")
    assert (
        installing.words[0] == python == f"{INSTALLED}/mini-swe-agent/bin/python3" and "--no-deps" in installing.words
    )
    assert session.environment.read(installing.words[-1]) == b"rich==15.0.0\nmini-swe-agent==2.4.6\n"
    assert installing.env["PIP_CERT"] == CERTIFICATES or not Path("/etc/ssl/certs/ca-certificates.crt").exists()


@pytest.mark.parametrize(("starts", "words"), [(False, "could not be started"), (True, "exit code 1")])
async def test_an_image_that_cannot_install_it_is_told_what_it_lacks(tmp_path: Path, starts: bool, words: str) -> None:
    session = Session(tmp_path, ARM)
    session.provider.when("npm install", 1, err=b"npm ERR! ENOTFOUND registry", starts=starts)
    with pytest.raises(TrialFailed) as caught:
        await npm_install(session.given, "@openai/codex", "1.2.3", node=None)
    issue = caught.value.issue
    assert issue.code is Code.AGENT_SETUP_FAILED and words in issue.message and "1.2.3" in issue.message
    told = " ".join(evidence.text for evidence in issue.evidence)
    assert "network" in told and "Node.js" in told and "ENOTFOUND" in told


@pytest.mark.parametrize("runtime", ["node", "python"])
async def test_skills_are_copied_by_the_agent_s_own_runtime(tmp_path: Path, runtime: str) -> None:
    session = Session(tmp_path, ARM, toml='[environment]\nskills_dir = "/task skills"\n')
    await copy_skills(session.given, "/home/skills", "node" if runtime == "node" else "python", "/cap/run")
    [command] = session.provider.commands
    assert command.words[0] == "/cap/run" and command.words[-2:] == ("/task skills", "/home/skills")


async def test_without_skills_nothing_is_copied_and_without_their_folder_it_is_named(tmp_path: Path) -> None:
    plain = Session(tmp_path / "plain", ARM)
    await copy_skills(plain.given, "/home/skills", "node", "node")
    assert plain.provider.commands == []
    lacking = Session(tmp_path / "lacking", ARM, toml='[environment]\nskills_dir = "/skills"\n')
    lacking.provider.when("/skills", 1, err=b"ENOENT")
    with pytest.raises(TrialFailed, match="skills_dir /skills"):
        await copy_skills(lacking.given, "/home/skills", "node", "node")


async def test_a_capsule_that_nobody_can_build_fails_the_set_up_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(TrialFailed) as caught:
        await carried(Session(tmp_path, ARM).given, ["node1-v1"])
    assert caught.value.issue.code is Code.AGENT_SETUP_FAILED and "node24-v1" in caught.value.issue.message
