"""The end of an engine's process that this command started."""

from __future__ import annotations

import subprocess
from contextlib import suppress

END_SEC = 30.0


def wait_for_end(engine: subprocess.Popen[bytes] | None) -> None:
    """After its last event an engine still removes images; who then asks Docker or sweeps should find it done."""
    if engine is not None:
        with suppress(subprocess.TimeoutExpired):
            engine.wait(END_SEC)
