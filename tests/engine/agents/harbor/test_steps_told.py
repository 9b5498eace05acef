"""Steps from a trajectory that Harbor's code writes, and totals that it tells at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.agents.harbor.secrets import Secrets
from engine.agents.harbor.steps import TRAJECTORY, StepsTold, Totals, put
from engine.events import ArmInfo
from tests.engine.agents.sessions import Session


class Telling:
    def __init__(self, folder: Path) -> None:
        self.session = Session(folder, ArmInfo(name="a", agent="nop"))
        self.secrets = Secrets(lambda value: None)
        self.told = StepsTold(self.session.given, self.secrets)

    def write(self, *steps: dict[str, Any]) -> None:
        whole = {
            "schema_version": "ATIF-v1.7",
            "agent": {"name": "x", "version": "1"},
            "steps": [
                {"step_id": 1, "source": "user", "message": "do it"},
                *({"step_id": number, "source": "agent", **step} for number, step in enumerate(steps, 2)),
            ],
        }
        put(self.session.folder / TRAJECTORY, json.dumps(whole).encode())

    def look(self) -> None:
        if (found := self.told.poll()) is not None:
            self.told.tell(found)

    def end(self, **totals: Any) -> None:
        self.told.end(self.told.read_again(), Totals(**totals), "x")
        self.told.close()

    @property
    def steps(self) -> list[tuple[str, int | None, float | None]]:
        return [(step.what, step.tokens_in, step.cost_usd) for step in self.session.steps]


def said(message: str, tokens: int | None = None, cost: float | None = None) -> dict[str, Any]:
    metrics = {"prompt_tokens": tokens, "cost_usd": cost}
    return {"message": message, "metrics": {key: value for key, value in metrics.items() if value is not None}}


def test_the_last_step_waits_until_it_can_grow_no_more(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    telling.write(said("one", 10))
    telling.look()
    assert telling.steps == []
    telling.write(said("one", 10), said("tw"))
    telling.look()
    assert telling.steps == [("one", 10, None)]
    telling.write(said("one", 10), said("two", 20))
    telling.look()
    telling.end(tokens_in=30)
    assert telling.steps == [("one", 10, None), ("two", 20, None)]


def test_what_was_spent_beside_the_steps_is_not_lost_case_68(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    telling.write(said("one", 10, 0.1), said("two", 20, 0.2))
    telling.end(tokens_in=35, cost_usd=0.5)
    assert telling.steps == [("one", 10, 0.1), ("two", 25, 0.4)]


def test_totals_that_say_less_than_the_steps_change_nothing(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    telling.write(said("one", 10, 0.1), said("two", 20, 0.2))
    telling.end(tokens_in=1, cost_usd=0.3)
    assert telling.steps == [("one", 10, 0.1), ("two", 20, 0.2)]


def test_an_agent_without_a_trajectory_has_one_step_with_all_of_it(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    telling.look()
    telling.end(tokens_in=7)
    assert telling.steps == [("the whole run of x", 7, None)]


def test_nothing_known_is_no_step_and_no_zero_case_68(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    telling.end()
    assert telling.steps == []


def test_half_a_trajectory_gives_the_steps_that_are_whole_case_80(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    telling.write(said("one", 10), said("two", 20), said("three", 30))
    path = telling.session.folder / TRAJECTORY
    path.write_bytes(path.read_bytes()[:-60])
    telling.end()
    assert [what for what, _, _ in telling.steps] == ["one", "two"]


def test_a_step_without_words_is_called_after_its_commands_and_shows_no_secret(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    telling.secrets.add("sk-0123456789")
    call = {"tool_call_id": "1", "function_name": "bash", "arguments": {"command": "export KEY=sk-0123456789"}}
    telling.write({"message": "", "tool_calls": [call]})
    telling.end()
    assert telling.steps == [("export KEY=***", None, None)]


def test_a_step_that_grows_is_one_activity(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    for steps in ([said("o")], [said("one")], [said("one"), said("t")], [said("one"), said("two")]):
        telling.write(*steps)
        found = telling.told.poll()
        assert found is not None
        telling.told.tell_activity(found, "x")
    assert telling.session.activities == ["step 1 · x", "step 2 · x"]
    telling.told.close()
