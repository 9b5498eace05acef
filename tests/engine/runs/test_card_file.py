"""A card as a person writes it: read, resolved, frozen, and set beside another one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from console.card_template import TEMPLATE
from engine.events import ArmInfo, Endpoint
from engine.runs.card import CardInvalid, RunCard, read_card, write_card
from engine.runs.card_differences import card_differences, incomparable
from engine.runs.card_file import freeze, read_draft, resolve
from engine.runs.start import amended
from engine.triage.causes import Cause
from tests.engine.agents.model_agent import register
from tests.engine.tasks.task_folders import make_task

CARD = """
name = "mine"  # a comment that stays
[task_set]
paths = ["tasks"]
[[arms]]
agent = "oracle"
[[arms]]
name = "other"
agent = "nop"
model = "m"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        make_task(tmp_path / "tasks" / name)
    return tmp_path


def written(place: Path, text: str = CARD, name: str = "card.toml") -> Path:
    path = place / name
    path.write_text(text)
    return path


def resolved(path: Path) -> RunCard:
    return resolve(path, read_draft(path))[0]


def test_a_card_resolves_to_what_a_run_of_it_pins(place: Path) -> None:
    card = resolved(written(place))
    assert [task.id for task in card.tasks] == ["a", "b"] and all(task.digest for task in card.tasks)
    assert [(arm.name, arm.agent, arm.model) for arm in card.arms] == [("oracle", "oracle", ""), ("other", "nop", "m")]
    assert card.acceptance == "reward == 1" and card.retries.causes == (Cause.INFRASTRUCTURE, Cause.PROVIDER)


def test_the_card_that_new_writes_says_what_it_is_for(place: Path) -> None:
    card = resolved(written(place, TEMPLATE))
    assert str(card.question) == "controlled model" and [arm.name for arm in card.arms] == ["baseline", "candidate"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "mine"', "", "missing required field `name`"),
        ('name = "mine"', 'name = "mine"\nattemps = 2', "unknown field `attemps`"),
        ('name = "mine"', 'name = "mine"\nattempts = 0', "attempts is 0, expected at least 1"),
        ('name = "mine"', 'name = "mine"\nattempts = "two"', r"\$\.attempts"),
        ('name = "mine"', 'name = "mine"\nacceptance = "good"', "acceptance is 'good'"),
        ('name = "mine"', 'name = "mine"\ntimeout_factor = 0.0', "timeout_factor is 0"),
        ('name = "mine"', 'name = "mine"\nquestion = "which"', r"\$\.question"),
        ('agent = "oracle"', 'agent = "orakle"', 'arms, entry 1: .*unknown agent "orakle"'),
        ('agent = "oracle"', 'agent = "oracle"\nparameters = {x = "1"}', "unknown parameter x"),
        ('agent = "oracle"', 'agent = "nop"\nname = "other"', "names must differ"),
        ('agent = "oracle"', 'agent = "oracle"\nprompt = "none.md"', r"prompt .*none\.md"),
        ('paths = ["tasks"]', 'paths = ["nowhere"]', "no such file"),
        ('paths = ["tasks"]', 'paths = ["tasks"]\ndigest = "0123"', "task_set.digest is 0123"),
        ('paths = ["tasks"]', 'paths = ["tasks"]\nexclusions = [{task = "z", reason = "r"}]', "there is no task z"),
        ('paths = ["tasks"]', 'paths = ["tasks"]\nexclusions = [{task = "a", reason = " "}]', "without a reason"),
        ("[task_set]", '[split]\npilot = ["z"]\n[task_set]', "split.pilot: there is no task z"),
        ("[task_set]", '[split]\npilot = ["a"]\nheld_out = ["a"]\n[task_set]', "a is both pilot and held out"),
    ],
)
def test_what_is_wrong_in_a_card_is_named_with_its_file_and_key(place: Path, old: str, new: str, words: str) -> None:
    path = written(place, CARD.replace(old, new, 1))
    with pytest.raises(CardInvalid, match=words) as caught:
        resolved(path)
    assert str(path) in str(caught.value)


def test_an_excluded_task_is_left_out_and_its_reason_stays_in_the_card(place: Path) -> None:
    card = resolved(
        written(place, CARD.replace("[[arms]]", 'exclusions = [{task = "b", reason = "rotten"}]\n[[arms]]', 1))
    )
    assert [task.id for task in card.tasks] == ["a"]
    assert [(one.task, one.reason) for one in card.exclusions] == [("b", "rotten")]


def test_a_frozen_card_is_what_it_was_or_is_refused_case_58(place: Path) -> None:
    path = written(place)
    before = freeze(path)
    assert "# a comment that stays" in path.read_text()
    assert tomllib.loads(path.read_text())["frozen"]["digest"] == before.digest
    assert freeze(path).digest == resolved(path).digest == before.digest
    (place / "tasks" / "a" / "tests" / "test.sh").write_text("echo other\n")
    with pytest.raises(CardInvalid, match="task a has other content"):
        resolved(path)


def test_a_frozen_card_whose_own_text_was_changed_is_refused(place: Path) -> None:
    path = written(place)
    freeze(path)
    path.write_text(path.read_text().replace('model = "m"', 'model = "n"'))
    with pytest.raises(CardInvalid, match="what the card itself says was changed"):
        resolved(path)


