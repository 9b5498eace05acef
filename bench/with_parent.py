"""A child that ends when the process that started it does, however that one ended."""

from __future__ import annotations

import ctypes
import signal
import sys

_SET_DEATH_SIGNAL = 1


def end_with_parent() -> None:
    """For `preexec_fn`. Where the system has no such thing (only Linux does), nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
