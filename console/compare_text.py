"""A comparison without a screen: arms of runs and of CSV files gathered, compared, and written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from console.errors import Unusable
from console.find_run import TABLES
from engine.analysis.arms import Arm, ArmRef, ArmTrials, NoSuchArm, arm_refs, one_each, pick, select, trials_of
from engine.analysis.as_csv import reports_csv
from engine.analysis.as_html import reports_html
from engine.analysis.as_markdown import report_markdown
from engine.analysis.as_svg import report_svg
from engine.analysis.as_text import comparison_lines
from engine.analysis.compare_arms import Compared, TasksDiffer, compare_arms
from engine.analysis.from_csv import CsvArms, check_common, read_csv
from engine.analysis.given_families import FamiliesInvalid, families_in
from engine.analysis.labels import Labels
from engine.analysis.record_text import Record
from engine.analysis.report import Report, make_report, report_document, source_line
from engine.analysis.run_differences import question_words
from engine.events import RunPlanned, TaskSetInfo, now
from engine.json_document import json_document
from engine.readers.open_run import open_run
from engine.runs.card import CardInvalid, RunCard, read_card
from engine.runs.card_words import card_words
from engine.runs.decision_record import decision_record
from engine.state import RunState
from engine.tables.csv_text import CsvInvalid
from engine.triage.label_book import load_labels
from screens.compare_panes import standing_lines
from screens.comparing import Wish


@dataclass
class Inputs:
    """Runs by a label that is unique; arms of CSV files stand beside them, their runs have no trials."""

    states: dict[str, RunState] = field(default_factory=dict)
    labels: dict[str, Labels] = field(default_factory=dict)
    tables: dict[str, CsvArms] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    foreign: list[Path] = field(default_factory=list)
    own: dict[str, Path] = field(default_factory=dict)
    """Folders of our own runs, by label: they have cards."""


def is_table(path: Path) -> bool:
    return path.suffix.lower() in TABLES and path.is_file()


def gather(paths: Sequence[Path], load: Callable[[Path], RunState], *, labelled: bool) -> Inputs:
    """Reads every run once. Raises Unusable and OSError."""
    found = Inputs()
    for path in paths:
        label = _unique(path.name or str(path.resolve().name), found.states)
        if is_table(path):
            try:
                table = read_csv(path)
            except CsvInvalid as error:
                raise Unusable(str(error)) from None
            found.tables[label] = _relabelled(table, label)
            found.notes += table.notes
            found.states[label] = _state_of(label)
            continue
        run = open_run(path)
        found.states[label] = load(path)
        if run.ours:
            found.own[label] = path
        else:
            found.foreign.append(path)
        if labelled:
            try:
                found.labels[label] = load_labels(run).as_analysis_labels(found.states[label])
            except OSError as error:
                found.notes.append(f"labels of {label} can't be read: {error.strerror or error}")
    return found


def _unique(name: str, taken: Mapping[str, object]) -> str:
    number = 2
    unique = name
    while unique in taken:
        unique = f"{name} #{number}"
        number += 1
    return unique


def _relabelled(table: CsvArms, label: str) -> CsvArms:
    arms = tuple(
        msgspec.structs.replace(
            arm, arm=Arm(arm.name, tuple(msgspec.structs.replace(ref, run=label) for ref in arm.arm.refs))
        )
        for arm in table.arms
    )
    return msgspec.structs.replace(table, arms=arms)


def _state_of(name: str) -> RunState:
    """A table knows nothing of a run but its own name."""
    state = RunState()
    planned = RunPlanned(run=name, name=name, task_set=TaskSetInfo(name=""), arms=(), tasks=0, trials=0, source="csv")
    state.apply(planned)
    return state


def choose(found: Inputs, asked: Wish) -> list[ArmTrials]:
    """The arms asked for, the baseline first. Raises Unusable."""
    runs = {label: state for label, state in found.states.items() if label not in found.tables}
    try:
        if not found.tables:
            arms = pick(runs, asked.arms, asked.baseline, join=asked.join)
            trials = [trials_of(arm, runs, found.labels) for arm in arms]
        else:
            trials = _with_tables(found, runs, asked)
    except (NoSuchArm, ValueError) as error:
        raise Unusable(str(error)) from None
    if len(trials) < 2:
        there = f"one arm alone ({trials[0].name})" if trials else "no arm"
        raise Unusable(f"{there} has nothing to be compared with: give another run, or name another --arm")
    return trials


def _with_tables(found: Inputs, runs: Mapping[str, RunState], asked: Wish) -> list[ArmTrials]:
    """Arms of tables have no state: they are chosen by name like the others."""
    by_ref: dict[ArmRef, ArmTrials] = {arm.arm.refs[0]: arm for table in found.tables.values() for arm in table.arms}
    refs = [*arm_refs(runs), *by_ref]
    if asked.join and len({ref.arm for ref in refs}) < len(refs):
        raise Unusable("--join is for runs; in a CSV file attempts are numbered by the column attempt")
    wanted = [*([asked.baseline] if asked.baseline and asked.arms else []), *asked.arms]
    chosen = select(refs, wanted)
    if asked.baseline:
        first = select(chosen, [asked.baseline])
        chosen = [*first, *(ref for ref in chosen if ref not in first)]
    trials = []
    for arm in one_each(chosen, refs):
        table = by_ref.get(arm.refs[0])
        trials.append(_renamed(table, arm) if table is not None else trials_of(arm, runs, found.labels))
    return trials


def _renamed(table: ArmTrials, arm: Arm) -> ArmTrials:
    outcomes = tuple(msgspec.structs.replace(outcome, arm=arm.name) for outcome in table.outcomes)
    return msgspec.structs.replace(table, arm=arm, outcomes=outcomes)


def decided(found: Inputs, asked: Wish) -> Record:
    """The decision record. Raises Unusable."""
    trials = choose(found, asked)
    cards: dict[str, RunCard] = {}
    for label, folder in found.own.items():
        with suppress(CardInvalid):  # told of among the differences of the cards, where it is there
            cards[label] = read_card(folder)
    return decision_record([one for _, one in _compared(found, asked, trials)], trials, found.states, cards)


def reports(found: Inputs, asked: Wish) -> list[tuple[Compared, Report]]:
    """The baseline against each other arm. Raises Unusable."""
    return _compared(found, asked, choose(found, asked))


def _compared(found: Inputs, asked: Wish, trials: Sequence[ArmTrials]) -> list[tuple[Compared, Report]]:
    made_at = now()
    try:
        families, separator = families_in(asked.families, found.states.values())
    except FamiliesInvalid as error:
        raise Unusable(str(error)) from None
    results = []
    for other in range(1, len(trials)):
        try:
            _check_tables(found, trials[0], trials[other], asked.common_tasks)
            compared = compare_arms(
                trials,
                other,
                found.states,
                attempts=asked.attempts,
                common_tasks=asked.common_tasks,
                labelled=asked.labelled,
                families=families,
                separator=separator,
                said=card_words(trials[0].arm, trials[other].arm, found.own),
            )
        except TasksDiffer as error:
            way_out = ". --common-tasks compares on the common ones and lists the others" if error.common else ""
            raise Unusable(f"{error}{way_out}") from None
        except ValueError as error:
            raise Unusable(f"{trials[0].name} and {trials[other].name} can't be compared: {error}") from None
        if found.notes:
            notes = (*compared.found.notes, *found.notes)
            compared = msgspec.structs.replace(compared, found=msgspec.structs.replace(compared.found, notes=notes))
        report = make_report(compared, trials[0], trials[other], found.states, made_at, labelled=asked.labelled)
        results.append((compared, report))
    return results


def _check_tables(found: Inputs, a: ArmTrials, b: ArmTrials, common_tasks: bool) -> None:
    """Tasks on one side only, named by their rows where both sides are of one table."""
    ref_a, ref_b = a.arm.refs[0], b.arm.refs[0]
    table = found.tables.get(ref_a.run)
    if table is not None and ref_a.run == ref_b.run and not common_tasks:
        check_common(table, ref_a.arm, ref_b.arm, ref_a.run)


def text_lines(results: Sequence[tuple[Compared, Report]], width: int) -> list[str]:
    lines: list[str] = []
    for compared, report in results:
        lines += [""] if lines else []
        lines += comparison_lines(compared.found, width)
        words = question_words(compared.differences.question, compared.differences.arms)
        if words:
            lines += ["", f"question: {words}"]
        lines += [f"  {text}" for text in compared.differences.arms]
        if compared is results[-1][0]:
            lines += standing_lines(compared, width)
        lines += ["", *(source_line(source) for source in report.sources)]
    return lines


def document(results: Sequence[tuple[Compared, Report]]) -> bytes:
    """One comparison as its document; several as `comparisons` of one, beside all arms, the baseline first."""
    documents: list[dict[str, Any]] = [report_document(report) for _, report in results]
    plain: Any = documents[0]
    if len(documents) > 1:
        plain = {
            "version": 1,
            "arms": [documents[0]["arms"][0], *(one["arms"][1] for one in documents)],
            "card_differences": list(dict.fromkeys(text for one in documents for text in one["card_differences"])),
            "standings": documents[0]["standings"],
            "comparisons": documents,
        }
    return json_document(plain, indent=2) + b"\n"


WRITERS: Mapping[str, Callable[[Sequence[Report]], str]] = {
    "markdown": lambda reports: "\n".join(report_markdown(report) for report in reports),
    "csv": reports_csv,
    "html": reports_html,
    "svg": lambda reports: report_svg(reports[0]),
}
"""Of the baseline against each other arm; a picture has all of them."""
