"""`trialdeck card`: run cards before there is a run: written, checked, frozen, set side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from console.card_template import TEMPLATE
from console.errors import Unusable
from console.find_run import find_run
from console.help_words import WordedCommand
from console.out import Out
from console.plan_text import arm_text
from console.runs_dir import RUNS_DIR
from engine.layout import CARD
from engine.readers.run_folder import TRIALDECK
from engine.runs.agent_refusals import plain_fit
from engine.runs.card import RunCard, read_card
from engine.runs.card_differences import card_differences, incomparable
from engine.runs.card_file import SUFFIX, freeze, read_draft, resolve

card = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Say what a run measures, before it runs.")

CardFile = Annotated[Path, typer.Argument(help="The card's file.", metavar="CARD.toml")]


@card.command(cls=WordedCommand)
def new(path: CardFile) -> None:
    """Write a card to be filled in; every key is explained in it."""
    if path.suffix != SUFFIX:
        raise Unusable(f"{path}: expected a name that ends in {SUFFIX}")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        raise Unusable(f"{path}: is there already; name another file") from None
    Out().line(f"{path} written; fill it in, then `trialdeck card check {path}`")


@card.command(cls=WordedCommand)
def check(path: CardFile) -> None:
    """Read a card, and everything that it names. Exit code 2 where a run of it would not begin."""
    out = Out()
    if _is_of_a_run(path):
        pinned = read_card(path.parent)
        out.lines(
            [
                *list(_summary(pinned))[:-1],
                f"digest      {_written(path)}",
                f"pinned by the run {pinned.run}; its frozen part is as it was",
            ]
        )
        return
    found, task_set = resolve(path, read_draft(path))
    out.lines(list(_summary(found)))
    for entry in task_set.broken:
        out.line(f"! {entry.id} would not be run: {entry.issue.message}")
    fits = plain_fit(found.arms)
    for arm in found.arms:
        for issue in fits[arm.name].problems:
            out.line(f"! arm {arm.name} would not be run: {issue.message.removeprefix(f'arm {arm.name}: ')}")
    if found.question is None:
        out.line('! question is not said: "controlled model" (only the model differs) or "product" (as shipped)')
    if not task_set.tasks:
        raise Unusable(f"{path}: none of its tasks can be run")
    if all(fit.problems for fit in fits.values()):
        raise Unusable(f"{path}: none of its arms can be run here")


@card.command("freeze", cls=WordedCommand)
def freeze_card(path: CardFile) -> None:
    """Pin versions and digests of everything that the card names; from then on it is that, or it is refused."""
    frozen = freeze(path)
    Out().line(
        f"{path}: frozen, digest {frozen.digest[:12]}, {len(frozen.tasks)} tasks; `trialdeck run {path}` runs it"
    )


@card.command(cls=WordedCommand)
def diff(
    a: Annotated[str, typer.Argument(help="A card's file, a run's folder or name.", metavar="A")],
    b: Annotated[str, typer.Argument(help="Another.", metavar="B")],
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document (trialdeck.card-diff/1).")] = False,
) -> None:
    """Two cards field by field, and what makes their scores incomparable. Exit code 1 where something does."""
    import msgspec

    differences = card_differences(_card(a, runs_dir), _card(b, runs_dir))
    meanings = incomparable(differences)
    out = Out()
    if as_json:
        document = {"schema": "trialdeck.card-diff/1", "differences": differences, "incomparable": meanings}
        out.json(msgspec.json.format(msgspec.json.encode(document)))
        raise typer.Exit(1 if meanings else 0)
    for one in differences:
        out.line(f"{one.field}{'  (conduct)' if one.conduct else ''}")
        out.lines([f"  A  {one.a or '—'}", f"  B  {one.b or '—'}"])
    if not differences:
        out.line("the cards are the same")
    for meaning in meanings:
        out.line(f"! {meaning}")
    raise typer.Exit(1 if meanings else 0)


def _card(text: str, runs_dir: Path) -> RunCard:
    """Of a card's file, or of a run."""
    path = Path(text).expanduser()
    if _is_of_a_run(path):
        return read_card(path.parent)
    if path.suffix == SUFFIX and path.is_file():
        return resolve(path, read_draft(path))[0]
    return read_card(find_run(text, runs_dir))


def _is_of_a_run(path: Path) -> bool:
    """A run's own card, by the name of its file."""
    return path.name == CARD and path.is_file() and TRIALDECK.is_run(path.parent)


def _written(path: Path) -> str:
    """As it stands in a run's card."""
    with path.open(encoding="utf-8") as file:
        return file.readline().partition("=")[2].strip().strip('"')[:12]


def _summary(found: RunCard) -> Iterator[str]:
    yield f"name        {found.name}"
    yield f"question    {found.question or '—'}"
    if found.hypothesis:
        yield f"hypothesis  {found.hypothesis}"
    yield f"acceptance  {found.acceptance}; looked at first: {found.primary_metric}"
    version = f" {found.task_set.version}" if found.task_set.version else ""
    yield f"task set    {found.task_set.name}{version} · digest {found.task_set.digest[:12]} · {len(found.tasks)} tasks"
    for exclusion in found.exclusions:
        yield f"  without   {exclusion.task}: {exclusion.reason}"
    for arm in found.arms:
        yield f"arm         {arm_text(arm)}"
    yield f"attempts    {found.attempts} · seed {found.seed} · timeout factor {found.timeout_factor:g}"
    policy = found.retries
    yield f"retries     {', '.join(policy.causes) or 'none'}, {policy.how_often}"
    if found.split.pilot or found.split.held_out:
        yield f"split       {len(found.split.pilot)} pilot, {len(found.split.held_out)} held out"
    yield f"digest      {found.digest[:12]}"
