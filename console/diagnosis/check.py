"""One thing that was looked at."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"  # something needed: no container can be run


GLYPHS = {Status.OK: "✓", Status.WARNING: "!", Status.FAILED: "✗"}


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """`way_out` is empty where nothing needs doing."""

    name: str
    status: Status
    text: str
    way_out: str = ""

    @property
    def line(self) -> str:
        way = f" → {self.way_out}" if self.way_out else ""
        return f"{GLYPHS[self.status]} {self.name:<16} {self.text}{way}"


def ok(name: str, text: str) -> Check:
    return Check(name=name, status=Status.OK, text=text)


def warning(name: str, text: str, way_out: str) -> Check:
    return Check(name=name, status=Status.WARNING, text=text, way_out=way_out)


def failed(name: str, text: str, way_out: str) -> Check:
    return Check(name=name, status=Status.FAILED, text=text, way_out=way_out)
