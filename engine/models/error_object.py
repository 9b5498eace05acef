"""The error in an answer's body, whatever a provider or gateway wraps it in: its names (codes, types) and its text."""

from __future__ import annotations

import json
import re

import msgspec

_NAMES = ("type", "code", "status", "error_type", "reason", "error_code")
_TEXTS = ("message", "detail", "msg", "error_description", "raw", "title", "output", "errorMessage", "Message")
_INSIDE = ("error", "innererror", "inner_error", "metadata", "details", "errors", "response", "detail", "cause")
_DEPTH = 6
_MOST_TEXT = 20_000
_NAMED = re.compile(r"""["'](?:type|code|status)["']\s*:\s*["']([\w.]{3,60})["']""")
_TITLE = re.compile(r"<title[^>]*>\s*([^<]{1,300})", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]{0,2000}>")
_STATUS_IN_TEXT = re.compile(r"\b(?:HTTP|status(?: code)?|error(?: code)?)[ :=]{1,3}([45]\d\d)\b", re.IGNORECASE)


class ErrorObject(msgspec.Struct, frozen=True, kw_only=True):
    """`names_in_text` are codes of an error object quoted in a text. `status` is one that the body tells."""

    names: list[str]
    names_in_text: list[str]
    text: str
    status: int | None


def error_object(body: bytes) -> ErrorObject:
    text = body.decode("utf-8", "replace").strip()
    if text.startswith(("event:", "data:")) and (error := error_of_stream(body)) is not None:
        text = error.decode("utf-8", "replace")
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return _of_text(text)
    if isinstance(found, str):
        return _of_text(found)
    names: list[str] = []
    texts: list[str] = []
    statuses: list[int] = []
    _walk(found, names, texts, statuses, _DEPTH)
    words = " · ".join(dict.fromkeys(texts))[:_MOST_TEXT]
    return ErrorObject(
        names=list(dict.fromkeys(names)),
        names_in_text=_NAMED.findall(words),
        text=words,
        status=next(iter(statuses), None) or _status_in(words),
    )


def error_of_stream(body: bytes) -> bytes | None:
    """The data of a stream's event that tells an error, None where none does."""
    named = ""
    for line in body.splitlines():
        if line.startswith(b"event:"):
            named = line[6:].strip().decode("utf-8", "replace")
        elif line.startswith(b"data:"):
            data = line[5:].strip()
            if named in ("error", "response.failed") or _is_error(data):
                return data
        elif not line.strip():
            named = ""
    return None


def _is_error(data: bytes) -> bool:
    if b"error" not in data and b"failed" not in data:
        return False
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and (
        bool(found.get("error")) or found.get("type") in ("error", "response.failed") or found.get("status") == "failed"
    )


def _walk(found: object, names: list[str], texts: list[str], statuses: list[int], depth: int) -> None:
    if depth == 0:
        return
    if isinstance(found, list):
        for each in found[:20]:
            _walk(each, names, texts, statuses, depth - 1)
    elif isinstance(found, str):
        texts.append(found.strip())
    elif isinstance(found, dict):
        for key in _NAMES:
            value = found.get(key)
            if (status := _status(value)) is not None:
                statuses.append(status)
            elif isinstance(value, str) and value and not (key == "type" and value == "error") and value != "failed":
                names.append(value[:100])
        texts.extend(value.strip() for key in _TEXTS if isinstance(value := found.get(key), str) and value.strip())
        for key in _INSIDE:
            inside = found.get(key)
            if isinstance(inside, dict | list) or (key == "error" and isinstance(inside, str)):
                _walk(inside, names, texts, statuses, depth - 1)


def _status(value: object) -> int | None:
    """Of an error, as a number or as its digits."""
    if not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"[45]\d\d", str(value), re.ASCII) else None


def _of_text(text: str) -> ErrorObject:
    if text[:200].lstrip().lower().startswith(("<!doctype", "<html", "<head", "<?xml")):
        text = text[:_MOST_TEXT]
        title = _TITLE.search(text)
        text = title.group(1) if title is not None else _TAGS.sub(" ", text)
    text = text[:_MOST_TEXT].strip()
    return ErrorObject(names=[], names_in_text=_NAMED.findall(text), text=text, status=_status_in(text))


def _status_in(text: str) -> int | None:
    found = _STATUS_IN_TEXT.search(text)
    return int(found.group(1)) if found is not None else None
