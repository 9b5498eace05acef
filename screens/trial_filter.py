"""The `/` filter: words, regular expressions and fields, joined as one says it.

heat !passed               text anywhere in task, arm, state, activity and issues; side by side means both
/^db-.*(a|b)$/  re:^db-    a regular expression; the closing slash may be left out
arm:b state:failed,passed  fields; a comma means any of them; a value in quotes may hold blanks
task:re:^db                a regular expression on one field; cause:none where there is no value
reward:<1 time:>10m        numbers with <, <=, >, >=, =; times with s, m, h; reward:none
a or b c                   `or` joins what stands on both its sides: (a) or (b c); brackets group

A term is turned round by a leading `!`; so is a group.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.trial_state import TrialState
from screens.row_pattern import RowPattern
from screens.trial_fields import (
    FIELDS,
    GROWING,
    NUMBER_FIELDS,
    SWITCHES,
    WORDS,
    Looking,
    all_text,
    field_number,
    field_texts,
    is_on,
)

_DEEPEST = 20
_TERM = re.compile(
    r"""/(?P<regex>(?:\\.|[^/\\])*)(?:/(?=[\s)]|$)|$)
      | (?:(?P<field>[A-Za-z_]+):)?(?:"(?P<quoted>[^"]*)"?|(?P<value>(?!!)\S+))
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[^\s()]+")
_COMPARED = re.compile(r"(<=|>=|<|>|=)?\s*(-?\d+(?:\.\d+)?|-?\.\d+)\s*(s|m|min|h|%|k|K|M|G)?$")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "%": 1.0, "k": 2**10, "K": 2**10, "M": 2**20, "G": 2**30}
_COUNTED = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
"""Units of what is no amount of bytes."""
_NONE = ("none", "-", "—")
_SWITCH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_WORDS = {"and": "and", "&&": "and", "&": "and", "or": "or", "|": "or", "||": "or", "not": "not"}


class FilterError(ValueError):
    """What is wrong with a filter, in a few words for the person who types it."""


Test = Callable[[TrialState, Looking], bool]


@dataclass(frozen=True)
class TrialFilter:
    """`fields` are those that it asks for. Without a test it lets everything through."""

    text: str
    test: Test | None = None
    fields: frozenset[str] = frozenset()
    patterns: tuple[RowPattern, ...] = ()

    def __call__(self, trial: TrialState, looking: Looking) -> bool:
        return self.test is None or self.test(trial, looking)

    @property
    def too_slow(self) -> bool:
        """Whether a pattern gave up on a text since this filter is in force."""
        return any(pattern.too_slow for pattern in self.patterns)

    @property
    def changes_with_time(self) -> bool:
        return not GROWING.isdisjoint(self.fields)


def parse(text: str) -> TrialFilter:
    """Raises FilterError. What is still missing (a field's value, a closing bracket, the other side of an `or`) is
    passed over: somebody is typing it."""
    reading = _Reading(text)
    test = reading.either(0)
    return TrialFilter(text, test, frozenset(reading.fields), tuple(reading.patterns))


