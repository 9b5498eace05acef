"""Anthropic Messages, over Anthropic's own SDK. Imported only where a model is called: the SDK is an extra.

Answers are streamed, since a long one would break otherwise; the conversation is marked to be cached, as the two other
wires do by themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import anthropic

from engine.issues import Code
from engine.models.answer_bound import bounded
from engine.models.conversation import Turn
from engine.models.failures import failure_of_answer
from engine.models.model_call import ModelFailure
from engine.models.openai_speaking import is_here
from engine.models.resolve import DEFAULT_BASE_URL
from engine.models.settings import ModelSettings, Wire
from engine.models.speaking import CONNECT_SEC, SEND_SEC, SILENCE_SEC, Answer, Unanswered

MOST_OUTPUT_TOKENS = 32_000
"""This wire asks for a limit; so much is what its models of the last years can write."""
_CACHED: dict[str, Any] = {"type": "ephemeral"}
_BUDGET_ONLY = re.compile(r"claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[015])?(?:$|-20))")
"""Models that know no adaptive thinking."""


class AnthropicSpeaking:
    path = "/v1/messages"

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        headers = {name: value.reveal() for name, value in settings.headers.items()}
        if settings.base_url != DEFAULT_BASE_URL[Wire.ANTHROPIC]:
            # Where the SDK sends a bearer, many a server that speaks this wire looks for the key here.
            headers = {"X-Api-Key": settings.key.reveal(), **headers}
        timeout = anthropic.Timeout(SILENCE_SEC, connect=CONNECT_SEC, write=SEND_SEC)
        self._client = anthropic.AsyncAnthropic(
            api_key=settings.key.reveal(),
            base_url=settings.base_url,
            default_headers=headers,
            max_retries=0,
            timeout=timeout,
            http_client=anthropic.DefaultAsyncHttpxClient(
                trust_env=not is_here(settings.base_url), timeout=timeout, event_hooks={"response": [bounded]}
            ),
        )

    async def ask(self, turns: Sequence[Turn], system: str) -> Answer:
        try:
            return await self._stream(self._request(turns, system))
        except anthropic.APIStatusError as error:
            answer = error.response
            # An error in the middle of a stream has its body here alone, and the status of the stream's beginning.
            body = json.dumps(error.body) if error.body is not None else answer.text
            raise Unanswered(
                failure_of_answer(Wire.ANTHROPIC, answer.status_code, answer.headers, body.encode())
            ) from None

    async def _stream(self, request: dict[str, Any]) -> Answer:
        async with self._client.messages.stream(**request) as stream:
            headers = dict(stream.response.headers)
            if "event-stream" not in headers.get("content-type", ""):
                return Answer(body=await stream.response.aread(), headers=headers)
            ended = False
            async for event in stream:
                ended = ended or event.type == "message_stop"
            if not ended:
                words = "the stream broke off before the answer's end"
                raise Unanswered(ModelFailure(code=Code.MODEL_UNREACHABLE, words=words, status=200, retryable=True))
            message = stream.current_message_snapshot.to_dict(mode="json")
            return Answer(body=json.dumps(message).encode(), headers=headers)

    async def close(self) -> None:
        await self._client.close()

    def _request(self, turns: Sequence[Turn], system: str) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": turn.role, "content": turn.text} for turn in turns]
        # The end of this question, to be read with the next one, and that of the last one, where it was written.
        for message in [message for message in messages if message["role"] == "user" and message["content"]][-2:]:
            message["content"] = [{"type": "text", "text": message["content"], "cache_control": _CACHED}]
        request: dict[str, Any] = {
            "model": self._settings.name,
            "max_tokens": self._settings.max_output_tokens or self._room(),
            "messages": messages,
        }
        if system:
            request["system"] = [{"type": "text", "text": system, "cache_control": _CACHED}]
        # By their names on the wire: which of them the SDK's own signature has differs from one version to the next.
        more = self._thinking()
        if self._settings.temperature is not None:
            more["temperature"] = self._settings.temperature
        return request | ({"extra_body": more} if more else {})

    def _room(self) -> int:
        held = self._settings.context_tokens
        return MOST_OUTPUT_TOKENS if held is None else max(1, min(MOST_OUTPUT_TOKENS, held // 2))

    def _thinking(self) -> dict[str, Any]:
        """From the arm's effort: a level; `none`; or a number of tokens to think with, as older models have it."""
        effort = self._settings.effort
        if not effort:
            return {}
        if effort == "none":
            return {"thinking": {"type": "disabled"}}
        if effort.isascii() and effort.isdigit():
            return {"thinking": {"type": "enabled", "budget_tokens": int(effort)}}
        level: dict[str, Any] = {"output_config": {"effort": effort}}
        return level if _BUDGET_ONLY.search(self._settings.name) else level | {"thinking": {"type": "adaptive"}}
