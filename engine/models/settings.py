"""Which model an arm works with, and how it is reached."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Wire(StrEnum):
    """The protocol that a model's server speaks. The values are what a person writes as `protocol=`."""

    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"


class ModelInvalid(Exception):
    """Settings that can't work; the message names the arm and the key and says what was expected. Never holds a key."""


class Secret:
    """A key. It shows itself as `***` wherever it is printed, logged or put into a message; `reveal` is for a request's
    header, and for nothing else."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"

    def __bool__(self) -> bool:
        return bool(self._value)


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One model as one arm uses it. `temperature` and `effort` None or empty: the provider's own default.

    `context_tokens` is how much the model can hold (None: unknown), `max_output_tokens` the most that one answer may
    have. `headers` are extra headers whose values are filled already; they may hold secrets and are never shown.
    """

    name: str
    wire: Wire
    base_url: str
    key: Secret
    effort: str = ""
    temperature: float | None = None
    max_output_tokens: int | None = None
    context_tokens: int | None = None
    headers: dict[str, Secret] = {}
