"""An analysis without a screen: runs and CSV files gathered into arms over benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from console.compare_text import Inputs, gather
from console.errors import Unusable
from console.run_condition import load
from engine.analysis.analysis import Analysis, analyse
from engine.analysis.arms import ArmRef, NoSuchArm, arm_refs, select
from engine.analysis.given_families import CATEGORY, read_families
from engine.analysis.trial_facts import ArmFacts, Seen, arm_of_table, arms_of_runs, merged, source_lines
from engine.readers.open_run import open_run
from engine.state import RunState
from engine.tables.review_table import read_reviews
from screens.read_sessions import read_sessions


@dataclass(frozen=True)
class Wanted:
    """`families` is `category`, `prefix:SEPARATOR` or a CSV file with task,family."""

    arms: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    attempts: int | None = None
    families: str = CATEGORY
    reviews: str = ""
    sessions: bool = False
    labelled: bool = True


def analysis_of(paths: Sequence[Path], wanted: Wanted) -> tuple[Analysis, Inputs]:
    """Raises Unusable and OSError."""
    states: dict[Path, RunState] = {}

    def read(path: Path) -> RunState:
        states[path] = load(path)[0]
        return states[path]

    found = gather(paths, read, labelled=wanted.labelled)
    runs = {label: state for label, state in found.states.items() if label not in found.tables}
    seen: dict[tuple[str, str], Seen] = {}
    if wanted.sessions:
        by_state = {id(state): path for path, state in states.items()}
        for label, state in runs.items():
            told = read_sessions(open_run(by_state[id(state)]), state)
            seen |= {(label, trial): one for trial, one in told.items()}
    try:
        families, separator = read_families(wanted.families)
        arms = _arms(found, runs, seen, wanted)
        analysis = analyse(
            arms,
            also=wanted.also,
            weights=weights_of(wanted.weights),
            attempts=wanted.attempts,
            families=families,
            separator=separator,
            reviews=read_reviews(Path(wanted.reviews).expanduser()) if wanted.reviews else None,
            sources=source_lines(found.states),
            notes=found.notes,
        )
    except (NoSuchArm, ValueError) as error:
        raise Unusable(str(error)) from None
    return analysis, found


def _arms(
    found: Inputs, runs: dict[str, RunState], seen: dict[tuple[str, str], Seen], wanted: Wanted
) -> list[ArmFacts]:
    tables = {
        ArmRef(label, arm.name): arm_of_table(arm, label) for label, table in found.tables.items() for arm in table.arms
    }
    refs = [*arm_refs(runs), *tables]
    chosen = select(refs, wanted.arms, join=True)
    arms = arms_of_runs(runs, found.labels, seen, [ref for ref in chosen if ref not in tables])
    of_tables = merged([tables[ref] for ref in chosen if ref in tables])
    taken = {arm.name for arm in arms}
    arms += [
        arm if arm.name not in taken else _renamed(arm, f"{arm.name} ({next(iter(arm.stated))})") for arm in of_tables
    ]
    if not arms:
        raise Unusable("no arm with a trial: nothing to analyse")
    return arms


def _renamed(arm: ArmFacts, name: str) -> ArmFacts:
    facts = tuple(
        msgspec.structs.replace(fact, outcome=msgspec.structs.replace(fact.outcome, arm=name)) for fact in arm.facts
    )
    return msgspec.structs.replace(arm, name=name, facts=facts)


def weights_of(texts: Sequence[str]) -> dict[str, float]:
    """From BENCHMARK=NUMBER each. Raises Unusable."""
    weights = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise Unusable(f"--weight {text!r}: expected BENCHMARK=NUMBER, as in --weight 'terminal-bench 2.0=2'")
    return weights
