"""Collecting: hooks, then artifacts; `main` first, stopped before a fresh verifier, then the sidecars.

Hooks are best effort: one that fails or runs out of time is a warning and everything continues. A file transfer or an exec
that fails is fatal.
"""

from __future__ import annotations

import time
from pathlib import Path, PurePosixPath

import anyio
import msgspec

from engine import events as ev
from engine.environments.environment import Environment, Transfer
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.layout import MANIFEST
from engine.tasks.task import LOGS_ARTIFACTS, MAIN, Artifact, CollectHook
from engine.text import decode_output
from engine.trial.job import DOWNLOAD_SEC, MAX_ARTIFACT_BYTES, Stage, TrialJob
from engine.trial.log_file import LogFile
from engine.trial.record import Record


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """One manifest row. `destination` is relative to the trial's (or step's) folder, "" where nothing was fetched.

    `path` is where the artifact goes back to in a verifier: its absolute path in the service.
    """

    source: str
    destination: str
    type: str
    status: str
    service: str
    path: str
    bytes: int = 0
    sha256: str = ""
    exclude: tuple[str, ...] = ()
    note: str = ""


async def collect(
    job: TrialJob, stage: Stage, environment: Environment, record: Record, *, stop_main: bool
) -> list[Collected]:
    """Run the hooks and fetch the artifacts; the rows are also the folder's `artifacts/manifest.json`."""
    hooks = [hook for service in (True, False) for hook in _hooks(job, stage) if (hook.service == MAIN) is service]
    artifacts = _artifacts(job, stage)
    folder = record.folder / "steps" / stage.name if stage.name else record.folder
    rows: list[Collected] = []
    taken: dict[PurePosixPath, Artifact] = {}
    for number, hook in enumerate((hook for hook in hooks if hook.service == MAIN), 1):
        await _run_hook(hook, number, len(hooks), environment, record, stage)
    for artifact in (artifact for artifact in artifacts if artifact.service == MAIN):
        rows.append(await _fetch(artifact, environment, record, folder, taken, stage))
    if stop_main:
        record.activity("stop main")
        await environment.stop(MAIN)
    first = sum(1 for hook in hooks if hook.service == MAIN) + 1
    for number, hook in enumerate((hook for hook in hooks if hook.service != MAIN), first):
        await _run_hook(hook, number, len(hooks), environment, record, stage)
    for artifact in (artifact for artifact in artifacts if artifact.service != MAIN):
        rows.append(await _fetch(artifact, environment, record, folder, taken, stage))
    manifest = folder / "artifacts" / MANIFEST
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_bytes(msgspec.json.format(_encodable(rows)) + b"\n")
    return rows


def _hooks(job: TrialJob, stage: Stage) -> list[CollectHook]:
    """The stage's hooks; a step's settings already include the task's."""
    return list(stage.verifier.collect)


def _artifacts(job: TrialJob, stage: Stage) -> list[Artifact]:
    """`/logs/artifacts` of main, the task's, then the step's; the same source of the same service once."""
    declared = [*job.task.artifacts, *(stage.step.artifacts if stage.step is not None else ())]
    found = {(artifact.service, artifact.source.rstrip("/")): artifact for artifact in reversed(declared)}
    implicit = Artifact(source=str(LOGS_ARTIFACTS))
    if (MAIN, implicit.source) in found:
        return list(reversed(found.values()))
    return [implicit, *reversed(found.values())]


async def _run_hook(
    hook: CollectHook, number: int, of: int, environment: Environment, record: Record, stage: Stage
) -> None:
    shell = ["bash", "-c"] if hook.service == MAIN else ["sh", "-c"]
    record.activity(f"hook {number}/{of} · {hook.service}")
    began = time.monotonic()
    with LogFile(record.folder / "logs" / "hooks.log") as log:
        log.write("stdout", f"--- hook {number}/{of} · {hook.service} · {hook.command}\n".encode("utf-8", "replace"))
        log.tail, log.lines = b"", _lines_before(log.path)
        result = await environment.execute(
            [*shell, hook.command], service=hook.service, user=hook.user, sink=log.write, timeout_sec=hook.timeout_sec
        )
        seconds = time.monotonic() - began
        code = "timed out" if result.timed_out else f"exit {result.exit_code}"
        if not result.environment_alive and result.exit_code is None:
            code = "could not run, the service is not up"
        log.write("stdout", f"\n--- {code} after {seconds:.1f} s\n".encode())
        output = decode_output(log.tail.rpartition(b"\n---")[0]).strip()
    record.emit(
        ev.HookFinished(
            trial=record.trial,
            number=number,
            of=of,
            service=hook.service,
            command=hook.command,
            exit_code=result.exit_code,
            seconds=seconds,
            timed_out=result.timed_out,
            output=output[-2000:],
            step=stage.name,
        )
    )
    if result.timed_out or result.exit_code != 0:
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.COLLECT,
                Code.ARTIFACT_COLLECT_FAILED,
                f"{hook.service}: hook {code} after {seconds:.1f} s"
                + (f" (limit {hook.timeout_sec:g} s)" if result.timed_out else ""),
                (
                    Evidence("command", hook.command),
                    Evidence("output", output[-2000:], "logs/hooks.log", log.lines),
                ),
                service=hook.service,
            )
        )


