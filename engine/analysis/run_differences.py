"""What two sides of a comparison differ in besides their results, in words. What can't be known is never called equal.

Two kinds of differences are told apart: of the *arms* (agent, version, model, parameters), which are what is compared,
and of the *cards* (tasks, time, machine, grader), which a reader has to know before believing a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from engine.analysis.arms import Arm
from engine.analysis.wording import listed, many, money
from engine.events import ArmInfo, RunPlanned
from engine.issues import Phase
from engine.state import RunState
from engine.trial_state import TrialState

CONTROLLED = "controlled model"
PRODUCT = "product"
OURS = "trialdeck"
"""The source of our own runs, whose plans say everything that they were made with."""

WITHOUT_MODEL = frozenset({"nop", "oracle", "replay", "restore"})
"""Agents that call no model, by the names that every system has for them: theirs is not unknown, there is none."""

Side = tuple[RunState, str]
"""A run and the name of its arm."""


class Differences(msgspec.Struct, frozen=True, kw_only=True):
    """`unknown` are things of which at least one side says nothing. `question` is one of the two of `measurement.md`,
    "" where the arms don't differ by what is known."""

    cards: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    question: str = ""

    @property
    def every(self) -> tuple[str, ...]:
        return (*self.cards, *self.unknown, *self.arms)


def differences(state_a: RunState, arm_a: str, state_b: RunState, arm_b: str) -> tuple[str, ...]:
    """Every difference in words, those of the cards first."""
    return between((state_a, arm_a), (state_b, arm_b)).every


def of_arms(a: Arm, b: Arm, runs: Mapping[str, RunState]) -> Differences:
    """Between arms that may each be several runs: each side's runs among themselves too."""
    sides_a, sides_b = ([(runs[ref.run], ref.arm) for ref in arm.refs] for arm in (a, b))
    found = between(sides_a[0], sides_b[0])
    inside: list[str] = []
    for letter, sides in (("A", sides_a), ("B", sides_b)):
        for number, side in enumerate(sides[1:], 2):
            apart = between(sides[0], side, names=("the first", f"the {_nth(number)}"))
            inside += [f"the runs of {letter}: {text}" for text in (*apart.cards, *apart.arms)]
    return msgspec.structs.replace(found, cards=(*found.cards, *dict.fromkeys(inside)))


