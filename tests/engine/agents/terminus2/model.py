"""A model that says what it is told to, without a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import anyio

from engine.issues import Code
from engine.models.conversation import Reply, Turn
from engine.models.model_call import ModelCallFailed, ModelFailure, Usage
from engine.models.settings import ModelSettings, Secret, Wire

Says = str | Reply | Exception | Callable[[Sequence[Turn]], "str | Reply"]


class FakeModel:
    """Both the access and its client. What is said once everything was said: `rest`, else a test fails."""

    def __init__(self, *says: Says, rest: Says | None = None, **settings: object) -> None:
        self.says = list(says)
        self.rest = rest
        self.settings = ModelSettings(
            name="m",
            wire=Wire.OPENAI_CHAT,
            base_url="http://model",
            key=Secret("k"),
            **settings,  # type: ignore[arg-type]
        )
        self.asked: list[list[Turn]] = []
        self.systems: list[str] = []
        self.closed = 0

    @property
    def calls(self) -> int:
        return len(self.asked)

    @property
    def wire_in_main(self) -> Wire:
        return self.settings.wire

    def client(self) -> FakeModel:
        return self

    async def ask(self, turns: Sequence[Turn], *, system: str = "") -> Reply:
        await anyio.lowlevel.checkpoint()
        assert [turn.role for turn in turns] == ["user", "assistant"] * (len(turns) // 2) + ["user"]
        assert all(turn.text.strip() for turn in turns)
        self.asked.append(list(turns))
        self.systems.append(system)
        says = self.says.pop(0) if self.says else self.rest
        assert says is not None, f"nothing is left to say to: {turns[-1].text}"
        if callable(says):
            says = says(turns)
        if isinstance(says, Exception):
            raise says
        return says if isinstance(says, Reply) else reply(says)

    async def close(self) -> None:
        self.closed += 1

    @property
    def last(self) -> str:
        """What it was told last."""
        return self.asked[-1][-1].text

    def told(self, call: int) -> str:
        """The last of what it was told in a call, from 0."""
        return self.asked[call][-1].text


def reply(text: str, **fields: object) -> Reply:
    given: dict[str, object] = {"usage": Usage(tokens_in=100, tokens_out=10), "cost_usd": 0.25, **fields}
    return Reply(text=text, **given)  # type: ignore[arg-type]


def says(*keys: str | tuple[str, float], done: bool = False, analysis: str = "I see.") -> str:
    """An answer in JSON."""
    commands = [
        {"keystrokes": key, "duration": 0.1} if isinstance(key, str) else {"keystrokes": key[0], "duration": key[1]}
        for key in keys
    ]
    return json.dumps({"analysis": analysis, "plan": "Go on.", "commands": commands, "task_complete": done})


DONE = says(done=True)


def fails(code: Code, words: str = "the server's words", tries: int = 1, **fields: object) -> ModelCallFailed:
    return ModelCallFailed(ModelFailure(code=code, words=words, **fields), tries)  # type: ignore[arg-type]
