"""An agent from end to end: real trials of a tiny task, with a scripted model in the place of a real one.

The model's server is ours, on loopback, and the key it wants is drawn anew: that the agent gets its answers shows that
the key was put in where it belongs, and that nobody finds it in the trial's files shows that it stayed there.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from console.diagnosis.check import Check, Status, failed, ok, warning
from engine import events as ev
from engine.agents.agent import AgentTraits
from engine.agents.registry import traits_of
from engine.environments.environment import Provider
from engine.events import ArmInfo
from engine.issues import Code, Issue, Severity
from engine.models.scripted.script import ContextFull, Done, Fail, Filter, Run, Script, Scripts, Turn
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import Wire
from engine.tasks.folder import read_task
from engine.tasks.task import Task
from engine.trajectories.read import find_trajectories, read_trajectory
from engine.trial.job import TrialJob
from engine.trial.record import Record
from engine.trial.trial import run_trial

KEY_VARIABLE = "TRIALDECK_DOCTOR_KEY"
ANSWER = "/tmp/trialdeck-doctor.txt"
SAID = 'it\'s `$HOME`; "done" \\ at last;'
INSTRUCTION = f"Write this line, and nothing else, into {ANSWER}:\n\n    {SAID}\n"
COMMAND = f"cat > {ANSWER} <<'END'\n{SAID}\nEND"
TEST = f"""#!/bin/bash
cat > /tmp/wanted <<'END'
{SAID}
END
if cmp -s /tmp/wanted {ANSWER}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
AGENT_SEC = 120
TRIALS_AT_ONCE = 2


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What the model does in one trial, and what must come of it: a verdict (`passes` None: either), and an issue."""

    name: str
    turns: tuple[Turn, ...]
    passes: bool | None = None
    codes: frozenset[Code] = frozenset()
    nobody_there: bool = False


_WORK: tuple[Turn, ...] = (Run(command=COMMAND, say="I write the line."), Done(text="The line is written."))
SOLVES = Scene(name="solves", turns=_WORK, passes=True)
FAILURES = (
    Scene(
        name="rate limit once",
        turns=(Fail(status=429, headers={"retry-after": "1"}), *_WORK),
        passes=True,
        codes=frozenset({Code.MODEL_RETRIED}),
    ),
    Scene(name="key refused", turns=(Fail(status=401, times=0),), codes=frozenset({Code.MODEL_AUTH_FAILED})),
    Scene(name="content filter", turns=(Filter(times=0),), codes=frozenset({Code.MODEL_FILTERED})),
    Scene(name="context full", turns=(ContextFull(times=0),), codes=frozenset({Code.MODEL_CONTEXT_FULL})),
    Scene(
        name="nobody there",
        turns=(),
        nobody_there=True,
        codes=frozenset({Code.MODEL_UNREACHABLE, Code.MODEL_NEVER_REACHED}),
    ),
)

Say = Callable[[Check], None]
OpenProvider = Callable[[], Any]


class _Seen(msgspec.Struct, kw_only=True):
    """What one trial was seen to do."""

    record: Record
    events: list[ev.Event]

    @property
    def issues(self) -> list[Issue]:
        return [event.issue for event in self.events if isinstance(event, ev.IssueRaised)]


async def agent_checks(arm: ArmInfo, image: str, say: Say, open_provider: OpenProvider) -> list[Check]:
    """Every check, each told to `say` as soon as it is known. `image` is what the tiny task works in; it must be here
    or to be had. Raises AgentConfigInvalid for an arm that can't be."""
    traits = traits_of(arm)
    checks: list[Check] = []

    def note(check: Check) -> None:
        checks.append(check)
        say(check)

    with tempfile.TemporaryDirectory(prefix="trialdeck-doctor-") as folder:
        place = Path(folder)
        task = read_task(_write_task(place / "task", image, traits))
        async with open_provider() as provider:
            run = f"doctor-{secrets.token_hex(4)}"
            bench = _Bench(provider, task, run, place)
            try:
                if traits.calls_model:
                    await _with_model(bench, arm, traits, note)
                else:
                    for check in _verdict_of(await bench.trial("agent", arm), arm):
                        note(check)
            finally:
                with anyio.CancelScope(shield=True):
                    await provider.remove_run(run)
    return checks


class _Bench:
    """Where the trials of a check run."""

    def __init__(self, provider: Provider, task: Task, run: str, place: Path) -> None:
        self._provider = provider
        self._task = task
        self._run = run
        self._place = place

    async def trial(self, name: str, arm: ArmInfo) -> _Seen:
        trial = f"doctor__{name.replace(' ', '-')}__1"
        events: list[ev.Event] = []
        job = TrialJob(
            run=self._run, trial=trial, task=self._task, arm=arm, attempt=1, folder=self._place / "run" / trial
        )
        return _Seen(record=await run_trial(job, self._provider, events.append), events=events)


async def _with_model(bench: _Bench, arm: ArmInfo, traits: AgentTraits, note: Say) -> None:
    wire = Wire(arm.protocol) if arm.protocol else traits.wires[0]
    scenes = {"solves": SOLVES} | {scene.name.replace(" ", "-"): scene for scene in FAILURES}
    scripts = Scripts(scripts={name: Script(turns=scene.turns) for name, scene in scenes.items()})
    async with _key() as key, ScriptedServer(scripts, key=key) as server:
        seen = await bench.trial("solves", _at(arm, server.base_url(wire, "solves")))
        worked = list(_how_it_worked(seen, server, key))
        for check in worked:
            note(check)
        if worked[0].status is Status.FAILED:
            return  # what can't be brought in fails the same way in every scene
        slots = anyio.Semaphore(TRIALS_AT_ONCE)

        async def play(name: str, scene: Scene) -> None:
            async with slots:
                address = _closed_port() if scene.nobody_there else server.base_url(wire, name)
                note(_as_expected(scene, await bench.trial(name, _at(arm, address))))

        async with anyio.create_task_group() as group:
            for name, scene in scenes.items():
                if scene is not SOLVES:
                    group.start_soon(play, name, scene)


