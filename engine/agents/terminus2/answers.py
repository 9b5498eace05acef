"""What the model answers in a turn, whatever it is written in, and what is told back to it where that can't be read."""

from __future__ import annotations

import math

import msgspec

DEFAULT_SEC = 1.0
LONGEST_SEC = 60.0
MOST_ANSWER = 2_000_000
"""Characters of an answer that are looked at."""
MOST_COMMANDS = 100
MOST_KEYS = 500_000
MOST_WARNINGS = 10


class Keys(msgspec.Struct, frozen=True):
    """Keys to send, and how long to wait for what they do."""

    keys: str
    seconds: float = DEFAULT_SEC


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """`warnings` are told back to the model."""

    analysis: str = ""
    plan: str = ""
    commands: tuple[Keys, ...] = ()
    task_complete: bool = False
    warnings: tuple[str, ...] = ()


class Unreadable(Exception):
    """No answer can be made of it and nothing of it is done; the message is for the model."""


def answer_in(text: str) -> str:
    """What some models write of their thinking before an answer is none of it. Raises Unreadable."""
    end = text.rfind("</think>")
    answer = text[end + len("</think>") :] if end >= 0 else text
    if not answer.strip():
        raise Unreadable("the answer is empty")
    if len(answer) > MOST_ANSWER:
        raise Unreadable(f"the answer has {len(answer):,} characters; at most {MOST_ANSWER:,} are read")
    return answer


def seconds_of(value: object, what: str, warnings: list[str]) -> float:
    """How long to wait, whatever it was written as."""
    if isinstance(value, str):
        try:
            value = float(value.strip().removesuffix("s"))
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(_float(value)):
        warnings.append(f"{what}: duration is no number of seconds, {DEFAULT_SEC:g} is taken")
        return DEFAULT_SEC
    if value < 0:
        warnings.append(f"{what}: duration is below 0, 0 is taken")
        return 0.0
    if value > LONGEST_SEC:
        warnings.append(f"{what}: duration is above {LONGEST_SEC:g}, {LONGEST_SEC:g} is taken; wait again if need be")
        return LONGEST_SEC
    return float(value)


def checked(commands: list[Keys], warnings: list[str]) -> tuple[Keys, ...]:
    """Raises Unreadable for more than can be meant."""
    if len(commands) > MOST_COMMANDS:
        raise Unreadable(f"there are {len(commands)} commands; at most {MOST_COMMANDS} are taken in one answer")
    for number, command in enumerate(commands, 1):
        if len(command.keys) > MOST_KEYS:
            raise Unreadable(
                f"command {number} has {len(command.keys):,} characters; at most {MOST_KEYS:,} are taken at once"
            )
    for number, command in enumerate(commands[:-1], 1):
        plain = len(command.keys) > 3 and command.keys.isprintable() and " " in command.keys
        if plain and commands[number].keys[:1] not in ("", "\n", "\r") and commands[number].keys != "Enter":
            warnings.append(
                f"command {number} doesn't end with a newline, so the keys of command {number + 1} continue its line"
            )
    return tuple(commands)


def bounded(warnings: list[str]) -> tuple[str, ...]:
    if len(warnings) <= MOST_WARNINGS:
        return tuple(warnings)
    return (*warnings[:MOST_WARNINGS], f"and {len(warnings) - MOST_WARNINGS} more")


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
