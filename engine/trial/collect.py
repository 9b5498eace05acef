"""Collecting: hooks, then artifacts; `main` first, stopped before a fresh verifier, then the sidecars.

Hooks are best effort: one that fails or runs out of time is a warning and everything continues. A file transfer or an
exec that fails is fatal.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path, PurePosixPath

import anyio
import msgspec

from engine import events as ev
from engine.environments.environment import Environment, ExecResult, Transfer
from engine.hidden_values import HiddenValues, HidingSink
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.layout import MANIFEST
from engine.tasks.task import LOGS_ARTIFACTS, MAIN, Artifact, CollectHook
from engine.text import decode_output
from engine.trial.job import DOWNLOAD_SEC, MAX_ARTIFACT_BYTES, Stage, TrialJob
from engine.trial.log_file import LogFile
from engine.trial.record import Record
from engine.trial.whole_file import write_whole

_NO_SERVICE = ExecResult(
    exit_code=None, seconds=0.0, environment_alive=False, started=False, tail="there is no such service"
)


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
    """Run the hooks and fetch the artifacts; the rows are also the folder's `artifacts/manifest.json`, which is written
    even where a transfer fails."""
    main_hooks = [hook for hook in stage.verifier.collect if hook.service == MAIN]
    side_hooks = [hook for hook in stage.verifier.collect if hook.service != MAIN]
    total = len(main_hooks) + len(side_hooks)
    artifacts = _artifacts(job, stage)
    fetching = _Fetching(environment, record, stage)
    try:
        for number, hook in enumerate(main_hooks, 1):
            await _run_hook(hook, number, total, environment, record, stage)
        for artifact in (artifact for artifact in artifacts if artifact.service == MAIN):
            await fetching.fetch(artifact)
        if stop_main:
            record.activity("stop main")
            await environment.stop(MAIN)
        for number, hook in enumerate(side_hooks, len(main_hooks) + 1):
            await _run_hook(hook, number, total, environment, record, stage)
        for artifact in (artifact for artifact in artifacts if artifact.service != MAIN):
            await fetching.fetch(artifact)
    except BaseException:
        with suppress(OSError):  # the first cause is told
            _write_manifest(fetching)
        raise
    _write_manifest(fetching)
    return fetching.rows


def _write_manifest(fetching: _Fetching) -> None:
    manifest = fetching.folder / "artifacts" / MANIFEST
    manifest.parent.mkdir(parents=True, exist_ok=True)
    write_whole(manifest, msgspec.json.format(_encodable(fetching.rows)) + b"\n")


def _artifacts(job: TrialJob, stage: Stage) -> list[Artifact]:
    """`/logs/artifacts` of main first, then what is declared (a step's settings already include the task's)."""
    declared = list(dict.fromkeys(stage.step.artifacts if stage.step is not None else job.task.artifacts))
    if any(_is_implicit(artifact) for artifact in declared):
        return declared
    return [Artifact(source=str(LOGS_ARTIFACTS)), *declared]


async def _run_hook(
    hook: CollectHook, number: int, of: int, environment: Environment, record: Record, stage: Stage
) -> None:
    shell = ["bash", "-c"] if hook.service == MAIN else ["sh", "-c"]
    record.activity(f"hook {number}/{of} · {hook.service}")
    began = time.monotonic()
    with LogFile(record.folder / "logs" / "hooks.log", record.folder) as log:
        log.write("stdout", f"--- hook {number}/{of} · {hook.service} · {hook.command}\n".encode("utf-8", "replace"))
        log.tail = b""
        result = _NO_SERVICE
        if hook.service in environment.services:
            with HidingSink(log.write, HiddenValues.of(environment.spec.allowed_host_env)) as shown:
                result = await environment.execute(
                    [*shell, hook.command],
                    service=hook.service,
                    user=hook.user,
                    sink=shown,
                    timeout_sec=hook.timeout_sec,
                )
        seconds = time.monotonic() - began
        code = _how_it_ended(result)
        output, line = decode_output(log.tail or result.tail.encode("utf-8", "replace")).strip(), log.lines
        log.write("stdout", f"\n--- {code} after {seconds:.1f} s\n".encode())
    if (complaint := log.complaint(Phase.COLLECT)) is not None:
        record.issue(complaint)
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
                    Evidence("output", output[-2000:], log.name, line),
                ),
                service=hook.service,
            )
        )


def _how_it_ended(result: ExecResult) -> str:
    if result.timed_out:
        return "timed out"
    if result.exit_code is not None:
        return f"exit {result.exit_code}"
    if not result.environment_alive:
        return "could not run, the service is not up"
    return "ended, nobody knows how," if result.started else "could not be started"


class _Fetching:
    """The artifacts of one stage on their way to the host, and the places there that are taken."""

    def __init__(self, environment: Environment, record: Record, stage: Stage) -> None:
        self.folder = record.folder / "steps" / stage.name if stage.name else record.folder
        self.rows: list[Collected] = []
        self._environment = environment
        self._record = record
        self._stage = stage
        self._taken: dict[PurePosixPath, Artifact] = {}

    async def fetch(self, artifact: Artifact) -> None:
        """Adds the artifact's row, whatever becomes of it. Raises TrialFailed where the transfer itself fails."""
        source, place = self._source(artifact), self._place(artifact)
        try:
            transfer, note = await self._transfer(artifact, source, place)
        except TrialFailed as failure:
            self._add(artifact, Transfer(status="failed"), failure.issue.message)
            raise
        _raise_issue(artifact, transfer, note, self._record, implicit=_is_implicit(artifact))
        self._add(artifact, transfer, note)

    def _source(self, artifact: Artifact) -> PurePosixPath:
        base = self._environment.workdir if artifact.service == MAIN else "/"
        return PurePosixPath(base or "/") / artifact.source

    def _place(self, artifact: Artifact) -> PurePosixPath:
        return PurePosixPath(artifact.destination or str(self._source(artifact)).lstrip("/") or ".")

    async def _transfer(self, artifact: Artifact, source: PurePosixPath, place: PurePosixPath) -> tuple[Transfer, str]:
        """What arrived, and a note for the manifest."""
        if artifact.service not in self._environment.services:
            return Transfer(status="missing"), f"there is no service {artifact.service}"
        holder = next(
            (other for other in self._taken if other == place or other in place.parents or place in other.parents), None
        )
        if holder is not None:
            return self._beside(artifact, place, holder)
        if place.parts[:1] == (MANIFEST,):
            return self._collide(artifact, f"its place artifacts/{MANIFEST} on the host is the manifest's own")
        self._record.activity(f"download {artifact.service}:{artifact.source}")
        transfer = await _download(artifact, str(source), self._environment, self.folder / "artifacts" / place)
        if transfer.status not in ("missing", "refused"):
            self._taken[place] = artifact
        return transfer, "; ".join(transfer.skipped[:20])

    def _beside(self, artifact: Artifact, place: PurePosixPath, holder: PurePosixPath) -> tuple[Transfer, str]:
        """An artifact whose place another one has: a part of that one, or a collision."""
        other = self._taken[holder]
        whole, part = self._source(other), self._source(artifact)
        inside = other.service == artifact.service and part.is_relative_to(whole) and not other.exclude
        if inside and holder / part.relative_to(whole) == place:
            there = os.path.lexists(self.folder / "artifacts" / place)
            return Transfer(status="skipped" if there else "missing"), f"a part of {other.service}:{other.source}"
        return self._collide(
            artifact, f"its place artifacts/{place} on the host is taken by {other.service}:{other.source}"
        )

    def _collide(self, artifact: Artifact, note: str) -> tuple[Transfer, str]:
        where = f"{artifact.service}:{artifact.source}"
        self._record.issue(
            Issue(
                Severity.WARNING,
                Phase.COLLECT,
                Code.ARTIFACT_COLLISION,
                f"{where} was left out: {note}; give it a destination of its own",
                service=artifact.service,
            )
        )
        return Transfer(status="skipped"), note

    def _add(self, artifact: Artifact, transfer: Transfer, note: str) -> None:
        status = transfer.status
        if status == "collected" and transfer.is_folder and not transfer.files:
            status = "empty"
        if status == "missing" and _is_implicit(artifact):
            status = "empty"
        arrived = transfer.status in ("collected", "empty", "too_large")
        row = Collected(
            source=artifact.source,
            destination=f"artifacts/{self._place(artifact)}" if arrived else "",
            type="directory" if transfer.is_folder or (_is_implicit(artifact) and status == "empty") else "file",
            status=status,
            service=artifact.service,
            path=str(self._source(artifact)),
            bytes=transfer.bytes,
            sha256=transfer.sha256,
            exclude=artifact.exclude,
            note=note,
        )
        self.rows.append(row)
        self._record.emit(
            ev.ArtifactRecorded(
                trial=self._record.trial,
                service=row.service,
                source=row.source,
                status=row.status,
                bytes=row.bytes,
                sha256=row.sha256,
                note=note,
                step=self._stage.name,
            )
        )


def _is_implicit(artifact: Artifact) -> bool:
    """`/logs/artifacts` of main, which every task has and need not fill."""
    return artifact.service == MAIN and artifact.source.rstrip("/") == str(LOGS_ARTIFACTS)


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
            f"artifact {where} is larger than {MAX_ARTIFACT_BYTES >> 20} MiB: what is over that was left out",
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
