"""`trialdeck replay`: the recorded commands of a trial once more in a fresh environment: does it happen again?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from console.begin_run import begin_run, say_refusals
from console.commands.cancel import find_trial
from console.engine_check import NoEngine, ask_compose_version, compose_version, engine_host
from console.errors import Unusable
from console.find_run import find_run
from console.follow import choose_output, follow
from console.run_condition import load
from console.runs_dir import RUNS_DIR
from engine.agents.agent import AgentConfigInvalid
from engine.agents.recording import read_recording
from engine.agents.restore import kept_artifacts
from engine.events import ArmInfo, HostInfo, TaskSetInfo, now
from engine.readers.open_run import OpenedRun, open_run
from engine.runs.card import Conduct, RunCard, read_card
from engine.runs.plan import make_plan
from engine.runs.start import EngineStandingBy, visible_environment
from engine.tasks.task_set import find_tasks
from engine.trial_state import TrialState
from engine.version import VERSION


def replay(
    context: typer.Context,
    run: Annotated[str, typer.Argument(help="The run: its folder, its name, or `last`.", metavar="RUN")],
    trial: Annotated[str, typer.Argument(help="The trial: its name or its beginning.", metavar="TRIAL")],
    artifacts: Annotated[
        bool, typer.Option("--artifacts", help="Run no command: put back what it left, and verify that again.")
    ] = False,
    times: Annotated[int, typer.Option(min=1, help="How often.", metavar="N")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, help="Most trials at once.", metavar="N")] = 1,
    task: Annotated[
        Path | None,
        typer.Option(help="The task's folder, where it is no longer where the run had it.", metavar="FOLDER"),
    ] = None,
    runs_dir: Annotated[
        Path, typer.Option(help="Where runs are looked for, and the replay's is made.", metavar="FOLDER")
    ] = RUNS_DIR,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the console.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines.")] = False,
) -> None:
    """Run the recorded commands of a trial again, without its model, or only verify again what it left. The result is
    a run of its own; the trial itself is not touched."""
    opened = open_run(find_run(run, runs_dir))
    state = load(opened.folder)[0]
    name = find_trial(trial, state)
    told = state.trials[name]
    (_check_artifacts if artifacts else _check_recording)(opened.trial_folder(name), name)
    standing_by = context.with_resource(EngineStandingBy())
    compose = ask_compose_version()
    task_set = find_tasks([task or _task_folder(opened, told)], (), ())
    try:
        host = engine_host()
    except NoEngine as error:
        raise Unusable(str(error)) from None
    host = HostInfo(
        name=host.name, cpus=host.cpus, memory_mb=host.memory_mb, docker=host.docker, compose=compose_version(compose)
    )
    agent = "restore" if artifacts else "replay"
    arm = ArmInfo(
        name=agent,
        agent=agent,
        agent_version="1",
        model=next((one.info.model for one in state.arms.values() if one.info.name == told.arm), ""),
        parameters={"trial": str(opened.trial_folder(name).resolve())},
    )
    allowed, factor = _as_it_was(opened)
    plan = make_plan(task_set, [arm], attempts=times, seed=0, host=host, allowed_host_env=visible_environment(allowed))
    say_refusals(plan)
    card = RunCard(
        run="",
        name=f"{told.task} verified again" if artifacts else f"replay of {told.task}",
        created=now(),
        engine_version=VERSION,
        arms=(arm,),
        task_set=TaskSetInfo(name=task_set.name, version=task_set.version, digest=task_set.digest),
        tasks=(),
        attempts=times,
        timeout_factor=factor,
        allowed_host_env=allowed,
        conduct=Conduct(
            concurrency=concurrency,
            host=host,
            paths=tuple(str(one.folder) for one in task_set.tasks),
            working_folder=str(Path.cwd()),
        ),
    )
    folder, engine = begin_run(card, task_set, plan, standing_by, runs_dir)
    code = follow(folder, choose_output(plain=plain, as_json=as_json), engine=engine)
    if not as_json:
        print("\n".join(_beside(told, load(folder)[0].trials.values())))
    raise typer.Exit(code)


def _check_recording(folder: Path, name: str) -> None:
    """Raises Unusable where there is nothing to replay."""
    places = [folder / "agent" / "trajectory.json", *sorted(folder.glob("steps/*/agent/trajectory.json"))]
    recorded = [path for path in places if path.is_file()]
    if not recorded:
        raise Unusable(f"{name} left no trajectory.json: what it ran is not known and can't be replayed")
    try:
        if not any(step.commands for path in recorded for step in read_recording(path).steps):
            raise Unusable(f"{name}: its trajectory has no command to run again")
    except AgentConfigInvalid as error:
        raise Unusable(str(error)) from None


def _check_artifacts(folder: Path, name: str) -> None:
    """Raises Unusable where nothing could be verified again."""
    steps = sorted(path.parent.parent for path in folder.glob("steps/*/artifacts"))
    try:
        found = [row for place in steps or [folder] for row in kept_artifacts(place)]
    except AgentConfigInvalid as error:
        raise Unusable(str(error)) from None
    if not found:
        raise Unusable(f"{name} left no artifact: there is nothing that could be verified again")


class _ConfigTask(msgspec.Struct):
    path: str = ""


class _Config(msgspec.Struct):
    task: _ConfigTask = msgspec.field(default_factory=_ConfigTask)


def _task_folder(opened: OpenedRun, trial: TrialState) -> Path:
    """Where the run had the task. Raises Unusable where that is unknown or no longer there."""
    way_out = "give its folder with --task"
    if opened.ours:
        folder = next((Path(one.folder) for one in read_card(opened.folder).tasks if one.id == trial.task), None)
    else:
        try:
            config = (opened.trial_folder(trial.trial) / "config.json").read_bytes()
            path = msgspec.json.decode(config, type=_Config).task.path
        except (OSError, msgspec.DecodeError):
            path = ""
        folder = Path(path) if path else None
    if folder is None:
        raise Unusable(f"{trial.trial}: the run doesn't say where its task lies; {way_out}")
    if not folder.is_dir():
        raise Unusable(f"{trial.trial}: its task is no longer in {folder}; {way_out}")
    return folder


def _as_it_was(opened: OpenedRun) -> tuple[tuple[str, ...], float]:
    """The allowed host variables and the timeout factor of the run, so that what differs is the model alone."""
    if not opened.ours:
        return (), 1.0
    card = read_card(opened.folder)
    return card.allowed_host_env, card.timeout_factor


def _beside(told: TrialState, again: Iterable[TrialState]) -> list[str]:
    """How it ended then and now, so that one sees whether it happened again."""
    trials = list(again)
    lines = [f"then: {_ended(told)}", *(f"now:  {_ended(one)}" for one in trials)]
    if any(one.cost_usd or one.tokens_in for one in trials):
        lines.append("tokens and cost are those of the recording: no model was asked, nothing was spent again")
    return lines


def _ended(trial: TrialState) -> str:
    reward = "" if trial.reward is None else f", reward {trial.reward:g}"
    codes = ", ".join(dict.fromkeys(str(issue.code) for issue in trial.issues))
    return f"{trial.state}{reward}" + (f", {codes}" if codes else "") + (", out of time" if trial.timed_out else "")
