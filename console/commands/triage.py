"""`trialdeck triage`: who failed, by hand; with a screen, or as text, JSON and CSV."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from console.errors import Unusable, say
from console.find_run import find_run
from console.follow import Shown, choose_output
from console.out import Out
from console.runs_dir import RUNS_DIR
from console.triage_facts import Triage, find_case, read_triage
from engine.readers.open_run import open_run
from engine.triage.causes import Cause
from engine.triage.new_label import new_label
from engine.triage.who import VARIABLE, clean_name, who_am_i

_NAMED = 5
_READ = 64 << 20


def triage(
    run: Annotated[str, typer.Argument(help="The run: its folder, its name, or `last`.", metavar="RUN")],
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    plain: Annotated[bool, typer.Option("--plain", help="The queue as text instead of the screen.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document (docs/labels.md).")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="The queue as CSV.")] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Rates of each cause per arm, agreement, disagreements.")
    ] = False,
    undecided: Annotated[bool, typer.Option("--undecided", help="Only what you have not decided.")] = False,
    blind: Annotated[bool, typer.Option("--blind", help="Hide which arm a trial belongs to.")] = False,
    label: Annotated[
        tuple[str, str], typer.Option(help="Decide one trial: its name or case, and a cause.", metavar="TRIAL CAUSE")
    ] = ("", ""),
    settle: Annotated[
        tuple[str, str], typer.Option(help="Settle a disagreement about a trial.", metavar="TRIAL CAUSE")
    ] = ("", ""),
    undo: Annotated[str, typer.Option(help="Take back your latest record of a trial.", metavar="TRIAL")] = "",
    note: Annotated[str, typer.Option(help="A note to go with --label or --settle.", metavar="TEXT")] = "",
    import_from: Annotated[
        Path | None, typer.Option("--import", help="Take labels in, from .csv or .json.", metavar="FILE")
    ] = None,
    export_to: Annotated[
        Path | None, typer.Option("--export", help="Write all standing labels, as .csv or .json.", metavar="FILE")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file of --export.")] = False,
    who: Annotated[
        str,
        typer.Option(
            "--as", help=f"Your name in labels; else ${VARIABLE}, the settings, the login name.", metavar="NAME"
        ),
    ] = "",
) -> None:
    """Triage a run of any system: what failed, what rules propose and why, and what people decided.

    Labels on runs of other systems are kept in your data folder; nothing is written into theirs.
    """
    folder = find_run(run, runs_dir)
    viewer = _viewer(who)
    doing = [bool(label[0]), bool(settle[0]), bool(undo), import_from is not None, export_to is not None]
    if sum(doing) > 1:
        raise Unusable("--label, --settle, --undo, --import and --export: one at a time")
    if note and not (label[0] or settle[0]):
        raise Unusable("--note goes with --label or --settle")
    if sum((plain, as_json, as_csv)) > 1:
        raise Unusable("--plain, --json and --csv: one of them")
    if label[0] or settle[0]:
        _decide(folder, viewer, label if label[0] else settle, "label" if label[0] else "settle", note, blind=blind)
        return
    if undo:
        _undo(folder, viewer, undo, blind=blind)
        return
    if import_from is not None:
        _import(folder, viewer, import_from)
        return
    if export_to is not None:
        _export(folder, viewer, export_to, overwrite=overwrite)
        return
    if not (as_json or as_csv or summary) and choose_output(plain=plain, as_json=False) is Shown.CONSOLE:
        from console.open_triage import show_triage

        raise typer.Exit(show_triage(folder, who=viewer, blind=blind))
    _print(read_triage(folder, viewer, blind=blind), as_json=as_json, as_csv=as_csv, only=undecided, short=summary)


def _print(found: Triage, *, as_json: bool, as_csv: bool, only: bool, short: bool) -> None:
    items = [item for item in found.items if not (only and item.decided)]
    out = Out()
    if as_json:
        from console.triage_document import triage_document
        from engine.json_document import json_document

        out.json(json_document(triage_document(found, [] if short else items), indent=2))
    elif as_csv:
        from console.triage_document import triage_csv

        out.lines(triage_csv(found, items).splitlines())
    else:
        from console.triage_text import queue_lines, summary_lines

        out.lines(summary_lines(found) if short else queue_lines(found, items))


def _viewer(who: str) -> str:
    if not who:
        return who_am_i()
    name = clean_name(who)
    if not name:
        raise Unusable(f"--as {who!r} is no name")
    os.environ[VARIABLE] = name  # the screen asks for it there
    return name


def _cause(text: str) -> Cause:
    word = text.strip().lower()
    found = [cause for cause in Cause if word and cause.startswith(word)]
    if word == "?":
        return Cause.AMBIGUOUS
    if len(found) == 1:
        return found[0]
    raise Unusable(f"{text!r} is no cause; expected one of {', '.join(Cause)}")


def _decide(folder: Path, viewer: str, given: tuple[str, str], kind: str, note: str, *, blind: bool) -> None:
    from engine.triage.propose import propose

    found = read_triage(folder, viewer, blind=blind, with_proposals=False)
    cause = _cause(given[1])
    trial = found.state.trials[find_case(given[0], found.state)]
    if not trial.done:
        raise Unusable(f"{found.name(trial.trial)} is {trial.state}: only trials that are over are labelled")
    if kind == "settle" and found.book.of(trial.trial, viewer) is None:
        raise Unusable(f"{found.name(trial.trial)}: label it yourself first; others' labels are hidden until then")
    proposal = propose(trial, found.state, found.run.trial_folder(trial.trial), found.run.logs(trial.trial))
    try:
        record = new_label(
            found.identity, trial, viewer, kind=kind, cause=cause, note=note, proposal=proposal, blind=blind
        )
    except ValueError as error:
        raise Unusable(str(error)) from None
    found.store.append(record)
    _fold_again(found)
    verb = "settled" if kind == "settle" else "labelled"
    Out().line(f"{verb} {found.name(trial.trial)} {cause}, by {viewer}")
    others = [label for label in found.others(trial.trial).values() if label.cause is not cause]
    if others and kind == "label" and found.book.settled(trial.trial) is None:
        said = ", ".join(f"{label.who} says {label.cause}" for label in others)
        Out().line(f"people disagree: {said}; --settle {given[0]!r} CAUSE decides it")


def _undo(folder: Path, viewer: str, text: str, *, blind: bool) -> None:
    found = read_triage(folder, viewer, blind=blind, with_proposals=False)
    trial = found.state.trials[find_case(text, found.state)]
    mine = [record for record in found.book.records() if record.who == viewer and record.trial == trial.trial]
    if not mine:
        raise Unusable(f"{found.name(trial.trial)}: you have no record of it to take back")
    found.store.append(new_label(found.identity, trial, viewer, kind="undo", blind=blind))
    _fold_again(found)
    now = found.book.of(trial.trial, viewer)
    back = f"now {now.cause}" if now is not None else "undecided again"
    Out().line(f"took back {mine[-1].cause or mine[-1].kind} of {found.name(trial.trial)}: {back}")


def _import(folder: Path, viewer: str, file: Path) -> None:
    from engine.regular_file import regular_file
    from engine.triage.exchange import ExchangeInvalid, read_labels

    kind = _kind(file, "--import")
    found = read_triage(folder, viewer, with_proposals=False)
    with regular_file(file) as opened:
        data = opened.read(_READ + 1)
    try:
        coming = read_labels(data, kind, found.state, found.identity, found.book)
    except ExchangeInvalid as error:
        raise Unusable(f"{file}: nothing was taken in\n{error}") from None
    found.store.append_all(list(coming.labels))
    people = sorted({label.who for label in coming.labels})
    by = f" by {', '.join(people)}" if people else ""
    were = "was" if coming.known == 1 else "were"
    Out().line(f"took in {_labels(len(coming.labels))}{by}; {coming.known} {were} here already")
    if coming.unknown:
        count = len(coming.unknown)
        say(f"{count} trial{'s are' if count > 1 else ' is'} not of this run: {_listed(coming.unknown)}")
    if coming.other_runs:
        say(f"the file's labels were made on another run: {_listed(coming.other_runs)}")


def _export(folder: Path, viewer: str, file: Path, *, overwrite: bool) -> None:
    from engine.triage.exchange import labels_as_csv, labels_as_json

    kind = _kind(file, "--export")
    run = open_run(folder)
    if not run.ours and file.resolve().is_relative_to(run.folder.resolve()):
        raise Unusable(f"{file} lies in the folder of a {run.kind} run, into which nothing is written; choose another")
    found = read_triage(folder, viewer, with_proposals=False)
    data = (
        labels_as_csv(found.book).encode("utf-8", "backslashreplace")
        if kind == "csv"
        else labels_as_json(found.book, found.identity)
    )
    try:
        with file.open("wb" if overwrite else "xb") as out:
            out.write(data)
    except FileExistsError:
        raise Unusable(f"{file} is there already; --overwrite replaces it") from None
    Out().line(f"wrote {_labels(len(found.book.records()))} to {file}")


def _kind(file: Path, option: str) -> str:
    kind = file.suffix.lower().removeprefix(".")
    if kind not in ("csv", "json"):
        raise Unusable(f"{option} {file}: expected a name that ends in .csv or .json")
    return kind


def _labels(count: int) -> str:
    return f"{count} label{'s' if count != 1 else ''}"


def _fold_again(found: Triage) -> None:
    """What was written comes back through the file, so that all processes fold the same order."""
    found.book.add_all(found.store.new_labels())


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
