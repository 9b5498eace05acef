"""What tokens cost: a table of public list prices with a date, and the user's own above it.

A cost that can't be worked out is None, never 0: a model that stands in no table, a count that the provider doesn't
give, counts that can't be right, a prompt larger than a price is meant for.
"""

from __future__ import annotations

import math
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from engine import user_places
from engine.models.model_call import Usage
from engine.models.settings import ModelInvalid

_MILLION = 1e6
_MOST_BYTES = 1 << 20
_MAKER = re.compile(r"^(?:openai|anthropic)/")
_SNAPSHOT = re.compile(r"-(?:20\d\d-\d\d-\d\d|20\d{6})$")


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """USD per million tokens. What is left out of `cached`, `cache_write` and `cache_write_1h` costs as `input` does.

    `up_to` is the largest prompt, in tokens, that the price holds for. `note` says where it stands, or what it is for.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None
    up_to: int | None = None
    note: str = ""


class PriceTable(msgspec.Struct, frozen=True, kw_only=True):
    """`dated` is the day on which the prices were looked up, `source` where."""

    dated: str
    source: str = ""
    models: dict[str, Price] = {}


class _AsWritten(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    dated: str
    source: str = ""
    models: dict[str, dict[str, Any]] = {}


_EXPECTED = (
    'expected `dated = "YYYY-MM-DD"` and tables such as [models."my-model"] with input and output, in USD per million '
    "tokens"
)


def cost_of(model: str, usage: Usage) -> float | None:
    """USD of one call, None where it can't be known. Raises ModelInvalid for a price file of the user's."""
    price = price_of(model)
    if price is None or usage.odd or usage.tokens_in is None or usage.tokens_out is None:
        return None
    if price.up_to is not None and usage.tokens_in > price.up_to:
        return None
    cached, written, hour = usage.tokens_cached, usage.tokens_cache_written, usage.tokens_cache_written_1h or 0
    if cached is None:
        if price.cached is not None and price.cached != price.input:
            return None  # how much of the prompt was cheap isn't known
        cached = 0
    written = written or 0
    if cached + written > usage.tokens_in or hour > written:
        return None
    dollars = (
        (usage.tokens_in - cached - written) * price.input
        + cached * _or(price.cached, price.input)
        + (written - hour) * _or(price.cache_write, price.input)
        + hour * _or(price.cache_write_1h, _or(price.cache_write, price.input))
        + usage.tokens_out * price.output
    )
    return dollars / _MILLION


def price_of(model: str) -> Price | None:
    """By the whole name; then without its maker before it (`openai/`); then without the date of a snapshot behind it.
    The user's own prices come first at each."""
    plain = _MAKER.sub("", model)
    for name in dict.fromkeys((model, plain, _SNAPSHOT.sub("", plain))):
        for table in _tables():
            if (price := table.models.get(name)) is not None:
                return price
    return None


def prices_dated() -> str:
    """The date of the prices, to be shown beside costs. Raises ModelInvalid as `cost_of` does."""
    *own, shipped = _tables()
    return f"{shipped.dated}, and your own of {own[0].dated}" if own else shipped.dated


def check_prices() -> None:
    """Raises ModelInvalid for a price file of the user's that can't be used; names the file and the key."""
    _tables()


def _or(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price


def _tables() -> tuple[PriceTable, ...]:
    """The user's, where there is one, and ours."""
    return _tables_with(user_places.prices_file())


@cache
def _tables_with(own: Path) -> tuple[PriceTable, ...]:
    # Read once: a cost must not change its meaning in the middle of a run.
    shipped = read_prices(files("engine.models").joinpath("prices.toml").read_bytes(), "prices.toml")
    try:
        with own.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return (shipped,)
    except OSError as error:
        raise ModelInvalid(f"{own}: can't be read ({error.strerror}); it holds your own prices of models") from None
    if len(data) > _MOST_BYTES:
        raise ModelInvalid(f"{own}: is larger than 1 MiB, which no price table is")
    return (read_prices(data, str(own)), shipped)


def read_prices(data: bytes, name: str) -> PriceTable:
    """`name` is what an error calls the file. Raises ModelInvalid."""
    try:
        found = msgspec.toml.decode(data, type=_AsWritten)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelInvalid(f"{name}: {error}; {_EXPECTED}") from None
    prices: dict[str, Price] = {}
    for model, written in found.models.items():
        try:
            prices[model] = msgspec.convert(written, Price)
        except msgspec.ValidationError as error:
            raise ModelInvalid(f'{name}: models."{model}": {error}; {_EXPECTED}') from None
    table = PriceTable(dated=found.dated, source=found.source, models=prices)
    if not re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", table.dated):
        raise ModelInvalid(f'{name}: dated is "{table.dated[:40]}", expected a day, YYYY-MM-DD')
    for model, price in table.models.items():
        for key in ("input", "output", "cached", "cache_write", "cache_write_1h"):
            value = getattr(price, key)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ModelInvalid(f'{name}: models."{model}".{key} is {value}, expected USD per million tokens')
        if price.up_to is not None and price.up_to < 1:
            raise ModelInvalid(f'{name}: models."{model}".up_to is {price.up_to}, expected a number of tokens')
    return table
