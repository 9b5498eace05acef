"""The files of a trial: what the agent changed, the artifacts, and everything else that the trial's folder holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from screens import format as fmt
from screens.actions import Action, place
from screens.files_tree import CHANGE, FILE, FOLDER, TITLE, Entry, is_text, read_tree
from screens.pieces import Pieces
from screens.widgets.line_table import LineTable
from screens.widgets.lines import Line, Lines

FILES = place(
    "files",
    "Among the files",
    Action(name="read_again", keys=("r",), label="read again", help="Look at the folder again", footer=30),
    Action(name="copy_name", keys=("y",), label="copy", help="Copy the name or path under the cursor"),
)

_CHANGES = {"added": ("+", "deck--good"), "changed": ("~", "deck--warn"), "deleted": ("−", "deck--bad")}


class FilesTable(LineTable):
    HEAD: ClassVar[int] = 0
    PLACE = FILES
    BINDINGS: ClassVar[list[BindingType]] = [*FILES.bindings()]

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        self.waiting_text = "reading the folder"
        self._rows: dict[str, int] = {}
        self._keys: list[str] = []

    def set_entries(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._keys = [entry.key for entry in entries]
        self._rows = {key: row for row, key in enumerate(self._keys)}
        self.waiting_text = "no files"
        self.rows_changed()
        self.refresh()

    @property
    def keys(self) -> Sequence[str]:
        return self._keys

    def find(self, key: str) -> int | None:
        return self._rows.get(key)

    def entry(self, key: str | None) -> Entry | None:
        row = self._rows.get(key) if key is not None else None
        return self.entries[row] if row is not None else None

    def empty_text(self) -> str:
        return self.waiting_text

    def whole_row(self, key: str) -> Pieces | None:
        entry = self.entries[self._rows[key]]
        if entry.kind == TITLE:
            return [(entry.name, "deck--head")]
        if entry.kind == CHANGE:
            glyph, style = _CHANGES[entry.detail]
            return [(f"{glyph} {entry.detail:<9}", style), (entry.name, "")]
        size = fmt.size(entry.size) if entry.size is not None else ""
        ink = "deck--dim" if entry.kind == FOLDER else "" if entry.kind == FILE else "deck--faint"
        detail = f"  {entry.detail}" if entry.detail else ""
        return [(f"{size:>6}  ", "deck--dim"), (f"{'  ' * entry.depth}{entry.name}", ink), (detail, "deck--faint")]


class FilesBar(Lines):
    DEFAULT_CSS = """
    FilesBar { height: 1; background: $foreground 6%; }
    """
    entries: Sequence[Entry] = ()

    def make(self, width: int) -> list[Line]:
        files = [entry for entry in self.entries if entry.kind == FILE]
        size = sum(entry.size or 0 for entry in files)
        changes = sum(1 for entry in self.entries if entry.kind == CHANGE)
        left: Pieces = [(f" {fmt.count(len(files), 'file')}  {fmt.size(size)}", "deck--dim")]
        if changes:
            left.append((f"  {fmt.count(changes, 'change')} in the container", "deck--dim"))
        return [(left, [("enter opens a file ", "deck--faint")])]


class FilesView(Vertical):
    """Read when it is mounted and on demand, in a thread."""

    PLACE = FILES
    BINDINGS: ClassVar[list[BindingType]] = [*FILES.bindings()]
    DEFAULT_CSS = """
    FilesView { height: 1fr; }
    """

    @dataclass
    class Read(Message):
        entries: list[Entry]

    @dataclass
    class Chosen(Message):
        """A text file that wants to be read."""

        path: Path

    @dataclass
    class Looked(Message):
        """A thread looked whether a file is text."""

        path: Path
        text: bool

    def __init__(self, folder: Path, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.path = folder
        self.table = FilesTable()
        self._bar = FilesBar()

    def compose(self) -> ComposeResult:
        yield self.table
        yield self._bar

    def on_mount(self) -> None:
        self.action_read_again()

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)

    def take_focus(self) -> None:
        self.table.focus()

    def action_read_again(self) -> None:
        self.run_worker(
            lambda: self.post_message(self.Read(read_tree(self.path))) and None,
            thread=True, group="files", exclusive=True,
        )  # fmt: skip

    def on_files_view_read(self, event: Read) -> None:
        event.stop()
        self.table.set_entries(event.entries)
        self._bar.entries = event.entries
        self._bar.show()

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        event.stop()
        entry = self.table.entry(event.key)
        if entry is None or entry.path is None:
            if entry is not None and entry.detail and entry.kind != CHANGE:
                self.notify(entry.detail, timeout=2, markup=False)
            return
        path = entry.path
        self.run_worker(
            lambda: self.post_message(self.Looked(path, is_text(path))) and None,
            thread=True, group="files look", exclusive=True,
        )  # fmt: skip

    def on_files_view_looked(self, event: Looked) -> None:
        event.stop()
        if event.text:
            self.post_message(self.Chosen(event.path))
        else:
            self.notify("no text file; y copies its path", timeout=3, markup=False)

    def on_line_table_header_clicked(self, event: LineTable.HeaderClicked) -> None:
        event.stop()

    def action_copy_name(self) -> None:
        entry = self.table.entry(self.table.cursor_key)
        if entry is not None and entry.kind != TITLE:
            self.app.copy_to_clipboard(entry.name if entry.path is None else str(self.path / entry.key))
            self.notify("copied", timeout=2, markup=False)
