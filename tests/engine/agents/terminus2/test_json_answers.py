"""Answers in JSON as models really write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.agents.terminus2.answers import LONGEST_SEC, MOST_ANSWER, MOST_COMMANDS, MOST_KEYS, Answer, Keys, Unreadable
from engine.agents.terminus2.json_answers import read_json_answer

GOOD = {
    "analysis": "A prompt.",
    "plan": "List.",
    "commands": [{"keystrokes": "ls -la\n", "duration": 0.5}],
    "task_complete": False,
}
READ = Answer(analysis="A prompt.", plan="List.", commands=(Keys("ls -la\n", 0.5),))


def read(text: str) -> Answer:
    return read_json_answer(text)


def why(text: str) -> str:
    with pytest.raises(Unreadable) as caught:
        read_json_answer(text)
    return str(caught.value)


def without_warnings(answer: Answer) -> Answer:
    return Answer(
        analysis=answer.analysis, plan=answer.plan, commands=answer.commands, task_complete=answer.task_complete
    )


def test_a_good_answer_is_read_without_a_warning() -> None:
    assert read(json.dumps(GOOD)) == READ
    assert read(json.dumps(GOOD, indent=2)) == READ
    assert read(f"```json\n{json.dumps(GOOD)}\n```") == READ
    assert read(f"  \n```\n{json.dumps(GOOD)}\n```\n") == READ


def test_thoughts_in_front_are_no_part_of_the_answer() -> None:
    assert read('<think>Perhaps {"commands": []}?</think>\n' + json.dumps(GOOD)) == READ


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("Sure, here it is:\n" + json.dumps(GOOD), "text before"),
        (json.dumps(GOOD) + "\nI hope this helps {or not}.", "text after"),
        (json.dumps(GOOD) + "\n" + json.dumps({**GOOD, "commands": []}), "another JSON object"),
        (
            '{"analysis": "A prompt.", "plan": "List.", "commands": [{"keystrokes": "ls -la\\n", "duration": 0.5,},],}',
            "",
        ),
        (json.dumps(GOOD)[:-1], ""),
        (json.dumps(GOOD).replace("false", "False"), ""),
        (json.dumps({**GOOD, "mood": "good"}), "unknown fields are left out: mood"),
        (
            json.dumps({"is_task_complete": False, **{k: v for k, v in GOOD.items() if k != "task_complete"}}),
            "is called",
        ),
    ],
)
def test_what_is_wrong_around_it_is_mended_and_said(text: str, warning: str) -> None:
    answer = read(text)
    assert without_warnings(answer) == READ
    (said,) = answer.warnings
    assert (warning or "no valid JSON") in said


def test_backslashes_that_json_does_not_know_stand_for_themselves() -> None:
    answer = read(r'{"analysis": "", "plan": "", "commands": [{"keystrokes": "grep -E \d+\$ a\n", "duration": 1}]}')
    assert answer.commands[0].keys == "grep -E \\d+\\$ a\n"
    assert "no valid JSON" in answer.warnings[0]


def test_raw_newlines_in_strings_are_taken() -> None:
    answer = read('{"analysis": "two\nlines", "plan": "", "commands": [{"keystrokes": "ls\n", "duration": 1}]}')
    assert answer == Answer(analysis="two\nlines", commands=(Keys("ls\n", 1.0),))


def test_a_trailing_comma_within_keystrokes_stays() -> None:
    answer = read('{"analysis": "", "plan": "", "commands": [{"keystrokes": "echo [1,] {2,}\\n", "duration": 1},]}')
    assert answer.commands == (Keys("echo [1,] {2,}\n", 1.0),)


def test_an_answer_that_breaks_off_within_a_string_is_never_done() -> None:
    whole = json.dumps({**GOOD, "commands": [{"keystrokes": "rm -rf /tmp/x\n", "duration": 1}]})
    for cut in range(whole.index("rm -rf"), whole.index("/tmp/x") + 6):
        assert "no valid JSON" in why(whole[:cut])


def test_a_cut_off_answer_counts_only_if_its_object_is_complete() -> None:
    assert without_warnings(read_json_answer(json.dumps(GOOD) + "\nand then", whole=True)) == READ
    with pytest.raises(Unreadable):
        read_json_answer(json.dumps(GOOD)[:-1], whole=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("I am done.", "no JSON object"),
        ("{}", "none of the fields"),
        ('{"a": 1}', "none of the fields"),
        ("{" * 10_000, "no valid JSON"),
        ('{"analysis": ' + "[" * 100_000, "no valid JSON"),
        ('{"commands": [{"keystrokes": "x", "duration": ' + "9" * 5000 + "}]}", "no valid JSON"),
        ("x" * (MOST_ANSWER + 1), "at most 2,000,000"),
        ('{"analysis": "a", "plan": "b"}', "commands is missing"),
        ('{"commands": 3}', "must be a list"),
        ('{"commands": [3]}', "command 1 must be an object"),
        ('{"commands": [{"keystrokes": "a"}, {"duration": 3}]}', "command 2: keystrokes must be there"),
        ('{"commands": [{"keystrokes": ["a"]}]}', "command 1: keystrokes must be there"),
        (json.dumps({"commands": [{"keystrokes": "a", "duration": 1}] * (MOST_COMMANDS + 1)}), "at most 100"),
        (json.dumps({"commands": [{"keystrokes": "a" * (MOST_KEYS + 1), "duration": 1}]}), "at most 500,000"),
    ],
)
def test_what_can_not_be_read_says_why(text: str, said: str) -> None:
    assert said in why(text)


@pytest.mark.parametrize(
    ("duration", "seconds", "warning"),
    [
        (0.1, 0.1, ""),
        (60, 60.0, ""),
        ("2.5", 2.5, ""),
        ("3s", 3.0, ""),
        (3600, LONGEST_SEC, "above 60"),
        (-1, 0.0, "below 0"),
        (None, 1.0, "no number"),
        (True, 1.0, "no number"),
        ("soon", 1.0, "no number"),
        (float("nan"), 1.0, "no number"),
        (float("inf"), 1.0, "no number"),
        (10**400, 1.0, "no number"),
    ],
)
def test_durations_are_bounded(duration: object, seconds: float, warning: str) -> None:
    answer = read(json.dumps({**GOOD, "commands": [{"keystrokes": "x", "duration": duration}]}))
    assert answer.commands == (Keys("x", seconds),)
    assert [warning in said for said in answer.warnings] == ([True] if warning else [])


def test_shorter_forms_of_commands_are_taken_with_a_warning() -> None:
    assert read(json.dumps({**GOOD, "commands": "ls\n"})).commands == (Keys("ls\n"),)
    assert read(json.dumps({**GOOD, "commands": ["ls\n", "pwd\n"]})).commands == (Keys("ls\n"), Keys("pwd\n"))
    one = read(json.dumps({**GOOD, "commands": {"keystrokes": "ls\n"}}))
    assert one.commands == (Keys("ls\n"),)
    assert one.warnings == ("commands should be a list", "command 1: duration is missing, 1 is taken")


def test_a_finished_task_needs_no_commands() -> None:
    answer = read('{"analysis": "all done", "plan": "", "task_complete": true}')
    assert answer == Answer(analysis="all done", task_complete=True)
    assert read('{"analysis": "", "plan": "", "task_complete": "True"}').task_complete
    assert not read('{"analysis": "", "plan": "", "commands": [], "task_complete": 1}').task_complete


def test_a_line_that_runs_into_the_next_command_is_told() -> None:
    answer = read(
        json.dumps(
            {
                **GOOD,
                "commands": [
                    {"keystrokes": "echo one", "duration": 1},
                    {"keystrokes": "echo two\n", "duration": 1},
                ],
            }
        )
    )
    assert "doesn't end with a newline" in answer.warnings[0]


def test_there_are_never_more_warnings_than_can_be_read() -> None:
    answer = read(json.dumps({**GOOD, "commands": [{"keystrokes": "a"}] * 50}))
    assert len(answer.warnings) == 11
    assert answer.warnings[-1] == "and 40 more"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300) | st.text(alphabet='{}[]",:\\ntrue commands', max_size=120))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        answer = read_json_answer(text)
    except Unreadable as error:
        assert str(error)
    else:
        assert all(0 <= keys.seconds <= LONGEST_SEC for keys in answer.commands)


@settings(max_examples=100, deadline=None)
@given(
    st.text(st.characters(codec="utf-8"), max_size=60),
    st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=60), st.floats(0, 60)), max_size=4),
    st.booleans(),
    st.sampled_from(["", "```json\n", "Here:\n"]),
    st.booleans(),
)
def test_what_was_meant_is_what_is_read(
    analysis: str, commands: list[tuple[str, float]], done: bool, before: str, as_ascii: bool
) -> None:
    meant = Answer(analysis=analysis, plan="p", commands=tuple(Keys(*each) for each in commands), task_complete=done)
    given_ = {
        "analysis": analysis,
        "plan": "p",
        "commands": [{"keystrokes": keys, "duration": seconds} for keys, seconds in commands],
        "task_complete": done,
    }
    assert without_warnings(read(before + json.dumps(given_, ensure_ascii=as_ascii))) == meant
