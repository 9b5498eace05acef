"""An answer read while it passes by: plain or streamed, of any of the three wires."""

from __future__ import annotations

import json

import msgspec

from engine.models.failures import failure_in_answer, failure_of_answer, failure_of_error
from engine.models.heard import Heard, heard_in
from engine.models.model_call import ModelFailure, Stop
from engine.models.settings import Wire
from engine.models.silence import silence
from engine.models.stream_reading import StreamReading
from engine.trajectories.untyped import Record, decoded, items, record, text

MOST_COPY = 8 << 20
"""A plain answer larger than this passes, and its usage stays unknown."""


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer of 2xx says. `failure` None: it is a good one, and whole."""

    heard: Heard = Heard()
    failure: ModelFailure | None = None


class AnswerReading:
    def __init__(self, wire: Wire, *, streamed: bool) -> None:
        self._wire = wire
        self._stream = StreamReading(wire) if streamed else None
        self._copy: bytearray | None = None if streamed else bytearray()

    def feed(self, piece: bytes) -> None:
        if self._stream is not None:
            self._stream.feed(piece)
        elif self._copy is not None:
            if len(self._copy) + len(piece) > MOST_COPY:
                self._copy = None
            else:
                self._copy += piece

    def close(self) -> Read:
        """The answer came to its end, or so its server says."""
        if self._stream is None:
            return Read() if self._copy is None else self._plain(bytes(self._copy))
        self._stream.close()
        return self._streamed(self._stream)

    @property
    def whole(self) -> bool:
        """Whether all that an answer consists of was fed, even if its connection has not ended yet."""
        if self._stream is not None:
            return self._stream.ended
        return self._copy is not None and decoded(bytes(self._copy)) is not None

    def so_far(self) -> Heard:
        """Of an answer that broke off: what is known of it."""
        return heard_in(self._wire, _as_bytes(self._stream.answer())) if self._stream is not None else Heard()

    def _plain(self, body: bytes) -> Read:
        heard = heard_in(self._wire, body)
        failure = failure_in_answer(self._wire, body)
        answer = decoded(body) or {}
        if heard.stop in (Stop.TOOL, Stop.END) and _malformed(_calls_in(self._wire, answer)):
            heard = msgspec.structs.replace(heard, stop=Stop.MALFORMED)
        return Read(heard=heard, failure=failure or silence(heard))

    def _streamed(self, stream: StreamReading) -> Read:
        body = _as_bytes(stream.answer())
        heard = heard_in(self._wire, body)
        if stream.error is not None:
            return Read(heard=heard, failure=failure_of_answer(self._wire, 200, {}, stream.error))
        if not stream.ended:
            if stream.left_out:
                return Read(heard=heard)
            broken = ConnectionError("the server ended the stream before the answer was whole")
            return Read(heard=heard, failure=msgspec.structs.replace(failure_of_error(broken), status=200))
        if heard.stop in (Stop.TOOL, Stop.END) and _malformed(stream.calls()):
            heard = msgspec.structs.replace(heard, stop=Stop.MALFORMED)
        return Read(heard=heard, failure=failure_in_answer(self._wire, body) or silence(heard))


def _as_bytes(answer: Record) -> bytes:
    return msgspec.json.encode(answer)


def _malformed(calls: list[tuple[str, str]]) -> bool:
    """Whether arguments of a call are no JSON object. None at all are fine."""
    return any(not _is_object(arguments) for _, arguments in calls if arguments.strip())


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _calls_in(wire: Wire, answer: Record) -> list[tuple[str, str]]:
    """Of an answer in one piece; Anthropic's holds arguments that were read already."""
    match wire:
        case Wire.OPENAI_CHAT:
            messages = [record(record(choice).get("message")) for choice in items(answer.get("choices"))]
            calls = [
                record(record(call).get("function")) for each in messages for call in items(each.get("tool_calls"))
            ]
        case Wire.OPENAI_RESPONSES:
            calls = [item for item in map(record, items(answer.get("output"))) if item.get("type") == "function_call"]
        case Wire.ANTHROPIC:
            return []
    return [(text(call.get("name")), text(call.get("arguments"))) for call in calls]
