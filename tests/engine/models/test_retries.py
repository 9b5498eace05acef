"""When a failed call is tried again, and what is shown meanwhile (case 62)."""

from __future__ import annotations

import msgspec
import pytest

from engine.issues import Code
from engine.models.model_call import ModelFailure
from engine.models.retries import FIRST_PAUSE_SEC, LONGEST_PAUSE_SEC, SPREAD_SEC, Pacing, pause_before, retry_words

LIMITED = ModelFailure(code=Code.MODEL_RATE_LIMITED, words="slow", status=429, retryable=True)


def pacing(chance: float = 1.0, tries: int = 6, sec: float = 900.0) -> Pacing:
    return Pacing(clock=lambda: 0.0, chance=lambda: chance, most_tries=tries, most_sec=sec)


def asked(seconds: float) -> ModelFailure:
    return msgspec.structs.replace(LIMITED, retry_after_sec=seconds)


def test_pauses_double_up_to_a_bound_and_are_anything_below_it() -> None:
    most = [pause_before(tries, LIMITED, 0, pacing(tries=10)) for tries in range(1, 8)]
    assert most == [FIRST_PAUSE_SEC * factor for factor in (1, 2, 4, 8, 16)] + [LONGEST_PAUSE_SEC] * 2
    assert [pause_before(tries, LIMITED, 0, pacing(0.0)) for tries in (1, 5)] == [0, 0]
    assert pause_before(3, LIMITED, 0, pacing(0.25)) == FIRST_PAUSE_SEC


def test_the_number_of_tries_is_bounded() -> None:
    assert pause_before(5, LIMITED, 0, pacing()) is not None
    assert pause_before(6, LIMITED, 0, pacing()) is None


def test_the_whole_time_is_bounded() -> None:
    assert pause_before(1, LIMITED, 898, pacing()) == 2
    assert pause_before(1, LIMITED, 899, pacing()) is None


def test_what_the_server_asks_for_is_the_least_and_spread_a_little() -> None:
    assert pause_before(1, asked(30), 0, pacing(0.0)) == 30
    assert pause_before(4, asked(30), 0, pacing(1.0)) == 30 + SPREAD_SEC
    assert pause_before(1, asked(0), 0, pacing(0.5)) == 1


def test_a_wait_beyond_the_bound_is_not_begun() -> None:
    assert pause_before(1, asked(3600), 0, pacing()) is None
    assert pause_before(1, asked(100), 850, pacing(0.0)) is None


@pytest.mark.parametrize(
    "code",
    [
        Code.MODEL_AUTH_FAILED,
        Code.MODEL_REFUSED,
        Code.MODEL_FILTERED,
        Code.MODEL_CONTEXT_FULL,
        Code.MODEL_CALL_MALFORMED,
    ],
)
def test_what_no_other_try_mends_is_not_tried_again(code: Code) -> None:
    """Case 64."""
    assert pause_before(1, ModelFailure(code=code, words="no", status=400), 0, pacing()) is None


def test_a_try_is_shown_with_its_reason_its_number_and_its_wait() -> None:
    assert retry_words(LIMITED, 2, 3.2, pacing()) == "model: 429, try 2 of 6 in 3 s"
    gone = ModelFailure(code=Code.MODEL_UNREACHABLE, words="reset", retryable=True)
    assert retry_words(gone, 3, 0.1, pacing()) == "model: not reached, try 3 of 6 in 1 s"
    hidden = ModelFailure(code=Code.MODEL_OVERLOADED, words="x", status=200, retryable=True)
    assert retry_words(hidden, 3, 4, pacing()) == "model: overloaded, try 3 of 6 in 4 s"
    empty = ModelFailure(code=Code.MODEL_FAILED, words="empty", status=200, retryable=True)
    assert retry_words(empty, 2, 4, pacing()) == "model: no good answer, try 2 of 6 in 4 s"
