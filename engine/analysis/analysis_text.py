"""An analysis as plain lines: no colour, no control codes, at any width from 80 columns on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from engine.analysis import wording as say
from engine.analysis.analysis import Analysis
from engine.analysis.analysis_plots import EFFORT, STEPS, Plot, plots
from engine.analysis.expected import Average
from engine.analysis.named_rows import both_named, named
from engine.analysis.plot_lines import plot_lines
from engine.analysis.review_lines import review_lines
from engine.analysis.score_by_steps import StepPoint

NARROWEST = 80
NARROWEST_SECTION = 56
NARROWEST_TABLE = 76
"""Columns that every table has room in; the ranks, which are read first, leave numbers out where there are fewer."""
_MOST_TASKS = 6
_BODY = "  "


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One question about the arms. `name` is a word for a tab, `lines` are safe and fitted, plots included."""

    name: str
    title: str
    lines: tuple[str, ...]


def analysis_lines(found: Analysis, width: int = NARROWEST) -> list[str]:
    """Sections that have nothing to say are left out; every line is at most `width` columns wide (never under 80)."""
    width = max(width, NARROWEST)
    lines = [say.fit(f"analyse › {', '.join(found.arms)}", width).rstrip(), *note_lines(found, width)]
    for section in analysis_sections(found, width):
        lines += ["", section.title, *section.lines]
    return lines


def note_lines(found: Analysis, width: int) -> list[str]:
    return [line for note in found.notes for line in say.wrap(f"! {note}", width, "  ")]


def analysis_sections(found: Analysis, width: int, plot_height: int = 12) -> list[Section]:
    """Those that have something to say, in the order in which they are read. Sentences and ranks are at most `width`
    columns wide, never under 56, other tables never under 76."""
    width = max(width, NARROWEST_SECTION)
    drawn = plots(found)
    sections = []
    for name, title, section in (
        ("ranks", "Arms, ranked by overlap of their intervals", _ranked),
        ("index", "Index: unweighted mean of each benchmark's pass@1", _index),
        ("families", "Difference to the first arm where tasks come in families", _families),
        ("tiers", "Difficulty, from these results", _tiers),
        ("category", "By category", lambda found, width: _groups(found, width, "category")),
        ("stated", "By stated difficulty", lambda found, width: _groups(found, width, "difficulty")),
        ("limits", "Timeout factors", _factors),
        ("blocks", "Blocks of time: arms that were not interleaved", _blocks),
        ("expected", "Expected for one task", _expected),
        (STEPS, "Score against steps", _steps),
        (EFFORT, "Effort", _efforts),
        ("refusals", "Refusals and fallbacks, both ways", _refusals),
        ("reviews", "Review and rework beside dollars, abstentions apart from errors", review_lines),
        ("sources", "Sources", _sources),
    ):
        body = [line.rstrip() for line in section(found, width)]
        for plot in (plot for plot in drawn if plot.of == name):
            body += ["", say.fit(plot.title, width).rstrip(), *_drawn(plot, width, plot_height)]
        if body:
            sections.append(Section(name=name, title=title, lines=tuple(body)))
    return sections


def _drawn(plot: Plot, width: int, height: int) -> list[str]:
    return plot_lines(
        plot.series,
        width=width,
        height=height,
        x_name=plot.x_name,
        x_text=plot.x_text,
        y_text=lambda value: f"{100 * value:.0f} %",
        bottom=0.0,
    )


def _said(text: str, width: int, indent: int = 2) -> list[str]:
    """Sentences, later lines two columns further in."""
    return [" " * indent + line for line in say.wrap(text, width - indent, "  ")]


def _headed(found: Analysis, benchmark: str, width: int) -> list[str]:
    """The benchmark's name over its rows, where there are several."""
    return [say.fit(f"{_BODY}{benchmark}", width)] if len(found.benchmarks) > 1 else []


def _name(width: int, numbers: int) -> int:
    """Columns for a name beside so many columns of numbers."""
    return max(16, width - numbers - len(_BODY))


