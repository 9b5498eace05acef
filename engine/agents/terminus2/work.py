"""The work itself: turn after turn until the model says twice that it is done, or a limit says that it is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from engine.agents.agent import AgentSession
from engine.agents.terminus2 import endings, prompt
from engine.agents.terminus2.answers import Answer, Unreadable
from engine.agents.terminus2.cast import Cast
from engine.agents.terminus2.diary import Diary
from engine.agents.terminus2.endings import Over
from engine.agents.terminus2.json_answers import read_json_answer
from engine.agents.terminus2.keys import Stroke, stroke_of
from engine.agents.terminus2.limits import Meter
from engine.agents.terminus2.notes import ContextFull, take_notes
from engine.agents.terminus2.screen import View, limited
from engine.agents.terminus2.settings import Settings
from engine.agents.terminus2.talk import Talk, room_for, tokens_in, tokens_in_turns
from engine.agents.terminus2.terminal import Terminal, TerminalGone, TerminalSilent
from engine.agents.terminus2.xml_answers import read_xml_answer
from engine.issues import Code, Issue
from engine.models.conversation import ModelClient, Reply, Turn
from engine.models.model_call import ModelCallFailed, Stop
from engine.models.settings import ModelSettings
from engine.text import clean_line

MOST_UNREADABLE = 5
"""Answers in a row that can't be read."""
LEAST_EXCHANGES = 3
"""Before a conversation is begun anew, unless the server says that it is full: notes cost three calls."""
MOST_SILENT = 10
"""Turns in a row in which tmux doesn't answer."""
KEPT_OF_CUT_OFF = 4_000
_READERS: dict[str, Callable[..., Answer]] = {"json": read_json_answer, "xml": read_xml_answer}
_ASIDES = {"notes": "takes notes, its context is nearly full", "questions": "asks about the notes"}


