"""How programs that offer no tools want a command and the end of the work written: found from their own prompts."""

from __future__ import annotations

import json
from enum import StrEnum
from xml.sax.saxutils import quoteattr

from engine.models.scripted.asked import Asked

MINI_FINISH = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class Dialect(StrEnum):
    TERMINUS_JSON = "terminus-json"
    TERMINUS_XML = "terminus-xml"
    MINI = "mini"
    FENCE = "fence"


def dialect_of(asked: Asked) -> Dialect:
    prompt = asked.system + "\n" + "\n".join(asked.said)
    if "<keystrokes" in prompt:
        return Dialect.TERMINUS_XML
    if "keystrokes" in prompt:
        return Dialect.TERMINUS_JSON
    if MINI_FINISH in prompt:
        return Dialect.MINI
    return Dialect.FENCE


def finish_command(asked: Asked) -> str:
    """The command by which a program wants the end of the work told; "" where it wants none."""
    prompt = asked.system + "\n" + "\n".join(asked.said)
    return f"echo {MINI_FINISH}" if MINI_FINISH in prompt else ""


def as_text(command: str, say: str, seconds: float, asked: Asked) -> str:
    match dialect_of(asked):
        case Dialect.TERMINUS_JSON:
            return json.dumps(
                {
                    "analysis": say or "The screen shows a prompt.",
                    "plan": "Run the next command.",
                    "commands": [{"keystrokes": command + "\n", "duration": seconds}],
                },
                indent=2,
            )
        case Dialect.TERMINUS_XML:
            return (
                "<response>\n"
                f"<analysis>{say or 'The screen shows a prompt.'}</analysis>\n<plan>Run the next command.</plan>\n"
                f"<commands>\n<keystrokes duration={quoteattr(str(seconds))}>{command}\n</keystrokes>\n</commands>\n"
                "</response>"
            )
        case Dialect.MINI:
            fence = "mswea_bash_command" if "mswea_bash_command" in "".join((asked.system, *asked.said)) else "bash"
            return f"THOUGHT: {say or 'Run the next command.'}\n\n```{fence}\n{command}\n```"
        case Dialect.FENCE:
            return f"{say}\n\n```bash\n{command}\n```".lstrip()


def finished_text(text: str, asked: Asked) -> str:
    match dialect_of(asked):
        case Dialect.TERMINUS_JSON:
            return json.dumps({"analysis": text, "plan": "", "commands": [], "task_complete": True}, indent=2)
        case Dialect.TERMINUS_XML:
            return (
                f"<response>\n<analysis>{text}</analysis>\n<plan>Nothing is left to do.</plan>\n"
                "<commands></commands>\n<task_complete>true</task_complete>\n</response>"
            )
        case Dialect.MINI:
            return as_text(f"echo {MINI_FINISH}", text, 1.0, asked)
        case Dialect.FENCE:
            return text


def broken_text(asked: Asked) -> str:
    match dialect_of(asked):
        case Dialect.TERMINUS_JSON:
            return '{"analysis": "The screen shows a prompt", "commands": [{"keystrokes": "echo broken'
        case Dialect.TERMINUS_XML:
            return "<response>\n<analysis>The screen shows a prompt</analysis>\n<commands>\n<keystrokes>echo broken"
        case _:
            return "```bash\necho broken"
