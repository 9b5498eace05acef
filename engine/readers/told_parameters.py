"""Parameters of an agent as another system wrote them down, without anything that could be a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.readers.json_values import flat

_SECRET_NAME = re.compile(
    r"api_?key|token$|secret|passw|auth|credential|header|cookie|(^|[._])env([._]|$)", re.IGNORECASE
)
_SECRET_VALUE = re.compile(r"\bsk-|\bbearer |ghp_|AKIA|://[^/\s]*@|-----BEGIN", re.IGNORECASE)
_LONGEST = 200
_MOST = 100


def told_parameters(value: object) -> dict[str, str]:
    """Every leaf that says something and is not plainly off, named by its path; what may hold a secret stays out."""
    return dict(_safe(value))


def _safe(value: object) -> Iterator[tuple[str, str]]:
    for number, (name, said) in enumerate(flat(value)):
        if number >= _MOST:
            return
        if said != "false" and not _SECRET_NAME.search(name) and not _SECRET_VALUE.search(said):
            yield name[:_LONGEST], said[:_LONGEST]
