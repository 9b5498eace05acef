"""Text of another system's log without the keys that may have slipped into it."""

from __future__ import annotations

import re

_KEY = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{8,}|\bgh[opusr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|\bxox[abps]-[\w-]{8,}|\bhf_[A-Za-z0-9]{16,}|\bAIza[\w-]{30,}|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_NAMED = re.compile(
    r"""((?:api[_-]?key|access[_-]?token|auth[_-]?token|secret|password|authorization)["']?\s*[:=]\s*["']?(?:bearer\s+)?)"""
    r"""([^\s"',;&}]{6,})""",
    re.IGNORECASE,
)
MASK = "<key>"


def masked(text: str) -> str:
    """Whatever looks like a key, or is called one, is `<key>`."""
    return _KEY.sub(MASK, _NAMED.sub(rf"\1{MASK}", text))
