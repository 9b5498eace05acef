"""Keys taken out of texts before these reach a message, a log, an event or a file."""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from collections.abc import Iterable

import msgspec

from engine.models.model_call import ModelFailure
from engine.models.settings import ModelSettings, Secret

MASK = "***"
_SHORTEST = 6
"""A shorter value is no secret: taking it out would only spoil words."""
_ECHO = 12
"""So many characters of a key in a row are an echo of it, cut by whoever wrote the text."""
_LONG_SECRET = 24
"""A shorter one is taken out whole only: pieces of it may be words."""

_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|nvapi|hf)[-_](?=[A-Za-z_.…-]{0,200}[0-9*])[A-Za-z0-9_*.…-]{6,}"
    r"|\bAIza[\w-]{20,}"
    r"|\beyJ[\w-]{10,2000}\.[\w-]{10,}(?:\.[\w-]+)?"
    r"|(?<=\bBearer )[\w.~+/*=…-]{8,}"
    r"|(?<=\bBasic )[\w+/=]{12,}",
)
"""What looks like a key, whoever's it is; stars and dots stand in those that a provider echoes in part."""


def scrubbed(text: str, secrets: Iterable[Secret]) -> str:
    """The text without the secrets' values, however they are written in it (JSON, URL, base64), without pieces of them,
    and without anything else that looks like a key."""
    for secret in secrets:
        text = _without(text, secret.reveal().strip())
    return _LIKE_A_KEY.sub(MASK, text)


def scrubbed_failure(failure: ModelFailure, secrets: Iterable[Secret]) -> ModelFailure:
    return msgspec.structs.replace(failure, words=scrubbed(failure.words, secrets))


def secrets_of(settings: ModelSettings) -> tuple[Secret, ...]:
    """Everything of a model's settings that must not be seen."""
    return (settings.key, *settings.headers.values())


def _without(text: str, value: str) -> str:
    if len(value) < _SHORTEST or not text:
        return text
    ways = {
        value,
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        urllib.parse.quote(value, safe=""),
        base64.b64encode(value.encode()).decode(),
    }
    for way in sorted(ways, key=len, reverse=True):
        text = text.replace(way, MASK)
    return _without_pieces(text, value) if len(value) >= _LONG_SECRET else text


def _without_pieces(text: str, value: str) -> str:
    pieces = {value[at : at + _ECHO] for at in range(len(value) - _ECHO + 1)}
    kept: list[str] = []
    at = 0
    while at < len(text):
        end = at
        while end + _ECHO <= len(text) and text[end : end + _ECHO] in pieces:
            end += 1
        if end == at:
            kept.append(text[at])
            at += 1
        else:
            kept.append(MASK)
            at = end + _ECHO - 1
    return "".join(kept)
