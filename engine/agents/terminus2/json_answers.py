"""Answers in JSON: one object, with whatever models put around and into it."""

from __future__ import annotations

import json
import re
from typing import Any

from engine.agents.terminus2.answers import (
    DEFAULT_SEC,
    Answer,
    Keys,
    Unreadable,
    answer_in,
    bounded,
    checked,
    seconds_of,
)

_KNOWN = ("analysis", "plan", "commands", "task_complete")
_OTHER_NAMES = {"is_task_complete": "task_complete", "state_analysis": "analysis", "explanation": "plan"}
_IN_COMMANDS = frozenset({"keystrokes", "duration"})
_MOST_TRIES = 50
_DECODER = json.JSONDecoder(strict=False)
_NEXT = re.compile(r'"|[{}\[\]]')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BAD_ESCAPE = re.compile(r"\\(?:u(?![0-9a-fA-F]{4})|[^\"\\/bfnrtu])", re.DOTALL)
_WORDS = re.compile(r"\b(True|False|None)\b")
_JSON_WORDS = {"True": "true", "False": "false", "None": "null"}


def read_json_answer(text: str, *, whole: bool = False) -> Answer:
    """`whole`: the answer was cut off, and counts only if its object is complete all the same.

    Raises Unreadable.
    """
    text = answer_in(text)
    warnings: list[str] = []
    found, before, after = _find(text, warnings, whole=whole)
    if _says_something(before):
        warnings.append("there is text before the JSON object; it is left out")
    if _says_something(after):
        more = "another JSON object or " if "{" in after else ""
        warnings.append(f"there is {more}text after the JSON object; it is left out")
    return _answer(found, warnings)


def _find(text: str, warnings: list[str], *, whole: bool) -> tuple[dict[str, Any], str, str]:
    """The first object with fields of ours, what stands before it and what after."""
    at = text.find("{")
    if at < 0:
        raise Unreadable("there is no JSON object in the answer")
    first = at
    why = ""
    for _ in range(_MOST_TRIES):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            why = why or f"{error.msg} (line {error.lineno}, column {error.colno})"
            end = at + 1
        except (ValueError, RecursionError):
            why = why or "a number or a nesting is too long"
            end = at + 1
        else:
            if isinstance(value, dict) and _is_answer(value):
                return value, text[:at], text[end:]
            why = why or f"the object has none of the fields {', '.join(_KNOWN)}"
        at = text.find("{", end)
        if at < 0:
            break
    if not whole and (mended := _mended(text[first:])) is not None:
        warnings.append(
            f"the answer is no valid JSON: {why}; it was read as it seems to be meant, please write valid JSON"
        )
        return mended, text[:first], ""
    raise Unreadable(f"the answer is no valid JSON: {why}")


def _is_answer(value: dict[str, Any]) -> bool:
    return not set(value).isdisjoint((*_KNOWN, *_OTHER_NAMES))


def _mended(text: str) -> dict[str, Any] | None:
    """The object with commas, words, escapes and closing brackets put right; None where that doesn't help.

    A text that ends within a string was cut off: nothing is made of it, since half a command isn't what was meant.
    """
    pieces: list[str] = []
    at = 0
    for found in _STRING.finditer(text):
        pieces += [_WORDS.sub(lambda word: _JSON_WORDS[word[1]], text[at : found.start()]), _escaped(found[0])]
        at = found.end()
    rest = text[at:]
    if '"' in rest:
        return None
    pieces.append(_WORDS.sub(lambda word: _JSON_WORDS[word[1]], rest))
    closed = _closed(pieces)
    try:
        value, _ = _DECODER.raw_decode(closed)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _is_answer(value) else None


def _escaped(string: str) -> str:
    """A backslash before what can't follow one stands for itself: `"\\d+"`, `"\\$HOME"`."""
    kept, at = [], 0
    while (found := string.find("\\", at)) >= 0:
        kept.append(string[at:found])
        bad = _BAD_ESCAPE.match(string, found)
        kept.append("\\\\" if bad else string[found : found + 2])
        at = found + (1 if bad else 2)
    return "".join((*kept, string[at:]))


