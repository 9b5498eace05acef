"""Events drawn at random, of every type, with few names so that they meet each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import settings
from hypothesis import strategies as st

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from tests.engine.tasks.task_folders import UNTIMED

START = datetime(2026, 1, 1, tzinfo=UTC)
HOSTILE = "\x1b]0;owned\x07[bold]\udcff\x1b[2J"
TEXTS = st.sampled_from(["", "a", "main", "two\nlines", HOSTILE, "日本語"])
NAMES = st.sampled_from(["", "t1", "t2", "t3"])
MOMENTS = st.integers(-5, 5000).map(lambda seconds: START + timedelta(seconds=seconds))
NUMBERS = st.floats(min_value=0, max_value=1e9, allow_nan=False)
ISSUES = st.builds(
    Issue,
    severity=st.sampled_from(list(Severity)),
    phase=st.none() | st.sampled_from(list(Phase)),
    code=st.sampled_from(list(Code)),
    message=TEXTS,
    evidence=st.lists(st.builds(Evidence, label=TEXTS, text=TEXTS), max_size=2).map(tuple),
    service=TEXTS,
)
_BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "trial": NAMES,
    "arm": st.sampled_from(["a", "b"]),
    "outcome": st.sampled_from(["scored", "unscored", "refused", "cancelled", "new word"]),
    "state": st.sampled_from(["created", "running", "oom", "exited", "removed", HOSTILE]),
    "environment": st.sampled_from(["agent", "verifier"]),
}
_BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(0, 10**12),
    float: NUMBERS,
    bool: st.booleans(),
    datetime: MOMENTS,
    Issue: ISSUES,
    Phase: st.sampled_from(list(Phase)),
}


def _of(kind: Any) -> st.SearchStrategy[Any]:
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if get_origin(kind) in (UnionType, Union):
        return st.one_of(*(st.none() if part is type(None) else _of(part) for part in get_args(kind)))
    if get_origin(kind) is dict:
        return st.dictionaries(_of(get_args(kind)[0]), _of(get_args(kind)[1]), max_size=2)
    if get_origin(kind) is tuple:
        return st.lists(_of(get_args(kind)[0]), max_size=2).map(tuple)
    return _struct(kind)


def _struct(kind: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    fields = [field.name for field in msgspec.structs.fields(kind)]
    return st.builds(kind, **{name: _BY_NAME[name] if name in _BY_NAME else _of(hints[name]) for name in fields})


EVERY_KIND: tuple[type[ev.Event], ...] = ev.AnyEvent.__args__
EVENTS: st.SearchStrategy[ev.Event] = st.one_of(*(_struct(kind) for kind in EVERY_KIND))
STREAMS = st.lists(EVENTS, max_size=25)
BRIEFLY = settings(UNTIMED, max_examples=40)  # drawing whole streams takes its time
