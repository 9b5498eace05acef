"""Numbers as text, in the one format that goes to stdout and in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from console.errors import Unusable


@dataclass(frozen=True)
class AskedFormats:
    """`printed` is a format, "text" where none was asked for, "" where the files are all. `files` are `html` and `svg`
    with their paths, "" where not asked for, `-` for stdout."""

    printed: str
    files: Mapping[str, str]

    @property
    def as_text(self) -> bool:
        return self.printed == "text"


def asked_formats(*, as_json: bool, markdown: bool, as_csv: bool, html: str, svg: str) -> AskedFormats:
    """Raises Unusable where two would go to stdout."""
    files = {"html": html, "svg": svg}
    printed = [name for name, on in (("json", as_json), ("markdown", markdown), ("csv", as_csv)) if on]
    printed += [name for name, file in files.items() if file == "-"]
    if len(printed) > 1:
        raise Unusable(f"only one of {' and '.join(f'--{name}' for name in printed)} can go to stdout")
    return AskedFormats(printed[0] if printed else "" if html or svg else "text", files)


def write_asked(option: str, file: str, text: str, foreign: Sequence[Path]) -> Path:
    """The path that was written. Raises OSError, and Unusable for one inside of another system's run."""
    from screens.export_files import refuse_foreign, replace

    path = Path(file).expanduser()
    try:
        refuse_foreign(path.parent, foreign)
    except ValueError as error:
        raise Unusable(f"{option} {file}: {error}") from None
    replace(path, text.encode("utf-8", "replace"))
    return path