class Work:
    """`run` ends with Over, whatever ended it; model failures are in it. Cancellation passes through."""

    def __init__(
        self,
        session: AgentSession,
        settings: Settings,
        terminal: Terminal,
        client: ModelClient,
        model: ModelSettings,
        instruction: str,
        diary: Diary,
        cast: Cast,
    ) -> None:
        self.meter = Meter(settings.limits)
        self.cut_off = 0
        self.last_cut_off = ""
        self._session = session
        self._settings = settings
        self._terminal = terminal
        self._client = client
        self._model = model
        self._instruction = instruction
        self._diary = diary
        self._cast = cast
        self._read = _READERS[settings.answers]
        self._system = prompt.system_prompt(settings.answers)
        self._talk = Talk(self._system, "")
        self._unreadable = 0
        self._silent = 0
        self._to_confirm = False

    async def run(self) -> None:
        try:
            self._diary.told("system", self._system)
            self._begin(prompt.first_turn(self._instruction, await self._first_look()))
            while True:
                reply = await self._next_answer()
                told = await self._turn(reply)
                self._diary.observed(told)
                self._talk.say(told)
        except ModelCallFailed as failed:
            raise endings.call_failed(failed, self.meter.calls) from None

    def raise_issue(self, issue: Issue) -> None:
        self._session.issue(issue)

    # --- one turn ---

    async def _turn(self, reply: Reply) -> str:
        """What the model is told of its answer."""
        if reply.stop in (Stop.REFUSAL, Stop.FILTER):
            self._diary.aside(reply, "refuses")
            raise endings.refused(reply)
        cut_off = reply.stop is Stop.LENGTH
        if cut_off:
            self.cut_off += 1
            self.last_cut_off = reply.text
        try:
            answer = self._read(reply.text, whole=cut_off)
        except Unreadable as why:
            return self._not_read(reply, str(why), cut_off=cut_off)
        self._unreadable = 0
        self._talk.answered(reply)
        self._diary.turn(reply, answer)
        return await self._do(answer)

    def _not_read(self, reply: Reply, why: str, *, cut_off: bool) -> str:
        self._unreadable += 1
        self._talk.answered(reply, reply.text[:KEPT_OF_CUT_OFF] if cut_off else reply.text)
        self._diary.aside(reply, "an answer that was cut off" if cut_off else f"an answer that can't be read: {why}")
        told = prompt.cut_off() if cut_off else prompt.unreadable(why, self._settings.answers)
        if self._unreadable >= MOST_UNREADABLE:
            self._diary.observed(told)
            raise endings.unreadable(self._unreadable, why, reply, cut_off=cut_off)
        return told

    async def _do(self, answer: Answer) -> str:
        warnings = list(answer.warnings)
        try:
            for keys in answer.commands:
                stroke = stroke_of(keys.keys)
                self._activity(keys.keys)
                if warning := await self._terminal.send(stroke):
                    warnings.append(warning)
                until_calm = self._settings.ends_early and _has_enter(stroke)
                await self._terminal.wait(keys.seconds, until_calm=until_calm)
            if answer.task_complete and self._to_confirm:
                raise Over("task_complete", "the agent said twice that the task is complete")
            seen = await self._look()
            self._silent = 0
        except TerminalGone as gone:
            self._diary.observed(str(gone))
            if answer.task_complete:
                raise Over("task_complete", "the agent said that the task is complete and ended its shell") from None
            raise endings.terminal_gone(str(gone)) from None
        except TerminalSilent as silent:
            self._silent += 1
            if self._silent >= MOST_SILENT:
                raise endings.terminal_silent(self._silent, str(silent)) from None
            seen = _unanswered(silent)
        self._to_confirm = answer.task_complete
        return prompt.warned(tuple(warnings)) + (prompt.confirm(seen) if answer.task_complete else seen)

    async def _first_look(self) -> str:
        try:
            return await self._look()
        except TerminalGone as gone:
            raise endings.terminal_gone(str(gone)) from None
        except TerminalSilent as silent:
            return _unanswered(silent)

    async def _look(self) -> str:
        return _shown(await self._terminal.look())

    # --- the model ---

    async def _next_answer(self) -> Reply:
        """With a conversation that is begun anew where it is too long; twice at most, so that this has an end."""
        is_near = self._talk.is_near(self._model.context_tokens, self._model.max_output_tokens)
        if self._summarises and is_near and len(self._talk.turns) > 2 * LEAST_EXCHANGES:
            await self._begin_anew(with_notes=True)
        full = 0
        while True:
            try:
                reply = await self._ask("turn", self._talk.turns)
            except ContextFull as error:
                full += 1
                if not self._summarises or full > 2:
                    raise endings.context_full(error.failed, self._talk.tokens, summarises=self._summarises) from None
                await self._begin_anew(with_notes=full == 1)
            else:
                return reply

    async def _ask(self, kind: str, turns: Sequence[Turn]) -> Reply:
        """Raises ContextFull, ModelCallFailed, and Over where a limit forbids the call."""
        if words := self.meter.reached():
            raise endings.limit_reached(words)
        if kind == "turn":
            self.meter.turns += 1
        self._activity(f"asks the model{'' if kind == 'turn' else f' ({kind})'}")
        try:
            reply = await self._client.ask(turns, system=self._system)
        except ModelCallFailed as failed:
            if failed.failure.code is Code.MODEL_CONTEXT_FULL:
                raise ContextFull(failed) from None
            raise
        reply = msgspec.structs.replace(reply, text=_plain(reply.text))
        self.meter.add(reply, tokens_in(self._system) + tokens_in_turns(turns), tokens_in(reply.text))
        self._diary.asked(kind, turns, reply)
        if reply.stop is Stop.CONTEXT:
            self._diary.aside(reply, "an answer that the full context cut off")
            raise ContextFull
        if kind != "turn":
            self._diary.aside(reply, _ASIDES.get(kind, "answers the questions about the notes"))
        self._cast.mark(f"call {self.meter.calls}: {kind}")
        return reply

    # --- a context that is full ---

    @property
    def _summarises(self) -> bool:
        return self._settings.summarises

    async def _begin_anew(self, *, with_notes: bool) -> None:
        """The conversation goes on with the task, the model's own notes and the screen alone."""
        try:
            seen = prompt.seen_part(limited(await self._terminal.screen()), is_new=False)
        except TerminalGone as gone:
            raise endings.terminal_gone(str(gone)) from None
        except TerminalSilent as silent:
            seen = _unanswered(silent)
        context = self._model.context_tokens
        most = context - room_for(context, self._model.max_output_tokens) if context is not None else None
        notes = None
        if with_notes:
            notes = await take_notes(self._ask, self._talk, self._instruction, seen, most)
        if notes is None:
            last = limited(self._talk.turns[-1].text, 2_000) if len(self._talk.turns) > 1 else ""
            text = prompt.resumed_without_notes(self._instruction, last, seen)
        else:
            text = prompt.resumed(self._instruction, notes.summary, notes.asked, notes.answered, seen)
        self._begin(text)

    def _begin(self, text: str) -> None:
        self._talk = Talk(self._system, text)
        self._diary.told("user", text)
        self._to_confirm = False

    def _activity(self, what: str) -> None:
        self._session.activity(f"turn {max(1, self.meter.turns)} · {clean_line(what.strip(), 80) or 'waits'}")


def _plain(text: str) -> str:
    """Halves of surrogate pairs, which JSON can bring, go into no request."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _shown(view: View) -> str:
    return prompt.seen_part(limited(view.text), is_new=view.is_new)


def _unanswered(silent: TerminalSilent) -> str:
    return f"The terminal doesn't answer now, and what it shows is unknown ({silent}). Wait, and look again."


def _has_enter(stroke: Stroke) -> bool:
    return "Enter" in stroke.names or b"\r" in stroke.text
