"""Where a request that a program in `main` makes goes: which address, with which headers, and whether at all.

Only what asks a model passes, in the wire of its server: a key that opens more (files, billing, other people's keys)
opens none of it for what runs in `main`.
"""

from __future__ import annotations

import functools
import ipaddress
import re
import ssl
import urllib.request
from urllib.parse import urlsplit

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy

from engine.models.settings import ModelSettings, Wire

_ASKING: dict[Wire, frozenset[str]] = {
    Wire.OPENAI_CHAT: frozenset({"chat/completions"}),
    Wire.OPENAI_RESPONSES: frozenset({"responses", "responses/compact"}),
    Wire.ANTHROPIC: frozenset({"messages"}),
}
_BESIDE: dict[Wire, frozenset[str]] = {
    Wire.OPENAI_CHAT: frozenset(),
    Wire.OPENAI_RESPONSES: frozenset({"responses/input_tokens"}),
    Wire.ANTHROPIC: frozenset({"messages/count_tokens"}),
}
_MODELS = re.compile(r"models(?:/(?!\.+(?:/|$))[\w.:@-]{1,100}){0,3}", re.ASCII)
_QUERY = re.compile(r"[!-~]{0,2000}")

_OF_ONE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OURS = frozenset(
    {
        "accept-encoding",
        "api-key",
        "authorization",
        "cookie",
        "expect",
        "forwarded",
        "host",
        "openai-organization",
        "openai-project",
        "via",
        "x-api-key",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-goog-api-key",
        "x-real-ip",
    }
)
"""Of the account and of the way to it, which is ours: what the program says here is left out."""
_NOT_BACK = frozenset({"alt-svc", "content-encoding", "content-length", "set-cookie", "strict-transport-security"})


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """`url` is "" for a question that the gateway answers itself: whether there is a server. `asks`: it is a call of
    the model. `path` is the request's, without its query."""

    url: str
    path: str
    asks: bool = False


def way_of(settings: ModelSettings, wire: Wire, method: str, target: str) -> Way | None:
    """None: it doesn't pass. `target` is the path and query as they came; the path may begin with `/v1` or not,
    whichever way the program puts its addresses together."""
    path, mark, query = target.partition("?")
    if path in ("", "/", "/v1", "/v1/") and method in ("GET", "HEAD"):
        return Way(url="", path=path)
    rest = path.removeprefix("/v1").removeprefix("/")
    asks = method == "POST" and rest in _ASKING[wire]
    beside = method == "POST" and rest in _BESIDE[wire]
    models = method == "GET" and _MODELS.fullmatch(rest)
    if not (path.startswith("/") and (asks or beside or models) and _QUERY.fullmatch(query)):
        return None
    return Way(url=f"{_base(settings, wire)}/{rest}{mark}{query}", path=path, asks=asks)


def passing_words(wire: Wire) -> str:
    """What passes, for whoever asked for something else."""
    paths = [f"POST /v1/{path}" for path in sorted(_ASKING[wire] | _BESIDE[wire])]
    return f"this way leads to a model that speaks {wire}: {', '.join(paths)} and GET /v1/models pass, nothing else"


def _base(settings: ModelSettings, wire: Wire) -> str:
    """Anthropic's address is told without `/v1`, the others' with all that stands before the path."""
    base = settings.base_url.rstrip("/")
    return f"{base.removesuffix('/v1')}/v1" if wire is Wire.ANTHROPIC else base


def headers_upstream(
    settings: ModelSettings, wire: Wire, given: CIMultiDictProxy[str] | CIMultiDict[str]
) -> CIMultiDict[str]:
    """What the program sent, without its dummy key, and with the real one; the arm's own headers count most."""
    dropped = _OF_ONE_CONNECTION | _OURS | _named_by_connection(given)
    headers = CIMultiDict((name, value) for name, value in given.items() if name.lower() not in dropped)
    headers["Accept-Encoding"] = "identity"
    if wire is Wire.ANTHROPIC:
        headers["x-api-key"] = settings.key.reveal()
    else:
        headers["Authorization"] = f"Bearer {settings.key.reveal()}"
    for name, secret in settings.headers.items():
        headers[name] = secret.reveal()
    return headers


def headers_back(given: CIMultiDictProxy[str] | CIMultiDict[str]) -> CIMultiDict[str]:
    """What the server sent, without what was for this connection, or for a browser."""
    dropped = _OF_ONE_CONNECTION | _NOT_BACK | _named_by_connection(given)
    return CIMultiDict((name, value) for name, value in given.items() if name.lower() not in dropped)


@functools.cache
def host_trust() -> ssl.SSLContext:
    """What this host trusts (and SSL_CERT_FILE, where it is set)."""
    return ssl.create_default_context()


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for this address; none for this machine itself. Credentials of ~/.netrc are
    never used."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = urllib.request.getproxies_environment()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    bypassed = urllib.request.proxy_bypass_environment(host, proxies)  # type: ignore[attr-defined]
    if not proxy or bypassed or _is_here(host):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    return proxy if proxy.startswith(("http://", "https://")) else None


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _named_by_connection(headers: CIMultiDictProxy[str] | CIMultiDict[str]) -> frozenset[str]:
    names = (name.strip().lower() for value in headers.getall("connection", ()) for name in value.split(","))
    return frozenset(name for name in names if name)
