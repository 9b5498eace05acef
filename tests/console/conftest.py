"""Tests of the program drive its app as those of the screens do."""

from __future__ import annotations

from tests.screens.conftest import nothing_is_written_later, quiet

__all__ = ["nothing_is_written_later", "quiet"]
