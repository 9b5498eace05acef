"""Small tasks that each do one thing, on the image that every machine with the suite has."""

from __future__ import annotations

from pathlib import Path

PASS = "echo 1 > /logs/verifier/reward.txt\n"
DOCKERFILE = "FROM debian:bookworm-slim\nWORKDIR /app\n"


def small_task(folder: Path, *, toml: str = "", solve: str = "true\n", test: str = PASS, **files: str) -> Path:
    """A task whose name is the folder's. `files`: more files, with `__` for `/` and `_dot_` for `.` in their names."""
    content = {
        "task.toml": 'schema_version = "1.4"\n' + toml,
        "instruction.md": "Do it.\n",
        "environment/Dockerfile": DOCKERFILE,
        "tests/test.sh": test,
        "solution/solve.sh": solve,
    }
    content |= {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
    for name, text in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
