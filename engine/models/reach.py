"""Can a model's server be reached from this host? A connection and a handshake: nothing is asked, nothing is paid."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import ssl
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import anyio

from engine.issues import Code
from engine.models.model_call import ModelFailure
from engine.text import clean_line

CONNECT_SEC = 10.0
PAUSES = (1.0, 3.0)
"""Seconds before a connection that failed is tried again."""
_WORDS_CHARS = 300


async def reach(base_url: str, *, pauses: tuple[float, ...] = PAUSES) -> ModelFailure | None:
    """None where it can be. Behind a proxy it is the proxy that has to answer: what lies beyond is its business."""
    failure = await _try(base_url)
    for pause in pauses:
        if failure is None or not failure.retryable:
            break
        await anyio.sleep(pause)
        failure = await _try(base_url)
    return failure


async def _try(base_url: str) -> ModelFailure | None:
    place = urlsplit(base_url)
    proxy = _proxy_for(place)
    where = proxy or place
    port = where.port or (443 if where.scheme == "https" else 80)
    context = _context() if where.scheme == "https" else None
    whose = f"the proxy {where.hostname}:{port}" if proxy else f"{where.hostname}:{port}"
    try:
        with anyio.fail_after(CONNECT_SEC):
            _, writer = await asyncio.open_connection(
                where.hostname, port, ssl=context, server_hostname=where.hostname if context is not None else None
            )
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
    except TimeoutError:
        return _failed(Code.MODEL_UNREACHABLE, f"{whose} did not answer within {CONNECT_SEC:.0f} s")
    except ssl.SSLCertVerificationError as error:
        words = f"{whose}: CERTIFICATE_VERIFY_FAILED: {error.verify_message or error.reason}"
        return _failed(Code.MODEL_UNTRUSTED, words, retryable=False)
    except ssl.SSLError as error:
        words = f"{whose} does not speak TLS as https:// needs it ({error.reason or error})"
        return _failed(Code.MODEL_UNREACHABLE, words, retryable=False)
    except socket.gaierror as error:
        return _failed(Code.MODEL_UNREACHABLE, f"{where.hostname} is no host that is known here ({error.strerror})")
    except OSError as error:
        return _failed(Code.MODEL_UNREACHABLE, f"{whose}: {os.strerror(error.errno) if error.errno else error}")
    return None


def _failed(code: Code, words: str, *, retryable: bool = True) -> ModelFailure:
    return ModelFailure(code=code, words=clean_line(words, _WORDS_CHARS), retryable=retryable)


def _proxy_for(place: SplitResult) -> SplitResult | None:
    """As the variables of the environment have it (HTTPS_PROXY, NO_PROXY, …)."""
    proxies = urllib.request.getproxies()
    found = proxies.get(place.scheme) or proxies.get("all")
    if not found or urllib.request.proxy_bypass(place.hostname or ""):
        return None
    proxy = urlsplit(found if "://" in found else f"http://{found}")
    return proxy if proxy.hostname and proxy.scheme in ("http", "https") else None


def _context() -> ssl.SSLContext:
    """Trusts what this host trusts, and what the SDKs bring along: whoever refuses a certificate that this one takes
    says so at the first call."""
    context = ssl.create_default_context()
    if (found := importlib.util.find_spec("certifi")) is not None and found.origin:
        with suppress(OSError):
            context.load_verify_locations(Path(found.origin).parent / "cacert.pem")
    return context
