"""Chat Completions and Responses, over OpenAI's own SDK. Imported only where a model is called: the SDK is an extra."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import openai

from engine.models.answer_bound import bounded
from engine.models.conversation import Turn
from engine.models.failures import failure_of_answer
from engine.models.settings import ModelSettings, Wire
from engine.models.speaking import ANSWER_SEC, CONNECT_SEC, SEND_SEC, Answer, Unanswered

_NEW_LIMIT = re.compile(r"(?:^|/)(?:gpt-[5-9]|o[1-9](?:$|-))")
"""Models that take no `max_tokens` but `max_completion_tokens`, whatever server stands before them."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class OpenAISpeaking:
    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self.path = "/chat/completions" if settings.wire is Wire.OPENAI_CHAT else "/responses"
        timeout = openai.Timeout(ANSWER_SEC, connect=CONNECT_SEC, write=SEND_SEC)
        self._client = openai.AsyncOpenAI(
            api_key=settings.key.reveal(),
            base_url=settings.base_url,
            default_headers={name: value.reveal() for name, value in settings.headers.items()},
            max_retries=0,
            timeout=timeout,
            # A proxy of the environment is for the world outside, not for a server on this machine.
            http_client=openai.DefaultAsyncHttpxClient(
                trust_env=not is_here(settings.base_url), timeout=timeout, event_hooks={"response": [bounded]}
            ),
        )

    async def ask(self, turns: Sequence[Turn], system: str) -> Answer:
        chat = self._settings.wire is Wire.OPENAI_CHAT
        request = self._chat(turns, system) if chat else self._responses(turns, system)
        try:
            if chat:
                raw = await self._client.chat.completions.with_raw_response.create(**request)
            else:
                raw = await self._client.responses.with_raw_response.create(**request)
        except openai.APIStatusError as error:
            answer = error.response
            raise Unanswered(
                failure_of_answer(self._settings.wire, answer.status_code, answer.headers, answer.content)
            ) from None
        return Answer(body=raw.http_response.content, headers=dict(raw.headers))

    async def close(self) -> None:
        await self._client.close()

    def _chat(self, turns: Sequence[Turn], system: str) -> dict[str, Any]:
        messages = [{"role": turn.role, "content": turn.text} for turn in turns]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        request: dict[str, Any] = {"model": self._settings.name, "messages": messages}
        if self._settings.effort:
            request["reasoning_effort"] = self._settings.effort
        if self._settings.temperature is not None:
            request["temperature"] = self._settings.temperature
        if self._settings.max_output_tokens is not None:
            new = _NEW_LIMIT.search(self._settings.name) or (urlsplit(self._settings.base_url).hostname or "").endswith(
                (".openai.com", ".openai.azure.com")
            )
            request["max_completion_tokens" if new else "max_tokens"] = self._settings.max_output_tokens
        return request

    def _responses(self, turns: Sequence[Turn], system: str) -> dict[str, Any]:
        # Not to be stored: a benchmark's tasks are not left lying with a provider.
        request: dict[str, Any] = {
            "model": self._settings.name,
            "input": [{"role": turn.role, "content": turn.text} for turn in turns],
            "store": False,
        }
        if system:
            request["instructions"] = system
        if self._settings.effort:
            request["reasoning"] = {"effort": self._settings.effort}
        if self._settings.temperature is not None:
            request["temperature"] = self._settings.temperature
        if self._settings.max_output_tokens is not None:
            request["max_output_tokens"] = self._settings.max_output_tokens
        return request


def is_here(base_url: str) -> bool:
    return urlsplit(base_url).hostname in _LOOPBACK
