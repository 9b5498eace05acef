"""What one cell of a CSV file says: a verdict, an amount, a number. What can be read in two ways is refused."""

from __future__ import annotations

import math
import re

_PASSED = frozenset({"1", "1.0", "true", "yes"})
_FAILED = frozenset({"0", "0.0", "false", "no"})
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_COMMAS = re.compile(r"[0-9]+(,[0-9]+)+(\.[0-9]+)?|[0-9.]+,[0-9]+")


class CellInvalid(ValueError):
    """The message names the cell's text and what was expected."""


def verdict(column: str, text: str) -> bool | None:
    """1, true, yes or 0, false, no; None for an empty cell. Raises CellInvalid."""
    plain = text.strip().lower()
    if not plain:
        return None
    if plain in _PASSED or plain in _FAILED:
        return plain in _PASSED
    raise CellInvalid(f"{column} {text.strip()!r} is neither 0 nor 1, true nor false, yes nor no (empty: no verdict)")


def amount(column: str, text: str) -> float | None:
    """Dollars from 0, with a decimal point; None for an empty cell. Raises CellInvalid."""
    return _from_zero(column, text, text.strip().removeprefix("$"), "amount of money")


def quantity(column: str, text: str) -> float | None:
    """A number from 0, with a decimal point; None for an empty cell. Raises CellInvalid."""
    return _from_zero(column, text, text.strip(), "number from 0")


def _from_zero(column: str, text: str, plain: str, expected: str) -> float | None:
    """`plain` is what of the cell's text is the number."""
    if not plain:
        return None
    if _COMMAS.fullmatch(plain):
        raise CellInvalid(f"{column} {text.strip()!r} has a comma, decimal or of thousands; write it as 1234.5")
    value = float(plain) if _NUMBER.fullmatch(plain) else math.nan
    if not math.isfinite(value) or value < 0:
        raise CellInvalid(f"{column} {text.strip()!r} is no {expected} (empty: unknown)")
    return value


def attempt_number(text: str) -> int:
    """From 1; an empty cell is the first. Raises CellInvalid."""
    plain = text.strip()
    if not plain:
        return 1
    if plain.isascii() and plain.isdigit() and len(plain) < 9 and int(plain) >= 1:
        return int(plain)
    raise CellInvalid(f"attempt {plain!r} is no whole number from 1")


def flag(column: str, text: str) -> bool:
    """An empty cell is no. Raises CellInvalid."""
    plain = text.strip().lower()
    if plain in _PASSED:
        return True
    if not plain or plain in _FAILED:
        return False
    raise CellInvalid(f"{column} {text.strip()!r} is neither 0 nor 1, yes nor no")
