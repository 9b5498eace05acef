"""One sanitiser for all text that comes from tasks, containers and agents.

Whatever passes through here is safe to write to a terminal: no escape sequences, no control bytes, no invisible
characters that reorder what stands around them. It is not markup-escaping: data never goes through a markup parser at
all.
"""

from __future__ import annotations

import re

# ECMA-48: CSI, OSC/DCS/SOS/PM/APC strings (ended by BEL or ST, or running to the end), and two-byte escapes.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[PX\]^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_NEWLINE = re.compile(r"\r\n|[\n\x0b\x0c\x85\u2028\u2029]")
# C0 and C1 controls, zero-width and bidirectional controls, lone surrogates, the byte-order mark, interlinear anchors.
_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SUSPECT = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean(text: str, limit: int = 20_000) -> str:
    """Text of several lines (newline and tab stay), cut to `limit` characters.

    A carriage return inside a line overwrites what stood before it, as a terminal would leave it.
    """
    if len(text) > limit:
        text = text[:limit] + "…"
    if not _SUSPECT.search(text):
        return text
    text = _NEWLINE.sub("\n", _SEQUENCE.sub("", text))
    if "\r" in text:
        text = "\n".join(_last_overwrite(line) for line in text.split("\n"))
    return _UNSAFE.sub("�", text)


def clean_line(text: str, limit: int = 2_000) -> str:
    """Text on one line: newlines become `⏎`, tabs become spaces."""
    if len(text) > limit:
        text = text[:limit] + "…"
    if not _SUSPECT.search(text):
        return text
    return clean(text, limit).rstrip("\n").replace("\n", " ⏎ ").replace("\t", "    ")


def _last_overwrite(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


def decode_output(data: bytes, limit: int = 20_000) -> str:
    """The end of a command's raw output as safe text; at most `limit` bytes are looked at."""
    return clean(data[-limit:].decode("utf-8", "replace"), limit)