def _ranked(found: Analysis, width: int) -> list[str]:
    narrow = width < NARROWEST_TABLE
    name = _name(width, 42 if narrow else 60)
    more = "" if narrow else f"{'scored':>9}{'excluded':>10}"
    lines = []
    for benchmark in found.benchmarks:
        rows = [row for row in found.ranked if row.benchmark == benchmark]
        if not rows:
            continue
        lines += [say.fit(f"{_BODY}{benchmark}", width)]
        lines.append(f"{_BODY}{'rank  arm':<{name}}{'resolved':>12}{'rate':>9}{'interval':>12}{more}")
        for row in sorted(rows, key=lambda row: (row.rank, -(row.rate or 0.0))):
            live = "" if row.rate_of == "assigned" else " so far"
            numbers = (
                f"{f'{row.passed:,}/{row.of:,}':>12}{say.percent(row.rate):>9}{say.percent_range(row.interval):>12}"
            )
            numbers += "" if narrow else f"{row.scored:>9,}{row.excluded:>10,}"
            lines += named(f"{_BODY}{row.rank:>4}  ", row.arm, name - 6, f"{numbers}{live}", width)
        for row in rows:
            for at in row.pass_at_k[-1:]:
                if at.any_of_k is None:
                    lines += _said(
                        f"{row.arm}: pass@{at.k} n/a, no task has {at.k} attempts that came to their end", width
                    )
                    continue
                uneven = f", with {at.uneven[0]} to {at.uneven[1]} attempts" if at.uneven else ""
                lacking = (
                    f"; {say.many(len(at.lacking), 'task')} with fewer: {say.listed(at.lacking, 3)}"
                    if at.lacking
                    else ""
                )
                left_out = f"; {say.many(at.left_out, 'attempt')} not counted" if at.left_out else ""
                lines += _said(
                    f"{row.arm}: pass@{at.k} {say.percent(at.any_of_k)} ({say.percent_range(at.any_interval)})"
                    f" · pass^{at.k} {say.percent(at.all_of_k)} ({say.percent_range(at.all_interval)}) of "
                    f"{say.many(at.tasks, 'task')}{uneven}{lacking}{left_out}",
                    width,
                )
    return lines


def _index(found: Analysis, width: int) -> list[str]:
    if len(found.benchmarks) < 2:
        return []
    name = _name(width, 40)
    equal = len(set(next(iter(found.indices)).weights.values())) == 1 if found.indices else True
    lines: list[str] = []
    for benchmark, weight in found.indices[0].weights.items() if found.indices else ():
        lines += _said(f"weight {weight:.2f}  {benchmark}", width)
    if not equal:
        lines.append(f"{_BODY}weights are not equal: this is not the unweighted index")
    for index in found.indices:
        interval = None if index.low is None or index.high is None else (index.low, index.high)
        value = say.percent(index.value) if index.value is not None else "incomplete"
        lines += named(_BODY, index.arm, name, f"{value:>12}{say.percent_range(interval):>14}", width)
        for score in index.scores:
            state = say.percent(score.score) if score.score is not None else score.problem
            surplus = f", {say.many(score.surplus, 'attempt')} beyond them not counted" if score.surplus else ""
            of = f" ({say.many(score.attempts, 'attempt')} a task{surplus})" if score.tasks else ""
            text = f"{score.benchmark}: {state}{of}"
            lines += _said(text, width, 4)
        for other in index.sensitivity:
            if other.value is not None or index.value is not None:
                order = ", the order of arms changes" if other.order_changes else ""
                lines += _said(f"{other.weights}: {say.percent(other.value)}{order}", width, 4)
    return lines


def _families(found: Analysis, width: int) -> list[str]:
    lines: list[str] = []
    benchmark = ""
    for row in found.families:
        lines += _headed(found, row.benchmark, width) if row.benchmark != benchmark else []
        benchmark = row.benchmark
        few = "; so few families say little of others" if row.too_few else ""
        text = (
            f"{row.a} − {row.b}: {say.points(row.estimate)} points, {say.points_range(row.low, row.high)} "
            f"({row.method}, {row.draws:,} draws, seed {row.seed}); {say.points_range(row.task_low, row.task_high)} if "
            f"every task stood for itself. {say.many(row.tasks, 'task')} of {row.families} families, the largest with "
            f"{row.largest_family}{few}"
        )
        lines += _said(text, width)
    return lines


