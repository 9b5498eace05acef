"""Keys never reach a message, however they come into a text."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest

from engine.issues import Code
from engine.models.model_call import ModelFailure
from engine.models.scrubbed import scrubbed, scrubbed_failure, secrets_of
from engine.models.settings import ModelSettings, Secret, Wire

KEY = 'my"company/key+0123456789abcdefghij=='
SECRETS = (Secret(KEY),)


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        json.dumps(KEY),
        urllib.parse.quote(KEY, safe=""),
        base64.b64encode(KEY.encode()).decode(),
        KEY[:20] + "…",
        "…" + KEY[-15:],
    ],
)
def test_a_key_is_taken_out_whole_and_in_pieces(written: str) -> None:
    found = scrubbed(f"the server said: {written} is no key", SECRETS)
    assert "***" in found and found.startswith("the server said: ") and found.endswith(" is no key")
    assert not any(KEY[at : at + 12] in found for at in range(len(KEY) - 11))


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-ab***1234",
        "Authorization: Bearer abcdefghijklmnop",
        "key sk-proj-AAAA1111BBBB2222 is not valid",
        "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
        "AIzaSyA1234567890abcdefghijklmnopqrs",
    ],
)
def test_what_looks_like_a_key_is_taken_out_whosever_it_is(text: str) -> None:
    found = scrubbed(text, ())
    assert "***" in found
    assert not any(part in found for part in ("1234", "abcdefgh", "eyJ", "AIza"))


@pytest.mark.parametrize(
    "text", ["Bearer token expected", "task-completed", "risk-free", "pk-and-more", "sk-learn-api"]
)
def test_words_stay(text: str) -> None:
    assert scrubbed(text, SECRETS) == text


def test_a_value_too_short_to_be_a_secret_does_not_spoil_words() -> None:
    assert scrubbed("a red rose", [Secret("red"), Secret("")]) == "a red rose"


def test_a_failures_words_are_scrubbed_of_the_key_and_of_headers() -> None:
    settings = ModelSettings(
        name="m", wire=Wire.ANTHROPIC, base_url="http://h", key=Secret(KEY), headers={"X-Team": Secret("team-password")}
    )
    failure = ModelFailure(code=Code.MODEL_FAILED, words=f"{KEY} and team-password", status=500)
    assert scrubbed_failure(failure, secrets_of(settings)).words == "*** and ***"
