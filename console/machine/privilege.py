"""Doing what only root may do: directly where we are root, through sudo where we are not."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from console.machine.command import Outcome, run
from console.machine.trouble import Trouble

SUDO_ASK_LIMIT = 120.0
WRITE_LIMIT = 20.0


@dataclass(frozen=True)
class Privilege:
    """`prefix` is put before a command line; it is empty for root."""

    prefix: tuple[str, ...]

    def argv(self, argv: Sequence[str]) -> list[str]:
        return [*self.prefix, *argv]

    def run(self, argv: Sequence[str], *, timeout: float, stdin: str = "") -> Outcome:
        return run(self.argv(argv), timeout=timeout, stdin=stdin)

    def write(self, path: Path, text: str) -> None:
        """Put a file in its place at once, readable by all: apt must never see half of one."""
        script = 'mkdir -p "$(dirname "$1")" && cat >"$1.new" && chmod 644 "$1.new" && mv "$1.new" "$1"'
        done = self.run(["sh", "-c", script, "sh", str(path)], timeout=WRITE_LIMIT, stdin=text)
        if not done.ok:
            raise Trouble(f"{path} can't be written", "make it writable for root, or free some disk", done.tail())

    def unlock(self) -> None:
        """Ask for sudo's password now, before a progress line is on the screen."""
        if not self.prefix:
            return
        done = run(["sudo", "-v"] if sys.stdin.isatty() else ["sudo", "-n", "true"], timeout=SUDO_ASK_LIMIT)
        if not done.ok:
            raise Trouble(
                "sudo lets this account do nothing as root here",
                "run ./dev as root, or from a terminal where sudo can ask for the password",
                done.tail(3),
            )


def privilege() -> Privilege | None:
    """How to act as root on this machine; None where there is no way."""
    if os.geteuid() == 0:
        return Privilege(())
    return Privilege(("sudo",)) if shutil.which("sudo") else None