class _Reading:
    """One pass over the text of a filter, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.fields: set[str] = set()
        self.patterns: list[RowPattern] = []

    def either(self, depth: int) -> Test | None:
        """Terms up to the closing bracket, or to the end."""
        if depth > _DEEPEST:
            raise FilterError(f"more than {_DEEPEST} brackets inside one another")
        sides = [self._both(depth)]
        while self._word("or"):
            sides.append(self._both(depth))
        tests = [test for test in sides if test is not None]
        return _any(tests) if tests else None

    def _both(self, depth: int) -> Test | None:
        tests = []
        while not self._at_end(depth):
            if self._peek() == "or":
                break
            if self._word("and"):
                continue
            test = self._term(depth)
            if test is not None:
                tests.append(test)
        return _all(tests) if tests else None

    def _term(self, depth: int) -> Test | None:
        turned = False
        while self.at < len(self.text):
            if self.text[self.at] == "!":
                turned = not turned
                self.at += 1
            elif self._word("not"):
                turned = not turned
            else:
                break
        test = self._group_or_test(depth)
        return _not(test) if turned and test is not None else test

    def _group_or_test(self, depth: int) -> Test | None:
        if self.text.startswith("(", self.at):
            self.at += 1
            test = self.either(depth + 1)
            self._blanks()
            if self.text.startswith(")", self.at):
                self.at += 1
            return test
        found = _TERM.match(self.text, self.at)
        if found is None or found.end() == self.at:
            return None  # a lone "!"
        self.at = found.end()
        value = found["value"]
        if value is not None and depth:
            closing = _closing(value)
            self.at -= closing
            value = value[: len(value) - closing]
        return self._test(found, value)

    def _test(self, found: re.Match[str], value: str | None) -> Test | None:
        if found["regex"] is not None:
            return self._text_regex(found["regex"])
        field = (found["field"] or "").lower()
        quoted = found["quoted"]
        if not field:
            if quoted is None and value and re.fullmatch(r"[A-Za-z_]+:", value):
                field = value[:-1].lower()
                if field not in ("re", "text"):
                    _known(field)
                return None
            return _contains(value or "" if quoted is None else quoted)
        if field in ("re", "text"):
            wanted = value or "" if quoted is None else quoted
            return self._text_regex(wanted) if field == "re" else _contains(wanted)
        _known(field)
        self.fields.add(field)
        if quoted is not None:
            return _one_field(field, quoted, exact=True)
        return self._field(field, value or "")

    def _compiled(self, pattern: str) -> RowPattern:
        try:
            compiled = RowPattern(pattern)
        except re.error as error:
            raise FilterError(f"regex: {error}") from None
        self.patterns.append(compiled)
        return compiled

    def _text_regex(self, pattern: str) -> Test | None:
        if not pattern:
            return None
        compiled = self._compiled(pattern)
        return lambda trial, looking: compiled.in_any(all_text(trial))

    def _field(self, field: str, value: str) -> Test | None:
        """A value without quotes: a comma means any of several."""
        if value.lower().startswith("re:") and field not in NUMBER_FIELDS + SWITCHES:
            pattern = value[3:]
            if not pattern:
                return None
            compiled = self._compiled(pattern)
            return lambda trial, looking: compiled.in_any(field_texts(field, trial, looking))
        tests = [test for part in value.split(",") if part and (test := _one_field(field, part)) is not None]
        return _any(tests) if tests else None

    # --- reading ---

    def _blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _at_end(self, depth: int) -> bool:
        self._blanks()
        return self.at >= len(self.text) or (depth > 0 and self.text[self.at] == ")")

    def _peek(self) -> str:
        """`and`, `or`, `not`, where one of them stands here as a word of its own."""
        self._blanks()
        found = _WORD.match(self.text, self.at)
        return _WORDS.get(found[0].lower(), "") if found is not None else ""

    def _word(self, wanted: str) -> bool:
        if self._peek() != wanted:
            return False
        found = _WORD.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return True


def _closing(value: str) -> int:
    """How many brackets at the end of a value close a group that it stands in."""
    many = 0
    while value.endswith(")") and value.count(")") > value.count("("):
        value = value[:-1]
        many += 1
    return many


def _known(field: str) -> None:
    if field not in FIELDS:
        raise FilterError(f"no field {field!r}; there are {', '.join(FIELDS)}")


def _not(test: Test) -> Test:
    return lambda trial, looking: not test(trial, looking)


def _all(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda trial, looking: all(test(trial, looking) for test in tests)


def _any(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda trial, looking: any(test(trial, looking) for test in tests)


def _contains(value: str) -> Test | None:
    wanted = value.casefold()
    if not wanted:
        return None
    return lambda trial, looking: any(wanted in text.casefold() for text in all_text(trial))


def _one_field(field: str, value: str, exact: bool = False) -> Test | None:
    if field in NUMBER_FIELDS:
        return _number(field, value)
    if field in SWITCHES:
        return _switch(field, value)
    wanted = value.casefold()
    if not wanted:
        return None
    if wanted in _NONE and not exact:
        return lambda trial, looking: not field_texts(field, trial, looking)
    _may_be(field, wanted)
    if field == "arm":
        return lambda trial, looking: (
            looking.letters.get(trial.arm, "").casefold() == wanted
            if len(wanted) == 1
            else wanted in trial.arm.casefold()
        )
    return lambda trial, looking: any(wanted in text.casefold() for text in field_texts(field, trial, looking))


def _may_be(field: str, wanted: str) -> None:
    """Raises FilterError for a word that the field never holds: nothing would match, which says nothing of the trials.
    `none` is waited for while it is typed."""
    words = WORDS.get(field)
    if words is None or any(wanted.removesuffix("?") in word for word in words):
        return
    if not any(word.startswith(wanted) for word in _NONE):
        raise FilterError(f"{field}: {wanted!r} is none of {', '.join(words)}")


def _switch(field: str, value: str) -> Test | None:
    word = value.lower()
    if word in _SWITCH:
        wanted = _SWITCH[word]
        return lambda trial, looking: is_on(field, trial, looking) is wanted
    if any(known.startswith(word) for known in _SWITCH):
        return None
    raise FilterError(f"{field}: yes or no, not {value!r}")


def _number(field: str, value: str) -> Test | None:
    if value in _NONE:
        return lambda trial, looking: field_number(field, trial, looking) is None
    found = _COMPARED.match(value)
    if found is None:
        if value in _OPERATORS or value == "-" or "none".startswith(value):
            return None
        raise FilterError(f"{field}: needs a number such as <1 or >=10, not {value!r}")
    compare = _OPERATORS[found[1] or "="]
    unit = found[3] or ""
    scale = _COUNTED.get(unit, 1.0) if field in ("steps", "tokens", "issues", "cost") else _UNITS.get(unit, 1.0)
    limit = float(found[2]) * scale

    def test(trial: TrialState, looking: Looking) -> bool:
        number = field_number(field, trial, looking)
        return number is not None and compare(number, limit)

    return test
