"""An engine's process whose environments are made up: `python -m tests.engine.runs.fake_engine RUN_FOLDER SEED`.

Its trials take a few milliseconds, spend money, and end as their names say, so that it can be killed at any moment.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import anyio

from engine.agents.agent import AgentEnd, AgentSession, StepReport
from engine.runs import process
from engine.trial import trial
from tests.engine.fake_environment import Command, FakeProvider


class Spender:
    """Spends a dollar in four steps."""

    name, version, log_name = "spender", "1", "spender.txt"

    async def set_up(self, session: AgentSession) -> None:
        return None

    async def run(self, session: AgentSession) -> AgentEnd:
        for _ in range(4):
            session.report_step(StepReport(what="", tokens_out=1, cost_usd=0.25))
            await session.execute(["work"])
        return AgentEnd(exit_code=0)


def main(folder: Path, seed: int) -> int:
    chance = random.Random(seed)
    provider = FakeProvider(folder.parent / f"containers-{seed}")

    async def work(command: Command) -> None:
        await anyio.sleep(chance.random() * 0.02)

    def test(command: Command) -> None:
        reward = "1" if command.environment.spec.trial < "c" else "0"
        command.environment.write("/logs/verifier/reward.txt", reward)

    provider.when("work", does=work)
    provider.when("/tests/test.sh", does=test)
    trial.make_agent = lambda arm: Spender()  # type: ignore[attr-defined]
    return process.main([str(folder), *(["--resume"] if seed else [])], provider.open)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
