"""The capsules that an agent's program needs, in `main` before it is started."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import anyio.from_thread
import anyio.to_thread

from engine.agents.agent import AgentSession
from engine.agents.capsules.build import find_or_build
from engine.agents.capsules.capsule import Capsule, CapsuleUnusable
from engine.agents.capsules.carry_in import carry_in
from engine.agents.in_main.setup_failed import setup_failed


async def carried(session: AgentSession, tags: Sequence[str]) -> dict[str, Capsule]:
    """By their tags. One that isn't there is built, which the trial's activity tells of; one that is mounted already is
    not copied. Call it in `set_up`. Raises TrialFailed, which says how to get out."""

    def say(words: str) -> None:
        with suppress(RuntimeError):  # nobody waits for it any more
            anyio.from_thread.run_sync(session.activity, words)

    found: dict[str, Capsule] = {}
    for tag in tags:
        session.activity(f"carry in {tag}")
        try:
            capsule = await anyio.to_thread.run_sync(find_or_build, tag, say, abandon_on_cancel=True)
        except CapsuleUnusable as error:
            raise setup_failed(str(error)) from None
        await carry_in(capsule, session.environment)
        found[tag] = capsule
    return found
