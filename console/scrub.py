"""Replacing what would tell whose machine a run was made on, in any bytes: paths, host and user names, ids, secrets."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

import msgspec

SHORTEST_NAME = 3
SHORTEST_VALUE = 4
"""A secret shorter than this would be found all over the place, inside of other words."""

AROUND = 8 << 10
"""How far around a cut is looked: more than anything that is replaced is long."""

# fmt: off
COMMON_NAMES = frozenset({
    "root", "user", "admin", "docker", "debian", "ubuntu", "localhost", "host", "main", "agent", "oracle",
    "nobody", "daemon", "runner", "test", "db", "web", "vagrant", "node", "python", "app", "server",
    "client", "worker", "local", "build", "ci", "git", "postgres", "redis", "nginx", "www-data"
})
# fmt: on
"""Names that say nothing about anyone, and stand in logs for something else."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """Something to be replaced. `word`: only where it stands alone. `kind` is what the report counts it under.

    A common one ("root", "/tmp") says nothing about anyone where a task's log has it: it is replaced only where the
    engine wrote it down as a fact about this host, as a whole value.
    """

    kind: str
    text: str
    stand_in: str
    word: bool = False
    common: bool = False


def path(kind: str, text: str, stand_in: str) -> Known:
    """A folder with one name only, such as `/root` or `/work`, may as well be one inside a container."""
    depth = len([part for part in text.split("/") if part])
    return Known(kind=kind, text=text.rstrip("/"), stand_in=stand_in, common=depth < 2 or text == "/var/tmp")


def name(kind: str, text: str, stand_in: str) -> Known:
    common = text.lower() in COMMON_NAMES or len(text) < SHORTEST_NAME
    return Known(kind=kind, text=text, stand_in=stand_in, word=True, common=common)


class Scrubber:
    """Replaces, and counts by kind. `ids` are hexadecimal words: containers, projects, boots."""

    def __init__(self, known: Iterable[Known], ids: Iterable[str] = ()) -> None:
        self.counts: Counter[str] = Counter()
        chosen = {one.text: one for one in known if one.text and one.text != one.stand_in}
        self._common = [one for one in chosen.values() if one.common]
        self._stand_ins: dict[bytes, Known] = {}
        alternatives: list[tuple[bytes, bytes]] = []
        for one in chosen.values():
            if one.common:
                continue
            for spelling in _spellings(one.text):
                raw = spelling.encode("utf-8", "surrogateescape")
                self._stand_ins.setdefault(raw.lower() if one.word else raw, one)
                escaped = re.escape(raw)
                alternatives.append(
                    (raw, rb"(?<![A-Za-z0-9])(?i:%s)(?![A-Za-z0-9])" % escaped if one.word else escaped)
                )
        alternatives.sort(key=lambda pair: len(pair[0]), reverse=True)
        self._ids = _stand_ins_of_ids(ids)
        patterns = [pattern for _, pattern in alternatives]
        patterns += [rb"(?P<socket>/[^\s\"'\\]*/trialdeck(?:-\d+)?/[0-9a-f]{16}\.sock)"]
        if self._ids:
            lengths = sorted({len(one) for one in self._ids}, reverse=True)
            words = b"|".join(b"[0-9a-f]{%d}" % length for length in lengths)
            patterns += [rb"(?<![0-9A-Za-z])(?P<id>%s)(?![0-9A-Za-z])" % words]
        self._pattern = re.compile(b"|".join(patterns))

    def raw(self, data: bytes) -> bytes:
        return self._pattern.sub(self._replace, data)

    def place_to_cut(self, data: bytes, wanted: int) -> int:
        """The place at `wanted` or a little before where a cut goes through nothing that is to be replaced."""
        for found in self._pattern.finditer(data, max(0, wanted - AROUND), wanted + AROUND):
            if found.start() < wanted < found.end():
                return found.start()
        return wanted

    def text(self, text: str) -> str:
        return self.raw(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def value(self, value: object, *, fact: bool = False) -> object:
        """Every string in a value made of dictionaries and lists, keys included. `fact`: the engine wrote it about this
        host, so that common names count as well where one is all of a string, or the folder that it begins with."""
        if isinstance(value, str):
            return self._fact(value) if fact else self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(item, fact=fact) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item, fact=fact) for item in value]
        return value

    def _fact(self, text: str) -> str:
        for one in sorted(self._common, key=lambda one: len(one.text), reverse=True):
            for scheme in ("", "file://"):
                if text == scheme + one.text or (not one.word and text.startswith(f"{scheme}{one.text}/")):
                    self.counts[one.kind] += 1
                    return scheme + one.stand_in + self.text(text[len(scheme + one.text) :])
        return self.text(text)

    def _replace(self, found: re.Match[bytes]) -> bytes:
        groups = found.groupdict()
        if groups.get("socket"):
            self.counts["control socket"] += 1
            return b"/run/trialdeck/engine.sock"
        if word := groups.get("id"):
            stand_in = self._ids.get(word)
            if stand_in is None:
                return word
            self.counts["container, project or boot id"] += 1
            return stand_in
        one = self._stand_ins.get(found[0]) or self._stand_ins[found[0].lower()]
        self.counts[one.kind] += 1
        return one.stand_in.encode()


def _spellings(text: str) -> set[str]:
    """As it is, as JSON writes it, as a URL does."""
    return {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], quote(text, errors="replace")}


def _stand_ins_of_ids(ids: Iterable[str]) -> dict[bytes, bytes]:
    """Numbers in the width of what they replace. A container's long id and its short one stay one container."""
    found: dict[bytes, bytes] = {}
    for number, one in enumerate(dict.fromkeys(ids), 1):
        if not re.fullmatch(r"[0-9a-f]{8,64}", one):
            continue
        if len(one) == 64:
            found[one.encode()] = b"%012x" % number + b"0" * 52
            found[one[:12].encode()] = b"%012x" % number
        else:
            found[one.encode()] = b"%0*x" % (len(one), number)
    return found
