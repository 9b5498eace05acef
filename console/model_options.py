"""Options of `run` that say which model the arms work with, where an arm doesn't say its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from console.errors import Unusable

OPTIONS = {
    "model": "model",
    "model_base_url": "base_url",
    "model_api_protocol": "protocol",
    "model_key_env": "key_env",
    "model_key_file": "key_file",
    "effort": "effort",
}
"""Option -> the arm's parameter that it stands for."""

Model = Annotated[
    str | None, typer.Option("--model", help="The model of each arm that doesn't name its own.", metavar="NAME")
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--model-base-url", help="Where it is; the provider's own address if not given.", metavar="URL"),
]
Protocol = Annotated[
    str | None,
    typer.Option(
        "--model-api-protocol", help="openai-chat, openai-responses or anthropic; the agent's first.", metavar="NAME"
    ),
]
KeyEnv = Annotated[
    str | None, typer.Option("--model-key-env", help="The variable that holds its key.", metavar="VARIABLE")
]
KeyFile = Annotated[
    str | None, typer.Option("--model-key-file", help="A file that holds its key and nothing else.", metavar="FILE")
]
Effort = Annotated[
    str | None, typer.Option("--effort", help="How hard it shall think, in the provider's words.", metavar="WORD")
]
Key = Annotated[str | None, typer.Option("--model-api-key", hidden=True, metavar="KEY")]


def defaults_of(options: Mapping[str, str | None]) -> dict[str, str]:
    """Parameters of arms from what was typed; `options` by the names in OPTIONS. Raises Unusable."""
    if options.get("model_key_env") and options.get("model_key_file"):
        raise Unusable("--model-key-env and --model-key-file: give one of them")
    return {OPTIONS[name]: value for name, value in options.items() if value and name in OPTIONS}


def refuse_key(key: str | None) -> None:
    """Raises Unusable, without a word of the key."""
    if key is not None:
        raise Unusable(
            "a key is not taken on the command line, where everyone on this host can read it: put it into a variable "
            "and name that (--model-key-env NAME), or into a file (--model-key-file FILE)"
        )