def _nth(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")


def between(a: Side, b: Side, names: tuple[str, str] = ("A", "B")) -> Differences:
    (state_a, arm_a), (state_b, arm_b) = a, b
    plan_a, plan_b = state_a.plan, state_b.plan
    if plan_a is None or plan_b is None:
        missing = [name for name, plan in zip(names, (plan_a, plan_b), strict=True) if plan is None]
        return Differences(unknown=(f"nothing is known of the run of {' and '.join(missing)}",))
    cards, silent = _Found(names), _Found(names)
    same_run = state_a is state_b
    if not same_run:
        _plans(plan_a, plan_b, cards, silent)
    _trials(a, b, cards, silent, same_run)
    arms, question = _arms(_info(state_a, arm_a), _info(state_b, arm_b), names, silent, same_run)
    return Differences(cards=tuple(cards.texts), arms=arms, unknown=silent.unknown(), question=question)


class _Found:
    """Texts as they are found, and what one side or both say nothing about."""

    def __init__(self, names: tuple[str, str]) -> None:
        self.names = names
        self.texts: list[str] = []
        self._silent: dict[str, list[str]] = {}

    def differ(self, what: str, a: object, b: object) -> None:
        self.texts.append(f"{what}: {self.names[0]} {a}, {self.names[1]} {b}")

    def silent(self, what: str, a_known: bool, b_known: bool) -> None:
        who = "either side" if not (a_known or b_known) else self.names[1] if a_known else self.names[0]
        self._silent.setdefault(who, []).append(what)

    def unknown(self) -> tuple[str, ...]:
        return tuple(f"not known of {who}: {', '.join(dict.fromkeys(what))}" for who, what in self._silent.items())


def _plans(a: RunPlanned, b: RunPlanned, cards: _Found, silent: _Found) -> None:
    def look(what: str, get: Callable[[RunPlanned], object], show: Callable[[object], str] = str) -> None:
        """Empty means that the run doesn't say."""
        one, two = get(a), get(b)
        if not one or not two:
            silent.silent(what, bool(one), bool(two))
        elif one != two:
            cards.differ(what, show(one), show(two))

    look("source", lambda plan: plan.source)
    look("task set", lambda plan: plan.task_set.name)
    look("task set version", lambda plan: plan.task_set.version, _short)
    digest_a, digest_b = a.task_set.digest, b.task_set.digest
    if digest_a and digest_b and digest_a != digest_b:
        cards.differ(
            "task set digest (instructions, tests and verifiers of the tasks)", _short(digest_a), _short(digest_b)
        )
    elif not digest_a or not digest_b:
        silent.silent("task set digest", bool(digest_a), bool(digest_b))
        silent.silent("verifier", bool(digest_a), bool(digest_b))
    if a.attempts != b.attempts:
        cards.differ("attempts of each task", a.attempts, b.attempts)
    if a.concurrency != b.concurrency:
        cards.differ("trials at the same time", a.concurrency, b.concurrency)
    ours_a, ours_b = (plan.source == OURS for plan in (a, b))
    if not (ours_a and ours_b):  # others say neither: what stands there is no more than a default
        silent.silent("seed of the order", ours_a, ours_b)
        silent.silent("spend cap", ours_a or a.max_cost_usd is not None, ours_b or b.max_cost_usd is not None)
    else:
        if a.seed != b.seed:
            cards.differ("seed of the order", a.seed, b.seed)
        if a.max_cost_usd != b.max_cost_usd:
            cards.differ("spend cap", _cap(a.max_cost_usd), _cap(b.max_cost_usd))
    look("engine version", lambda plan: plan.engine_version)
    look("host", lambda plan: plan.host.name)
    look("CPUs of the host", lambda plan: plan.host.cpus, lambda value: f"{value:g}")
    look("memory of the host", lambda plan: plan.host.memory_mb, lambda value: f"{value} MB")
    look("Docker", lambda plan: plan.host.docker)
    look("Compose", lambda plan: plan.host.compose)


def _cap(usd: float | None) -> str:
    return "none" if usd is None else money(usd)


def _short(value: object) -> str:
    """Digests and commits are recognised by their beginning."""
    return str(value).removeprefix("sha256:")[:12]


# --- limits and resources, task by task ---------------------------------------------------------------------------


def _trials(a: Side, b: Side, cards: _Found, silent: _Found, same_run: bool) -> None:
    first_a, first_b = _first_trials(*a), _first_trials(*b)
    tasks = sorted(first_a.keys() & first_b.keys())
    _limits(a[0].plan, b[0].plan, [(first_a[task], first_b[task]) for task in tasks], cards, silent, same_run)
    for what, get, unit in (("CPUs", _cpus, ""), ("memory", _memory, " MB")):
        apart: list[str] = []
        known_a = known_b = True
        for task in tasks:
            one, two = get(first_a[task]), get(first_b[task])
            known_a, known_b = known_a and one > 0, known_b and two > 0
            if one and two and one != two:
                apart.append(f"{task} ({cards.names[0]} {one:g}{unit}, {cards.names[1]} {two:g}{unit})")
        if apart:
            cards.texts.append(f"{what} of {many(len(apart), 'task')}: {listed(apart, 3)}")
        if tasks and not same_run and not (known_a and known_b):
            silent.silent(f"{what} of tasks", known_a, known_b)


def _first_trials(state: RunState, arm: str) -> dict[str, TrialState]:
    found: dict[str, TrialState] = {}
    for trial in list(state.trials.values()):  # a thread may work it out while the run goes on
        if trial.arm == arm and (trial.task not in found or trial.attempt < found[trial.task].attempt):
            found[trial.task] = trial
    return found


def _cpus(trial: TrialState) -> float:
    return trial.cpus


def _memory(trial: TrialState) -> float:
    return float(trial.memory_mb)


def _limits(
    plan_a: RunPlanned | None,
    plan_b: RunPlanned | None,
    pairs: list[tuple[TrialState, TrialState]],
    cards: _Found,
    silent: _Found,
    same_run: bool,
) -> None:
    """A timeout factor is named with the tasks that it reaches; limits that differ otherwise, phase by phase."""
    factor_a, factor_b = (plan.timeout_factor if plan is not None else 1.0 for plan in (plan_a, plan_b))
    apart = [(a, b) for a, b in pairs if _known(a.limits) and _known(b.limits) and _shared(a, b)]
    if factor_a != factor_b:
        of = "" if not apart else f" on {many(len(apart), 'task')}"
        for name, factor, other, theirs in (
            (cards.names[1], factor_b, cards.names[0], factor_a),
            (cards.names[0], factor_a, cards.names[1], factor_b),
        ):
            if factor != 1.0:
                against = "" if theirs == 1.0 else f", {other} with {theirs:g}"
                cards.texts.append(f"{name} ran with a timeout factor of {factor:g}{against}{of}")
                break
    ratio = factor_b / factor_a if factor_a else 1.0
    for phase in Phase:
        both = [(a, b) for a, b in apart if phase in a.limits and phase in b.limits]
        unlike = [
            f"{a.task} ({cards.names[0]} {a.limits[phase]:g} s, {cards.names[1]} {b.limits[phase]:g} s)"
            for a, b in both
            if not _close(b.limits[phase], a.limits[phase] * ratio) and not _close(b.limits[phase], a.limits[phase])
        ]
        if unlike:
            cards.texts.append(f"time limit of {phase} on {many(len(unlike), 'task')}: {listed(unlike, 3)}")
    for phase in Phase:
        for name, one, two in ((cards.names[0], 0, 1), (cards.names[1], 1, 0)):
            alone = [
                pair[one].task
                for pair in pairs
                if _known(pair[two].limits) and phase in pair[one].limits and phase not in pair[two].limits
            ]
            if alone:
                cards.texts.append(f"only {name} limits the time of {phase} on {many(len(alone), 'task')}")
    if pairs and not same_run:
        known_a, known_b = (all(_known(pair[side].limits) for pair in pairs) for side in (0, 1))
        if not (known_a and known_b):
            silent.silent("time limits", known_a, known_b)


def _known(limits: Mapping[Phase, float]) -> bool:
    return bool(limits)


def _shared(a: TrialState, b: TrialState) -> bool:
    return any(not _close(a.limits[phase], b.limits[phase]) for phase in a.limits.keys() & b.limits.keys())


def _close(one: float, two: float) -> bool:
    return abs(one - two) <= 0.001 * max(abs(one), abs(two), 1.0)


# --- the arms themselves ------------------------------------------------------------------------------------------


def _info(state: RunState, arm: str) -> ArmInfo:
    return state.arms[arm].info if arm in state.arms else ArmInfo(name=arm, agent="")


def _arms(
    a: ArmInfo, b: ArmInfo, names: tuple[str, str], silent: _Found, same_run: bool
) -> tuple[tuple[str, ...], str]:
    """One run has one installation of an agent: its version needs no word there."""
    found = _Found(names)
    apart: set[str] = set()
    for what, one, two in (
        ("agent", a.agent, b.agent),
        ("agent version", a.agent_version, b.agent_version),
        ("model", _model(a), _model(b)),
    ):
        if one and two:
            if one != two:
                found.differ(what, one, two)
                apart.add(what)
        elif same_run and not one and not two and a.agent == b.agent:
            continue
        elif one or two or what != "model":  # where neither says one, a command perhaps, nothing is hidden
            silent.silent(what, bool(one), bool(two))
            if what == "model":
                apart.add(what)
    for key in sorted(a.parameters.keys() | b.parameters.keys()):
        set_a, set_b = a.parameters.get(key), b.parameters.get(key)
        if set_a != set_b:
            found.differ(f"parameter {key}", *("not set" if value is None else value for value in (set_a, set_b)))
            apart.add("parameters")
    for what, said_a, said_b in (
        ("provider", a.provider, b.provider),
        ("effort", a.effort, b.effort),
        ("tools", ", ".join(a.tools), ", ".join(b.tools)),
        ("MCP servers", ", ".join(a.mcp), ", ".join(b.mcp)),
        ("skills", ", ".join(a.skills), ", ".join(b.skills)),
        ("prompt", _short(a.prompt_digest), _short(b.prompt_digest)),
        ("carried in", _carried(a), _carried(b)),
        ("protocol", a.protocol, b.protocol),
        ("temperature", _number(a.temperature), _number(b.temperature)),
        ("context window", _number(a.context_tokens), _number(b.context_tokens)),
        ("longest answer", _number(a.max_output_tokens), _number(b.max_output_tokens)),
    ):
        if said_a != said_b:
            found.differ(what, said_a or "not set", said_b or "not set")
            apart.add(what)
    question = "" if not apart else CONTROLLED if apart == {"model"} else PRODUCT
    return tuple(found.texts), question


def _model(arm: ArmInfo) -> str:
    return arm.model or ("none" if arm.agent in WITHOUT_MODEL else "")


def _carried(arm: ArmInfo) -> str:
    return ", ".join(f"{tag} {_short(digest)}" for tag, digest in sorted(arm.capsules.items()))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"


def question_words(question: str, arm_texts: Iterable[str]) -> str:
    """`controlled model: only the model differs`, `product: each side as shipped`."""
    return {
        CONTROLLED: "controlled model: only the model differs between the arms",
        PRODUCT: "product: each side as shipped, more than the model differs",
    }.get(question, "can't be told: the runs don't say in what the arms differ" if not list(arm_texts) else "")
