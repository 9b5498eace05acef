"""What counts as an error in a log that one jumps to.

Levels in capitals (`ERROR`, `FATAL`, `CRITICAL`, `PANIC`, `SEVERE`) and as a field (`level=error`, `"level":"error"`),
the beginning of a Python traceback, a failed test (`FAILED`, `✗`), `error:`, `fatal:`, `panic:` and `… Error:` or
`… Exception:` as compilers, git, Go and interpreters write them, a killed or crashed process, and a command that was
not found. A bare number and the word in the middle of a sentence ("no error", "0 errors") do not.
"""

from __future__ import annotations

from screens.log_pattern import CASE_MARK, Pattern

_SIGNS = (
    r"\b(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE)\b",
    r"\bFAILED\b",
    r"Traceback \(most recent call last\)",
    r"(?:^|[\s:\]\[(])(?:[Ee]rror|[Ff]atal(?: error)?|panic)(?:\[\w+\])?: ",
    r"(?:Error|Exception)(?:: |$)",
    r"[\"']?(?:level|levelname|severity)[\"']?\s?[:=]\s?[\"']?(?:error|fatal|critical|panic|ERROR|FATAL|CRITICAL)\b",
    r"Segmentation fault|core dumped|Out of memory|OOMKilled|^Killed$|\bnpm ERR!",
    r": command not found|: not found$|No space left on device",
    r"^\s*✗ ",
)

ERRORS = Pattern(CASE_MARK + "|".join(f"(?:{sign})" for sign in _SIGNS))
