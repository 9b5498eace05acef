"""The nearest line that matches, forwards or backwards from a place: read only as far as it lies."""

from __future__ import annotations

from collections.abc import Callable

from screens.bounded_pattern import TooSlow
from screens.log_index import Bytes
from screens.log_pattern import Matches
from screens.log_streams import Keeps

_CHUNK = 256 * 1024
_LONGEST = 4 * 1024 * 1024

Stop = Callable[[], bool]


def first_from(
    file: Bytes,
    pattern: Matches,
    offset: int,
    stop: Stop = lambda: False,
    keeps: Keeps | None = None,
    most: int | None = None,
) -> int | None:
    """The first line that matches and begins at `offset`, which is a line's beginning, or behind it; `keeps` says which
    of them count. Gives up some way behind `most` bytes."""
    position, length = offset, _CHUNK
    until = file.size if most is None else offset + most
    while position < min(file.size, until) and not stop():
        data = file.read(position, length)
        if not data:
            return None
        end = data.rfind(b"\n") + 1
        if not end and len(data) == length and length < _LONGEST:
            length *= 4
            continue
        whole = data[:end] if end and position + len(data) < file.size else data
        found = _found(pattern, whole, position, keeps)
        if found:
            return found[0]
        position, length = position + len(whole), _CHUNK
    return None


def last_before(
    file: Bytes, pattern: Matches, offset: int, stop: Stop = lambda: False, keeps: Keeps | None = None
) -> int | None:
    """The last line that matches and begins before `offset`, which is a line's beginning."""
    end, length = offset, _CHUNK
    while end > 0 and not stop():
        start = max(0, end - length)
        data = file.read(start, end - start)
        first = 0 if start == 0 else data.find(b"\n") + 1
        if start and (not first or first == len(data)) and length < _LONGEST:
            length *= 4
            continue
        found = _found(pattern, data[first:], start + first, keeps)
        if found:
            return found[-1]
        end, length = start + first if 0 < first < len(data) else start, _CHUNK
    return None


def next_round(
    file: Bytes, pattern: Matches, offset: int, stop: Stop = lambda: False, keeps: Keeps | None = None
) -> int | None:
    """As `first_from`; where there is none, the first of all."""
    found = first_from(file, pattern, offset, stop, keeps)
    return first_from(file, pattern, 0, stop, keeps) if found is None else found


def last_round(
    file: Bytes, pattern: Matches, offset: int, stop: Stop = lambda: False, keeps: Keeps | None = None
) -> int | None:
    """As `last_before`; where there is none, the last of all."""
    found = last_before(file, pattern, offset, stop, keeps)
    return last_before(file, pattern, file.size, stop, keeps) if found is None else found


def _found(pattern: Matches, data: bytes, begins: int, keeps: Keeps | None) -> list[int]:
    try:
        found = [begins + at for at in pattern.find_all(data)]
    except TooSlow:
        return []
    return keeps(found) if keeps is not None else found
