"""Secrets in output, however the output is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.hidden_values import HiddenValues, HidingSink, HidingStream

KEY = "sk-ant-0123456789"


def hidden(*values: str) -> HiddenValues:
    found = HiddenValues()
    for value in values:
        found.add(value)
    return found


def passed_on(values: HiddenValues, data: bytes, cuts: list[int]) -> bytes:
    stream = HidingStream(values)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    shown = b"".join(stream.pass_on(data[a:b]) for a, b in pairwise(places))
    return shown + stream.end()


@given(st.lists(st.integers(0, 80), max_size=30))
def test_a_secret_is_hidden_however_the_output_is_cut(cuts: list[int]) -> None:
    said = f"env: KEY={KEY}\nsk-ant-0 is none, {KEY}{KEY} are two\n".encode()
    assert passed_on(hidden(KEY), said, cuts) == b"env: KEY=***\nsk-ant-0 is none, ****** are two\n"


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=10))
def test_nothing_else_is_changed(data: bytes, cuts: list[int]) -> None:
    assert passed_on(hidden("no-such-text-in-there"), data, cuts) == data


def test_the_longer_of_two_secrets_is_hidden_whole() -> None:
    assert passed_on(hidden("secret", "secret-and-more"), b"secret-and-more secret", [3, 8]) == b"*** ***"


@given(st.lists(st.integers(0, 40), max_size=8))
def test_secrets_that_overlap_are_told_apart_from_the_left(cuts: list[int]) -> None:
    values = hidden("abcdefg", "fghijkl", "secret", "secret-and-more")
    said = b"abcdefghijkl secret-and-mor secret-and-more"
    assert passed_on(values, said, cuts) == b"***hijkl ***-and-mor ***"


def test_a_flag_is_no_secret() -> None:
    assert passed_on(hidden("1", "true", ""), b"1 true", []) == b"1 true"


def test_a_secret_told_in_between_is_hidden_from_then_on() -> None:
    values = hidden()
    stream = HidingStream(values)
    assert stream.pass_on(KEY.encode()) == KEY.encode()
    values.add(KEY)
    assert stream.pass_on(KEY.encode()) + stream.end() == b"***"


def test_of_the_hosts_variables_those_are_secrets_that_are_called_so() -> None:
    variables = {"OPENAI_API_KEY": KEY, "DB_PASSWD": "hunter22", "LANG": "C.UTF-8", "REGISTRY": "docker.example"}
    said = f"{KEY} hunter22 C.UTF-8 docker.example".encode()
    assert passed_on(HiddenValues.of(variables), said, []) == b"*** *** C.UTF-8 docker.example"


def test_a_number_of_tokens_and_an_author_are_no_secrets() -> None:
    variables = {
        "MAX_TOKENS": "128000",
        "GIT_AUTHOR": "somebody",
        "API_TOKENS": "t0ken-one",
        "AUTHORIZATION": "Basic!",
    }
    said = b"128000 somebody t0ken-one Basic!"
    assert passed_on(HiddenValues.of(variables), said, []) == b"128000 somebody *** ***"


def test_what_waited_is_written_also_where_the_command_is_cut_off() -> None:
    written: list[bytes] = []
    with pytest.raises(TimeoutError), HidingSink(lambda _, data: written.append(data), hidden(KEY)) as sink:
        sink("stdout", b"as far as " + KEY[:3].encode())
        raise TimeoutError
    assert b"".join(written) == b"as far as " + KEY[:3].encode()


def test_both_streams_of_a_command_are_hidden_each_by_itself() -> None:
    written: list[tuple[str, bytes]] = []
    sink = HidingSink(lambda stream, data: written.append((stream, data)), hidden(KEY))
    half = len(KEY) // 2
    for stream, data in (("stdout", KEY[:half]), ("stderr", f"x{KEY}"), ("stdout", KEY[half:]), ("stderr", KEY[:3])):
        sink(stream, data.encode())
    sink.end()
    text = {name: b"".join(data for stream, data in written if stream == name) for name in ("stdout", "stderr")}
    assert text == {"stdout": b"***", "stderr": b"x***" + KEY[:3].encode()}
