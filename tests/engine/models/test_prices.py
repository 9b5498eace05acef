"""What a call costs, or that nobody knows (cases 67 and 68)."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

from engine import user_places
from engine.models.model_call import Usage
from engine.models.prices import Price, check_prices, cost_of, price_of, prices_dated, read_prices
from engine.models.settings import ModelInvalid, Wire
from engine.models.usage_of import usage_of

INCLUSIVE = Usage(tokens_in=1270492, tokens_cached=1202176, tokens_out=8679)
SMALL = Usage(tokens_in=1000, tokens_cached=0, tokens_out=100)


def own_prices(text: str) -> None:
    place = user_places.prices_file()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def test_cached_tokens_are_billed_once_and_at_their_own_price() -> None:
    """Case 67: 0.3225, not 1.8252."""
    cost = cost_of("gpt-5", INCLUSIVE)
    assert cost == pytest.approx((68316 * 1.25 + 1202176 * 0.125 + 8679 * 10) / 1e6)
    assert round(cost or 0, 4) == 0.3225


def test_exclusive_counts_cost_all_that_was_read() -> None:
    """Case 67."""
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 12000,
        "cache_creation_input_tokens": 1500,
        "output_tokens": 900,
    }
    cost = cost_of("claude-sonnet-4-5-20250929", usage_of(Wire.ANTHROPIC, usage))
    assert cost == pytest.approx((3 * 3 + 12000 * 0.3 + 1500 * 3.75 + 900 * 15) / 1e6)


def test_tokens_cached_for_an_hour_have_a_price_of_their_own() -> None:
    usage = Usage(tokens_in=1000, tokens_cached=0, tokens_cache_written=1000, tokens_cache_written_1h=400, tokens_out=0)
    assert cost_of("claude-opus-4-5", usage) == pytest.approx((600 * 6.25 + 400 * 10) / 1e6)


@pytest.mark.parametrize(
    ("model", "usage"),
    [
        ("no-such-model", SMALL),
        ("", SMALL),
        ("gpt-5-unheard-of", SMALL),
        ("gpt-5", Usage()),
        ("gpt-5", Usage(tokens_in=5)),
        ("gpt-5", Usage(tokens_out=5)),
        ("gpt-5", Usage(tokens_in=5, tokens_out=5)),
        ("gpt-5", msgspec.structs.replace(SMALL, odd="something is wrong")),
        ("gpt-5", Usage(tokens_in=5, tokens_cached=6, tokens_out=5)),
        ("claude-sonnet-4-5", Usage(tokens_in=200_001, tokens_cached=0, tokens_out=5)),
    ],
)
def test_a_cost_that_nobody_knows_is_none_and_never_zero(model: str, usage: Usage) -> None:
    """Case 68: no such model, a count that is missing, cached tokens that nobody told of, counts that can't be right,
    a prompt that costs more than the price says."""
    assert cost_of(model, usage) is None


def test_nothing_used_of_a_known_model_is_a_real_zero() -> None:
    """Case 68."""
    assert cost_of("gpt-5", Usage(tokens_in=0, tokens_cached=0, tokens_out=0)) == 0


def test_where_cached_tokens_cost_the_same_nobody_needs_to_know_them() -> None:
    own_prices('dated = "2026-10-01"\n[models."mine"]\ninput = 2\noutput = 4\n')
    assert cost_of("mine", Usage(tokens_in=1000, tokens_out=100)) == pytest.approx((1000 * 2 + 100 * 4) / 1e6)


@pytest.mark.parametrize("name", ["gpt-5", "openai/gpt-5", "gpt-5-2025-08-07", "openai/gpt-5-2025-08-07"])
def test_a_model_is_found_under_its_makers_and_its_snapshots_names(name: str) -> None:
    price = price_of(name)
    assert price is not None and (price.input, price.cached, price.output) == (1.25, 0.125, 10)


def test_a_snapshot_with_a_price_of_its_own_keeps_it() -> None:
    old, new = price_of("gpt-4o-2024-05-13"), price_of("gpt-4o-2024-08-06")
    assert old is not None and new is not None and (old.input, new.input) == (5, 2.5)


def test_own_prices_win_and_show_their_date() -> None:
    own_prices('dated = "2026-10-01"\n[models."gpt-5"]\ninput = 1\noutput = 1\n')
    assert cost_of("gpt-5", SMALL) == pytest.approx(1100 / 1e6)
    assert price_of("gpt-5-mini") is not None
    assert prices_dated().endswith(", and your own of 2026-10-01")


def test_without_own_prices_the_date_is_that_of_ours() -> None:
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", prices_dated())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "expected `dated"),
        ('[models."m"]\ninput = 1\noutput = 1\n', "`dated`"),
        ('dated = "soon"\n', 'dated is "soon"'),
        ('dated = "2026-10-01"\n[models."m"]\ninput = 1\n', 'models."m": Object missing required field `output`'),
        (
            'dated = "2026-10-01"\n[models."m"]\ninput = "1"\noutput = 1\n',
            'models."m": Expected `float`, got `str` - at `$.input`',
        ),
        ('dated = "2026-10-01"\n[models."m"]\ninput = 1\noutput = 1\nchached = 1\n', "chached"),
        ('dated = "2026-10-01"\n[models."m"]\ninput = -1\noutput = 1\n', 'models."m".input is -1'),
        ('dated = "2026-10-01"\n[models."m"]\ninput = nan\noutput = 1\n', 'models."m".input is nan'),
        ('dated = "2026-10-01"\n[models."m"]\ninput = 1\noutput = 1\nup_to = 0\n', 'models."m".up_to is 0'),
    ],
)
def test_a_price_file_that_is_wrong_names_itself_and_the_key(text: str, words: str) -> None:
    own_prices(text)
    with pytest.raises(ModelInvalid) as raised:
        check_prices()
    assert str(user_places.prices_file()) in str(raised.value)
    assert words in str(raised.value)


def test_the_table_that_is_shipped_is_in_order() -> None:
    table = read_prices(files("engine.models").joinpath("prices.toml").read_bytes(), "prices.toml")
    assert table.source
    for name, price in table.models.items():
        assert 0 < price.input < price.output, name
        assert price.cached is None or price.cached < price.input, name
        assert price.cache_write is None or price.input < price.cache_write < (price.cache_write_1h or 0), name


def test_the_example_in_the_documentation_can_be_used() -> None:
    text = (Path(__file__).parents[3] / "docs" / "models.md").read_text()
    example = text.partition("```toml\n")[2].partition("```")[0]
    table = read_prices(example.encode(), "docs/models.md")
    assert table.models["my-model"] == Price(
        input=0.6, cached=0.06, cache_write=0.75, cache_write_1h=1.2, output=2.4, up_to=200_000
    )
