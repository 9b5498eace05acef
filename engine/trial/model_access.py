"""The model of one trial: how its agent reaches it, and what the engine sees of every call."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from engine import events as ev
from engine.agents.agent import AgentTraits
from engine.issues import Code, Issue, Phase, Severity, TrialFailed
from engine.models.connect import connect, load_sdk
from engine.models.conversation import ModelClient
from engine.models.model_call import CostSource, ModelCall
from engine.models.prices import prices_dated
from engine.models.resolve import settings_of
from engine.models.settings import ModelInvalid, ModelSettings, Wire
from engine.trial.record import Record

CLOSE_SEC = 10.0


class TrialModel:
    """See `engine.agents.agent.ModelAccess`. `seen` holds the calls of the stage that lasts; in `folder` the gateway
    listens for an agent that needs it.

    The key is read here, once for a trial, and kept nowhere else.
    """

    def __init__(self, record: Record, traits: AgentTraits, environ: Mapping[str, str] = os.environ) -> None:
        """Raises TrialFailed where the arm's model can't be called as it is written."""
        self._record = record
        self.needs_gateway = traits.needs_gateway
        self.folder: Path | None = None
        try:
            self.settings: ModelSettings = settings_of(record.job.arm, traits.wires, environ)
        except ModelInvalid as error:
            raise _unusable(error) from None
        self.seen: list[ModelCall] = []
        self._numbered = 0
        self._clients: list[ModelClient] = []

    @property
    def calls(self) -> int:
        return self._record.model_calls or 0

    @property
    def wire_in_main(self) -> Wire:
        return self.settings.wire

    def client(self) -> ModelClient:
        """Closed with the agent's phase. Raises TrialFailed where the provider's SDK isn't there."""
        try:
            made = connect(self.settings, on_call=self._on_call, activity=self._record.activity)
        except ModelInvalid as error:
            raise _unusable(error) from None
        self._clients.append(made)
        return made

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """For as long as an agent works. Afterwards nothing that was left behind in `main` reaches the model."""
        self.seen.clear()
        try:
            if self.folder is None:
                await anyio.to_thread.run_sync(load_sdk, self.settings.wire)
                yield
                return
            async with AsyncExitStack() as gateway:
                await self._open(gateway, self.folder)
                yield
        finally:
            clients, self._clients = self._clients, []
            with anyio.move_on_after(CLOSE_SEC, shield=True):
                for client in clients:
                    await client.close()

    async def _open(self, stack: AsyncExitStack, folder: Path) -> None:
        from engine.models.gateway import Gateway, GatewayUnusable  # a server's libraries: not every trial needs them

        gateway = Gateway(
            self.settings, self.wire_in_main, folder, on_call=self._on_call, activity=self._record.activity
        )
        try:
            await stack.enter_async_context(gateway)
        except GatewayUnusable as error:
            raise _unusable(error) from None

    def _on_call(self, call: ModelCall) -> None:
        self._numbered += 1
        self.seen.append(call)
        failure, usage = call.failure, call.usage
        self._record.called(
            ev.ModelCalled(
                trial=self._record.trial,
                number=self._numbered,
                seconds=call.seconds,
                model=call.model,
                tokens_in=usage.tokens_in,
                tokens_cached=usage.tokens_cached,
                tokens_cache_written=usage.tokens_cache_written,
                tokens_out=usage.tokens_out,
                tokens_reasoning=usage.tokens_reasoning,
                cost_usd=call.cost_usd,
                cost_source=_source(call.cost_source),
                stop=str(call.stop or ""),
                code=str(failure.code) if failure is not None else "",
                status=failure.status if failure is not None else None,
                hung_up=call.hung_up,
            )
        )


def _source(source: CostSource | None) -> str:
    """Prices are told with their date: a cost is as good as they are."""
    return f"prices of {prices_dated()}" if source is CostSource.PRICES else str(source or "")


def _unusable(error: Exception) -> TrialFailed:
    return TrialFailed(Issue(Severity.FATAL, Phase.AGENT, Code.AGENT_UNAVAILABLE, str(error)))
