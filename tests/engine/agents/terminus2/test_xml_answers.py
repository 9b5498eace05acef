"""Answers in XML-like text: what stands between the tags is typed as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.agents.terminus2.answers import LONGEST_SEC, Answer, Keys, Unreadable
from engine.agents.terminus2.xml_answers import read_xml_answer


def answer_with(commands: str, *, analysis: str = "A.", plan: str = "P.", complete: str = "false") -> str:
    return (
        f"<response>\n<analysis>{analysis}</analysis>\n<plan>{plan}</plan>\n<commands>\n{commands}\n</commands>\n"
        f"<task_complete>{complete}</task_complete>\n</response>"
    )


def why(text: str, *, whole: bool = False) -> str:
    with pytest.raises(Unreadable) as caught:
        read_xml_answer(text, whole=whole)
    return str(caught.value)


def test_a_good_answer_is_read_without_a_warning() -> None:
    found = read_xml_answer(
        answer_with("<keystrokes duration=\"0.5\">ls -la\n</keystrokes>\n<keystrokes duration='2'>make\n</keystrokes>")
    )
    assert found == Answer(analysis="A.", plan="P.", commands=(Keys("ls -la\n", 0.5), Keys("make\n", 2.0)))


def test_shell_text_needs_no_escapes() -> None:
    line = "cat < a > b && echo \"<analysis>\" '&amp' 2>&1 | sed 's/<b>//' # </commands> </response> <task_complete>\n"
    found = read_xml_answer(answer_with(f'<keystrokes duration="1">{line}</keystrokes>', complete="true"))
    assert found.commands == (Keys(line, 1.0),)
    assert found.task_complete
    assert found.warnings == ()


def test_entities_are_left_as_they_are_and_told() -> None:
    found = read_xml_answer(answer_with('<keystrokes duration="1">a &amp;&amp; b\n</keystrokes>'))
    assert found.commands[0].keys == "a &amp;&amp; b\n"
    assert found.warnings == ("command 1: keystrokes are taken as they are, also &amp;",)


def test_cdata_is_only_a_wrapper() -> None:
    found = read_xml_answer(answer_with('<keystrokes duration="1"><![CDATA[a && b\n]]></keystrokes>'))
    assert found == Answer(analysis="A.", plan="P.", commands=(Keys("a && b\n", 1.0),))


def test_empty_keystrokes_wait() -> None:
    found = read_xml_answer(answer_with('<keystrokes duration="10"/><keystrokes duration="5"></keystrokes>'))
    assert found.commands == (Keys("", 10.0), Keys("", 5.0))


def test_no_commands_are_no_mistake() -> None:
    assert read_xml_answer(answer_with("")).commands == ()
    assert read_xml_answer("<response><analysis>a</analysis><plan>p</plan><commands/></response>").commands == ()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("Well:\n" + answer_with(""), "text before"),
        (answer_with("") + "\nThat is all.", "text after"),
        (answer_with("").removesuffix("</response>"), "</response> is missing"),
        (answer_with("", complete="maybe"), "true or false"),
        (answer_with("<keystrokes>ls\n</keystrokes>"), "duration is missing"),
        (answer_with('<keystrokes duration="1" wait="yes">ls\n</keystrokes>'), "unknown attributes are left out: wait"),
        (answer_with('<keystrokes duration="999">ls\n</keystrokes>'), "above 60"),
        (answer_with('<keystrokes duration="1">ls\\n</keystrokes>'), "a newline is written as a newline"),
        (answer_with("").replace("<plan>P.</plan>", ""), "plan is missing"),
    ],
)
def test_what_is_odd_is_said(text: str, warning: str) -> None:
    (said,) = read_xml_answer(text).warnings
    assert warning in said


def test_fences_are_no_text() -> None:
    assert read_xml_answer(f"```xml\n{answer_with('')}\n```").warnings == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("Done.", "no <response>"),
        ("<response><analysis>a</analysis></response>", "commands is missing"),
        (answer_with('<keystrokes duration="1">rm -rf'), "</keystrokes> is missing"),
        (answer_with("<keystrokes duration=1>ls\n</keystrokes>"), "can't be read"),
        ("<response>" + "<" * 2_000_000, "at most"),
    ],
)
def test_what_can_not_be_read_says_why(text: str, said: str) -> None:
    assert said in why(text)


def test_a_cut_off_answer_counts_only_if_it_is_closed() -> None:
    text = answer_with('<keystrokes duration="1">ls\n</keystrokes>')
    assert read_xml_answer(text + " and", whole=True).commands == (Keys("ls\n", 1.0),)
    assert "breaks off" in why(text.removesuffix("</response>"), whole=True)


def test_a_huge_hostile_answer_is_read_in_one_go() -> None:
    assert "at most 100" in why("<response>" + '<keystrokes duration="1">x</keystrokes>' * 50_000 + "</response>")
    assert "can't be read" in why("<response>" + '<keystrokes duration="' * 90_000)


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from(
            [
                "<response>",
                "</response>",
                "<commands>",
                "</commands>",
                "<keystrokes",
                ' duration="1"',
                ">",
                "</keystrokes>",
                "<plan>",
                "</plan>",
                "<task_complete>",
                "true",
                "</task_complete>",
                "ls\n",
                "&",
                "/>",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        answer = read_xml_answer(text)
    except Unreadable as error:
        assert str(error)
    else:
        assert all(0 <= keys.seconds <= LONGEST_SEC for keys in answer.commands)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), max_size=40).filter(
                lambda said: "</keystrokes>" not in said and not said.startswith("<![CDATA[")
            ),
            st.integers(0, 60),
        ),
        max_size=4,
    )
)
def test_keys_arrive_as_they_were_written(commands: list[tuple[str, int]]) -> None:
    text = answer_with("".join(f'<keystrokes duration="{sec}">{keys}</keystrokes>\n' for keys, sec in commands))
    assert read_xml_answer(text).commands == tuple(Keys(keys, float(sec)) for keys, sec in commands)
