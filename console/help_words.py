"""Help in words: what an argument or an option takes has a name, and a range is said as a person says it."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

_FROM_TO = re.compile(r"(-?[\d.]+)<=x<=(-?[\d.]+)(?=[;\]])")
_FROM = re.compile(r"x>=(-?[\d.]+)(?=[;\]])")
_TO = re.compile(r"x<=(-?[\d.]+)(?=[;\]])")


class WordedCommand(TyperCommand):
    """A command whose help names what is to be typed: `RUN`, where Typer adds the type of it in Python's words."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", *(_as_typed(each) for each in self.get_params(ctx) if _is_argument(each))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        arguments, options = [], []
        for each in self.get_params(ctx):
            found = each.get_help_record(ctx)
            if found is None:
                continue
            if _is_argument(each):
                arguments.append((each.metavar or each.name, in_words(found[1])))
            else:
                options.append((found[0], in_words(found[1])))
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def in_words(text: str) -> str:
    """`[default: 1; x>=1]` -> `[default: 1; at least 1]`."""
    text = _FROM_TO.sub(r"\1 to \2", text)
    return _TO.sub(r"at most \1", _FROM.sub(r"at least \1", text))


def _as_typed(argument: Any) -> str:
    name = str(argument.metavar or argument.name)
    return name if argument.required else f"[{name}]"


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")
