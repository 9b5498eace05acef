"""Reading a reward: `reward.json` first, else `reward.txt`. A missing or invalid reward is null, never zero."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

PRIMARY = "reward"
MAX_BYTES = 1 << 20
_BOM = b"\xef\xbb\xbf"
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class RewardReading(msgspec.Struct, frozen=True, kw_only=True):
    """What the verifier left. `reward` is the primary one, None with `problem` saying why. `source`: the file read.

    `booleans`: names of rewards that were JSON's true or false (they count as 1 and 0). `raw` is the file's beginning.
    `contradiction`: what the other file says, where it has another valid reward; "" where it doesn't.
    """

    reward: float | None = None
    rewards: dict[str, float] = {}
    source: str = ""
    problem: str = ""
    raw: str = ""
    booleans: tuple[str, ...] = ()
    contradiction: str = ""


def read_reward(folder: Path, left_out: Sequence[str] = ()) -> RewardReading:
    """The reward in a verifier's log folder on the host; `left_out` says which files did not reach it (`NAME: why`)."""
    reading = _first_found(folder, left_out)
    if reading.source == "reward.json" and reading.reward is not None:
        other = _read_file(folder / "reward.txt", parse_text)
        if other is not None and other.reward is not None and other.reward != reading.reward:
            said = f"reward.json says {reading.reward:g}, reward.txt says {other.reward:g}: reward.json counts"
            return msgspec.structs.replace(reading, contradiction=said)
    return reading


def _first_found(folder: Path, left_out: Sequence[str]) -> RewardReading:
    for name, parse in (("reward.json", parse_json), ("reward.txt", parse_text)):
        if (reading := _read_file(folder / name, parse)) is not None:
            return reading
        for line in left_out:
            if line.startswith(f"{name}: "):
                return RewardReading(source=name, problem=f"{line}; expected a file")
    return RewardReading(problem="the verifier wrote neither reward.json nor reward.txt")


def _read_file(path: Path, parse: Callable[[bytes], RewardReading]) -> RewardReading | None:
    name = path.name
    if path.is_symlink():
        return RewardReading(source=name, problem=f"{name} is a symbolic link, expected a file")
    if path.is_dir():
        return RewardReading(source=name, problem=f"{name} is a folder, expected a file")
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return RewardReading(source=name, problem=f"{name} cannot be read: {error.strerror}")
    if len(data) > MAX_BYTES:
        return RewardReading(source=name, problem=f"{name} is larger than 1 MiB", raw=_shown(data))
    return msgspec.structs.replace(parse(data), source=name, raw=_shown(data))


def parse_text(data: bytes) -> RewardReading:
    """A number alone, white space around it is fine; a byte-order mark and CRLF are harmless."""
    text = data.removeprefix(_BOM).strip(b" \t\r\n\f\v")
    if not text:
        return RewardReading(problem="reward.txt is empty, expected a number")
    if not _NUMBER.fullmatch(text):
        return RewardReading(problem="reward.txt holds something else than one number")
    return _checked({PRIMARY: float(text) + 0.0}, ())  # + 0.0: there is no reward of minus nothing


def parse_json(data: bytes) -> RewardReading:
    """An object of numbers; `reward` is the primary one, or the only one there is."""
    text = data.removeprefix(_BOM)
    if not text.strip():
        return RewardReading(problem="reward.json is empty, expected an object of numbers")
    try:
        found = json.loads(text.decode("utf-8"), parse_constant=_not_json)
    except (ValueError, RecursionError) as error:
        return RewardReading(problem=f"reward.json is not valid JSON: {error}")
    if not isinstance(found, dict) or not found:
        return RewardReading(problem='reward.json must be an object of numbers, such as {"reward": 1}')
    rewards: dict[str, float] = {}
    for name, value in found.items():
        if not isinstance(value, bool | int | float):
            return RewardReading(problem=f"reward.json: {name} must be a number, found {_kind(value)}")
        try:
            rewards[name] = float(value) + 0.0
        except OverflowError:
            return RewardReading(problem=f"reward.json: {name} is not a finite number")
    booleans = tuple(name for name, value in found.items() if isinstance(value, bool))
    return _checked(rewards, booleans)


def _checked(rewards: dict[str, float], booleans: tuple[str, ...]) -> RewardReading:
    for name, value in rewards.items():
        if not math.isfinite(value):
            return RewardReading(problem=f"{name} is not a finite number")
    primary = PRIMARY if PRIMARY in rewards else next(iter(rewards)) if len(rewards) == 1 else None
    if primary is None:
        return RewardReading(problem=f'there is no "reward" among {", ".join(sorted(rewards))}', rewards=rewards)
    if not 0.0 <= rewards[primary] <= 1.0:
        return RewardReading(problem=f"{primary} is {rewards[primary]:g}, expected 0 to 1", rewards=rewards)
    return RewardReading(reward=rewards[primary], rewards=rewards, booleans=booleans)


def _not_json(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


def _kind(value: object) -> str:
    return {str: "text", list: "a list", dict: "an object", type(None): "null"}.get(type(value), "something else")


def _shown(data: bytes) -> str:
    """The first bytes, escaped so that every byte can be told."""
    return repr(data[:200])[2:-1]
