"""What else people call an action: words of other programs, by which the palette finds it too."""

from __future__ import annotations

from collections.abc import Mapping

OTHER_WORDS: Mapping[str, str] = {
    "leave": "quit exit close detach",
    "step_back": "close",
    "concurrency(1)": "concurrency parallel faster workers",
    "concurrency(-1)": "concurrency parallel slower workers",
    "pause": "resume continue stop",
    "hold": "freeze",
    "cancel_trial": "kill abort stop",
    "save_list": "export csv json download",
    "save_picture": "screenshot svg export",
    "save_text": "screenshot export",
    "problems": "failures errors only",
    "warnings": "issues errors feed",
    "triage": "label cause decide classify",
    "compare": "diff difference mcnemar",
    "analyse": "analyze statistics charts pass@k leaderboard",
    "filter": "search find query",
    "search": "find grep",
    "help_here": "keys keyboard shortcuts",
    "change_theme": "colours colors dark light",
    "copy": "yank clipboard",
    "mark": "select",
    "mark_all(True)": "select all",
    "rerun": "rerun again retry",
    "shell": "exec docker container terminal",
    "pager": "less",
    "editor": "vim",
    "undo": "revert take back",
    "skip": "later",
    "note": "comment",
    "blind": "hide arms",
    "look": "refresh reload",
    "disagreements": "conflicts settle kappa",
    "summary": "kappa agreement asymmetry rates export import",
}
"""By an action's name. The words that stand on the screen are found anyway."""
