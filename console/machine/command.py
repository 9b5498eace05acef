"""Running another program, with its output kept until somebody needs it."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NOT_FOUND = 127
TIMED_OUT = 124
STOP_GRACE = 5.0


@dataclass(frozen=True)
class Outcome:
    """How a program ended; `output` is what it printed on both streams, in order."""

    code: int
    output: str

    @property
    def ok(self) -> bool:
        return self.code == 0

    def tail(self, lines: int = 15) -> str:
        return "\n".join(self.output.strip().splitlines()[-lines:])


def run(
    argv: Sequence[str],
    *,
    timeout: float,
    stdin: str = "",
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> Outcome:
    """Run a program to its end, or stop it after `timeout` seconds (the code is then `TIMED_OUT`).

    Never raises for a program that is missing or fails. The program stays in our process group, so that
    Ctrl-C reaches it and sudo can still ask for a password on the terminal.
    """
    # Files, not pipes: a grandchild that outlives a stopped program would hold a pipe open for ever.
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        try:
            process = subprocess.Popen(argv, stdin=given, stdout=said, stderr=subprocess.STDOUT, env=env, cwd=cwd)
        except FileNotFoundError:
            return Outcome(NOT_FOUND, f"{argv[0]}: not found")
        except PermissionError:
            return Outcome(NOT_FOUND, f"{argv[0]}: not executable")
        code = _wait(process, timeout)
        said.seek(0)
        output = said.read().decode(errors="replace")
    if code == TIMED_OUT:
        output += f"\n{argv[0]}: no end after {timeout:.0f} s"
    return Outcome(code, output)


def _wait(process: subprocess.Popen[bytes], timeout: float) -> int:
    """Wait for the end. Whatever cuts the wait short, Ctrl-C included, the program isn't left running."""
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                process.wait(STOP_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
