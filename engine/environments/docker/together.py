"""Several things at the same time, where one failure is the failure of all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc


@asynccontextmanager
async def together() -> AsyncIterator[anyio.abc.TaskGroup]:
    """A task group out of which the first failure comes as itself, so that callers can catch it by its type."""
    try:
        async with anyio.create_task_group() as group:
            yield group
    except BaseExceptionGroup as several:
        raise first_of(several) from several


def first_of(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure that is not itself a group."""
    inner = several.exceptions[0]
    return first_of(inner) if isinstance(inner, BaseExceptionGroup) else inner
