"""The results as a file, for a machine: measurements, figures, and what they were measured on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bench.figures import Result
from bench.machine import Machine

FORMAT, FORMAT_VERSION = "trialdeck-bench", 1


def document(found: Machine, results: Sequence[Result], *, quick: bool) -> bytes:
    """What is saved. Beside the measurements each check says whether it was met, so that a reader needn't know how."""
    plain = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "quick": quick,
        "ok": all(result.ok for result in results),
        "machine": msgspec.to_builtins(found),
        "results": [
            msgspec.to_builtins(result)
            | {"ok": result.ok}
            | {
                "checks": [
                    msgspec.to_builtins(check) | {"met": check.met, "aim_met": check.aim_met} for check in result.checks
                ]
            }
            for result in results
        ],
    }
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"
