"""Bodies on their way through the gateway, a piece at a time, and the ways in which they break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable

import aiohttp
from aiohttp import web
from msgspec import structs

from engine.issues import Code
from engine.models.failures import failure_of_error
from engine.models.gateway_call import GatewayCall
from engine.models.model_call import ModelFailure
from engine.models.unpacking import Unpacking, UnpackingFailed

MOST_REQUEST = 64 << 20
LOOK_SEC = 5.0


class HungUp(Exception):
    """The program is gone."""


class TooLarge(Exception):
    """The program sends more than passes."""


class AnswerBroken(Exception):
    """The answer can't go on; its beginning may have been passed on already."""

    def __init__(self, failure: ModelFailure) -> None:
        super().__init__(failure.words)
        self.failure = failure


async def body_of(request: web.BaseRequest, call: GatewayCall, trouble: list[Exception]) -> AsyncGenerator[bytes, None]:
    """What the program sends. Why it ended early goes to `trouble`, since the client of the server above would say only
    that it could not send."""
    size = 0
    try:
        while piece := await request.content.readany():
            size += len(piece)
            if size > MOST_REQUEST:
                raise TooLarge
            call.asks(piece)
            yield piece
    except Exception as error:
        trouble.append(error)
        raise


async def pieces_of(
    upstream: aiohttp.ClientResponse, unpacking: Unpacking, silence_sec: float
) -> AsyncGenerator[bytes, None]:
    """The answer's body, unpacked. Raises AnswerBroken where it breaks off or nothing is heard for so long."""
    try:
        while True:
            piece = await _next_of(upstream, silence_sec)
            if not piece:
                break
            for unpacked in unpacking.feed(piece):
                yield unpacked
        unpacking.close()
    except UnpackingFailed as error:
        failure = ModelFailure(code=Code.MODEL_FAILED, words=str(error), status=upstream.status, retryable=True)
        raise AnswerBroken(failure) from None
    except TimeoutError:
        words = f"nothing was heard of the server for {silence_sec:g} s in the middle of its answer"
        failure = ModelFailure(code=Code.MODEL_TIMEOUT, words=words, status=upstream.status, retryable=True)
        raise AnswerBroken(failure) from None
    except aiohttp.ClientPayloadError:
        broken = ConnectionError("the server's connection broke in the middle of its answer")
        raise AnswerBroken(structs.replace(failure_of_error(broken), status=upstream.status)) from None
    except (aiohttp.ClientError, OSError) as error:
        raise AnswerBroken(structs.replace(failure_of_error(error), status=upstream.status)) from None


async def _next_of(upstream: aiohttp.ClientResponse, silence_sec: float) -> bytes:
    """Looks at the connection now and then: garbage between chunks ends it, and whoever waits is not told."""
    waited = 0.0
    while True:
        try:
            async with asyncio.timeout(min(LOOK_SEC, silence_sec - waited)) as look:
                return await upstream.content.readany()
        except TimeoutError:
            waited += LOOK_SEC
            if not look.expired() or waited >= silence_sec:
                raise
        connection = upstream.connection
        if connection is None or connection.protocol is None or connection.protocol.exception() is not None:
            raise aiohttp.ClientPayloadError


async def or_hung_up(sending: Awaitable[object]) -> None:
    """Raises HungUp where the program doesn't take it any more."""
    try:
        await sending
    except (aiohttp.ClientError, OSError):
        raise HungUp from None
