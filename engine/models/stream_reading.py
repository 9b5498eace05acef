"""What a streamed answer of one of the three wires adds up to: the same object as the answer in one piece would be,
as far as anybody here asks for it. Bounded, whatever the server sends."""

from __future__ import annotations

from typing import Any

from engine.models.events_of_stream import Event, EventSplitter
from engine.models.settings import Wire
from engine.trajectories.untyped import Record, decoded, items, record, text, whole

MOST_TEXT = 20_000
"""Of what the model writes: enough to see a refusal, or a failure told in an answer's place."""
MOST_ARGUMENTS = 1 << 20
MOST_CALLS = 200


class Calls:
    """Calls of tools as their arguments come in, by a key that the wire gives; cut ones are not judged."""

    def __init__(self) -> None:
        self._names: dict[object, str] = {}
        self._arguments: dict[object, list[str]] = {}
        self._sizes: dict[object, int] = {}

    def more(self, key: object, name: str, piece: str) -> None:
        if key not in self._names and len(self._names) >= MOST_CALLS:
            return
        self._names[key] = self._names.get(key, "") or name[:200]
        size = self._sizes[key] = self._sizes.get(key, 0) + len(piece)
        if size <= MOST_ARGUMENTS:
            self._arguments.setdefault(key, []).append(piece)

    def whole(self) -> list[tuple[str, str]]:
        """Name and arguments of each."""
        return [
            (name, "".join(self._arguments.get(key, ())))
            for key, name in self._names.items()
            if self._sizes[key] <= MOST_ARGUMENTS
        ]


class StreamReading:
    """`ended`: the answer is whole. `error` is the data of the first event that tells a failure."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._splitter = EventSplitter()
        self._take = {
            Wire.OPENAI_CHAT: self._chat,
            Wire.OPENAI_RESPONSES: self._responses,
            Wire.ANTHROPIC: self._messages,
        }[wire]
        self._model = ""
        self._usage: Record = {}
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._room = MOST_TEXT
        self._reasoned = False
        self._stop = ""
        self._details: Record = {}
        self._final: Record = {}
        self._calls = Calls()
        self._kinds: set[str] = set()
        self.error: bytes | None = None
        self.ended = False

    @property
    def left_out(self) -> int:
        """Events that were too large to be read."""
        return self._splitter.left_out

    def feed(self, piece: bytes) -> None:
        for event in self._splitter.feed(piece):
            self._event(event)

    def close(self) -> None:
        """Nothing more comes."""
        for event in self._splitter.rest():
            self._event(event)

    def calls(self) -> list[tuple[str, str]]:
        return self._calls.whole()

    def answer(self) -> Record:
        """In the wire's own shape."""
        said, refused = "".join(self._text), "".join(self._refusal)
        match self._wire:
            case Wire.OPENAI_CHAT:
                message: Record = {"content": said, "refusal": refused, "tool_calls": len(self.calls()) * [{}]}
                if self._reasoned:
                    message["reasoning_content"] = "…"
                choice = {"message": message, "finish_reason": self._stop}
                return {"model": self._model, "choices": [choice], "usage": self._usage}
            case Wire.ANTHROPIC:
                content: list[Record] = [{"type": "text", "text": said}] if said else []
                if self._reasoned:
                    content.append({"type": "thinking", "thinking": "…"})
                content += [{"type": "tool_use", "name": name} for name, _ in self.calls()]
                answer: Record = {"model": self._model, "content": content, "usage": self._usage}
                return {**answer, "stop_reason": self._stop, "stop_details": self._details}
            case Wire.OPENAI_RESPONSES:
                if not items(self._final.get("output")):
                    return {**self._final, "model": self._model, "output": self._output(said, refused)}
                return self._final

    def _event(self, event: Event) -> None:
        if event.data == b"[DONE]":
            self.ended = self.ended or self._wire is Wire.OPENAI_CHAT
            return
        found = decoded(event.data)
        if found is None:
            if event.name == "error":
                self._failed(event.data)
            return
        if event.name == "error" or found.get("type") == "error" or found.get("error"):
            self._failed(event.data)
            return
        self._take(found, event.data)

    def _failed(self, data: bytes) -> None:
        self.error = self.error or data

    def _said(self, piece: str, into: list[str]) -> None:
        if piece and self._room > 0:
            into.append(piece[: self._room])
            self._room -= len(piece)

    def _chat(self, found: Record, data: bytes) -> None:
        self._model = self._model or text(found.get("model"))
        if usage := record(found.get("usage")):
            self._usage = usage
        for choice in map(record, items(found.get("choices"))):
            if choice.get("error"):
                self._failed(data)
            delta = record(choice.get("delta"))
            self._said(text(delta.get("content")), self._text)
            self._said(text(delta.get("refusal")), self._refusal)
            self._reasoned = self._reasoned or bool(delta.get("reasoning_content") or delta.get("reasoning"))
            for call in map(record, items(delta.get("tool_calls"))):
                function = record(call.get("function"))
                key = (whole(choice.get("index")) or 0, whole(call.get("index")) or 0)
                self._calls.more(key, text(function.get("name")), text(function.get("arguments")))
            if stop := text(choice.get("finish_reason")):
                self._stop, self.ended = stop, True

    def _messages(self, found: Record, data: bytes) -> None:
        delta = record(found.get("delta"))
        match found.get("type"):
            case "message_start":
                message = record(found.get("message"))
                self._model = self._model or text(message.get("model"))
                self._usage = dict(record(message.get("usage")))
            case "content_block_start":
                block = record(found.get("content_block"))
                self._said(text(block.get("text")), self._text)
                if block.get("type") == "tool_use":
                    self._calls.more(whole(found.get("index")), text(block.get("name")), "")
            case "content_block_delta":
                self._said(text(delta.get("text")), self._text)
                self._reasoned = self._reasoned or bool(delta.get("thinking"))
                if delta.get("type") == "input_json_delta":
                    self._calls.more(whole(found.get("index")), "", text(delta.get("partial_json")))
            case "message_delta":
                self._stop = text(delta.get("stop_reason")) or self._stop
                self._details = record(delta.get("stop_details"))
                usage = record(found.get("usage"))
                self._usage.update({name: value for name, value in usage.items() if value is not None})
            case "message_stop":
                self.ended = True

    def _responses(self, found: Record, data: bytes) -> None:
        response = record(found.get("response"))
        self._model = self._model or text(response.get("model"))
        match found.get("type"):
            case "response.output_text.delta":
                self._said(text(found.get("delta")), self._text)
            case "response.refusal.delta":
                self._said(text(found.get("delta")), self._refusal)
            case "response.output_item.done":
                item = record(found.get("item"))
                self._kinds.add(text(item.get("type"))[:100])
                if item.get("type") == "function_call":
                    self._calls.more(text(item.get("id")), text(item.get("name")), text(item.get("arguments")))
            case "response.failed":
                self._failed(data)
            case "response.completed" | "response.incomplete" | "response.done":
                wanted = ("model", "status", "incomplete_details", "usage", "output")
                self._final = {name: response[name] for name in wanted if name in response}
                self.ended = True

    def _output(self, said: str, refused: str) -> list[Any]:
        """Of a server whose last event doesn't repeat what the others brought."""
        output: list[Any] = [{"type": kind} for kind in sorted(self._kinds - {"message", ""})]
        if said:
            output.append({"type": "message", "content": [{"type": "output_text", "text": said}]})
        if refused:
            output.append({"type": "message", "content": [{"type": "refusal", "refusal": refused}]})
        return output
