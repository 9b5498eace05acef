"""Hiding which arm a trial belongs to: numbers in place of names, and no word in the text that gives an arm away."""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Mapping

from engine.state import RunState

HIDDEN = "▒▒▒"
"""Stands where a word was hidden."""
_SHORTEST = 3
"""A shorter name occurs in too many words to be hidden: text would be full of holes."""


_dealt: weakref.WeakKeyDictionary[RunState, tuple[tuple[str, int], Mapping[str, int]]] = weakref.WeakKeyDictionary()


def cases(state: RunState) -> Mapping[str, int]:
    """A number for every trial of the plan, from 1, dealt by a digest of its id: neither the plan's order nor the arms'
    shows in it, and everybody gets the same. Dealt anew only where trials were planned since."""
    run = state.plan.run if state.plan is not None else ""
    stamp = (run, len(state.trials))
    known = _dealt.get(state)
    if known is None or known[0] != stamp:
        shuffled = sorted(tuple(state.trials), key=lambda trial: _digest(run, trial))
        known = _dealt[state] = (stamp, {trial: number for number, trial in enumerate(shuffled, 1)})
    return known[1]


def case_name(number: int) -> str:
    return f"case {number}"


class Blindfold:
    """Hides the names of arms, agents, models and providers, and the ids of trials, in text that is shown."""

    def __init__(self, state: RunState) -> None:
        numbers = cases(state)
        self._cases = {trial: case_name(number) for trial, number in numbers.items()}
        words: set[str] = set()
        for arm in state.arms.values():
            info = arm.info
            for name in (info.name, info.agent, info.agent_version, info.model, *info.parameters.values()):
                words |= {name, *re.split(r"[/@:]", name)}
        tasks = {trial.task.casefold() for trial in state.trials.values()}
        hidden = sorted(
            (word for word in words if len(word) >= _SHORTEST and word.casefold() not in tasks | _PLAIN),
            key=len,
            reverse=True,
        )
        trials = sorted((trial for trial in state.trials if trial), key=len, reverse=True)
        self._trials = re.compile("|".join(map(re.escape, trials))) if trials else None
        bounded = "|".join(map(re.escape, hidden))
        self._words = re.compile(rf"(?<![0-9A-Za-z])(?:{bounded})(?![0-9A-Za-z])", re.IGNORECASE) if hidden else None

    def text(self, text: str) -> str:
        if self._trials is not None:
            text = self._trials.sub(lambda found: self._cases[found[0]], text)
        return self._words.sub(HIDDEN, text) if self._words is not None else text

    def case(self, trial: str) -> str:
        return self._cases.get(trial, HIDDEN)


_PLAIN = frozenset({"true", "false", "none", "high", "medium", "low", "the", "agent", "model"})
"""Values of parameters that are ordinary words."""


def _digest(run: str, trial: str) -> bytes:
    return hashlib.sha256(f"{run}\0{trial}".encode("utf-8", "backslashreplace")).digest()
