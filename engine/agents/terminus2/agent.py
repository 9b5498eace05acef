"""`terminus2`: works in a terminal in `main`, by keys and screens; the loop and the model are on the host."""

from __future__ import annotations

import anyio

from engine.agents.agent import INSTRUCTION_PATH, AgentEnd, AgentSession, AgentTraits
from engine.agents.terminus2 import endings
from engine.agents.terminus2.bring_in import CAPSULE, start_terminal
from engine.agents.terminus2.cast import Cast
from engine.agents.terminus2.diary import Diary
from engine.agents.terminus2.endings import Over
from engine.agents.terminus2.settings import PARAMETERS, settings_of
from engine.agents.terminus2.terminal import Terminal
from engine.agents.terminus2.work import Work
from engine.events import ArmInfo
from engine.issues import Code, TrialFailed
from engine.models.settings import Wire

TRAITS = AgentTraits(
    name="terminus2",
    version="1",
    summary="works in a terminal (tmux) of main by keys and screens, as Terminus 2 does; its model is called from here",
    wires=(Wire.OPENAI_CHAT, Wire.OPENAI_RESPONSES, Wire.ANTHROPIC),
    capsules=(CAPSULE,),
    parameters=PARAMETERS,
)

CAST = "terminal.cast"
CLOSE_SEC = 5.0
FLUSH_SEC = 3.0
MOST_OUTPUT = 64 << 20
"""Bytes of what the terminal prints that go to the log."""


class Terminus2Agent:
    name = "terminus2"
    version = "1"
    log_name = "terminus2.txt"

    def __init__(self, arm: ArmInfo) -> None:
        self.settings = settings_of(arm.parameters, f"arm {arm.name}")
        self.terminal: Terminal | None = None

    async def set_up(self, session: AgentSession) -> None:
        self.terminal = await start_terminal(session)
        if _text_of(session.instruction)[1]:
            await session.environment.upload_bytes(session.instruction, INSTRUCTION_PATH)

    async def run(self, session: AgentSession) -> AgentEnd:
        terminal, model = self.terminal, session.model
        if terminal is None or model is None:
            raise RuntimeError("run before set_up, or without a model")
        client = model.client()
        diary = Diary(session, agent=self.name, version=self.version)
        ended = "interrupted"
        try:
            with Cast(session.folder / CAST) as cast:
                instruction = _text_of(session.instruction)[0]
                work = Work(session, self.settings, terminal, client, model.settings, instruction, diary, cast)
                over = await _followed(work, terminal, cast, self.settings.limits.max_seconds)
            ended = over.ended
            for issue in over.issues:
                session.issue(issue)
                if over.ended != "limit":
                    diary.failed(issue.message)
            return AgentEnd(note=over.note)
        finally:
            diary.close(ended)
            with anyio.move_on_after(CLOSE_SEC, shield=True):
                await client.close()


async def _followed(work: Work, terminal: Terminal, cast: Cast, max_seconds: float | None) -> Over:
    """The work, while what the terminal prints goes to the log and to the recording."""
    over: Over | None = None
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        following = anyio.Event()
        group.start_soon(_follow, terminal, cast, following)
        try:
            over = await _within(work, max_seconds)
            await terminal.end()
            with anyio.move_on_after(FLUSH_SEC):
                await following.wait()
        except Exception as error:
            failure = error
        finally:
            _say_what_happened(work, over)
            group.cancel_scope.cancel()
    if over is not None:
        return over
    raise failure or RuntimeError("the work ended without an end")


async def _follow(terminal: Terminal, cast: Cast, done: anyio.Event) -> None:
    """Up to MOST_OUTPUT: a program that prints for ever fills no disk of ours."""
    scope = anyio.CancelScope()
    left = MOST_OUTPUT

    def sink(stream: str, data: bytes) -> None:
        nonlocal left
        cast.output(stream, data)
        left -= len(data)
        if left < 0:
            scope.cancel()

    try:
        with scope:
            await terminal.follow(sink)
    except TrialFailed:
        pass  # the work meets the same failure, and says so
    finally:
        done.set()


async def _within(work: Work, max_seconds: float | None) -> Over:
    with anyio.move_on_after(max_seconds):
        try:
            await work.run()
        except Over as over:
            return over
    return endings.limit_reached(f"max_seconds={max_seconds:g}")


def _say_what_happened(work: Work, over: Over | None) -> None:
    if work.cut_off and (over is None or over.ended != Code.MODEL_CUT_OFF):
        work.raise_issue(endings.some_cut_off(work.cut_off, work.last_cut_off))
    meter = work.meter
    if meter.limits.max_cost is not None and meter.calls_without_cost:
        work.raise_issue(endings.cost_unknown(meter.limits.max_cost, meter.calls_without_cost))


def _text_of(instruction: bytes) -> tuple[str, bool]:
    """The instruction as the model is told it, and whether that isn't all: bytes that no text holds are told as
    escapes, and the file with the exact bytes is named."""
    try:
        return instruction.decode("utf-8"), False
    except UnicodeDecodeError:
        text = instruction.decode("utf-8", "backslashreplace")
        return f"{text}\n\n(This text has bytes that are no UTF-8; the exact bytes are in {INSTRUCTION_PATH}.)", True
