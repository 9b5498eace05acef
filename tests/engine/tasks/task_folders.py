"""Task folders for tests: a whole task in one call, to be spoilt by the test."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, settings

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy host fails no test

FILES: dict[str, str | bytes | None] = {
    "task.toml": 'schema_version = "1.4"\n',
    "instruction.md": "Say hello.\n",
    "environment/Dockerfile": "FROM debian:bookworm-slim\n",
    "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
}


def make_task(folder: Path, toml: str = "", files: dict[str, str | bytes | None] | None = None) -> Path:
    """A task that reads without a complaint, but for `toml` and `files`; a file given as None is left out."""
    return write_files(folder, {**FILES, **({"task.toml": toml} if toml else {}), **(files or {})})


def write_files(folder: Path, files: dict[str, str | bytes | None]) -> Path:
    for name, content in files.items():
        if content is None:
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