def _tiers(found: Analysis, width: int) -> list[str]:
    lines = []
    for benchmark in found.benchmarks:
        rows = [row for row in found.tiers if row.benchmark == benchmark]
        if not any(row.tasks for row in rows):
            continue
        runs = [count for row in rows if row.tasks for count in row.runs]
        spread = f"{min(runs)} to {max(runs)} runs" if min(runs) < max(runs) else say.many(max(runs), "run")
        lines.append(say.fit(f"{_BODY}{benchmark}, {spread} a task", width))
        for row in rows:
            names = f"  {say.listed(row.tasks, _MOST_TASKS)}" if row.tasks else ""
            lines.append(say.fit(f"{_BODY}{row.tier:<12}{len(row.tasks):>5}  {row.meaning:<24}{names}", width))
    return lines


def _groups(found: Analysis, width: int, what: str) -> list[str]:
    rows = found.categories if what == "category" else found.difficulties
    name = _name(width, 45) // 2
    lines = []
    for benchmark in dict.fromkeys(row.benchmark for row in rows):
        lines.append(say.fit(f"{_BODY}{benchmark}", width))
        lines.append(
            f"{_BODY}{say.fit(what, name)}{say.fit('arm', name)}{'tasks':>7}{'resolved':>14}{'rate':>9}{'interval':>13}"
        )
        for row in (row for row in rows if row.benchmark == benchmark):
            numbers = f"{row.tasks:>7,}{f'{row.passed:,}/{row.of:,}':>14}{say.percent(row.rate):>9}"
            numbers += f"{say.percent_range(row.interval):>13}"
            lines += both_named(_BODY, row.group or f"no {what}", row.arm, name, numbers, width)
    return lines


def _factors(found: Analysis, width: int) -> list[str]:
    """Where all ran with a factor of 1, a line says so."""
    if all(row.factor == 1.0 for row in found.timeout_factors) and found.timeout_factors:
        trials = sum(row.trials for row in found.timeout_factors)
        return [f"{_BODY}{say.many(trials, 'trial')}, all with a factor of 1"]
    if all(row.factor is None for row in found.timeout_factors):
        return []
    name = _name(width, 38) // 2
    lines = [
        f"{_BODY}{say.fit('benchmark', name)}{say.fit('arm', name)}"
        f"{'factor':>9}{'trials':>9}{'resolved':>10}{'timed out':>10}"
    ]
    for row in found.timeout_factors:
        factor = "not known" if row.factor is None else f"{row.factor:g}"
        numbers = f"{factor:>9}{row.trials:>9,}{row.passed:>10,}{row.timed_out:>10,}"
        lines += both_named(_BODY, row.benchmark, row.arm, name, numbers, width)
    return lines


def _blocks(found: Analysis, width: int) -> list[str]:
    lines: list[str] = []
    for blocks in found.time_blocks:
        lines += _headed(found, blocks.benchmark, width) if blocks.blocks else []
        for block in blocks.blocks:
            span = f"{block.first:%Y-%m-%d %H:%M} to {block.last:%Y-%m-%d %H:%M} UTC"
            lines += _said(f"{span}  {say.many(block.trials, 'trial')} of {block.arm} began", width)
        for pair in blocks.apart:
            lines += _said(
                f"! {pair.then} began {_duration(pair.gap_seconds)} after the last start of {pair.first}: what "
                "changed meanwhile is part of their difference",
                width,
            )
        if blocks.unknown and len(found.arms) > 1 and len(blocks.unknown) < len(found.arms):
            lines += _said(f"no start is known of {say.listed(blocks.unknown)}", width)
    return lines


def _expected(found: Analysis, width: int) -> list[str]:
    rows = [
        row
        for row in found.expected
        if any(one.mean is not None for one in (row.seconds, row.agent_seconds, row.cost_usd))
    ]
    if not rows:
        return []
    name = _name(width, 42) // 2
    lines = [
        f"{_BODY}{say.fit('arm', name)}{say.fit('benchmark', name)}{'agent time':>14}{'whole trial':>14}{'cost':>14}"
    ]
    for row in rows:
        numbers = f"{_average(row.agent_seconds, _duration):>14}{_average(row.seconds, _duration):>14}"
        numbers += f"{_average(row.cost_usd, say.money):>14}"
        lines += both_named(_BODY, row.arm, row.benchmark or "all, each equal", name, numbers, width)
    if any(one.unknown for row in rows for one in (row.seconds, row.agent_seconds, row.cost_usd) if one.runs):
        lines.append(f"{_BODY}* of the runs that tell; others don't. Agent time is without the verifier's.")
    return lines


