"""`trialdeck run`: plan, make the run folder, start its engine, show it."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from console.begin_run import begin_run, say_refusals
from console.card_to_run import card_file_among, card_from_file
from console.engine_check import NoEngine, ask_compose_version, compose_version, engine_host, local_host
from console.errors import Unusable, say
from console.follow import choose_output, follow
from console.model_options import BaseUrl, Effort, Key, KeyEnv, KeyFile, Model, Protocol, defaults_of, refuse_key
from console.out import Out
from console.runs_dir import RUNS_DIR
from engine import events as ev
from engine.agents.arms import name_arms
from engine.events import HostInfo
from engine.runs.agent_refusals import ArmFit, fit_of
from engine.runs.card import Conduct, RetryPolicy, RunCard
from engine.runs.pinned_capsules import pinned, shown
from engine.runs.plan import Plan, make_plan
from engine.runs.start import EngineStandingBy, visible_environment
from engine.tasks.host_env import asked_by
from engine.tasks.task_set import TaskSet, find_tasks
from engine.text import clean_line
from engine.triage.causes import Cause
from engine.trial.job import Keep
from engine.version import VERSION

DEFAULT_CONCURRENCY = 4


def run(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(help="Tasks: a task's folder, or a folder of tasks; or a run card.", metavar="PATH…")
    ],
    agent: Annotated[
        list[str] | None,
        typer.Option(help="An arm: NAME[:key=value,…]. Give it again for another arm.", metavar="ARM"),
    ] = None,
    model: Model = None,
    model_base_url: BaseUrl = None,
    model_api_protocol: Protocol = None,
    model_key_env: KeyEnv = None,
    model_key_file: KeyFile = None,
    effort: Effort = None,
    model_api_key: Key = None,
    arm_name: Annotated[list[str] | None, typer.Option(help="A name for each arm, in order.", metavar="NAME")] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Attempts of each arm on each task.", metavar="N")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, help="Most trials at once.", metavar="N")] = DEFAULT_CONCURRENCY,
    runs_dir: Annotated[Path, typer.Option(help="Where run folders are made.", metavar="FOLDER")] = RUNS_DIR,
    name: Annotated[str, typer.Option(help="What the run is called; else after its task set.", metavar="NAME")] = "",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the order; drawn and recorded if not given.", metavar="N")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="Only tasks whose ID or name matches.", metavar="GLOB")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="No task whose ID or name matches.", metavar="GLOB")] = None,
    timeout_factor: Annotated[
        float, typer.Option(help="Multiplies the agents' and verifiers' time limits.", metavar="FACTOR")
    ] = 1.0,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Start nothing more once this is spent.", metavar="USD")
    ] = None,
    allow_host_env: Annotated[
        list[str] | None, typer.Option(help="A variable of this host that tasks may get.", metavar="NAME")
    ] = None,
    allow_smaller_host: Annotated[
        bool, typer.Option("--allow-smaller-host", help="Cap tasks that declare more than the host has.")
    ] = False,
    retry_cause: Annotated[
        list[Cause] | None,
        typer.Option(
            help="A cause for which `rerun` runs trials again (infrastructure, provider if not given).", metavar="CAUSE"
        ),
    ] = None,
    retries: Annotated[int, typer.Option(min=0, help="How often `rerun` may run one trial again.", metavar="N")] = 1,
    redo_verdict: Annotated[
        list[Cause] | None,
        typer.Option(help="A cause for which even a trial with a verdict may run again.", metavar="CAUSE"),
    ] = None,
    keep: Annotated[
        Keep, typer.Option(help="Which environments stay up for a shell.", metavar="never|failed|always")
    ] = Keep.NEVER,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the console.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines.")] = False,
) -> None:
    """Run tasks, and watch them live."""
    refuse_key(model_api_key)
    defaults = defaults_of(context.params)
    standing_by = None if dry_run else context.with_resource(EngineStandingBy())
    compose = ask_compose_version()
    conduct = Conduct(
        concurrency=concurrency,
        max_cost_usd=max_cost,
        keep=keep,
        paths=tuple(str(path) for path in paths),
        working_folder=str(Path.cwd()),
    )
    if (card_file := card_file_among(paths)) is not None:
        card, task_set = card_from_file(context, card_file, conduct, defaults)
    else:
        if not agent:
            raise Unusable(
                "--agent is missing: name an arm such as `--agent oracle`, or run a card (`trialdeck card new`)"
            )
        if not 0 < timeout_factor < float("inf"):
            raise Unusable(f"--timeout-factor is {timeout_factor:g}, expected a number above 0")
        arms = name_arms(agent, arm_name or [], defaults)
        task_set = find_tasks(paths, include or (), exclude or ())
        allowed = _names(allow_host_env or [])
        if sys.stdin.isatty() and sys.stdout.isatty() and not as_json and not dry_run:
            allowed = _ask_for_variables(task_set, allowed)
        card = RunCard(
            run="",
            name=name or task_set.name,
            created=ev.now(),
            engine_version=VERSION,
            arms=tuple(arms),
            task_set=ev.TaskSetInfo(name=task_set.name, version=task_set.version, digest=task_set.digest),
            tasks=(),
            attempts=attempts,
            seed=random.SystemRandom().randrange(1 << 31) if seed is None else seed,
            timeout_factor=timeout_factor,
            allowed_host_env=allowed,
            include=tuple(include or ()),
            exclude=tuple(exclude or ()),
            retries=RetryPolicy(
                causes=tuple(retry_cause) if retry_cause else RetryPolicy().causes,
                most=retries,
                redo_verdicts=tuple(redo_verdict or ()),
            ),
            conduct=conduct,
        )
    output = choose_output(plain=plain, as_json=as_json)
    host = _host(compose_version(compose), dry_run=dry_run)
    fits = fit_of(card.arms, os.environ, host)
    plan = _planned(card, task_set, host, fits, allow_smaller_host=allow_smaller_host)
    if dry_run:
        from console.plan_text import plan_lines

        arms_shown = shown(card.arms, fits)
        lines = plan_lines(
            plan,
            task_set,
            host,
            arms_shown,
            seed=card.seed,
            concurrency=card.conduct.concurrency,
            timeout_factor=card.timeout_factor,
        )
        Out().lines(list(lines))
        raise typer.Exit(0 if any(trial.runnable for trial in plan.trials) else 2)
    working = {trial.arm.name for trial in plan.trials if trial.runnable}
    pinned_arms, pinned_fits = pinned(card.arms, fits, say, only=working)
    card = msgspec.structs.replace(card, arms=tuple(pinned_arms))
    plan = _planned(card, task_set, host, pinned_fits, allow_smaller_host=allow_smaller_host)
    say_refusals(plan)
    assert standing_by is not None, "only a dry run starts no engine"
    card = msgspec.structs.replace(
        card,
        cpus_cap=host.cpus if allow_smaller_host else None,
        memory_mb_cap=host.memory_mb if allow_smaller_host else None,
        conduct=msgspec.structs.replace(card.conduct, host=host),
    )
    folder, engine = begin_run(card, task_set, plan, standing_by, runs_dir)
    raise typer.Exit(follow(folder, output, engine=engine))


def _planned(
    card: RunCard, task_set: TaskSet, host: HostInfo, fits: dict[str, ArmFit], *, allow_smaller_host: bool
) -> Plan:
    return make_plan(
        task_set,
        card.arms,
        attempts=card.attempts,
        seed=card.seed,
        host=host,
        allowed_host_env=visible_environment(card.allowed_host_env),
        allow_smaller_host=allow_smaller_host,
        fits=fits,
    )


def _names(given: list[str]) -> tuple[str, ...]:
    """Names of host variables. `NAME=value` is not repeated in full: it may hold a secret, and names are kept in the
    run folder."""
    for one in given:
        name, value, _ = one.partition("=")
        if value or not name:
            raise Unusable(f"--allow-host-env takes a name alone ({name or 'NAME'}); the value is that of this host")
    return tuple(dict.fromkeys(given))


def _host(compose: str, *, dry_run: bool) -> HostInfo:
    """The engine's host; a dry run can do without an engine, and says so."""
    try:
        host = engine_host()
    except NoEngine as error:
        if not dry_run:
            raise Unusable(str(error)) from None
        say(str(error))
        host = local_host()
    return msgspec.structs.replace(host, compose=compose)


def _ask_for_variables(task_set: TaskSet, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Ask, on a terminal, for each host variable that tasks want and that was not named; what is not allowed is not
    read."""
    wanted: dict[str, list[str]] = {}
    for task in task_set.tasks:
        for request in asked_by(task):
            if request.name not in allowed and request.name in os.environ:
                wanted.setdefault(request.name, []).append(f"{task.id} ({request.key})")
    for name, places in wanted.items():
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        if typer.confirm(
            f"{clean_line(shown)} asks for the host variable {name}. Give it to its containers?", default=False
        ):
            allowed = (*allowed, name)
    return allowed
