"""The image's own tmux, or, where it has none that works, that of a capsule: nothing is fetched over the network."""

from __future__ import annotations

import anyio

from engine.agents.agent import AgentSession
from engine.agents.capsules.build import find_or_build
from engine.agents.capsules.capsule import Capsule, CapsuleUnusable
from engine.agents.capsules.carry_in import carry_in
from engine.agents.terminus2 import scripts
from engine.agents.terminus2.terminal import Terminal, TerminalFailed, Tmux
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed

CAPSULE = "tmux-v1"
FIND_SEC = 30.0


async def start_terminal(session: AgentSession) -> Terminal:
    """A terminal at its first prompt. Raises TrialFailed where there is no way to one, with what was tried."""
    tried: list[Evidence] = []
    for find in (_of_the_image, _of_the_capsule):
        session.activity("start a terminal")
        try:
            tmux = await find(session)
            if tmux is None:
                continue
            terminal = Terminal(session, tmux)
            await terminal.start()
        except (TerminalFailed, CapsuleUnusable) as error:
            tried.append(Evidence("tried", str(error)))
            continue
        return terminal
    raise TrialFailed(
        Issue(
            Severity.FATAL,
            Phase.AGENT,
            Code.AGENT_SETUP_FAILED,
            f"terminus2 has no terminal in main: {tried[-1].text}" if tried else "terminus2 has no terminal in main",
            tuple(tried),
            service="main",
        )
    )


async def _of_the_image(session: AgentSession) -> Tmux | None:
    out = bytearray()
    result = await session.execute(
        ["sh", "-c", scripts.FIND],
        sink=lambda stream, data: out.extend(data) if stream == "stdout" else None,
        timeout_sec=FIND_SEC,
        logged=False,
    )
    if not result.started:
        raise TerminalFailed(f"main has no sh, and without a shell there is no terminal: {result.tail}")
    found = out.decode("utf-8", "replace").splitlines()
    if result.exit_code != 0 or not found or not found[0].startswith("/"):
        return None
    return Tmux(program=found[0], origin="the image's own")


async def _of_the_capsule(session: AgentSession) -> Tmux:
    session.activity(f"carry in {CAPSULE}")

    def say(words: str) -> None:
        anyio.from_thread.run_sync(session.activity, words)

    capsule: Capsule = await anyio.to_thread.run_sync(find_or_build, CAPSULE, say)
    await carry_in(capsule, session.environment)
    return Tmux(
        program=capsule.programs["tmux"],
        origin=f"capsule {CAPSULE}",
        conf=f"{capsule.place}/etc/tmux.conf",
        env=capsule.env,
    )
