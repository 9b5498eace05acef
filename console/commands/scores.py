"""`trialdeck scores`: the scorebook, what was scored, by whom, where it was read, and whether it still stands."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from console.errors import Unusable
from console.find_run import find_run
from console.help_words import WordedCommand
from console.out import Out
from console.runs_dir import RUNS_DIR
from console.scores_text import SCORE_COLUMNS, csv_lines, document, score_lines
from engine.events import now
from engine.scorebook.record import Kind, RanBy, Record
from engine.scorebook.store import Scorebook
from engine.user_places import scorebook_file

Book = Annotated[Path | None, typer.Option("--book", help="The scorebook's file; else the user's own.", metavar="FILE")]

scores = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Keep scores and where each comes from.")


def _book(path: Path | None) -> Scorebook:
    return Scorebook(path or scorebook_file())


def _day(text: str, option: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Unusable(f"{option} is {text!r}, expected a date such as 2026-10-08") from None


def _count(text: str) -> tuple[int | None, int | None]:
    if not text:
        return None, None
    passed, slash, assigned = text.partition("/")
    if not slash or not passed.strip().isdigit() or not assigned.strip().isdigit():
        raise Unusable(f"--of is {text!r}, expected passed/assigned such as 42/80")
    return int(passed), int(assigned)


def _pairs(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        key, sign, value = one.partition("=")
        if not sign or not key or key in found:
            raise Unusable(f"--config is {one!r}, expected KEY=VALUE, each key once")
        found[key] = value
    return found


@scores.command(cls=WordedCommand)
def add(
    benchmark: Annotated[str | None, typer.Option(help="The benchmark's name.", metavar="NAME")] = None,
    ran_by: Annotated[
        RanBy | None, typer.Option(help="Who ran it.", metavar="provider|maintainer|independent|ours")
    ] = None,
    benchmark_version: Annotated[
        str | None, typer.Option("--version", help="The benchmark's version or commit.", metavar="VERSION")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="What is counted; pass@1 if not given.", metavar="NAME")] = None,
    value: Annotated[
        float | None, typer.Option(help="The score; leave it out where the source gives none.", metavar="NUMBER")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="fraction (if not given), points, dollars, …", metavar="UNIT")
    ] = None,
    of: Annotated[str, typer.Option(help="Passed of assigned, such as 42/80.", metavar="P/A")] = "",
    low: Annotated[float | None, typer.Option(help="Lower end of its interval.", metavar="NUMBER")] = None,
    high: Annotated[float | None, typer.Option(help="Upper end of its interval.", metavar="NUMBER")] = None,
    model: Annotated[str | None, typer.Option(help="The model.", metavar="NAME")] = None,
    agent: Annotated[str | None, typer.Option(help="The agent around it, with its version.", metavar="NAME")] = None,
    config: Annotated[list[str] | None, typer.Option(help="More of the configuration.", metavar="KEY=VALUE")] = None,
    by_name: Annotated[str | None, typer.Option(help="The name of whoever ran it.", metavar="NAME")] = None,
    address: Annotated[str | None, typer.Option(help="Where it was read.", metavar="URL")] = None,
    made: Annotated[str, typer.Option(help="The date of the result.", metavar="DATE")] = "",
    read: Annotated[
        str, typer.Option(help="The date when the source was read; today if not given.", metavar="DATE")
    ] = "",
    snapshot: Annotated[Path | None, typer.Option(help="A copy of the source, to be kept.", metavar="FILE")] = None,
    note: Annotated[str | None, typer.Option(help="Anything else.", metavar="TEXT")] = None,
    corrects: Annotated[
        int | None,
        typer.Option(help="This is what record N should have said, where it differs; N stays as it is.", metavar="N"),
    ] = None,
    unknown: Annotated[
        list[str] | None, typer.Option(help="With --corrects: the source doesn't say it after all.", metavar="FIELD")
    ] = None,
    from_run: Annotated[
        str, typer.Option("--from", help="A run that is over, of any system: a score of each arm.", metavar="RUN")
    ] = "",
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="With --from: this arm alone; again for more.", metavar="NAME")
    ] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    book: Book = None,
) -> None:
    """Add a score, or a correction of one. What the source doesn't say is left out, and stays unknown."""
    from console.score_given import corrected, of_run, stated

    if corrects is not None and from_run:
        raise Unusable("--corrects and --from: give one of them")
    if unknown and corrects is None:
        raise Unusable("--unknown is for corrections; what isn't given is unknown anyway")
    if arm and not from_run:
        raise Unusable("--arm is for --from; name the arm's agent and model")
    kept, place = now(), _book(book)
    passed, assigned = _count(of)
    facts = {
        "benchmark": benchmark,
        "benchmark_version": benchmark_version,
        "metric": metric,
        "unit": unit,
        "value": value,
        "passed": passed,
        "assigned": assigned,
        "low": low,
        "high": high,
        "model": model,
        "agent": agent,
        "configuration": _pairs(config) if config else None,
        "ran_by": ran_by,
        "ran_by_name": by_name,
        "address": address,
        "made_on": _day(made, "--made"),
        "note": note,
    }
    given = {name: fact for name, fact in facts.items() if fact is not None}
    given["read_on"] = _day(read, "--read") or _today(kept)
    if corrects is not None:
        records = [corrected(place, corrects, given, unknown or (), kept)]
    elif from_run:
        records = of_run(find_run(from_run, runs_dir), arm or (), given, kept)
    else:
        if missing := [option for option, fact in (("--benchmark", benchmark), ("--ran-by", ran_by)) if not fact]:
            raise Unusable(f"{' and '.join(missing)} missing: a score without means nothing; --from RUN takes a run's")
        records = [stated(given, kept)]
    digest = place.keep(snapshot) if snapshot is not None else ""
    for record in records:
        kept_record = msgspec.structs.replace(record, snapshot=digest) if digest else record
        Out().line(f"record {place.add(kept_record).id} added to {place.path}")


