"""Follows what services say into files, while they say it: raw bytes, both streams in order of arrival, and beside them
which of them came on stderr."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import anyio
import anyio.abc

from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.hidden_values import HiddenValues, HidingSink
from engine.log_streams import StreamsFile

FLUSH_SEC = 2.0


class FrameReader:
    """Payload of a multiplexed stream, fed in pieces cut anywhere."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._left = 0
        self._stream = "stdout"

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Pieces in their order, each with its stream; neighbours are of different ones."""
        self._rest += data
        out: list[tuple[str, bytearray]] = []
        while self._rest:
            if self._left:
                piece = self._rest[: self._left]
                if out and out[-1][0] == self._stream:
                    out[-1][1].extend(piece)
                else:
                    out.append((self._stream, piece))
                self._left -= len(piece)
                del self._rest[: len(piece)]
            elif len(self._rest) >= 8:
                self._stream = "stderr" if self._rest[0] == 2 else "stdout"
                self._left = int.from_bytes(self._rest[4:8], "big")
                del self._rest[:8]
            else:
                break
        return [(stream, bytes(piece)) for stream, piece in out]


class ServiceLog:
    """One container's log. `ended` is set when the daemon said its last word; `last` is when it last said anything."""

    def __init__(
        self, engine: Engine, container: Container, file: Path, hidden: HiddenValues, since: float = 0.0
    ) -> None:
        self.container = container
        self.ended = anyio.Event()
        self.last = since
        self._engine = engine
        self._file = file
        self._hidden = hidden
        self._scope = anyio.CancelScope()

    def let_go(self) -> None:
        """Follows no longer, whatever the container does."""
        self._scope.cancel()

    async def follow(self) -> None:
        """Until the container ends; a log that can't be had (another log driver) stays an empty file."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab") as out, closing(StreamsFile(self._file)) as streams, self._scope:
                await self._copy(out, streams)
        except (EngineCallFailed, OSError):
            pass
        finally:
            self.ended.set()

    async def _copy(self, out: BinaryIO, streams: StreamsFile) -> None:
        params: dict[str, str | int | bool] = {"follow": True, "stdout": True, "stderr": True}
        if self.last:
            params["since"] = f"{self.last:.9f}"
        frames = None if self.container.tty else FrameReader()

        def write(stream: str, data: bytes) -> None:
            streams.note(stream, out.tell())
            out.write(data)

        shown = HidingSink(write, self._hidden)
        place = f"containers/{self.container.id}/logs"
        try:
            async with self._engine.stream("GET", place, params=params) as response:
                async for chunk in response.content.iter_any():
                    for stream, data in frames.feed(chunk) if frames else [("stdout", chunk)]:
                        shown(stream, data)
                    out.flush()
                    self.last = time.time()
        finally:
            shown.end()

    async def flushed(self) -> None:
        """Waits for the end of a container that is ending; bounded."""
        with anyio.move_on_after(FLUSH_SEC):
            await self.ended.wait()
