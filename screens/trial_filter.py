"""The `/` filter: `word`, `/regex/`, `field:value`, each turned round by a leading `!`; all terms must hold.

heat !passed            text anywhere in task, arm, state, activity and issues
/^db-.*(a|b)$/          a regular expression; the closing slash may be left out
arm:b state:failed      fields; a value in quotes may hold blanks
reward:<1 time:>10m     numbers with <, <=, >, >=, =; times with s, m, h
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from engine import trial_state
from engine.trial_state import TrialState
from screens.format import state_word

_LONGEST = 400
_TERM = re.compile(
    r"""(?P<no>!*)(?:
        /(?P<regex>(?:\\.|[^/\\])*)(?:/(?=\s|$)|$)
      | (?:(?P<field>[A-Za-z_]+):)?(?:"(?P<quoted>[^"]*)"?|(?P<value>(?!!)\S+))
    )""",
    re.VERBOSE,
)
_COMPARED = re.compile(r"(<=|>=|<|>|=)?\s*(-?\d+(?:\.\d+)?|-?\.\d+)\s*(s|m|min|h|%|k|K|M|G)?$")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "%": 1.0, "k": 2**10, "K": 2**10, "M": 2**20, "G": 2**30}

TEXT_FIELDS = ("task", "arm", "state", "phase", "issue", "activity", "service", "step", "category", "difficulty")
NUMBER_FIELDS = ("reward", "attempt", "time", "cpu", "mem", "steps", "cost", "issues")
FIELDS = TEXT_FIELDS + NUMBER_FIELDS


class FilterError(ValueError):
    """What is wrong with a filter, in a few words for the person who types it."""


@dataclass(frozen=True)
class Looking:
    """What a filter may ask beside the trial itself."""

    letters: Mapping[str, str]
    now: datetime


Test = Callable[[TrialState, Looking], bool]


@dataclass(frozen=True)
class TrialFilter:
    text: str
    tests: tuple[Test, ...]

    def __call__(self, trial: TrialState, looking: Looking) -> bool:
        return all(test(trial, looking) for test in self.tests)


def parse(text: str) -> TrialFilter:
    """Raises FilterError. A field whose value is still missing is passed over: somebody is typing it."""
    tests = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        found = _TERM.match(text, position)
        if found is None or found.end() == position:
            position += 1  # a lone "!"
            continue
        position = found.end()
        test = _test(found)
        if test is not None:
            tests.append(_not(test) if len(found["no"]) % 2 else test)
    return TrialFilter(text, tuple(tests))


def _test(found: re.Match[str]) -> Test | None:
    if found["regex"] is not None:
        return _regex(found["regex"])
    value = found["quoted"] if found["quoted"] is not None else found["value"]
    field = (found["field"] or "").lower()
    if not field:
        if re.fullmatch(r"[A-Za-z_]+:", value):
            _known(value[:-1].lower())
            return None
        return _contains(value)
    _known(field)
    if field in NUMBER_FIELDS:
        return _number(field, value)
    return _field(field, value.casefold())


def _known(field: str) -> None:
    if field not in FIELDS:
        raise FilterError(f"no field {field!r}; there are {', '.join(FIELDS)}")


def _not(test: Test) -> Test:
    return lambda trial, looking: not test(trial, looking)


def _regex(pattern: str) -> Test | None:
    if not pattern:
        return None
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise FilterError(f"regex: {error}") from None
    return lambda trial, looking: any(compiled.search(text[:_LONGEST]) for text in _texts(trial, looking))


def _contains(value: str) -> Test:
    wanted = value.casefold()
    return lambda trial, looking: any(wanted in text.casefold() for text in _texts(trial, looking))


def _texts(trial: TrialState, looking: Looking) -> list[str]:
    texts = [trial.task, trial.arm, trial.state, state_word(trial), trial.activity, trial.waiting_for]
    for issue in trial.issues:
        texts += (issue.code, issue.message)
    return texts


def _field(field: str, wanted: str) -> Test:
    if field == "arm":
        return lambda trial, looking: (
            looking.letters.get(trial.arm, "").casefold() == wanted
            if len(wanted) == 1
            else wanted in trial.arm.casefold()
        )
    return lambda trial, looking: any(wanted in text.casefold() for text in _field_texts(field, trial))


def _field_texts(field: str, trial: TrialState) -> list[str]:
    match field:
        case "task":
            return [trial.task]
        case "state":
            return [trial.state, state_word(trial), *(["timeout"] if trial.timed_out else [])]
        case "phase":
            phases = [str(issue.phase) for issue in trial.issues if issue.phase is not None]
            return [*phases, *([str(trial.phase)] if trial.phase is not None else [])]
        case "issue":
            return [text for issue in trial.issues for text in (str(issue.code), str(issue.severity), issue.message)]
        case "activity":
            return [trial.activity, trial.waiting_for]
        case "service":
            return [use.service for use in trial.services.values()]
        case "step":
            return [trial.step, *(span.step for span in trial.phases)]
        case "category":
            return [trial.category]
        case _:
            return [trial.difficulty]


def _number(field: str, value: str) -> Test:
    if value in ("none", "-", "—"):
        return lambda trial, looking: _value(field, trial, looking) is None
    found = _COMPARED.match(value)
    if found is None:
        if value in _OPERATORS or value == "-":
            return lambda trial, looking: True
        raise FilterError(f"{field}: needs a number such as <1 or >=10, not {value!r}")
    compare = _OPERATORS[found[1] or "="]
    limit = float(found[2]) * _UNITS.get(found[3] or "", 1.0)

    def test(trial: TrialState, looking: Looking) -> bool:
        number = _value(field, trial, looking)
        return number is not None and compare(number, limit)

    return test


def _value(field: str, trial: TrialState, looking: Looking) -> float | None:
    match field:
        case "reward":
            return trial.reward
        case "attempt":
            return trial.attempt
        case "time":
            return trial.elapsed(looking.now)
        case "cpu":
            return trial.cpu_percent
        case "mem":
            return trial.memory_bytes
        case "steps":
            return trial.steps
        case "cost":
            return trial.cost_usd
        case _:
            return len(trial.issues)


_TROUBLE = frozenset({trial_state.FAILED, trial_state.UNSCORED, trial_state.REFUSED, trial_state.INTERRUPTED})


def is_problem(trial: TrialState) -> bool:
    """Wants a look: no pass, or something went wrong on the way."""
    return trial.state in _TROUBLE or bool(trial.issues) or trial.out_of_memory
