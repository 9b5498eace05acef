"""`./dev bench [NAME…] [--quick] [--json FILE]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec

from bench import machine, table
from bench.against_harbor import COMPARISONS, compare
from bench.console.measure import measure_console
from bench.figures import Result, Unmeasurable
from bench.floor import measure_floor
from bench.memory import measure_memory

FORMAT, FORMAT_VERSION = "trialdeck-bench", 1
RESULTS = Path(__file__).resolve().parent / "results"
OK, MISSED = 0, 1

Benchmark = Callable[..., Result]

BENCHMARKS: Mapping[str, Benchmark] = {
    **{comparison.name: partial(compare, comparison) for comparison in COMPARISONS},
    "floor": measure_floor,
    "memory": measure_memory,
    "events": measure_console,
}


def document(found: machine.Machine, results: Sequence[Result], *, quick: bool) -> bytes:
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


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    names = ", ".join(BENCHMARKS)
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Measure trialdeck. Exit code 1: a target is missed."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {names}; all of them if none is given")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--json", type=Path, metavar="FILE", help="for the figures; else bench/results/<date>.json")
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in BENCHMARKS]:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {names}")
    found = machine.look()
    print("\n".join(machine.lines(found)), flush=True)
    results = [_run(name, quick=chosen.quick) for name in BENCHMARKS if name in chosen.names or not chosen.names]
    print("\n" + "\n".join(table.lines(results)))
    file = chosen.json or RESULTS / f"{datetime.now():%Y-%m-%d_%H-%M-%S}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(document(found, results, quick=chosen.quick))
    print(f"\n{table.verdict(results)}; the figures are in {file}")
    return OK if all(result.ok for result in results) else MISSED


def _run(name: str, *, quick: bool) -> Result:
    try:
        return BENCHMARKS[name](quick=quick, say=say)
    except Unmeasurable as error:
        say(f"{name}: {error}")
        return Result(benchmark=name, title="could not be measured", unmeasured=str(error))


if __name__ == "__main__":
    sys.exit(main())