def test_conduct_may_change_in_a_frozen_card(place: Path) -> None:
    path = written(place, CARD + "[conduct]\nconcurrency = 2\n")
    freeze(path)
    path.write_text(path.read_text().replace("concurrency = 2", "concurrency = 8"))
    assert resolved(path).conduct.concurrency == 8


def test_changes_of_conduct_are_recorded_and_leave_the_digest_case_79(place: Path) -> None:
    before = resolved(written(place))
    after = amended(amended(before, by="ada", concurrency=9, max_cost_usd=None), by="ada", concurrency=9)
    assert [(one.by, one.key, one.before, one.after) for one in after.amendments] == [("ada", "concurrency", "4", "9")]
    assert after.digest == before.digest
    write_card(place, msgspec.structs.replace(after, run="r"))
    assert read_card(place).amendments == after.amendments


def test_two_cards_differ_field_by_field_and_in_words(place: Path) -> None:
    a = resolved(written(place))
    assert card_differences(a, a) == [] and incomparable([]) == []
    b = msgspec.structs.replace(
        a,
        timeout_factor=1.5,
        arms=(a.arms[0], ArmInfo(name="other", agent="nop", agent_version="1", model="n")),
        conduct=msgspec.structs.replace(a.conduct, concurrency=1),
    )
    found = {one.field: one for one in card_differences(a, b)}
    assert (found["timeout_factor"].a, found["timeout_factor"].b) == ("1.0", "1.5")
    assert (found["arms.other.model"].a, found["arms.other.model"].b) == ("m", "n")
    assert found["conduct.concurrency"].conduct
    assert incomparable(list(found.values())) == ["time limits differ: one side had more time"]


def test_other_content_of_a_task_makes_scores_incomparable(place: Path) -> None:
    a = resolved(written(place))
    (place / "tasks" / "a" / "tests" / "test.sh").write_text("echo other\n")
    b = resolved(written(place))
    assert {one.field for one in card_differences(a, b)} == {"tasks.a", "task_set.digest"}
    assert any("only tasks of the same content" in meaning for meaning in incomparable(card_differences(a, b)))


MODEL_ARM = """
name = "mine"
[task_set]
paths = ["tasks"]
[[arms]]
agent = "tester"
model = "m"
protocol = "anthropic"
temperature = 0.5
context_tokens = 1000000
max_output_tokens = 32000
base_url = "http://127.0.0.1:8000/v1/"
key_file = "keys/model"
headers = { X-Team = "evals", Authorization = "Bearer ${TOKEN}" }
"""


def test_how_a_model_is_called_stands_in_keys_of_its_arm(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)
    (arm,) = resolved(written(place, MODEL_ARM)).arms
    assert (arm.protocol, arm.temperature, arm.context_tokens, arm.max_output_tokens) == (
        "anthropic",
        0.5,
        1_000_000,
        32_000,
    )
    assert arm.agent_version == "3"
    assert arm.endpoint == Endpoint(
        base_url="http://127.0.0.1:8000/v1",
        key_file=str(place / "keys" / "model"),
        headers={"X-Team": "evals", "Authorization": "Bearer ${TOKEN}"},
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('protocol = "soap"', 'protocol is "soap"'),
        ('protocol = ["anthropic"]', "protocol"),
        ("temperature = 9.0", "expected a number from 0 to 2"),
        ("context_tokens = 0", "expected a whole number above 0"),
        ('key_env = "sk-123"', "the name of a variable, never the key itself"),
        ('key = "sk-123"', "key"),
        ('key_env = "K"\nkey_file = "f"', "give one of them"),
        ('headers = { Authorization = "Bearer sk-123" }', "looks like a secret"),
        ('protocol = "anthropic"\nparameters = { protocol = "anthropic" }', "protocol is said twice"),
    ],
)
def test_a_key_of_the_model_that_can_t_be_is_named(
    place: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    register(monkeypatch)
    text = CARD.replace('agent = "oracle"', f'agent = "tester"\nmodel = "m"\n{line}')
    with pytest.raises(CardInvalid, match=re.escape(words)) as refused:
        resolved(written(place, text))
    assert "card.toml" in str(refused.value) and "sk-123" not in str(refused.value)


def test_an_agent_that_calls_no_model_is_not_told_where_one_is(place: Path) -> None:
    with pytest.raises(CardInvalid, match="unknown parameter base_url"):
        resolved(written(place, CARD.replace('agent = "nop"', 'agent = "nop"\nbase_url = "http://x"')))


def test_a_frozen_card_may_reach_its_model_elsewhere(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 79: another port is no other measurement; another model is."""
    register(monkeypatch)
    path = written(place, MODEL_ARM)
    frozen = freeze(path)
    path.write_text(path.read_text().replace("127.0.0.1:8000", "127.0.0.1:40877"))
    assert resolved(path).digest == frozen.digest
    path.write_text(path.read_text().replace('model = "m"', 'model = "other"'))
    with pytest.raises(CardInvalid, match="frozen"):
        resolved(path)


def test_another_address_is_shown_and_is_no_difference_of_what_is_measured(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch)
    a = resolved(written(place, MODEL_ARM))
    b = resolved(written(place, MODEL_ARM.replace(":8000", ":9000").replace("0.5", "0.7")))
    found = {one.field: one.conduct for one in card_differences(a, b)}
    assert found == {"arms.tester.temperature": False, "arms.tester.endpoint.base_url": True}
