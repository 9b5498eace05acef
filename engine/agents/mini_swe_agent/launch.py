"""Starts mini-swe-agent in `main`, by the Python that it is installed for: `python3 -I launch.py TASK CONFIG OUTPUT`.

TASK is a file with the instruction: it is given to the program's own command line here, inside the process, so that any
text of any length arrives as it is. Every message and, after each step, how things stand are told on stdout, a line of
JSON each, beside what the program prints itself.

Works with mini-swe-agent 2. Imports nothing of trialdeck, which isn't there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import litellm  # type: ignore[import-not-found]
from minisweagent.agents.default import DefaultAgent  # type: ignore[import-not-found]
from minisweagent.models.litellm_model import LitellmModel  # type: ignore[import-not-found]
from minisweagent.run.mini import app  # type: ignore[import-not-found]

_KEPT_OF_AN_ANSWER = ("usage", "model", "created")


class TellingAgent(DefaultAgent):  # type: ignore[misc]
    """The program's own agent, which does the same and says it."""

    def add_messages(self, *messages: dict[str, Any]) -> list[dict[str, Any]]:
        added: list[dict[str, Any]] = super().add_messages(*messages)
        _tell({"messages": [_short(message) for message in messages]})
        return added

    def save(self, path: Path | None, *extra_dicts: dict[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = super().save(path, *extra_dicts)
        info = {key: value for key, value in data["info"].items() if key not in ("config", "submission")}
        _tell({"info": {**info, "config": {"model": {"model_name": self.model.config.model_name}}}})
        return data


def _short(message: dict[str, Any]) -> dict[str, Any]:
    """Without the whole answer of the server, which says again what the message says."""
    extra = message.get("extra")
    if not isinstance(extra, dict) or not isinstance(answer := extra.get("response"), dict):
        return message
    return {**message, "extra": {**extra, "response": {key: answer.get(key) for key in _KEPT_OF_AN_ANSWER}}}


def _tell(record: dict[str, Any]) -> None:
    sys.stdout.flush()
    sys.stdout.write(json.dumps(record, default=str) + "\n")
    sys.stdout.flush()


def main() -> None:
    task, config, output = sys.argv[1:4]
    litellm.suppress_debug_info = True  # its words about every model that it doesn't know
    # What a server refuses for good is not asked ten times: a content filter, a call that it can't read.
    LitellmModel.abort_exceptions = [*LitellmModel.abort_exceptions, litellm.exceptions.BadRequestError]
    words = ["--config", "mini.yaml", "--config", config, "--output", output, "--yolo", "--exit-immediately"]
    words += ["--agent-class", f"{__name__}.TellingAgent", "--task", Path(task).read_bytes().decode()]
    app(words, prog_name="mini")


if __name__ == "__main__":
    main()
