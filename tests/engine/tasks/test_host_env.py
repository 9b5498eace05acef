"""Variables of the host that a task asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.tasks.folder import read_task
from engine.tasks.host_env import HostVariable, asked_by, env_tables, missing_for, requests_inside_text, resolve_env
from tests.engine.tasks.task_folders import UNTIMED, make_task

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUES = st.text(st.characters(codec="utf-8"))


@UNTIMED
@given(VALUES)
def test_a_value_that_asks_for_nothing_arrives_as_written(value: str) -> None:
    assume(not (value.startswith("${") and value.endswith("}")))
    resolved = resolve_env({"A": value}, {"HOME": "x"})
    assert (resolved.env, resolved.asked, resolved.missing) == ({"A": value}, (), ())


@pytest.mark.parametrize(
    "value",
    [
        "$HOME", "$$", "$${HOME}", "\\${HOME}", "'${HOME}'", "a ${HOME} b", "${HOME}\n", " ${HOME}", "${}", "${", "$",
        "${not a name}", "${1X}", "${A.B}", "${A-B}", "${A:}", "${A:=x}", "${A:?x}", "${A:+x}", "${ÄÖ}",
        "`id`", "\\n", "\t\"",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_request_arrives_as_written(value: str) -> None:
    resolved = resolve_env({"X": value}, {"HOME": "x", "A": "x"})
    assert (resolved.env, resolved.asked) == ({"X": value}, ())


@UNTIMED
@given(NAMES, VALUES, st.none() | VALUES)
def test_an_allowed_variable_arrives_as_the_host_has_it(name: str, value: str, default: str | None) -> None:
    request = f"${{{name}}}" if default is None else f"${{{name}:-{default}}}"
    assert resolve_env({"X": request}, {name: value}).env == {"X": value}


@UNTIMED
@given(NAMES, VALUES)
def test_a_name_that_is_not_allowed_gets_its_default_as_written(name: str, default: str) -> None:
    resolved = resolve_env({"X": f"${{{name}:-{default}}}"}, {"_other": "x"} if name != "_other" else {})
    assert resolved.env == {"X": default}
    assert resolved.asked == (HostVariable(key="env.X", name=name, default=default),)
    assert resolved.missing == ()


def test_a_variable_without_a_value_or_a_default_is_missing_with_its_key() -> None:
    resolved = resolve_env({"A": "${TOKEN}", "B": "${TOKEN}", "C": "c", "odd key": "${X}"}, {}, "environment.env")
    assert resolved.env == {"C": "c"}
    assert [(one.key, one.name) for one in resolved.missing] == [
        ("environment.env.A", "TOKEN"),
        ("environment.env.B", "TOKEN"),
        ('environment.env."odd key"', "X"),
    ]


def test_an_allowed_but_empty_variable_is_a_value() -> None:
    assert resolve_env({"A": "${T}", "B": "${T:-d}"}, {"T": ""}).env == {"A": "", "B": ""}


def test_nothing_is_expanded_twice() -> None:
    assert resolve_env({"A": "${T}", "B": "${U:-${T}}"}, {"T": "${T}"}).env == {"A": "${T}", "B": "${T}"}


def test_every_table_of_a_task_may_ask(tmp_path: Path) -> None:
    toml = """
        [environment.env]
        A = "${A}"
        [verifier.env]
        B = "${B:-b}"
        [verifier.environment.env]
        C = "${C}"
        [solution.env]
        D = "${D}"
        [[steps]]
        name = "one"
        [steps.verifier.env]
        E = "${E}"
        [steps.verifier.environment.env]
        F = "${F}"
        [[steps]]
        name = "two 2"
    """
    files: dict[str, str | bytes | None] = {"steps/one/instruction.md": "1", "steps/two 2/instruction.md": "2"}
    task = read_task(make_task(tmp_path / "hello", toml, files))
    assert [(asked.key, asked.name, asked.default) for asked in asked_by(task)] == [
        ("environment.env.A", "A", None),
        ("verifier.env.B", "B", "b"),
        ("verifier.environment.env.C", "C", None),
        ("solution.env.D", "D", None),
        ("steps.one.verifier.env.E", "E", None),
        ("steps.one.verifier.environment.env.F", "F", None),
    ]
    assert [missing.name for missing in missing_for(task, {"C": "x", "E": ""})] == ["A", "D", "F"]
    assert missing_for(task, dict.fromkeys("ACDEF", "x")) == ()
    assert env_tables(task)['steps."two 2".verifier.env'] == {}


def test_a_request_inside_a_longer_value_is_found_to_be_told(tmp_path: Path) -> None:
    toml = '[environment.env]\nURL = "http://${HOST:-x}/"\nWHOLE = "${HOST}"\nPLAIN = "$HOST"\n'
    task = read_task(make_task(tmp_path / "hello", toml))
    assert list(requests_inside_text(task)) == [("environment.env.URL", "HOST")]
