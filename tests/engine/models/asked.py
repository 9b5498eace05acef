"""A client of ours before the scripted server, with time that only passes when it waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from engine.models.connect import connect
from engine.models.conversation import ModelClient, Turn
from engine.models.model_call import ModelCall
from engine.models.retries import Pacing
from engine.models.scripted.script import Script
from engine.models.scripted.script import Turn as Scripted
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import ModelSettings, Secret, Wire

KEY = "sk-real-0123456789-abcdefghijklmnop"
HELLO = [Turn(role="user", text="hello")]


class Time:
    """Stands still but for pauses, which are written down."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)

    def pacing(self, chance: float = 0.5) -> Pacing:
        return Pacing(clock=lambda: self.now, chance=lambda: chance, sleep=self.sleep)


class Asked(msgspec.Struct, frozen=True):
    server: ScriptedServer
    client: ModelClient
    time: Time
    calls: list[ModelCall]
    shown: list[str]

    @property
    def body(self) -> dict[str, Any]:
        """Of the latest request."""
        return dict(self.server.asked[-1].body)


@asynccontextmanager
async def asking(
    wire: Wire,
    *turns: Scripted,
    first_number: Callable[[], int] | None = None,
    key: str = KEY,
    wanted: str | None = KEY,
    **settings: Any,
) -> AsyncIterator[Asked]:
    """`key` is what the client gives, `wanted` what the server takes (None: anything)."""
    async with ScriptedServer(Script(turns=turns), key=wanted) as server:
        time, calls, shown = Time(), list[ModelCall](), list[str]()
        given: dict[str, Any] = {"name": "gpt-5", "base_url": server.base_url(wire)} | settings
        client = connect(
            ModelSettings(wire=wire, key=Secret(key), **given),
            on_call=calls.append,
            activity=shown.append,
            first_number=first_number,
            pacing=time.pacing(),
        )
        try:
            yield Asked(server, client, time, calls, shown)
        finally:
            await client.close()
