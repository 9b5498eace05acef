"""A large JSON object piece by piece: one that breaks off still gives what stands before the break."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

_BLANK = re.compile(r"[ \t\r\n\ufeff]*")
_DECODER = json.JSONDecoder(strict=False)


class ObjectWalk:
    """Pairs of an object's keys and values; of an array named in `arrays` one pair for each element.

    Between two pieces other threads get their turn. `problem` says, after the walk, where it could not go on.
    """

    def __init__(self, text: str, arrays: Collection[str]) -> None:
        self._text = text
        self._arrays = arrays
        self.problem = ""

    def __iter__(self) -> Iterator[tuple[str, object]]:
        try:
            yield from self._pairs()
        except json.JSONDecodeError as error:
            end = error.pos >= len(self._text.rstrip()) or error.msg.startswith("Unterminated")
            self.problem = "breaks off: half-written" if end else f"is no JSON from line {error.lineno:,} on"
        except (ValueError, RecursionError):
            self.problem = "holds a number or a nesting that is too long to read"

    def _pairs(self) -> Iterator[tuple[str, object]]:
        at = self._expect("{", 0)
        while True:
            at = self._skip(at)
            if self._text[at : at + 1] == "}":
                return
            key, at = self._value(at)
            at = self._expect(":", at)
            at = self._skip(at)
            if isinstance(key, str) and key in self._arrays and self._text[at : at + 1] == "[":
                at = self._skip(at + 1)
                while self._text[at : at + 1] != "]":
                    value, at = self._value(at)
                    yield key, value
                    at = self._skip(at)
                    if self._text[at : at + 1] != "]":
                        at = self._skip(self._expect(",", at))
                at += 1
            else:
                value, at = self._value(at)
                yield str(key), value
            at = self._skip(at)
            if self._text[at : at + 1] == "}":
                return
            at = self._expect(",", at)

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def _expect(self, char: str, at: int) -> int:
        at = self._skip(at)
        if self._text[at : at + 1] != char:
            raise json.JSONDecodeError(f"expected {char}", self._text, at)
        return at + 1

    def _value(self, at: int) -> tuple[object, int]:
        return _DECODER.raw_decode(self._text, self._skip(at))
