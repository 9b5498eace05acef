"""Names of steps: each is a folder name under `steps/`, here and in the run folder, on any host."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from engine.tasks.toml_table import TableReader

_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_DEVICE = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[1-9¹²³])", re.IGNORECASE)
_LONGEST = 255  # bytes, what common file systems allow


def check_step_names(reader: TableReader, names: Sequence[str]) -> None:
    """Raises TaskInvalid for a name that is unsafe as a folder name, and for two that some file system
    takes for one.
    """
    seen: dict[str, str] = {}
    for index, name in enumerate(names):
        key = f"steps[{index}].name"
        if reason := _unsafe(name):
            raise reader.invalid(key, f'"{name}" is no safe folder name: {reason}')
        folded = unicodedata.normalize("NFC", name).casefold()
        if folded in seen:
            raise reader.invalid(key, f'"{name}" is taken already, by the step "{seen[folded]}"')
        seen[folded] = name


def _unsafe(name: str) -> str:
    if not name.strip():
        return "it is empty"
    if name in (".", ".."):
        return "it stands for another folder"
    if _FORBIDDEN.search(name):
        return 'it holds a path separator, a control character or one of <>:"|?*'
    if name.endswith((".", " ")):
        return "it ends with a dot or a space"
    if _DEVICE.fullmatch(name.partition(".")[0].rstrip(" ")):
        return "it is the name of a device on Windows"
    if len(name.encode()) > _LONGEST:
        return f"it is longer than {_LONGEST} bytes"
    return ""