def _at(arm: ArmInfo, address: str) -> ArmInfo:
    """The arm with the scripted model in the place of its own."""
    endpoint = ev.Endpoint(base_url=address, key_env=KEY_VARIABLE)
    return msgspec.structs.replace(arm, model=arm.model or "scripted", endpoint=endpoint)


def _closed_port() -> str:
    """An address of this machine at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@asynccontextmanager
async def _key() -> AsyncIterator[str]:
    """A key that only the scripted server and this process know."""
    key = f"doctor-{secrets.token_hex(16)}"
    os.environ[KEY_VARIABLE] = key
    try:
        yield key
    finally:
        del os.environ[KEY_VARIABLE]


def _write_task(folder: Path, image: str, traits: AgentTraits) -> Path:
    """Without network wherever the agent can do without."""
    network = "public" if traits.installs_over_network else "no-network"
    content = {
        "task.toml": 'schema_version = "1.4"\n\n[environment]\n'
        f"docker_image = {json.dumps(image)}\nnetwork_mode = {json.dumps(network)}\n\n"
        f"[agent]\ntimeout_sec = {AGENT_SEC}\n",
        "instruction.md": INSTRUCTION,
        "tests/test.sh": TEST,
        "solution/solve.sh": f"#!/bin/bash\n{COMMAND}\n",
    }
    for name, text in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def _how_it_worked(seen: _Seen, server: ScriptedServer, key: str) -> Iterator[Check]:
    """Of the trial in which the model just answers."""
    record = seen.record
    fatal = next((issue for issue in seen.issues if issue.severity is Severity.FATAL), None)
    if fatal is not None:
        yield failed("set-up", fatal.message, _ways_out(fatal))
        return
    yield ok("set-up", "brought in and started")
    asked = server.asked
    if not asked:
        yield failed("model", "the agent never asked its model", "look at the agent's log with `trialdeck run`")
        return
    wrong = sum(one.key_right is False for one in asked)
    if wrong:
        yield failed("key", f"{wrong} of {len(asked)} calls came without the right key", "report this: it is a fault")
    else:
        yield ok("model", f"answered {len(asked)} calls, each with the right key")
    if any(SAID in text for one in asked for text in _texts(one.body)):
        yield ok("instruction", "reached the model as it was written, quotes and backticks included")
    else:
        yield failed("instruction", "did not reach the model as it was written", "report this: it is a fault")
    yield _steps(seen)
    yield _session(record)
    yield from _verdict_of(seen, record.job.arm)
    leaks = list(_files_with(record.folder, key))
    if leaks:
        yield failed("key", f"the key stands in {', '.join(leaks)}", "report this: it is a fault")
    else:
        yield ok("key", "in no file of the trial")


def _steps(seen: _Seen) -> Check:
    steps = [event for event in seen.events if isinstance(event, ev.AgentStepped)]
    if not steps:
        return failed("steps", "none was told while the agent worked", "report this: it is a fault")
    record = seen.record
    if not record.tokens_in or not record.tokens_out:
        return failed("steps", f"{len(steps)} steps, and no tokens", "report this: it is a fault")
    return ok("steps", f"{len(steps)}, with {record.tokens_in} tokens in and {record.tokens_out} out")


def _session(record: Record) -> Check:
    for found in find_trajectories(record.folder):
        trajectory = read_trajectory(found)
        if trajectory is not None and trajectory.steps:
            return ok("session", f"{found.relative_to(record.folder)} holds {len(trajectory.steps)} steps")
    return failed("session", "no session that can be read was written", "report this: it is a fault")


def _verdict_of(seen: _Seen, arm: ArmInfo) -> Iterator[Check]:
    finished = seen.record.finished
    outcome = finished.outcome if finished is not None else "cut off"
    if finished is None or finished.outcome != "scored":
        issue = next(iter(seen.issues), None)
        yield failed("verdict", f"none: {issue.message if issue else outcome}", _ways_out(issue) if issue else "")
    elif finished.passed or arm.agent in ("nop", "command", "replay", "restore"):
        yield ok("verdict", "the task is solved" if finished.passed else "verified; the task was not solved")
    else:
        yield failed(
            "verdict", "the agent's command had no effect: the task is not solved", "report this: it is a fault"
        )


def _as_expected(scene: Scene, seen: _Seen) -> Check:
    codes = {issue.code for issue in seen.issues}
    finished = seen.record.finished
    passed = finished.passed if finished is not None else None
    told = ", ".join(sorted(code for code in codes if code.startswith(("model_", "agent_"))))
    if scene.codes and not codes & scene.codes:
        wanted = " or ".join(sorted(scene.codes))
        return failed(scene.name, f"told as {told or 'nothing'}, expected {wanted}", "report this: it is a fault")
    if scene.passes and not passed:
        return warning(scene.name, f"told as {told}, but the agent did not go on to solve the task", "mind its retries")
    return ok(scene.name, f"told as {told}" + (", and the task is solved" if passed else ""))


def _ways_out(issue: Issue) -> str:
    return "; ".join(found.text for found in issue.evidence if found.label == "way out")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _files_with(folder: Path, key: str) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and key.encode() in path.read_bytes():
            yield str(path.relative_to(folder))
