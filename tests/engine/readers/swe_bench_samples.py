"""SWE-bench evaluations in small, written in the format of its harness."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MODEL, RUN = "gpt-4.1__mini", "verified.v2"


def run_folder(top: Path) -> Path:
    return top / "logs" / "run_evaluation" / RUN


def instance(top: Path, name: str, model: str = MODEL) -> Path:
    folder = run_folder(top) / model / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def log_lines(*lines: str, minute: int = 1) -> str:
    return "".join(
        f"2024-07-02 13:{minute + number // 60:02}:{number % 60:02},123 - INFO - {line}\n"
        for number, line in enumerate(lines)
    )


def evaluated(
    top: Path, name: str, resolved: bool, *, applied: bool = True, model: str = MODEL, minute: int = 1
) -> Path:
    """An instance that was evaluated to its end."""
    folder = instance(top, name, model)
    failing = [] if resolved else ["tests/test_a.py::test_new"]
    row: dict[str, Any] = {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": applied,
        "resolved": resolved,
        "tests_status": {
            "FAIL_TO_PASS": {"success": ["tests/test_a.py::test_b"], "failure": failing},
            "PASS_TO_PASS": {"success": ["tests/test_a.py::test_c"], "failure": []},
            "FAIL_TO_FAIL": {"success": [], "failure": []},
            "PASS_TO_FAIL": {"success": [], "failure": []},
        },
    }
    (folder / "report.json").write_text(json.dumps({name: row}, indent=4))
    lines = log_lines(
        f"Creating container for {name}...",
        f"Container for {name} created: 4f2a",
        f"Container for {name} started: 4f2a",
        f"Intermediate patch for {name} written to {folder}/patch.diff, now applying to container...",
        ">>>>> Applied Patch:\nChecking patch astropy/a.py...",
        f"Eval script for {name} written to {folder}/eval.sh; copying to container...",
        "Test runtime: 1_234.50 seconds",
        f"Grading answer for {name}...",
        f"Result for {name}: resolved: {resolved}",
        minute=minute,
    )
    (folder / "run_instance.log").write_text(lines)
    (folder / "test_output.txt").write_text("1 passed\n")
    (folder / "patch.diff").write_text("diff --git a/a.py b/a.py\n")
    (folder / "eval.sh").write_text("#!/bin/bash\n")
    return folder


def broken(top: Path, name: str, *lines: str, trace: str = "") -> Path:
    """An instance whose evaluation broke off: a log and no report."""
    folder = instance(top, name)
    begun = log_lines(f"Creating container for {name}...", f"Container for {name} started: 4f2a", *lines)
    (folder / "run_instance.log").write_text(begun + (log_lines(trace, minute=2) if trace else ""))
    return folder


def trace(error: str) -> str:
    return f'Traceback (most recent call last):\n  File "run_evaluation.py", line 1, in run_instance\n{error}\n'


def summary(top: Path, *, model: str = MODEL, **lists: Iterable[str]) -> Path:
    """The report that the harness writes where it was started."""
    names = ("completed", "incomplete", "empty_patch", "submitted", "resolved", "unresolved", "error")
    found = {name: sorted(lists.get(name, ())) for name in names}
    report: dict[str, Any] = {"total_instances": len({item for ids in found.values() for item in ids})}
    report |= {f"{name}_instances": len(found[name]) for name in names if name != "incomplete"}
    report |= {f"{name}_ids": ids for name, ids in found.items()}
    path = top / f"{model}.{RUN}.json"
    path.write_text(json.dumps(report | {"schema_version": 2}, indent=4))
    return path
