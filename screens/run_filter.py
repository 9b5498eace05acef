"""The `/` filter of a list of runs: `word`, `/regex/`, `field:value`, each turned round by a leading `!`.

harbor !finished        text anywhere in name, kind, state, arms, tasks and folder
/^2025-11-.*redis/      a regular expression; the closing slash may be left out
kind:harbor state:stale fields; a value in quotes may hold blanks
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.readers.reader import Liveness
from screens.row_pattern import RowPattern
from screens.run_summary import RunSummary

FIELDS = ("name", "kind", "state", "arm", "tasks", "folder")
INTERRUPTED_EXIT = 130
_TERM = re.compile(
    r"""(?P<no>!*)(?:
        /(?P<regex>(?:\\.|[^/\\])*)(?:/(?=\s|$)|$)
      | (?:(?P<field>[A-Za-z_]+):)?(?:"(?P<quoted>[^"]*)"?|(?P<value>(?!!)\S+))
    )""",
    re.VERBOSE,
)

Test = Callable[[RunSummary], bool]


class FilterError(ValueError):
    """What is wrong with a filter, in a few words for the person who types it."""


@dataclass(frozen=True)
class RunFilter:
    text: str
    tests: tuple[Test, ...]
    patterns: tuple[RowPattern, ...] = ()

    @property
    def too_slow(self) -> bool:
        """Whether a pattern gave up on a text since this filter is in force."""
        return any(pattern.too_slow for pattern in self.patterns)

    def __call__(self, run: RunSummary) -> bool:
        return all(test(run) for test in self.tests)


def state_of(run: RunSummary) -> str:
    """The word in the state column."""
    if run.liveness is Liveness.FINISHED and run.exit_code == INTERRUPTED_EXIT:
        return "interrupted"
    return str(run.liveness)


def parse(text: str) -> RunFilter:
    """Raises FilterError. A field whose value is still missing is passed over: somebody is typing it."""
    tests: list[Test] = []
    patterns: list[RowPattern] = []
    for found in _TERM.finditer(text):
        test = _test(found, patterns)
        if test is not None:
            tests.append(_not(test) if len(found["no"]) % 2 else test)
    return RunFilter(text, tuple(tests), tuple(patterns))


def _test(found: re.Match[str], patterns: list[RowPattern]) -> Test | None:
    if found["regex"] is not None:
        return _regex(found["regex"], patterns)
    value = found["quoted"] if found["quoted"] is not None else found["value"] or ""
    field = (found["field"] or "").lower()
    if not field and re.fullmatch(r"[A-Za-z_]+:", value):
        field, value = value[:-1].lower(), ""
    if field and field not in FIELDS:
        raise FilterError(f"no field {field!r}; there are {', '.join(FIELDS)}")
    wanted = value.casefold()
    return (lambda run: any(wanted in text.casefold() for text in _texts(run, field))) if wanted else None


def _regex(pattern: str, patterns: list[RowPattern]) -> Test | None:
    if not pattern:
        return None
    try:
        compiled = RowPattern(pattern)
    except re.error as error:
        raise FilterError(f"regex: {error}") from None
    patterns.append(compiled)
    return lambda run: compiled.in_any(_texts(run, ""))


def _not(test: Test) -> Test:
    return lambda run: not test(run)


def _texts(run: RunSummary, field: str) -> list[str]:
    texts = {
        "name": [run.name],
        "kind": [run.kind],
        "state": [state_of(run)],
        "arm": [arm.name for arm in run.arms],
        "tasks": [run.task_set],
        "folder": [str(run.folder)],
    }
    return texts[field] if field else [text for found in texts.values() for text in found]
