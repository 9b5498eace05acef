"""The agent: mini-swe-agent is carried in or installed, configured for the trial, and runs once."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import anyio

from engine.agents.agent import AgentEnd, AgentSession
from engine.agents.capsules.mini_swe_agent import PACKAGE, PACKAGES, tag_of
from engine.agents.capsules.python_v1 import PYTHON
from engine.agents.in_main.carried import carried
from engine.agents.in_main.forwarder import Forwarder
from engine.agents.in_main.installed import pip_install
from engine.agents.in_main.json_stream import JsonStream
from engine.agents.in_main.log_name import name_in_trial
from engine.agents.in_main.setup_failed import setup_failed
from engine.agents.in_main.told_steps import ToldSteps
from engine.agents.mini_swe_agent.arm import CAPSULE, configured
from engine.agents.mini_swe_agent.config import config_json
from engine.agents.mini_swe_agent.ended import MiniSweAgentEnd
from engine.events import ArmInfo
from engine.tasks.task import LOGS_AGENT
from engine.trajectories.mini_swe_agent import MiniSweAgentFold

HOME = "/opt/trialdeck/mini-swe-agent"
TASK, CONFIG, LAUNCH = f"{HOME}/task.md", f"{HOME}/config.yaml", f"{HOME}/launch.py"
TRAJECTORY = f"{LOGS_AGENT}/mini-swe-agent.traj.json"
ENV = {
    "MSWEA_CONFIGURED": "true",
    "MSWEA_GLOBAL_CONFIG_DIR": f"{HOME}/home",
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_COST_TRACKING": "ignore_errors",
    # A minute of waiting for a model that fails, with the two tries that its client makes of each of these.
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "6",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # its price table is not fetched from the network
    "_TYPER_STANDARD_TRACEBACK": "1",
}
"""Commands of the agent inherit these; none of them says where Python looks for its modules."""
_LAUNCH = Path(__file__).with_name("launch.py")
_VERSION_SEC = 120.0
_REMOVE_SEC = 30.0
_SAYS_VERSION = re.compile(r"^version (\S+)$", re.MULTILINE)
_ASK_VERSION = "import minisweagent; print('version', minisweagent.__version__)"


class MiniSweAgent:
    """Raises AgentConfigInvalid for an arm that can't work."""

    name = "mini_swe_agent"
    log_name = "mini_swe_agent.txt"

    def __init__(self, arm: ArmInfo) -> None:
        self._arm = configured(arm)
        self.version = self._arm.version
        self._python = ""
        self._forwarder: Forwarder | None = None

    async def set_up(self, session: AgentSession) -> None:
        """Raises TrialFailed."""
        if session.model is None:
            raise setup_failed("mini-swe-agent has no model to work with", way_out="give the arm model=NAME")
        _check_instruction(session.instruction)
        capsules = await carried(session, self._arm.capsules)
        if self._arm.install == CAPSULE:
            self._python = capsules[tag_of(self._arm.version)].programs[PYTHON]
        else:
            pinned = await anyio.Path(PACKAGES).read_bytes()
            self._python = await pip_install(session, PACKAGE, self._arm.version, pinned=pinned)
        self._forwarder = await Forwarder.start(session, "python", self._python)
        config = config_json(self._arm, session.model.settings, self._forwarder.address)
        await self._put_home(session, config)
        await self._check_version(session)

    async def run(self, session: AgentSession) -> AgentEnd:
        end = MiniSweAgentEnd(name_in_trial(session, self.log_name))
        fold = MiniSweAgentFold()
        steps = ToldSteps(session, agent=PACKAGE, version=self.version)
        stream = JsonStream(fold, steps, session.folder / self.log_name, watch=end.watch)
        way = self._forwarder.environment if self._forwarder is not None else {}
        words = [self._python, "-I", "-X", "utf8", LAUNCH, TASK, CONFIG, TRAJECTORY]
        try:
            result = await session.execute(words, env={**ENV, **way}, sink=stream.sink)
        finally:  # also when time is up: what it did until then counts
            stream.finish()
            steps.finish(ended=end.ended)
            if (issue := end.issue()) is not None:
                session.issue(issue)
        if self._forwarder is not None:
            await self._forwarder.stop()
        return AgentEnd(exit_code=result.exit_code, note=end.ended)

    async def _put_home(self, session: AgentSession, config: bytes) -> None:
        launch = await anyio.Path(_LAUNCH).read_bytes()
        with tempfile.TemporaryDirectory(prefix="trialdeck-mini-") as made:
            folder = Path(made) / Path(HOME).name
            (folder / "home").mkdir(parents=True)
            (folder / "home").chmod(0o777)  # whoever the agent runs as
            for path, content in ((TASK, session.instruction), (CONFIG, config), (LAUNCH, launch)):
                file = folder / Path(path).name
                file.write_bytes(content)
                file.chmod(0o644)
            folder.chmod(0o755)
            # What the agent of an earlier step left there may belong to another user.
            await session.environment.execute(["rm", "-rf", HOME], user="0", timeout_sec=_REMOVE_SEC)
            await session.environment.upload(Path(made), str(Path(HOME).parent))

    async def _check_version(self, session: AgentSession) -> None:
        """That the program runs in this image is known before the clock starts, and so is which one it is."""
        said = bytearray()
        result = await session.execute(
            [self._python, "-I", "-c", _ASK_VERSION],
            env=ENV,
            timeout_sec=_VERSION_SEC,
            logged=False,
            sink=lambda stream, data: said.extend(data if stream == "stdout" else b""),
        )
        found = _SAYS_VERSION.search(said.decode("utf-8", "replace"))
        if result.exit_code != 0 or found is None:
            raise setup_failed("mini-swe-agent can't be started in main", result)
        self.version = found[1]


def _check_instruction(instruction: bytes) -> None:
    try:
        instruction.decode()
    except UnicodeDecodeError as error:
        raise setup_failed(
            f"the instruction is no UTF-8 (byte {error.start:,}): mini-swe-agent takes text, and no byte of it is "
            "changed for it"
        ) from None
