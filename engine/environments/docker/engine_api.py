"""One connection to the Engine API: calls that answer with JSON, and streams that are always closed.

aiodocker carries the connection; its pool is unlimited here, since open streams count against the usual hundred.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiodocker
import aiohttp
import anyio
import msgspec
from aiodocker.execs import Exec
from aiodocker.stream import Stream

from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.line import Line, open_line
from engine.environments.docker.ssh_line import SshFailed
from engine.environments.docker.tls_line import keep_alive
from engine.environments.docker.unreachable import in_one_line, named, why

CALL_SEC = 120.0
CONNECT_SEC = 10.0
NEWEST_API = (1, 45)
UNREACHABLE = 900
TIMED_OUT = 901

Params = Mapping[str, str | int | bool]


class EngineCallFailed(Exception):
    """The daemon refused, or couldn't be reached (`unreachable`)."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    @property
    def unreachable(self) -> bool:
        return self.status in (UNREACHABLE, TIMED_OUT)

    @property
    def not_found(self) -> bool:
        return self.status == 404


class Engine:
    """Calls to one daemon, each with a bound. A broken connection raises `EngineCallFailed`, never aiohttp's errors."""

    def __init__(self, docker: aiodocker.Docker, endpoint: Endpoint, line: Line | None = None) -> None:
        self._docker = docker
        self._line = line
        self.endpoint = endpoint
        # Docker's own tools know http only by another name.
        self.reached_at = line.url if line is not None else endpoint.host.replace("http://", "tcp://", 1)

    @classmethod
    async def connect(cls, endpoint: Endpoint) -> Engine:
        """Raises EngineCallFailed, whose message names the address, what led there, the reason and the way out;
        ValueError where certificates can't be used."""
        try:
            line = await open_line(endpoint)
        except SshFailed as error:
            raise EngineCallFailed(UNREACHABLE, f"no Docker engine answers at {error}") from error
        except OSError as error:
            raise EngineCallFailed(UNREACHABLE, in_one_line(error, endpoint)) from error
        engine = cls(_client(line.url if line is not None else endpoint.host), endpoint, line)
        try:
            version = await engine.get("version", versioned=False, within=CONNECT_SEC)
            major, minor = (int(part) for part in str(version["ApiVersion"]).split("."))
        except EngineCallFailed as error:
            said = line.said if line is not None else ""
            told = f"no Docker engine answers at {said}" if said else in_one_line(error, endpoint)
            await engine.close()
            raise EngineCallFailed(error.status, told) from error
        except (TypeError, KeyError, ValueError) as error:
            await engine.close()
            raise EngineCallFailed(UNREACHABLE, f"what answers at {endpoint.host} is no Docker engine") from error
        except BaseException:
            await engine.close()
            raise
        engine._docker.api_version = "v{}.{}".format(*min((major, minor), NEWEST_API))
        engine.version = version
        return engine

    version: dict[str, Any]

    reached_at: str
    """The Docker URL by which every tool of this host reaches the daemon, with nothing else said."""

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._docker.close()
            await self._docker.session.close()
            if self._line is not None:
                await self._line.close()

    def _broken(self, error: Exception) -> EngineCallFailed:
        """A connection that ended before its answer."""
        said = self._line.said if self._line is not None else ""
        said = said or f"{named(self.endpoint)}: {why(error, self.endpoint)[0]}"
        return EngineCallFailed(UNREACHABLE, f"the connection to the daemon broke: {said}")

    async def get(
        self, path: str, *, versioned: bool = True, within: float = CALL_SEC, **params: str | int | bool
    ) -> Any:
        return await self.call("GET", path, params=params, versioned=versioned, within=within)

    async def post(self, path: str, body: Any = None, *, within: float = CALL_SEC, **params: str | int | bool) -> Any:
        return await self.call("POST", path, body=body, params=params, within=within)

    async def delete(self, path: str, *, within: float = CALL_SEC, **params: str | int | bool) -> Any:
        return await self.call("DELETE", path, params=params, within=within)

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Params | None = None,
        versioned: bool = True,
        within: float = CALL_SEC,
    ) -> Any:
        """The decoded answer, None where the daemon gives none."""
        content = await self.raw(method, path, body=body, params=params, versioned=versioned, within=within)
        return msgspec.json.decode(content) if content.lstrip()[:1] in (b"{", b"[") else None

    async def raw(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Params | None = None,
        versioned: bool = True,
        within: float = CALL_SEC,
    ) -> bytes:
        """The answer's bytes, read to the end."""
        data = json.dumps(body) if body is not None else None
        try:
            with anyio.fail_after(within):
                async with self._response(method, path, data, params, versioned=versioned) as response:
                    return await response.read()
        except TimeoutError as error:
            raise EngineCallFailed(
                TIMED_OUT, f"the daemon did not answer {method} {path} within {within:g} s"
            ) from error

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        data: Any = None,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """An open answer, read by the caller; its connection is gone when the block ends, read to the end or not."""
        async with self._response(method, path, data, params, headers=headers) as response:
            yield response

    @asynccontextmanager
    async def _response(
        self,
        method: str,
        path: str,
        data: Any,
        params: Params | None,
        *,
        versioned: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            response = await self._docker._do_query(
                path,
                method,
                params=dict(params) if params else None,
                data=data,
                headers=headers,
                timeout=None,
                versioned_api=versioned,
            )
            try:
                _keep_alive(response)
                yield response
            finally:
                response.close()
        except aiodocker.DockerError as error:
            if error.status == UNREACHABLE:
                raise self._broken(error) from error
            raise EngineCallFailed(error.status, error.message) from error
        except (aiohttp.ClientError, ConnectionError) as error:  # other OSErrors are the caller's own, inside the block
            raise self._broken(error) from error

    @asynccontextmanager
    async def attach_exec(self, exec_id: str) -> AsyncIterator[Stream]:
        """Starts an exec that was created without a terminal; the two-way stream of it. A daemon that takes the call
        and says nothing to it raises EngineCallFailed `TIMED_OUT`, also where the caller has no limit."""
        stream = Exec(self._docker, exec_id, tty=False).start(detach=False)
        try:
            try:
                with anyio.fail_after(CALL_SEC):
                    await stream.__aenter__()
            except TimeoutError as error:
                raise EngineCallFailed(
                    TIMED_OUT, f"the daemon did not answer the start of a command within {CALL_SEC:g} s"
                ) from error
            _keep_alive(stream._resp)
            try:
                yield stream
            finally:
                await stream.close()
        except aiodocker.DockerError as error:
            if error.status == UNREACHABLE:
                raise self._broken(error) from error
            raise EngineCallFailed(error.status, error.message) from error
        except aiohttp.ClientError as error:
            raise self._broken(error) from error


def _keep_alive(response: aiohttp.ClientResponse | None) -> None:
    if response is not None and response.connection is not None and response.connection.transport is not None:
        keep_alive(response.connection.transport.get_extra_info("socket"))


def _client(url: str) -> aiodocker.Docker:
    """With a pool that has no limit, and no limit of time of its own."""
    connector: aiohttp.BaseConnector
    if url.startswith("unix://"):
        connector = aiohttp.UnixConnector(url.removeprefix("unix://"), limit=0)
        url = "unix://localhost"
    else:
        connector = aiohttp.TCPConnector(ssl=False, limit=0)
        url = "http://" + url.split("://", 1)[1]
    session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout())
    return aiodocker.Docker(url=url, connector=connector, session=session)


def filters(**wanted: list[str]) -> str:
    """The `filters` parameter of a list call."""
    return json.dumps(wanted)