def _average(value: Average, text: Callable[[float], str]) -> str:
    return say.DASH if value.mean is None else text(value.mean) + ("*" if value.unknown else "")


def _steps(found: Analysis, width: int) -> list[str]:
    lines: list[str] = []
    benchmark = ""
    for curve in found.step_curves:
        if not curve.points:
            continue
        lines += _headed(found, curve.benchmark, width) if curve.benchmark != benchmark else []
        benchmark = curve.benchmark
        unknown = (
            f"; steps of {say.many(curve.unknown, 'successful run')} unknown, so these are lower bounds"
            if curve.unknown
            else ""
        )
        chosen = _spread(curve.points)
        text = ", ".join(f"{say.many(point.steps, 'step')} {say.percent(point.score)}" for point in chosen)
        lines += _said(f"{curve.arm}: {text}; without a budget {say.percent(curve.full)}{unknown}", width)
    return lines


def _spread(points: Sequence[StepPoint]) -> list[StepPoint]:
    if len(points) <= 5:
        return list(points)
    return [points[round(place * (len(points) - 1) / 4)] for place in range(5)]


def _efforts(found: Analysis, width: int) -> list[str]:
    lines: list[str] = []
    for sweep in found.effort_sweeps:
        lines += _said(f"{sweep.configuration}, {sweep.benchmark}", width)
        lines.append(f"{_BODY}{'level':<12}{'score':>9}{'interval':>13}{'cost a task':>14}{'interval':>20}")
        for point in sweep.points:
            cost = "unknown" if point.cost is None else say.money(point.cost) + ("*" if point.cost_unknown else "")
            spread = (
                ""
                if point.cost_low is None or point.cost_high is None
                else f"{say.money(point.cost_low)} to {say.money(point.cost_high)}"
            )
            lines.append(
                f"{_BODY}{say.fit(point.level, 12)}{say.percent(point.score):>9}"
                f"{say.percent_range((point.low, point.high)):>13}{cost:>14}{spread:>20}"
            )
        words = [f"best {sweep.best}"]
        words.append(
            f"knee {sweep.knee}" if sweep.knee else "no knee: it takes three levels with known costs, and a bend"
        )
        words.append(f"not told apart from the best and the least: {sweep.enough}")
        if sweep.best != sweep.highest:
            words.append(f"the highest level, {sweep.highest}, is not the best")
        words += [
            f"{point.level} costs no less than {point.beaten_by} and scores no more"
            for point in sweep.points
            if point.beaten_by
        ]
        lines += _said(f"{'; '.join(words)}", width)
    return lines


def _refusals(found: Analysis, width: int) -> list[str]:
    if not found.refusals:
        return []
    name = _name(width, 58)
    lines = [
        f"{_BODY}{say.fit('arm', name)}{'what':>10}{'trials':>8}"
        f"{'read':>12}{'as it is':>9}{'successes':>10}{'failures':>9}"
    ]
    benchmark = ""
    for row in found.refusals:
        lines += _headed(found, row.benchmark, width) if row.benchmark != benchmark else []
        benchmark = row.benchmark
        numbers = f"{row.what:>10}{row.count:>8,}{f'{row.looked_at:,}/{row.of:,}':>12}"
        numbers += f"{say.percent(row.rate):>9}{say.percent(row.as_successes):>10}{say.percent(row.as_failures):>9}"
        lines += named(_BODY, row.arm, name, numbers, width)
    return lines


def _sources(found: Analysis, width: int) -> list[str]:
    return [line for source in found.sources for line in _said(source, width)]


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return (
        f"{minutes:.0f} min"
        if minutes < 120
        else f"{minutes / 60:.1f} h"
        if minutes < 2_880
        else f"{minutes / 1440:.1f} d"
    )
