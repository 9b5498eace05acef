"""`command`: any command line as an agent. Parameter `run` is the command, given to `bash -c` in the task's workdir.

The instruction arrives on standard input and as a file whose path is in `TRIALDECK_INSTRUCTION`; never as an argument,
since an argument is limited to 128 KiB and a shell would read it.
"""

from __future__ import annotations

from engine.agents.agent import INSTRUCTION_PATH, AgentConfigInvalid, AgentEnd, AgentSession, AgentTraits
from engine.events import ArmInfo

TRAITS = AgentTraits(
    name="command",
    version="1",
    summary="any command line, run in main, where its program has to be; it gets the instruction on standard input",
    parameters={"run": "the command, given to bash -c in main, in the task's working directory; may be a whole script"},
)


class CommandAgent:
    name = "command"
    version = "1"
    log_name = "command.txt"

    def __init__(self, arm: ArmInfo) -> None:
        self.command = arm.parameters.get("run", "")
        if not self.command.strip():
            raise AgentConfigInvalid(
                f'arm {arm.name}: agent "command" needs the parameter run, such as command:run=my-agent'
            )

    async def set_up(self, session: AgentSession) -> None:
        await session.environment.upload_bytes(session.instruction, INSTRUCTION_PATH)

    async def run(self, session: AgentSession) -> AgentEnd:
        session.activity(self.command.split(maxsplit=1)[0])
        result = await session.execute(
            ["bash", "-c", self.command],
            stdin=session.instruction,
            env={"TRIALDECK_INSTRUCTION": INSTRUCTION_PATH},
        )
        return AgentEnd(exit_code=result.exit_code)
