"""Read-only mode: no label, no command to an engine, no file."""

from __future__ import annotations

from typing import Any

from textual.app import App


def is_read_only(app: App[Any]) -> bool:
    return bool(getattr(app, "read_only", False))


def refused(app: App[Any], what: str = "nothing is written") -> bool:
    """Whether the mode forbids it; then the person is told."""
    if is_read_only(app):
        app.notify(f"read-only: {what}", severity="warning", markup=False)
        return True
    return False
