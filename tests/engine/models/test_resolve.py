"""From an arm to a model that can be called: what is missing is named, with the way out, and no key is shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine import user_places
from engine.events import ArmInfo, Endpoint
from engine.models.resolve import NO_KEY, settings_of
from engine.models.settings import ModelInvalid, Wire

KEY = "sk-secret-0123456789"
ENVIRON = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": "sk-ant-0123456789", "TEAM": "red"}
ALL = tuple(Wire)


def arm(endpoint: Endpoint | None = None, *, model: str = "m", protocol: str = "", effort: str = "") -> ArmInfo:
    return ArmInfo(
        name="a", agent="terminus2", model=model, protocol=protocol, effort=effort, endpoint=endpoint or Endpoint()
    )


def key_file(folder: Path, text: str, mode: int = 0o600) -> str:
    path = folder / "key"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def refused(found: ArmInfo, environ: dict[str, str] | None = None, wires: tuple[Wire, ...] = ALL) -> str:
    with pytest.raises(ModelInvalid) as raised:
        settings_of(found, wires, ENVIRON if environ is None else environ)
    words = str(raised.value)
    assert words.startswith("arm a: ")
    assert "0123456789" not in words
    return words


@pytest.mark.parametrize(
    ("wire", "address", "key"),
    [
        (Wire.OPENAI_CHAT, "https://api.openai.com/v1", KEY),
        (Wire.OPENAI_RESPONSES, "https://api.openai.com/v1", KEY),
        (Wire.ANTHROPIC, "https://api.anthropic.com", "sk-ant-0123456789"),
    ],
)
def test_a_model_alone_means_its_provider_and_its_usual_key(wire: Wire, address: str, key: str) -> None:
    settings = settings_of(arm(protocol=wire), ALL, ENVIRON)
    assert (settings.wire, settings.base_url, settings.key.reveal()) == (wire, address, key)
    assert settings_of(arm(), (wire,), ENVIRON).wire == wire


def test_what_the_arm_says_of_its_model_is_kept() -> None:
    found = ArmInfo(
        name="a",
        agent="terminus2",
        model="m",
        effort="high",
        temperature=0.5,
        context_tokens=1000,
        max_output_tokens=100,
        endpoint=Endpoint(headers={"X-Team": "${TEAM}-${TEAM}", "X-Plain": "yes"}),
    )
    settings = settings_of(found, ALL, ENVIRON)
    assert (settings.effort, settings.temperature, settings.context_tokens, settings.max_output_tokens) == (
        "high",
        0.5,
        1000,
        100,
    )
    assert {name: value.reveal() for name, value in settings.headers.items()} == {"X-Team": "red-red", "X-Plain": "yes"}


def test_no_model_and_a_protocol_that_the_agent_does_not_speak_are_refused() -> None:
    assert "model is missing" in refused(arm(model=""))
    words = refused(arm(protocol="anthropic"), wires=(Wire.OPENAI_CHAT,))
    assert 'protocol is "anthropic", but terminus2 speaks openai-chat' in words
    assert "terminus2 calls no model" in refused(arm(), wires=())


def test_a_variable_that_is_not_set_is_named_and_so_is_the_way_out() -> None:
    words = refused(arm(), {})
    assert "OPENAI_API_KEY is not set" in words and "key_file=PATH" in words and "base_url=" in words
    assert "OPENAI_API_KEY is empty" in refused(arm(), {"OPENAI_API_KEY": " "})
    words = refused(arm(Endpoint(key_env="MY_KEY")))
    assert "key_env: MY_KEY is not set; set MY_KEY where trialdeck is started" in words


def test_a_server_of_ones_own_needs_no_key_unless_one_is_named() -> None:
    own = Endpoint(base_url="http://127.0.0.1:8000/v1")
    assert settings_of(arm(own), ALL, {}).key.reveal() == NO_KEY
    assert settings_of(arm(own), ALL, ENVIRON).key.reveal() == KEY
    assert "MY_KEY is not set" in refused(arm(Endpoint(base_url="http://h", key_env="MY_KEY")))


def test_an_anthropic_address_told_with_its_version_is_the_same_address() -> None:
    found = arm(Endpoint(base_url="http://h:1/v1/"), protocol="anthropic")
    assert settings_of(found, ALL, ENVIRON).base_url == "http://h:1"
    assert settings_of(arm(Endpoint(base_url="http://h:1/v1/")), ALL, ENVIRON).base_url == "http://h:1/v1"


def test_a_key_comes_from_a_file(tmp_path: Path) -> None:
    endpoint = Endpoint(key_file=key_file(tmp_path, f"{KEY}\n"))
    assert settings_of(arm(endpoint), ALL, {}).key.reveal() == KEY


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    for mode in (0o640, 0o604, 0o644):
        words = refused(arm(Endpoint(key_file=key_file(tmp_path, KEY, mode))))
        assert "others can read it" in words and "chmod 600" in words and f"{mode:04o}" in words


def test_a_key_file_that_holds_no_key_is_refused(tmp_path: Path) -> None:
    assert "is not there" in refused(arm(Endpoint(key_file=str(tmp_path / "none"))))
    assert "is empty" in refused(arm(Endpoint(key_file=key_file(tmp_path, " \n"))))
    assert "has several lines" in refused(arm(Endpoint(key_file=key_file(tmp_path, f"{KEY}\n{KEY}\n"))))
    assert "no key has" in refused(arm(Endpoint(key_file=key_file(tmp_path, f"OPENAI_API_KEY = {KEY}"))))
    assert "larger than" in refused(arm(Endpoint(key_file=key_file(tmp_path, "x" * 70_000))))
    assert "key_file" in refused(arm(Endpoint(key_file=str(tmp_path))))


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    assert "is no file" in refused(arm(Endpoint(key_file=str(pipe))))


def test_a_key_that_no_header_can_carry_is_refused() -> None:
    assert "several lines" in refused(arm(), {"OPENAI_API_KEY": "sk-0123456789\nsk-0123456789"})
    assert "no key has" in refused(arm(), {"OPENAI_API_KEY": "sk-0123456789ü"})


def test_a_headers_variable_that_is_missing_or_breaks_a_header_is_refused() -> None:
    words = refused(arm(Endpoint(headers={"X-Key": "${NONE}"})))
    assert "headers: X-Key is filled from NONE, which is not set" in words
    broken = refused(arm(Endpoint(headers={"X-Key": "${BAD}"})), ENVIRON | {"BAD": "0123456789\r\nX-Other: 1"})
    assert "headers: X-Key has characters that no header can have" in broken


def test_own_prices_that_cannot_be_read_are_refused_before_anything_starts() -> None:
    place = user_places.prices_file()
    place.parent.mkdir(parents=True)
    place.write_text("dated = 1")
    with pytest.raises(ModelInvalid, match=r"prices\.toml"):
        settings_of(arm(), ALL, ENVIRON)


def test_settings_never_show_their_keys() -> None:
    settings = settings_of(arm(Endpoint(headers={"X-Team": "${TEAM}"})), ALL, ENVIRON)
    assert KEY not in repr(settings) and "red" not in repr(settings)