def _lines_before(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except OSError:
        return 0


async def _fetch(
    artifact: Artifact,
    environment: Environment,
    record: Record,
    folder: Path,
    taken: dict[PurePosixPath, Artifact],
    stage: Stage,
) -> Collected:
    base = environment.workdir if artifact.service == MAIN else "/"
    source = PurePosixPath(base or "/") / artifact.source
    place = PurePosixPath(artifact.destination or str(source).lstrip("/") or ".")
    implicit = artifact.source == str(LOGS_ARTIFACTS) and artifact.service == MAIN
    holder = next(
        (other for other in taken if other == place or other in place.parents or place in other.parents), None
    )
    if artifact.service not in environment.services:
        transfer, note = Transfer(status="missing"), f"there is no service {artifact.service}"
    elif holder is not None:
        other = taken[holder]
        note = f"its place artifacts/{place} on the host is taken by {other.service}:{other.source}"
        transfer = Transfer(status="skipped")
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.COLLECT,
                Code.ARTIFACT_COLLISION,
                f"{artifact.service}:{artifact.source} was left out: {note}; give it a destination of its own",
                service=artifact.service,
            )
        )
    else:
        record.activity(f"download {artifact.service}:{artifact.source}")
        transfer = await _download(artifact, str(source), environment, folder / "artifacts" / place)
        note = "; ".join(transfer.skipped[:20])
        if transfer.status not in ("missing", "refused"):
            taken[place] = artifact
    _raise_issue(artifact, transfer, note, record, implicit=implicit)
    status = (
        "empty" if transfer.status == "collected" and transfer.is_folder and not transfer.files else transfer.status
    )
    if implicit and transfer.status == "missing":
        status = "empty"
    row = Collected(
        source=artifact.source,
        destination=f"artifacts/{place}" if transfer.status in ("collected", "empty", "too_large") else "",
        type="directory" if transfer.is_folder or (implicit and status == "empty") else "file",
        status=status,
        service=artifact.service,
        path=str(source),
        bytes=transfer.bytes,
        sha256=transfer.sha256,
        exclude=artifact.exclude,
        note=note,
    )
    record.emit(
        ev.ArtifactRecorded(
            trial=record.trial,
            service=row.service,
            source=row.source,
            status=row.status,
            bytes=row.bytes,
            sha256=row.sha256,
            note=note,
            step=stage.name,
        )
    )
    return row


async def _download(artifact: Artifact, source: str, environment: Environment, destination: Path) -> Transfer:
    with anyio.move_on_after(DOWNLOAD_SEC) as scope:
        return await environment.download(
            source,
            destination,
            service=artifact.service,
            exclude=artifact.exclude,
            max_bytes=MAX_ARTIFACT_BYTES,
            timeout_sec=DOWNLOAD_SEC,
        )
    if scope.cancelled_caught:
        raise TrialFailed(
            Issue(
                Severity.FATAL,
                Phase.COLLECT,
                Code.ARTIFACT_TRANSFER_FAILED,
                f"downloading {artifact.service}:{artifact.source} took longer than {DOWNLOAD_SEC:.0f} s",
                service=artifact.service,
            )
        )
    raise RuntimeError("unreachable")


def _raise_issue(artifact: Artifact, transfer: Transfer, note: str, record: Record, *, implicit: bool) -> None:
    where = f"{artifact.service}:{artifact.source}"
    found: tuple[Code, str] | None = None
    if transfer.status == "missing" and not implicit:
        found = Code.ARTIFACT_MISSING, f"declared artifact {where} is missing" + (f": {note}" if note else "")
    elif transfer.status == "refused":
        found = Code.ARTIFACT_REFUSED, f"artifact {where} was refused: {note}"
    elif transfer.status == "too_large":
        found = (
            Code.ARTIFACT_TOO_LARGE,
            f"artifact {where} is larger than {MAX_ARTIFACT_BYTES >> 20} MiB and was cut there",
        )
    elif transfer.skipped:
        found = Code.ARTIFACT_REFUSED, f"parts of artifact {where} were left out"
    if found is not None:
        evidence = (Evidence("left out", "\n".join(transfer.skipped[:50])),) if transfer.skipped else ()
        record.issue(Issue(Severity.WARNING, Phase.COLLECT, found[0], found[1], evidence, service=artifact.service))


def _encodable(rows: list[Collected]) -> bytes:
    """JSON of the rows; names that are not UTF-8 are written with backslash escapes."""
    plain = msgspec.to_builtins(rows)
    for row in plain:
        for key, value in row.items():
            if isinstance(value, str):
                row[key] = value.encode("utf-8", "backslashreplace").decode()
    return msgspec.json.encode(plain)
