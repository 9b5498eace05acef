"""The terminal in `main`: a tmux server of its own, which lives on when the agent has ended by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import StrEnum

import anyio
import msgspec

from engine.agents.agent import AgentSession
from engine.agents.terminus2 import scripts
from engine.agents.terminus2.keys import Stroke
from engine.agents.terminus2.screen import Look, Seen, View, view
from engine.environments.environment import ExecResult, Sink
from engine.text import clean

COLUMNS = 200
ROWS = 50
HISTORY = 20_000
"""Lines. Only the output of one wait has to fit: the log comes from a stream of its own."""
MIN_WAIT_SEC = 1.0
"""However soon a command ends: what it started in the background gets so long."""
ASK_SEC = 30.0
FIRST_PROMPT_SEC = 5.0
START_SEC = 60.0
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Between questions to a tmux that doesn't answer."""
LOOKS = 3
_POLL_SEC = 0.25
_MOST_OUTPUT = 32 << 20
_GONE = re.compile(
    r"can't find (?:session|window|pane)|no server running|no current (?:target|session)"
    r"|error connecting to [^\n]*\((?:No such file or directory|Connection refused)\)"
)


class Standing(StrEnum):
    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


class Tmux(msgspec.Struct, frozen=True, kw_only=True):
    """A tmux program in `main`. `origin` is where it comes from, for messages."""

    program: str
    origin: str
    conf: str = "/dev/null"
    env: Mapping[str, str] = {}


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What one script printed."""

    out: bytes
    words: str
    result: ExecResult


class TerminalGone(Exception):
    """The terminal has ended; nothing can be typed into it any more."""


class TerminalSilent(Exception):
    """tmux gave no usable answer for a while: whether the terminal is still there is unknown."""


class TerminalFailed(Exception):
    """It could not be started; the message says why."""


def standing(exit_code: int | None, words: str) -> Standing:
    """A client's exit code says only that it failed: both that the session has ended and that the server was too busy
    to answer."""
    if exit_code == 0:
        return Standing.ALIVE
    return Standing.GONE if exit_code is not None and _GONE.search(words) else Standing.UNKNOWN


class Terminal:
    """`start` first. Every question may raise TerminalGone or TerminalSilent."""

    def __init__(self, session: AgentSession, tmux: Tmux) -> None:
        self.tmux = tmux
        self.place = ""
        self.shell = ""
        self._session = session
        self._seen = Seen()
        self._children = ""  # the shell's, before the last keys

    async def start(self) -> None:
        token = os.urandom(6).hex()
        program = self.tmux
        said = await self._run(
            scripts.START,
            *(program.program, token, program.conf, str(COLUMNS), str(ROWS), str(HISTORY)),
            stdin=scripts.INPUTRC.encode(),
            timeout_sec=START_SEC,
        )
        lines = said.out.decode("utf-8", "replace").splitlines()
        if said.result.exit_code != 0 or len(lines) != 2:
            words = said.words or f"exit code {said.result.exit_code}"
            raise TerminalFailed(f"tmux ({program.origin}) can't be started: {words}")
        self.place, self.shell = lines
        try:
            with anyio.move_on_after(FIRST_PROMPT_SEC):  # what is typed before it may be lost
                await self._ask(scripts.WAIT, "100", "0.05", "")
        except (TerminalGone, TerminalSilent) as error:
            raise TerminalFailed(f"tmux ({program.origin}) was started, but its shell {self.shell}: {error}") from None

    async def follow(self, sink: Sink) -> None:
        """All that the terminal prints, until it ends or `end` is called."""
        await self._session.execute(["sh", "-c", scripts.READ_OUTPUT, "sh", f"{self.place}/output"], sink=sink)

    async def send(self, stroke: Stroke) -> str:
        """Returns a warning, or ""."""
        if stroke.names:
            said = await self._ask(scripts.PRESS, *stroke.names)
        elif stroke.text:
            said = await self._ask(scripts.TYPE, "long" if stroke.has_long_line else "short", stdin=stroke.text)
        else:
            return ""
        lines = said.out.decode("utf-8", "replace").splitlines()
        self._children = next((line[len("children ") :] for line in lines if line.startswith("children ")), "unknown")
        if "by-lines" in lines:
            return (
                "a line of more than 4,095 bytes was typed to a program that reads by lines: the kernel cuts it off; "
                "write long content in several lines"
            )
        return ""

    async def wait(self, seconds: float, *, until_calm: bool) -> None:
        """`until_calm`: no longer than until the shell is at its prompt again with nothing left to do, but at least
        MIN_WAIT_SEC."""
        first = min(seconds, MIN_WAIT_SEC) if until_calm else seconds
        await anyio.sleep(first)
        if (left := seconds - first) <= _POLL_SEC:
            await anyio.sleep(left)
            return
        with anyio.move_on_after(left):
            polls = int(left / _POLL_SEC) + 1
            await self._ask(scripts.WAIT, str(polls), str(_POLL_SEC), self._children, timeout_sec=left + ASK_SEC)

    async def look(self) -> View:
        """What is new since the last look."""
        seen = self._seen
        for _ in range(LOOKS):
            mark = f"mark:{os.urandom(12).hex()}"
            look = parse_look((await self._ask(scripts.LOOK, str(seen.history), str(seen.row), mark)).out, mark)
            if not look.moved:
                break
        shown, self._seen = view(look, seen)
        return shown

    async def screen(self) -> str:
        """As it stands; for the next look it counts as not seen."""
        mark = f"mark:{os.urandom(12).hex()}"
        rows = parse_look((await self._ask(scripts.LOOK, "0", "0", mark)).out, mark).rows
        return "\n".join(row.rstrip() for row in rows).rstrip()

    async def end(self) -> None:
        """Nothing follows it any more; what runs in it goes on."""
        await self._run(scripts.END, self.tmux.program, self._socket)

    @property
    def _socket(self) -> str:
        return f"{self.place}/socket"

    async def _ask(
        self, script: str, *arguments: str, stdin: bytes | None = None, timeout_sec: float = ASK_SEC
    ) -> Said:
        """Asks again while the answer is unknown, unless something may have been typed already."""
        said = await self._run(
            script, self.tmux.program, self._socket, *arguments, stdin=stdin, timeout_sec=timeout_sec
        )
        if said.result.exit_code == 0:
            return said
        state = standing(said.result.exit_code, said.words)
        for pause in PAUSES:
            await anyio.sleep(pause)
            alive = await self._run(scripts.ASK, self.tmux.program, self._socket)
            state = standing(alive.result.exit_code, alive.words)
            if state is Standing.GONE:
                raise TerminalGone(f"the terminal has ended: {alive.words}")
            if state is Standing.ALIVE:
                if script in (scripts.TYPE, scripts.PRESS):
                    break
                said = await self._run(
                    script, self.tmux.program, self._socket, *arguments, stdin=stdin, timeout_sec=timeout_sec
                )
                if said.result.exit_code == 0:
                    return said
        raise TerminalSilent(f"tmux doesn't answer: {said.words or f'exit code {said.result.exit_code}'}")

    async def _run(
        self, script: str, *arguments: str, stdin: bytes | None = None, timeout_sec: float = ASK_SEC
    ) -> Said:
        out, words = bytearray(), bytearray()

        def sink(stream: str, data: bytes) -> None:
            into = out if stream == "stdout" else words
            into += data[: max(0, _MOST_OUTPUT - len(into))]

        result = await self._session.execute(
            ["sh", "-c", script, "sh", *arguments],
            env=self.tmux.env,
            stdin=stdin,
            timeout_sec=timeout_sec,
            sink=sink,
            logged=False,
        )
        if not result.environment_alive:
            raise TerminalGone("main is dead")
        said = words[-2000:].decode("utf-8", "replace") or ("" if result.started else result.tail)
        return Said(out=bytes(out), words=clean(said).strip(), result=result)


def parse_look(out: bytes, mark: str) -> Look:
    """What the script LOOK printed. Raises TerminalSilent where it is not that."""
    rows = out.decode("utf-8", "replace").split("\n")
    marks = [index for index, row in enumerate(rows) if row == mark]
    try:
        assumed, history, row, full = (int(word or "0") for word in rows[0].split(" "))
        first, second = marks
    except ValueError:
        raise TerminalSilent(f"tmux gave an answer that can't be read: {rows[0][:200]}") from None
    return Look(
        history=history,
        row=row,
        full_screen=bool(full),
        rows=tuple(rows[1:first]),
        old=tuple(rows[first + 1 : second]),
        since=tuple(rows[second + 1 :]),
        moved=assumed != history,
    )
