"""Where things lie in a run folder. Harbor's viewer reads `config.json`, `result.json` and the trial folders.

<run>/
  config.json result.json          the run as Harbor's viewer wants it
  card.toml                        what is measured and how, frozen by its digest
  events.jsonl host.jsonl          the event stream; samples of the host
  labels.jsonl                     who failed, as people decided; only ever appended to
  .reserve                         room for the last events, should the disk be full; gone after the end
  engine.json engine.log           the engine's process: owner, socket; its own log
  <trial>/
    config.json result.json trial.log exception.txt
    agent/ verifier/ artifacts/    as in Harbor; artifacts/manifest.json
    logs/build.log logs/hooks.log logs/services/<service>.log
    logs/verifier/ logs/verifier-<step>/   the same of a fresh verifier's environment
    <log>.streams                  beside a log to which something came on stderr: which of its bytes
    samples.jsonl changes.json
    interrupted-<n>/               the record of a run of this trial that an engine's end cut off
    rerun-<n>/                     the record of one that was over, and that a person had run again
    steps/<name>/                  agent/, verifier/, artifacts/ of one step
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

EVENTS = "events.jsonl"
HOST_SAMPLES = "host.jsonl"
RESERVE = ".reserve"
CARD = "card.toml"
ENGINE = "engine.json"
ENGINE_LOG = "engine.log"
CONFIG = "config.json"
RESULT = "result.json"
TRIAL_LOG = "trial.log"
SAMPLES = "samples.jsonl"
CHANGES = "changes.json"
MANIFEST = "manifest.json"


def is_run_folder(folder: Path) -> bool:
    return (folder / EVENTS).is_file()


def find_runs(folder: Path) -> list[Path]:
    """Run folders directly inside `folder`, newest name last; empty where the folder is missing."""
    if not folder.is_dir():
        return []
    return sorted(child for child in folder.iterdir() if child.is_dir() and is_run_folder(child))


class LogFile(msgspec.Struct, frozen=True):
    """A log of a trial that a person can open. `kind`: agent, service, hooks, verifier, engine, build, other."""

    kind: str
    label: str
    path: Path


def trial_logs(trial_folder: Path) -> list[LogFile]:
    """The logs a trial has so far, in the order that screens show them. Cheap enough to call once a second."""
    logs: list[LogFile] = []
    for base, prefix in [(trial_folder, "")] + [
        (step, f"{step.name}: ") for step in sorted((trial_folder / "steps").glob("*")) if step.is_dir()
    ]:
        logs += [
            LogFile("agent", prefix + (path.stem if path.suffix in (".txt", ".log") else path.name), path)
            for path in sorted((base / "agent").glob("*"))
            if path.is_file() and path.suffix in (".txt", ".log")
        ]
        logs += [
            LogFile("verifier", prefix + path.stem, path)
            for path in sorted((base / "verifier").glob("*"), key=_verifier_order)
            if path.is_file() and path.suffix in (".txt", ".log", ".json")
        ]
    fresh = sorted(folder for folder in (trial_folder / "logs").glob("verifier*") if folder.is_dir())
    for folder, prefix in [(trial_folder / "logs", ""), *((folder, f"{folder.name}: ") for folder in fresh)]:
        services = sorted((folder / "services").glob("*.log"), key=lambda path: (path.stem != "main", path.name))
        logs += [LogFile("service", prefix + path.stem, path) for path in services]
        logs += [
            LogFile("hooks" if name == "hooks" else "build", prefix + name, folder / f"{name}.log")
            for name in ("hooks", "build", "pull", "compose")
            if (folder / f"{name}.log").is_file()
        ]
    if (trial_folder / TRIAL_LOG).is_file():
        logs.append(LogFile("engine", "engine", trial_folder / TRIAL_LOG))
    order = {"agent": 0, "service": 1, "hooks": 2, "verifier": 3, "build": 4, "engine": 5}
    return sorted(logs, key=lambda log: order[log.kind])


def _verifier_order(path: Path) -> tuple[bool, bool, str]:
    """What the tests printed comes first, reports for machines last."""
    return path.suffix == ".json", path.stem != "test-stdout", path.name


def name_of_folder(name: str) -> str:
    """What a run's name is in the name of its folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "run"
