"""The console in a browser: textual-serve, for browsers that mean this server and no other page's scripts."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.server import Server

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def is_local(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host in LOCAL:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class BrowserServer(Server):
    """A page of another site that the same browser shows may not talk to the console: a request must name this server
    as its host, where only this machine can reach it, and as its origin, where it has one."""

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._own_pages_only())
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Says nothing: the command has said where it is."""

    def _own_pages_only(self) -> Middleware:
        local, public = is_local(self.host), urlsplit(self.public_url)

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            named = _name(f"//{request.host}")
            origin = request.headers.get("Origin")
            if local and not is_local(named) and named != public.hostname:
                raise web.HTTPForbidden(text="this server answers to localhost only")
            if origin is not None and urlsplit(origin).netloc not in (request.host, public.netloc):
                raise web.HTTPForbidden(text="another site's page may not use this console")
            return await handler(request)

        return check


def _name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
