"""What one takes out of a log: to the clipboard, to a file, into a pager or an editor."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message
from textual.worker import get_current_worker

from engine.text import clean_line
from screens.large_file import LARGE, PAGER, large_file_question
from screens.log_saving import save_lines
from screens.log_text import Look
from screens.outside import editor_command, pager_command, run_outside
from screens.question_screen import Answer, QuestionScreen
from screens.read_only import refused
from screens.widgets.log_asking import SAVE, SearchLine
from screens.widgets.log_finding import LogFinding
from screens.widgets.log_page import LogPage

MOST_COPIED = 64 * 1024
"""Bytes: what terminals take in one OSC 52 sequence, most of them."""
_SAVING = "saving"


class LogTaking(LogFinding):
    label = ""

    @dataclass
    class Saved(Message):
        words: str
        failed: bool

    @property
    def path(self) -> Path:
        """The file that others open; of several logs the folder that holds them."""
        raise NotImplementedError

    # --- a range of lines ---

    def action_range(self) -> None:
        """Begins a range at the line one is at, or lets it go."""
        self._page.range = None if self._page.range is not None else (self.here, self.here)
        self._page.marked = self.here
        self._let_go()
        self._moved()

    def action_extend(self, step: int) -> None:
        """Moves the marked line; a range grows or shrinks with it."""
        reader, here = self._window.reader, self.here
        line = reader.line_at(here)
        if line is None:
            return
        begin, end = self._page.range or (here, here)
        fixed = end if here == begin else begin
        other = reader.line_at(line.after) if step > 0 else reader.line_before(here)
        if other is not None:
            self._page.range = (min(fixed, other.start), max(fixed, other.start))
            self.left()
            self._let_go()
            self._mark(other.start)

    @property
    def _taken(self) -> tuple[int, int]:
        """Where the first and the last line begin that are meant: the range, or the line one is at. A range that was
        begun but holds one line yet, out of sight, is not meant: one is at a line that is seen."""
        first, last = self._page.range or (self.here, self.here)
        return (self.here, self.here) if first == last and not self._window.sees(first) else (first, last)

    def _range_text(self) -> tuple[str, int, bool]:
        """The lines that are meant, how many of them, and whether they are all."""
        first, last = self._taken
        reader = self._window.reader
        texts: list[str] = []
        length = 0
        line = reader.line_at(first)
        while line is not None and line.start <= last:
            text = self._window.text(line)
            length += len(text.encode()) + 1
            if length > MOST_COPIED:
                return "\n".join(texts or [text]), len(texts), False
            texts.append(text)
            line = reader.line_at(line.after)
        return "\n".join(texts), len(texts), True

    def on_log_page_pointed(self, event: LogPage.Pointed) -> None:
        """With shift or ctrl: from the line that was marked last, in sight or not, to this one. The end of a range that
        one stood on moves along."""
        if not event.extend:
            return
        event.stop()
        event.prevent_default()  # nothing below looks at it
        marked = self._page.marked if self._page.marked is not None else self.here
        begin, end = self._page.range or (marked, marked)
        fixed = end if marked == begin else begin if marked == end else marked
        self._page.range = (min(fixed, event.start), max(fixed, event.start))
        self._page.marked = event.start
        self._let_go()
        self._moved()

    # --- the clipboard ---

    def action_copy_line(self) -> None:
        """What is selected, or else the marked range, or else the line one is at."""
        if selected := self.screen.get_selected_text():
            self._copy(selected, "selection")
        else:
            text, count, whole = self._range_text()
            first = self._window.reader.line_at(self._taken[0])
            number = self._window.reader.number(first) if first is not None else None
            at = f" {number:,}" if number is not None else ""
            what = f"line{at}" if count == 1 else f"{count:,} lines{f' from line{at} on' if at else ''}"
            self._copy(text, what, "" if whole else "; a terminal takes no more, s saves all")

    def action_copy_menu(self) -> None:
        answers = [Answer("l", "the line, or the marked range", "line")]
        if self._page.pattern is not None:
            answers.append(Answer("m", "what the search has found in the line", "match"))
        answers += [
            Answer("p", "the path of the file", "path"),
            Answer("c", "a command that shows the same in a shell", "command"),
        ]
        self.app.push_screen(
            QuestionScreen("Copy", "To the clipboard of your terminal (OSC 52)", *answers), self._chosen
        )

    def _chosen(self, answer: str | None) -> None:
        line = self._window.reader.line_at(self.here)
        text = self._window.text(line) if line is not None else ""
        match answer:
            case "line":
                self.action_copy_line()
            case "match":
                self._copy(self.match_in(text), "match")
            case "path":
                self._copy(clean_line(str(self.path)), "path")
            case "command":
                self._copy(self.command, "command", "; a shell shows both streams" if self.stream is not None else "")

    @property
    def command(self) -> str:
        """Shows in a shell what is shown here."""
        path = shlex.quote(clean_line(str(self.path)))
        if self.path.is_dir():
            return f"cd {path}"
        if self.filtering is not None:
            pattern = self.filtering.pattern
            inverse, text = ("v", pattern.text[1:]) if pattern.inverse else ("", pattern.text)
            folds = "" if "\\C" in text else "i"
            return f"grep -nP{inverse}{folds} -e {shlex.quote(clean_line(text.replace(chr(92) + 'C', '')))} -- {path}"
        number = self.here_number
        return f"less {f'+{number}g ' if number else ''}-- {path}"

    def _copy(self, text: str, what: str, note: str = "") -> None:
        if not text:
            self.notify("nothing to copy", timeout=2)
            return
        data = text.encode()
        if len(data) > MOST_COPIED:
            text = data[:MOST_COPIED].decode("utf-8", "ignore")
            note = f"; only the first {MOST_COPIED // 1024} KB, a terminal takes no more"
        self.app.copy_to_clipboard(text)
        self.notify(f"{what} copied{note}", timeout=2 if not note else 5, markup=False)

    # --- a file ---

    def action_save(self) -> None:
        """Asks for a file to write the shown lines to."""
        if refused(self.app):
            return
        name = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in clean_line(self.label, 60))
        self.query_one(SearchLine).open(SAVE, f"{name.strip('-.') or 'log'}.txt")

    def save(self, target: Path) -> None:
        """The marked range, or else all lines that the filter lets through; in a thread that ends in a message."""
        reader, look, within = self._window.reader, self.look, self._page.range
        if look is Look.COLOURS:
            look = Look.PLAIN

        def work() -> None:
            worker = get_current_worker()
            try:
                count = save_lines(reader, target, look, within, lambda: worker.is_cancelled)
            except OSError as error:
                words = f"can't write {target}: {error.strerror or error}"
                self.post_message(self.Saved(words, failed=True))
            else:
                left = "" if self.filtering is None or self.filtering.complete else "; the filter had not seen all yet"
                self.post_message(self.Saved(f"{count:,} lines saved as {target}{left}", failed=False))

        self.run_worker(work, thread=True, exclusive=True, group=_SAVING)

    def on_log_taking_saved(self, event: Saved) -> None:
        event.stop()
        words = clean_line(event.words)
        self.notify(words, severity="error" if event.failed else "information", markup=False)

    def on_search_line_asked(self, event: SearchLine.Asked) -> None:
        if event.asking is SAVE:
            event.stop()
            event.prevent_default()  # nothing below looks at it
            self._page.focus()
            if event.text.strip():
                self.save(Path(event.text.strip()).expanduser().absolute())

    # --- other programs ---

    def action_pager(self) -> None:
        self._outside(pager=True)

    def action_editor(self) -> None:
        self._outside(pager=False)

    def _outside(self, *, pager: bool) -> None:
        if not self.path.is_file():
            self.notify("there is no one file to open", severity="warning")
        elif pager or self.size_bytes < LARGE:
            self._open_outside(pager=pager)
        else:
            question = large_file_question(self.path, self.size_bytes)
            self.app.push_screen(question, lambda answer: self._open_outside(pager=answer == PAGER) if answer else None)

    def _open_outside(self, *, pager: bool) -> None:
        number = self.here_number or 1
        byte = self.here if self.size_bytes >= LARGE else None
        problem = run_outside(
            self.app,
            pager_command(self.path, number, byte=byte) if pager else editor_command(self.path, number),
        )
        if problem:
            self.notify(problem, severity="error", markup=False)
        self.poll()
