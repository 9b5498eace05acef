"""Harbor itself, for tests: its viewer, which a run folder is held against, and its agents."""

from __future__ import annotations

import json
import os
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.harbor_venv import HarborUnavailable, NoPythonForHarbor, deck_python, harbor_command

ANSWER_SEC = 30.0


def require_harbor() -> Path:
    """Harbor's command. Skips where no Python is new enough for it, and, outside of CI, where it can't be installed."""
    return _or_skip(harbor_command)


def require_deck_python() -> Path:
    """An interpreter that has Harbor and what we need. Skips as `require_harbor` does."""
    return _or_skip(deck_python)


def _or_skip(find: Callable[[], Path]) -> Path:
    try:
        return find()
    except NoPythonForHarbor as missing:
        pytest.skip(str(missing))
    except HarborUnavailable as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(missing))


class Viewer:
    """`harbor view` behind its HTTP API."""

    def __init__(self, address: str) -> None:
        self.address = address

    def text(self, *parts: str, **query: str) -> str:
        path = "/".join(urllib.parse.quote(part, safe="/") for part in ("api", *parts))
        search = f"?{urllib.parse.urlencode(query)}" if query else ""
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"{self.address}/{path}{search}", timeout=ANSWER_SEC) as answer:
            body: bytes = answer.read()
        return body.decode()

    def get(self, *parts: str, **query: str) -> Any:
        return json.loads(self.text(*parts, **query))
