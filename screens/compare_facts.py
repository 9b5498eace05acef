"""What the compare screen says about the arms and runs behind its numbers, as pieces."""

from __future__ import annotations

from collections.abc import Sequence

from engine.analysis.as_text import what_was_compared
from engine.analysis.compare import Comparison
from engine.text import clean_line
from screens import compare_lines
from screens.comparing import Comparing
from screens.pieces import Pieces
from screens.run_facts import badge
from screens.source import RunSource


def badges(sources: Sequence[RunSource]) -> Pieces:
    """Of the one run, or of the first that isn't plainly over."""
    found = [badge(source, source.clock()) for source in sources]
    over = [("✓ finished", "deck--good")]
    return next((one for one in found if one != over), found[0] if found else [])


def run_name(source: RunSource) -> str:
    plan = source.state.plan
    return clean_line(plan.name) if plan else clean_line(source.folder.name)


def arm_names(comparing: Comparing, wide: bool) -> list[Pieces]:
    """`A sonnet-5.5 terminus2`, `B sol-6.1 terminus2   of 3 arms`."""
    sides: list[Pieces] = []
    by_label = comparing.by_label
    for letter, arm in (("A", comparing.a), ("B", comparing.b)):
        if arm is None:
            continue
        ref = arm.refs[0]
        source = by_label.get(ref.run)
        state = source.state.arms.get(ref.arm) if source is not None else None
        agent, model = (state.info.agent, state.info.model) if wide and state is not None else ("", "")
        pieces = compare_lines.arm_words(letter, arm.name, agent, model)
        if len(arm.refs) > 1:
            pieces.append((f" {len(arm.refs)} runs", "deck--dim"))
        sides.append(pieces)
    if len(comparing.arms) > 2:
        sides[-1].append((f"   of {len(comparing.arms)} arms", "deck--dim"))
    return sides


def what(comparing: Comparing, found: Comparison | None, wide: bool) -> Pieces:
    """`66 tasks, first attempts · terminal-bench 4.0.0 · card 7f3a91c`."""
    context = comparing.context
    if found is None:
        return [(context, "deck--dim")]
    compared = what_was_compared(found)
    if comparing.common_tasks and len(comparing.sources) > 1:
        compared += ", the common ones"
    return [(f"{compared} · {context}" if wide and context else compared, "deck--dim")]
