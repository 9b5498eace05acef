"""Harbor's own viewer, for tests that hold a run folder against it."""

from __future__ import annotations

import json
import os
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from bench.harbor_venv import HarborUnavailable, NoPythonForHarbor, harbor_command

ANSWER_SEC = 30.0


def require_harbor() -> Path:
    """Harbor's command. Skips where no Python is new enough for it, and, outside of CI, where it can't be installed."""
    try:
        return harbor_command()
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
