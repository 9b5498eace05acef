"""Running a task's script (`test.sh`, `solve.sh`) whatever editor it came from.

A valid first-line shebang is honoured. A byte-order mark, CRLF line ends, comments before the shebang and a missing
exec bit do not break a script that Bash could run.
"""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"


def normalised(script: bytes) -> bytes:
    """The script as it can be executed: no byte-order mark, LF line ends, a shebang below comments moved to the top.

    A script that needs none of this comes back byte for byte.
    """
    script = script.removeprefix(_BOM)
    lines = script.split(b"\n")
    if lines[0].endswith(b"\r") or all(line.endswith(b"\r") for line in lines[:-1] if line):
        script = script.replace(b"\r\n", b"\n")
        lines = script.split(b"\n")
    if lines[0].startswith(b"#!"):
        return script
    for line in lines:
        if line.startswith(b"#!"):
            return line + b"\n" + script
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    return script


def launch(path: str) -> list[str]:
    """The command that runs the script at `path` (executable, normalised): directly, so that its shebang counts; as a
    Bash script where it has none; through `bash path` where the place forbids execution."""
    return ["bash", "-c", 'if [ -x "$1" ]; then "$1"; else exec bash "$1"; fi', "bash", path]
