"""`./dev bench [NAME…] [--quick] [--json FILE]`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from bench import machine, table
from bench.against_harbor import COMPARISONS, compare
from bench.console.large_run import measure_large_run
from bench.console.measure import measure_console
from bench.document import document
from bench.figures import Result, Say, Unmeasurable
from bench.floor import measure_floor
from bench.logs import measure_logs
from bench.memory import measure_memory
from bench.run_list import measure_run_list
from bench.statistics import measure_statistics

RESULTS = Path(__file__).resolve().parent / "results"
OK, MISSED, INTERRUPTED = 0, 1, 130


class Benchmark(Protocol):
    def __call__(self, *, quick: bool, say: Say) -> Result: ...


BENCHMARKS: Mapping[str, Benchmark] = {
    **{comparison.name: partial(compare, comparison) for comparison in COMPARISONS},
    "floor": measure_floor,
    "memory": measure_memory,
    "events": measure_console,
    "logs": measure_logs,
    "list": measure_run_list,
    "large": measure_large_run,
    "statistics": measure_statistics,
}


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
    try:
        results = [_run(name, quick=chosen.quick) for name in BENCHMARKS if name in chosen.names or not chosen.names]
    except KeyboardInterrupt:
        return INTERRUPTED
    print("\n" + "\n".join(table.lines(results)))
    file = chosen.json or RESULTS / f"{datetime.now():%Y-%m-%d_%H-%M-%S}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(document(found, results, quick=chosen.quick))
    print(f"\n{table.verdict(results)}; the figures are in {file}")
    return OK if all(result.ok for result in results) else MISSED


def _run(name: str, *, quick: bool) -> Result:
    load = os.getloadavg()[0]
    try:
        result = BENCHMARKS[name](quick=quick, say=say)
    except Unmeasurable as error:
        say(f"{name}: {error}")
        result = Result(benchmark=name, title="could not be measured", unmeasured=str(error))
    return msgspec.structs.replace(result, load=load)


if __name__ == "__main__":
    sys.exit(main())
