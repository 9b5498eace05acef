"""A file that an editor would read whole before it shows a line of it: asked first, with the pager in front."""

from __future__ import annotations

from pathlib import Path

from screens import format as fmt
from screens.outside import editor_command, pager_command
from screens.question_screen import Answer, QuestionScreen

LARGE = 64 * 1024 * 1024
"""Bytes from which on it is asked."""
PAGER, EDITOR = "pager", "editor"


def large_file_question(path: Path, size: int) -> QuestionScreen:
    """Returns PAGER or EDITOR, "" for neither."""
    pager, editor = (Path(command(path, 1)[0]).name for command in (pager_command, editor_command))
    return QuestionScreen(
        f"A large file: {fmt.size(size)}",
        f"{editor} may read all of it before it shows anything.",
        Answer("o", f"open it in the pager, {pager}, which reads what it shows", PAGER),
        Answer("e", f"open it in the editor, {editor}, all the same", EDITOR),
    )
