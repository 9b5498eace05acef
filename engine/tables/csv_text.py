"""The text of a CSV file that a person gave."""

from __future__ import annotations

from pathlib import Path

from engine.regular_file import regular_file

MOST_BYTES = 64 << 20


class CsvInvalid(ValueError):
    """The message names the file and, where it is about one, the row."""


def read_csv_text(path: Path, expected: str) -> str:
    """`expected` is "reviews are one short row an attempt". Raises CsvInvalid and OSError."""
    if path.stat().st_size > MOST_BYTES:
        raise CsvInvalid(f"{path.name}: larger than {MOST_BYTES >> 20} MB; {expected}")
    try:
        with regular_file(path) as file:
            return file.read(MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CsvInvalid(f"{path.name}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