def _closed(pieces: list[str]) -> str:
    """Strings stand at odd places of `pieces`. Brackets that nobody closed are closed, what follows the end is cut."""
    out: list[str] = []
    open_: list[str] = []
    for index, piece in enumerate(pieces):
        if index % 2:
            out.append(piece)
            continue
        for char in piece:
            if char in "{[":
                open_.append("}" if char == "{" else "]")
            elif char in "}]":
                while open_ and open_[-1] != char:
                    out.append(open_.pop())
                if not open_:
                    break
                open_.pop()
            out.append(char)
            if not open_ and char in "}]":
                return _no_trailing_commas(out)
    return _no_trailing_commas([*out, *reversed(open_)])


def _no_trailing_commas(parts: list[str]) -> str:
    kept: list[str] = []
    for part in parts:
        if part in ("}", "]"):
            back = len(kept)
            while back and kept[back - 1].isspace():
                back -= 1
            if back and kept[back - 1] == ",":
                del kept[back - 1]
        kept.append(part)
    return "".join(kept)


def _says_something(text: str) -> bool:
    return bool(re.sub(r"```\w*", "", text).strip())


def _answer(found: dict[str, Any], warnings: list[str]) -> Answer:
    for other, name in _OTHER_NAMES.items():
        if other in found and name not in found:
            warnings.append(f"the field {other} is called {name}")
            found[name] = found[other]
    if unknown := [key for key in found if key not in _KNOWN and key not in _OTHER_NAMES]:
        warnings.append(f"unknown fields are left out: {', '.join(unknown)[:200]}")
    complete = _yes(found.get("task_complete"), warnings)
    commands = _commands(found, warnings, complete=complete)
    return Answer(
        analysis=_words(found, "analysis", warnings),
        plan=_words(found, "plan", warnings),
        commands=checked(commands, warnings),
        task_complete=complete,
        warnings=bounded(warnings),
    )


def _words(found: dict[str, Any], name: str, warnings: list[str]) -> str:
    value = found.get(name)
    if isinstance(value, str):
        return value
    if value is None:
        warnings.append(f"the field {name} is missing")
        return ""
    warnings.append(f"the field {name} should be a string")
    return json.dumps(value, ensure_ascii=False)


def _yes(value: object, warnings: list[str]) -> bool:
    if isinstance(value, bool) or value is None:
        return bool(value)
    warnings.append("task_complete should be true or false")
    return isinstance(value, str) and value.strip().lower() in ("true", "yes")


def _commands(found: dict[str, Any], warnings: list[str], *, complete: bool) -> list[Keys]:
    given = found.get("commands")
    if given is None:
        if not complete:
            raise Unreadable("the field commands is missing: give a list, [] to do nothing but look again")
        return []
    if isinstance(given, dict | str):
        warnings.append("commands should be a list")
        given = [given]
    if not isinstance(given, list):
        raise Unreadable("the field commands must be a list of objects with keystrokes and duration")
    return [_command(each, number, warnings) for number, each in enumerate(given, 1)]


def _command(given: object, number: int, warnings: list[str]) -> Keys:
    what = f"command {number}"
    if isinstance(given, str):
        warnings.append(f"{what} should be an object with keystrokes and duration")
        return Keys(given)
    if not isinstance(given, dict):
        raise Unreadable(f"{what} must be an object with keystrokes and duration")
    keys = given.get("keystrokes")
    if not isinstance(keys, str):
        raise Unreadable(f"{what}: keystrokes must be there and be a string")
    if unknown := [str(key) for key in given if key not in _IN_COMMANDS]:
        warnings.append(f"{what}: unknown fields are left out: {', '.join(unknown)[:200]}")
    if "duration" not in given:
        warnings.append(f"{what}: duration is missing, {DEFAULT_SEC:g} is taken")
        return Keys(keys)
    return Keys(keys, seconds_of(given["duration"], what, warnings))
