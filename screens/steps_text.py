"""A step of an agent's session as lines: in the list one, in full as many as it takes."""

from __future__ import annotations

from datetime import datetime

from engine.text import clean, clean_line
from engine.trajectories.draft import MOST_TEXT
from engine.trajectories.steps import Observation, Step, Trajectory
from screens import format as fmt
from screens.pieces import Pieces, cells
from screens.trial_facts import tokens

TAB = 4
MOST_COPIED = 64_000
_LIMIT = MOST_TEXT + 1_000


def wrapped(text: str, width: int, *, words: bool = False) -> list[str]:
    """Safe lines of at most `width` cells; `words` breaks between words where it can."""
    found: list[str] = []
    width = max(1, width)
    for line in clean(text, _LIMIT).rstrip("\n").split("\n"):
        line = line.expandtabs(TAB).rstrip()
        while cells(line) > width:
            at = _fitting(line, width)
            if words and (blank := line.rfind(" ", at // 2, at + 1)) > 0:
                found.append(line[:blank].rstrip())
                line = line[blank:].lstrip()
            else:
                found.append(line[:at])
                line = line[at:]
        found.append(line)
    return found


def _fitting(line: str, width: int) -> int:
    """How many characters fit into that many cells; at least one."""
    if line.isascii():
        return width
    at, taken = 0, 0
    while at < len(line):
        taken += cells(line[at])
        if taken > width:
            break
        at += 1
    return max(1, at)


def first_line(text: str, most: int = 300) -> str:
    """The first line with something on it."""
    for line in text[: 4 * most].split("\n"):
        if line.strip():
            return clean_line(line.strip(), most)
    return ""


def what(step: Step) -> Pieces:
    """What a step is about, on one line: what it ran, and what it thought."""
    said = first_line(step.message) or first_line(step.thought)
    if step.source != "agent":
        return [(f"{step.source}  ", "deck--accent"), (said, "deck--dim")]
    if not step.calls:
        return [(said, "")]
    call = step.calls[0]
    more = f"  +{len(step.calls) - 1}" if len(step.calls) > 1 else ""
    tool = clean_line(call.tool, 24)
    pieces: Pieces = [(f"{tool} ", "deck--faint"), (first_line(call.text), ""), (more, "deck--dim")]
    return [*pieces, ("  ", ""), (said, "deck--dim")] if said else pieces


def ended(step: Step, error: bool) -> Pieces:
    """How it went wrong, if it did."""
    if error:
        return [("✗ error", "deck--bad")]
    for seen in step.observations:
        if seen.failed:
            return [(f"! {_exit(seen)}", "deck--warn")]
    return []


def has_failed(step: Step, errors: frozenset[int]) -> bool:
    return step.number in errors or any(seen.failed for seen in step.observations)


def _exit(seen: Observation) -> str:
    return f"exit {seen.exit_code}" if seen.exit_code is not None else "failed"


def offset(step: Step, start: datetime | None) -> float | None:
    """Seconds since the session began."""
    return (step.at - start).total_seconds() if step.at is not None and start is not None else None


def start_of(trajectory: Trajectory) -> datetime | None:
    return next((step.at for step in trajectory.steps if step.at is not None), None)


def full(step: Step, trajectory: Trajectory, errors: list[str], width: int) -> list[Pieces]:
    """Everything that a step says."""
    lines = _head(step, trajectory)
    for error in errors:
        lines += [[(f"✗ {line}" if not number else f"  {line}", "deck--bad")]
                  for number, line in enumerate(wrapped(error, width - 2, words=True))]  # fmt: skip
    if step.thought.strip():
        lines += [[], [("thought", "deck--dim")]]
        lines += [[(line, "deck--dim")] for line in wrapped(step.thought, width, words=True)]
    if step.message.strip():
        lines += [[], [(step.source if step.source != "agent" else "message", "deck--dim")]]
        lines += [[(line, "")] for line in wrapped(step.message, width, words=True)]
    left = list(step.observations)
    for number, call in enumerate(step.calls, 1):
        count = f" {number} of {len(step.calls)}" if len(step.calls) > 1 else ""
        lines += [[], [(f"call{count}  ", "deck--dim"), (clean_line(call.tool, 80), "deck--accent")]]
        lines += [[(line, "deck--strong")] for line in wrapped(call.text, width)]
        for seen in [seen for seen in left if call.id and seen.call == call.id]:
            lines += _seen(seen, width)
            left.remove(seen)
    for seen in left:
        lines += _seen(seen, width)
    return lines


def _head(step: Step, trajectory: Trajectory) -> list[Pieces]:
    count = trajectory.steps[-1].number if trajectory.steps else step.number
    first: Pieces = [(f"step {step.number:,}", "deck--strong"), (f" of {count:,}  ", "deck--dim"), (step.source, "")]
    if model := step.model or (trajectory.model if step.source == "agent" else ""):
        first.append((f"  {clean_line(model, 60)}", "deck--dim"))
    second: Pieces = []
    if step.at is not None:
        since = offset(step, start_of(trajectory))
        second.append((f"{fmt.wall_time(step.at)}  +{fmt.short_time(since)}", ""))
    if step.seconds is not None:
        second.append((f"  took {fmt.span(step.seconds)}", ""))
    if step.source == "agent":
        cached = f" ({tokens(step.tokens_cached)} cached)" if step.tokens_cached is not None else ""
        gap = "   " if second else ""
        second.append((f"{gap}tokens {tokens(step.tokens_in)} in{cached}, {tokens(step.tokens_out)} out", "deck--dim"))
        second.append((f"   cost {fmt.usd(step.cost_usd)}", "deck--dim"))
    if step.line:
        second.append((f"   line {step.line:,}", "deck--faint"))
    return [first, second] if second else [first]


def _seen(seen: Observation, width: int) -> list[Pieces]:
    if seen.failed:
        mark: Pieces = [("→ ", "deck--dim"), (f"! {_exit(seen)}", "deck--warn")]
    elif seen.exit_code is not None:
        mark = [(f"→ exit {seen.exit_code}", "deck--dim")]
    else:
        mark = [("→" if seen.text.strip() else "→ nothing", "deck--dim")]
    return [mark, *([(line, "")] for line in wrapped(seen.text, width) if seen.text.strip())]


def as_text(step: Step) -> str:
    """For a clipboard: as safe as what is shown."""
    parts = [f"step {step.number} ({step.source})"]
    parts += [part for part in (step.thought, step.message) if part.strip()]
    for call in step.calls:
        parts.append(f"$ {call.text}" if "\n" not in call.text else call.text)
        parts += [seen.text for seen in step.observations if call.id and seen.call == call.id]
    ids = {call.id for call in step.calls if call.id}
    parts += [seen.text for seen in step.observations if seen.call not in ids]
    return clean("\n\n".join(parts), MOST_COPIED)


def commands(step: Step) -> str:
    return clean("\n".join(call.text.rstrip("\n") for call in step.calls), MOST_COPIED)


def fields(step: Step) -> list[str]:
    """What a search looks through."""
    return [
        step.thought,
        step.message,
        *(part for call in step.calls for part in (call.tool, call.text)),
        *(seen.text for seen in step.observations),
    ]
