"""Answers read while they pass: wherever a stream is cut into pieces, and however large it is, the same comes out."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from engine.issues import Code
from engine.models import events_of_stream, stream_reading
from engine.models.answer_reading import AnswerReading, Read
from engine.models.events_of_stream import Event, EventSplitter
from engine.models.key_mask import KeyMask
from engine.models.model_call import Stop
from engine.models.scripted import wire_anthropic, wire_chat, wire_responses
from engine.models.scripted.answer import answer_of
from engine.models.scripted.asked import Asked, Tool
from engine.models.scripted.script import CutOff, Malformed, Refuse, Run, Say, Tokens, Turn
from engine.models.settings import ModelSettings, Secret, Wire
from engine.models.unpacking import PIECE, Unpacking, UnpackingFailed

WORDS = {Wire.OPENAI_CHAT: wire_chat, Wire.OPENAI_RESPONSES: wire_responses, Wire.ANTHROPIC: wire_anthropic}
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOKENS = Tokens(tokens_in=100, tokens_out=9, cached=40)


def stream_of(wire: Wire, turn: Turn) -> bytes:
    asked = Asked(wire=wire, model="m", tools=(Tool(name="bash", schema=SHELL),))
    answer = answer_of(turn, asked, 0, 1)
    events: Iterator[bytes] = WORDS[wire].events(answer, asked, 1, 5)
    return b"".join(events)


def read(wire: Wire, *pieces: bytes) -> Read:
    reading = AnswerReading(wire, streamed=True)
    for piece in pieces:
        reading.feed(piece)
    return reading.close()


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize(
    ("turn", "stop"),
    [
        (Say(text="Grüße ✓ \u2028 and more", tokens=TOKENS), Stop.END),
        (Run(command="echo 'x'", say="A look.", reasoning="Look first.", tokens=TOKENS), Stop.TOOL),
        (CutOff(tokens=TOKENS), Stop.LENGTH),
        (Refuse(tokens=TOKENS), Stop.REFUSAL),
        (Malformed(tokens=TOKENS), Stop.MALFORMED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_stream_is_read_the_same_wherever_it_is_cut(wire: Wire, turn: Turn, stop: Stop) -> None:
    data = stream_of(wire, turn)
    at_once = read(wire, data)
    assert at_once.heard.stop is stop
    assert at_once.heard.usage
    assert (at_once.failure is not None) is (stop is Stop.REFUSAL)
    for newline in (b"\n", b"\r\n", b"\r"):
        same = data.replace(b"\n", newline)
        assert read(wire, *(same[at : at + 1] for at in range(len(same)))) == at_once
        for cut in range(0, len(same), 61):
            assert read(wire, same[:cut], same[cut:]) == at_once


@pytest.mark.parametrize("wire", list(Wire))
def test_a_stream_cut_anywhere_before_its_last_events_is_not_whole(wire: Wire) -> None:
    data = stream_of(wire, Say(text="hello there", tokens=TOKENS))
    events = data.split(b"\n\n")
    half = b"\n\n".join(events[: len(events) // 2]) + b"\n\n"
    found = read(wire, half).failure
    assert found is not None
    assert (found.code, found.retryable) == (Code.MODEL_UNREACHABLE, True)


def test_a_last_event_without_a_blank_line_counts() -> None:
    data = stream_of(Wire.OPENAI_RESPONSES, Say(text="hello", tokens=TOKENS)).rstrip(b"\n")
    assert read(Wire.OPENAI_RESPONSES, data).failure is None


def test_comments_unknown_events_and_nonsense_are_passed_over() -> None:
    noise = b': keep-alive\n\nevent: unknown\ndata: {"type": 7}\n\ndata: [1]\n\ndata: nonsense\n\nid: 4\nretry: 1\n\n'
    for wire in Wire:
        data = stream_of(wire, Say(text="hello", tokens=TOKENS))
        assert read(wire, noise + data + noise) == read(wire, data)


@pytest.mark.parametrize(
    "events",
    [
        [{"choices": 7}, {"choices": [None, 3, {"delta": 4}]}, {"usage": "many"}],
        [{"type": "message_start", "message": 3}, {"type": "content_block_delta", "delta": [], "index": -1}],
        [{"type": "response.completed"}, {"type": "response.output_item.done", "item": "x"}, {"type": ["x"]}],
    ],
)
def test_events_of_wrong_types_raise_nothing(events: list[Any]) -> None:
    data = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events)
    for wire in Wire:
        assert read(wire, data).heard.text == ""


def test_a_server_whose_last_event_repeats_nothing_is_understood() -> None:
    kinds = [
        {"type": "response.created", "response": {"model": "m"}},
        {"type": "response.output_text.delta", "delta": "hello"},
        {"type": "response.output_item.done", "item": {"type": "function_call", "name": "f", "arguments": "{}"}},
        {"type": "response.completed", "response": {"status": "completed", "usage": {"input_tokens": 3}}},
    ]
    found = read(Wire.OPENAI_RESPONSES, b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in kinds))
    assert (found.heard.text, found.heard.stop, found.heard.model) == ("hello", Stop.TOOL, "m")
    assert found.failure is None


def test_what_is_kept_of_a_stream_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_reading, "MOST_ARGUMENTS", 100)
    reading = stream_reading.StreamReading(Wire.OPENAI_CHAT)
    for number in range(500):
        call = {"index": number, "function": {"name": "n" * 1000, "arguments": "x" * 60}}
        delta = {"content": "y" * 1000, "tool_calls": [call, {**call, "index": 0}]}
        reading.feed(b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n")
    answer = json.dumps(reading.answer())
    assert len(answer) < stream_reading.MOST_TEXT + 10_000
    assert len(reading.calls()) == stream_reading.MOST_CALLS - 1  # the first one grew above the bound
    assert max(len(name) for name, _ in reading.calls()) == 200


def test_an_event_that_is_too_large_is_left_out_and_the_next_one_read() -> None:
    splitter = EventSplitter(most=50)
    data = b"data: one\n\ndata: " + b"x" * 100 + b"\ndata: y\n\nevent: e\ndata: two\ndata: lines\n\n"
    for size in (1, 3, len(data)):
        found = [event for at in range(0, len(data), size) for event in splitter.feed(data[at : at + size])]
        assert found == [Event("", b"one"), Event("e", b"two\nlines")]
    assert splitter.left_out == 3
    assert events_of_stream.MOST_EVENT > 1 << 20


def mask(key: str, **headers: str) -> KeyMask:
    extra = {name.replace("_", "-"): Secret(value) for name, value in headers.items()}
    wire = Wire.OPENAI_CHAT
    return KeyMask(ModelSettings(name="m", wire=wire, base_url="http://x", key=Secret(key), headers=extra))


def test_a_key_is_masked_wherever_it_is_cut_and_nothing_else_is_held_back() -> None:
    key = "abcabd-secret"
    data = f"abcabcabd-secret|{key}{key}|abcab".encode()
    expected = data.replace(key.encode(), b"*" * len(key))
    for size in range(1, len(data)):
        each = mask(key)
        got = b"".join(each.feed(data[at : at + size]) for at in range(0, len(data), size)) + each.rest()
        assert got == expected
    assert mask(key).feed(b"data: an event\n\n") == b"data: an event\n\n"


def test_secrets_of_headers_are_masked_and_their_other_words_are_not() -> None:
    each = mask("no-key-needed", X_Auth="Bearer other-secret", X_Team="research")
    assert each.feed(b"no-key-needed other-secret research") + each.rest() == b"no-key-needed ************ research"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
def test_packed_bytes_are_unpacked_in_bounded_pieces(encoding: str) -> None:
    data = b"\0" * (4 << 20)
    if encoding == "gzip":
        packed = gzip.compress(data)
    else:
        packer = zlib.compressobj(wbits=15 if encoding == "deflate" else -15)
        packed = packer.compress(data) + packer.flush()
    unpacking = Unpacking(encoding.removeprefix("raw "))
    pieces = [piece for at in range(0, len(packed), 5) for piece in unpacking.feed(packed[at : at + 5])]
    unpacking.close()
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= PIECE


def test_what_cannot_be_unpacked_says_so() -> None:
    with pytest.raises(UnpackingFailed, match=r"\(zstd\), though it was asked not to"):
        Unpacking("zstd")
    with pytest.raises(UnpackingFailed, match="can't be unpacked"):
        list(Unpacking("gzip").feed(b"plain"))
    early = Unpacking("gzip")
    list(early.feed(gzip.compress(b"x")[:-1]))
    with pytest.raises(UnpackingFailed, match="ended too early"):
        early.close()