@scores.command("list", cls=WordedCommand)
def list_scores(
    benchmark: Annotated[str, typer.Option(help="Only this benchmark.", metavar="NAME")] = "",
    model: Annotated[str, typer.Option(help="Only models whose name has this in it.", metavar="NAME")] = "",
    history: Annotated[bool, typer.Option("--history", help="With every correction, check and withdrawal.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line (trialdeck.score/1).")] = False,
    book: Book = None,
) -> None:
    """List scores as they stand, withdrawn ones marked."""
    out = Out()
    found = [
        score
        for score in _book(book).scores()
        if benchmark in ("", score.record.benchmark) and model.lower() in score.record.model.lower()
    ]
    if as_json:
        for score in found:
            out.json(msgspec.json.encode(document(score)))
        return
    if not found:
        out.line("no scores; `trialdeck scores add` adds one")
    for score in found:
        out.lines(score_lines(score, history=history))


@scores.command(cls=WordedCommand)
def check(
    number: Annotated[int | None, typer.Argument(help="The record that was looked at again.", metavar="N")] = None,
    on: Annotated[str, typer.Option(help="When; today if not given.", metavar="DATE")] = "",
    snapshot: Annotated[Path | None, typer.Option(help="The source as it is now.", metavar="FILE")] = None,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="It no longer holds.")] = False,
    note: Annotated[str, typer.Option(help="What was seen.", metavar="TEXT")] = "",
    older_than: Annotated[
        int, typer.Option(help="Name scores not checked for so many days.", min=0, metavar="DAYS")
    ] = 90,
    book: Book = None,
) -> None:
    """With a number: record that its source was looked at again. Without: verify the kept sources, and name scores that
    nobody has checked for long. Exit code 1 where something is wrong."""
    place, out, today = _book(book), Out(), _today(now())
    if number is None:
        problems = [f"record {record}: {problem}" for record, problem in place.broken_snapshots().items()]
        for score in place.scores():
            seen = score.record.checked_on or score.record.read_on
            if not score.withdrawn and (seen is None or (today - seen).days > older_than):
                last = f"last looked at on {seen}" if seen is not None else "never looked at since"
                problems.append(f"record {score.record.id}: {score.record.benchmark} {score.record.model}: {last}")
        out.lines(problems or ["every kept source is as it was, and every score was looked at lately"])
        raise typer.Exit(1 if problems else 0)
    known = place.score(number)
    digest = place.keep(snapshot) if snapshot is not None else ""
    kind = Kind.WITHDRAWAL if withdraw else Kind.CHECK
    place.add(
        Record(
            kind=kind,
            about=known.record.id,
            added_at=now(),
            checked_on=_day(on, "--on") or today,
            snapshot=digest,
            note=note,
        )
    )
    out.line(f"record {known.record.id}: {kind} added")
    if digest and known.record.snapshot and digest != known.record.snapshot:
        out.line(f"! the source changed; if the score did, `trialdeck scores add --corrects {known.record.id} …`")
        raise typer.Exit(1)


@scores.command(cls=WordedCommand)
def export(
    target: Annotated[Path, typer.Argument(help="A .csv or .json file; `-` prints CSV.", metavar="FILE")],
    book: Book = None,
) -> None:
    """Write all scores as they stand, provenance included."""
    from engine.runs.atomic_file import write_atomically

    found = _book(book).scores()
    if str(target) == "-":
        Out().lines(csv_lines(found))
        return
    if target.suffix == ".csv":
        data = "".join(f"{line}\r\n" for line in csv_lines(found)).encode()
    elif target.suffix == ".json":
        data = msgspec.json.format(msgspec.json.encode([document(score) for score in found])) + b"\n"
    else:
        raise Unusable(f"{target}: expected a name that ends in .csv or .json")
    write_atomically(target, data)
    Out().line(f"{len(found)} scores with {len(SCORE_COLUMNS)} columns written to {target}")


def _today(moment: datetime) -> date:
    return moment.astimezone().date()
