"""What a scripted model says, turn by turn, and how it fails. Read from JSON or TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

MOST_TURNS = 1000
MOST_BYTES = 1_000_000


class ScriptInvalid(Exception):
    """A script that can't be read; names the file and the place in it."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a turn says it used. As in `engine.models.model_call.Usage`: `tokens_in` includes the cached ones and those
    written to the cache, `tokens_out` includes reasoning; each protocol then says it in its own way."""

    tokens_in: int
    tokens_out: int
    cached: int = 0
    cache_written: int = 0
    reasoning: int = 0


class _Turn(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag=str.lower, forbid_unknown_fields=True):
    """What every turn can have. `tokens` None: estimated from lengths. `told` False: the answer has no usage at all.

    `cost_usd`: what a gateway would say of the cost (`usage.cost`). `reasoning`: thinking shown before the answer.
    A streamed answer comes in pieces of `piece` characters, `pause_sec` apart.
    """

    tokens: Tokens | None = None
    told: bool = True
    cost_usd: float | None = None
    reasoning: str = ""
    piece: int = 40
    pause_sec: float = 0.0


class Passing(_Turn, frozen=True, kw_only=True):
    """A turn that is over once it was served `times` times in a conversation (0: it never is)."""

    times: int = 1


class Say(_Turn, frozen=True, kw_only=True):
    """Text, as it is, and no call."""

    text: str


class Run(_Turn, frozen=True, kw_only=True):
    """A shell command, in the way that the asking program takes one: a call of its tool that runs commands, or the
    text that its prompt asks for. `raw` is said instead to a program that offers no tools. `seconds` is how long a
    program of Terminus' kind shall wait for it."""

    command: str
    say: str = ""
    raw: str = ""
    seconds: float = 1.0


class Use(_Turn, frozen=True, kw_only=True):
    """A call of a tool by its name, or by the end of its name (`add` finds `mcp__sums__add`)."""

    tool: str
    arguments: dict[str, Any] = {}
    say: str = ""


class Done(_Turn, frozen=True, kw_only=True):
    """The end of the work, in the way that the asking program takes it."""

    text: str = "Done."
    raw: str = ""


class Fail(Passing, frozen=True, kw_only=True):
    """An HTTP error. `body` None: what a provider would say with that status. `in_stream`: the answer begins as a good
    one does, with status 200, and the error comes inside it (where it is streamed)."""

    status: int = 500
    body: dict[str, Any] | str | None = None
    headers: dict[str, str] = {}
    in_stream: bool = False


class Break(Passing, frozen=True, kw_only=True):
    """The connection is cut: before anything is answered, or in the middle of the answer `text`."""

    at: Literal["start", "middle"] = "start"
    text: str = "This answer is cut in its middle."


class Hang(Passing, frozen=True, kw_only=True):
    """No answer for so many seconds (0: for ever), then the connection is cut. `at` "middle": the answer begins."""

    seconds: float = 0.0
    at: Literal["start", "middle"] = "start"
    text: str = "This answer stops in its middle."


class CutOff(Passing, frozen=True, kw_only=True):
    """An answer that the output limit cut off."""

    text: str = "This answer was longer than"


class Refuse(Passing, frozen=True, kw_only=True):
    text: str = "I can't help with that."


class Filter(Passing, frozen=True, kw_only=True):
    """A content filter: an error with status 400, or, `midway`, an answer that it ends (Anthropic has only errors)."""

    text: str = "The first step is"
    midway: bool = False


class ContextFull(Passing, frozen=True, kw_only=True):
    """The error that a provider gives for a prompt that is too long."""


class Malformed(Passing, frozen=True, kw_only=True):
    """A call whose arguments are broken JSON, or, where no tools are offered, broken text."""

    text: str = ""


class Empty(Passing, frozen=True, kw_only=True):
    """An answer with nothing in it."""


Turn = Say | Run | Use | Done | Fail | Break | Hang | CutOff | Refuse | Filter | ContextFull | Malformed | Empty


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Turns of one conversation. Where they are over, the last one that answers is said again.

    `marker`: text by which the script is chosen, wherever it stands in what the user said. `asides`: marker -> text
    that is said whenever the marker stands in the last thing the user said or in the system prompt; no turn is used up.
    `counted`: turns go by how often the conversation asked, not by the answers that its history holds (for a program
    that rewrites its history).
    """

    turns: tuple[Turn, ...] = ()
    marker: str = ""
    asides: dict[str, str] = {}
    counted: bool = False


class Scripts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scripts by name. `default` serves whoever has no marker of another in the prompt."""

    scripts: dict[str, Script] = {}
    default: str = ""

    def __post_init__(self) -> None:
        if self.default and self.default not in self.scripts:
            raise ValueError(f'default is "{self.default}", which is none of the scripts')


def read_script(path: Path) -> Scripts:
    """A file with one script (`turns = [...]`) or several (`[scripts.NAME]`). Raises ScriptInvalid."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScriptInvalid(f"{path}: {error.strerror}") from None
    return decode_script(data, str(path), toml=path.suffix == ".toml")


def decode_script(data: bytes, what: str, *, toml: bool) -> Scripts:
    """Raises ScriptInvalid; `what` is how the message calls the data."""
    if len(data) > MOST_BYTES:
        raise ScriptInvalid(f"{what}: more than {MOST_BYTES} bytes")
    try:
        found = msgspec.toml.decode(data) if toml else msgspec.json.decode(data)
        if isinstance(found, dict) and "turns" in found:
            scripts = Scripts(scripts={"default": msgspec.convert(found, Script)}, default="default")
        else:
            scripts = msgspec.convert(found, Scripts)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ScriptInvalid(f"{what}: {error}") from None
    for name, script in scripts.scripts.items():
        if len(script.turns) > MOST_TURNS:
            raise ScriptInvalid(f"{what}: script {name} has {len(script.turns)} turns; at most {MOST_TURNS} are taken")
    return scripts
