"""Answers in XML-like text: the same fields as elements. What stands in `keystrokes` is taken as it is, character by
character: models write `&` and `<` there as a shell wants them."""

from __future__ import annotations

import re

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

_KEYS_TAG = re.compile(r"<keystrokes((?:\s+[\w-]+\s*=\s*(?:\"[^\"<>]{0,80}\"|'[^'<>]{0,80}')){0,9})\s*(/?)>")
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_END = "</keystrokes>"
_CDATA = re.compile(r"\A<!\[CDATA\[(.*)\]\]>\Z", re.DOTALL)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos);")
_TRUE = frozenset({"true", "yes"})


def read_xml_answer(text: str, *, whole: bool = False) -> Answer:
    """`whole`: the answer was cut off, and counts only if it is complete all the same. Raises Unreadable."""
    text = answer_in(text)
    warnings: list[str] = []
    body, before, after, closed = _response(text)
    if whole and not closed:
        raise Unreadable("the answer breaks off before </response>")
    if not closed:
        warnings.append("</response> is missing")
    if re.sub(r"```\w*", "", before).strip():
        warnings.append("there is text before <response>; it is left out")
    if re.sub(r"```\w*", "", after).strip():
        warnings.append("there is text after </response>; it is left out")
    commands, around = _commands(body, warnings)
    complete = _complete(around, warnings)
    if commands is None:
        if not complete:
            raise Unreadable(
                "the element commands is missing: write <commands></commands> to do nothing but look again"
            )
        commands = []
    return Answer(
        analysis=_words(around, "analysis", warnings),
        plan=_words(around, "plan", warnings),
        commands=checked(commands, warnings),
        task_complete=complete,
        warnings=bounded(warnings),
    )


def _response(text: str) -> tuple[str, str, str, bool]:
    """What stands in <response>, before it, after it, and whether it is closed. Without the tag all the text is it."""
    start = text.find("<response>")
    if start < 0:
        if "<commands" not in text and "<task_complete>" not in text:
            raise Unreadable("there is no <response> in the answer")
        start, inside = 0, 0
    else:
        inside = start + len("<response>")
    end = _outside_keys(text, "</response>", inside)
    if end < 0:
        return text[inside:], text[:start], "", False
    return text[inside:end], text[:start], text[end + len("</response>") :], True


def _outside_keys(text: str, tag: str, at: int) -> int:
    """Where `tag` stands and is not a part of keystrokes."""
    found = text.find(tag, at)
    while True:
        if 0 <= found < at:
            found = text.find(tag, at)
        opened = _KEYS_TAG.search(text, at)
        if found < 0 or opened is None or opened.start() > found:
            return found
        if opened[2]:
            at = opened.end()
            continue
        closed = text.find(_END, opened.end())
        if closed < 0:
            return -1
        at = closed + len(_END)


def _commands(body: str, warnings: list[str]) -> tuple[list[Keys] | None, str]:
    """The commands, and the body without them."""
    if "<commands" not in body and "<keystrokes" not in body:
        return None, body
    commands: list[Keys] = []
    around: list[str] = []
    at = 0
    while (found := _KEYS_TAG.search(body, at)) is not None:
        around.append(body[at : found.start()])
        number = len(commands) + 1
        what = f"command {number}"
        keys = ""
        at = found.end()
        if not found[2]:
            end = body.find(_END, at)
            if end < 0:
                raise Unreadable(f"{what}: </keystrokes> is missing")
            keys, at = body[at:end], end + len(_END)
        commands.append(Keys(_as_meant(keys, what, warnings), _seconds(found[1], what, warnings)))
    around.append(body[at:])
    if (rest := body.find("<keystrokes", at)) >= 0:
        raise Unreadable(f"command {len(commands) + 1} can't be read: {body[rest : rest + 60]}")
    return commands, "".join(around)


def _as_meant(keys: str, what: str, warnings: list[str]) -> str:
    if cdata := _CDATA.match(keys):
        return cdata[1]
    if entity := _ENTITY.search(keys):
        warnings.append(f"{what}: keystrokes are taken as they are, also {entity[0]}")
    if keys.endswith("\\n"):
        warnings.append(f"{what}: keystrokes end with a backslash and an n; a newline is written as a newline")
    return keys


def _seconds(attributes: str, what: str, warnings: list[str]) -> float:
    given = {name: double or single for name, double, single in _ATTRIBUTE.findall(attributes)}
    if unknown := [name for name in given if name != "duration"]:
        warnings.append(f"{what}: unknown attributes are left out: {', '.join(unknown)[:200]}")
    if "duration" not in given:
        warnings.append(f"{what}: duration is missing, {DEFAULT_SEC:g} is taken")
        return DEFAULT_SEC
    return seconds_of(given["duration"], what, warnings)


def _words(body: str, name: str, warnings: list[str]) -> str:
    start, end = body.find(f"<{name}>"), body.rfind(f"</{name}>")
    if start < 0 or end < start:
        warnings.append(f"the element {name} is missing or isn't closed")
        return ""
    return body[start + len(name) + 2 : end].strip()


def _complete(body: str, warnings: list[str]) -> bool:
    found = re.findall(r"<task_complete>([^<]*)</task_complete>", body)
    if not found:
        return False
    said = found[-1].strip().lower()
    if said not in ("true", "false"):
        warnings.append("task_complete should be true or false")
    return said in _TRUE
