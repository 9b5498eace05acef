"""What an agent leaves behind in its logs, fetched and read once it has ended."""

from __future__ import annotations

import errno
from pathlib import Path

import anyio

from engine.agents.agent import AgentSession, LooksBack
from engine.environments.environment import Environment
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.log_streams import SUFFIX
from engine.tasks.task import LOGS_AGENT
from engine.text import clean_line
from engine.trial.job import DOWNLOAD_SEC, MAX_LOG_FOLDER_BYTES
from engine.trial.record import Record

LOOK_BACK_SEC = 120.0
WHY_CHARS = 500
OF_THE_HOST = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE})
"""Errors of the host's disk and descriptors: ours, also where the agent's code meets them."""


async def keep_what_it_wrote(environment: Environment, record: Record, folder: Path) -> None:
    """`/logs/agent` to the host. What the engine wrote there itself wins over a file of that name in there, and what it
    would have written beside that, had there been anything to write."""
    names = [path.name for path in folder.iterdir()]
    ours = tuple(f"{LOGS_AGENT}/{name}" for name in (*names, *(name + SUFFIX for name in names)))
    transfer = await environment.download(
        str(LOGS_AGENT), folder, exclude=ours, max_bytes=MAX_LOG_FOLDER_BYTES, timeout_sec=DOWNLOAD_SEC
    )
    if transfer.status == "too_large":
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.AGENT,
                Code.ARTIFACT_TOO_LARGE,
                f"{LOGS_AGENT} is larger than {MAX_LOG_FOLDER_BYTES >> 20} MiB: what is over that was left out",
                (Evidence("left out", "\n".join(transfer.skipped[:50])),),
            )
        )


async def look_back(agent: LooksBack, name: str, session: AgentSession) -> None:
    """Whatever goes wrong in it, the trial goes on: its verdict needs none of this."""
    why = f"no end after {LOOK_BACK_SEC:.0f} s"
    with anyio.move_on_after(LOOK_BACK_SEC):
        try:
            await agent.look_back(session)
            return
        except TrialFailed:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in OF_THE_HOST:
                raise
            why = f"{type(error).__name__}: {error}"
    session.issue(
        Issue(
            Severity.WARNING,
            Phase.AGENT,
            Code.HARNESS_FAILED,
            f"what {name} did could not be read when it had ended: {clean_line(why, WHY_CHARS)}",
        )
    )
