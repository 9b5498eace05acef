"""Files of folders that somebody else may have filled: what is no regular file is not opened, since a pipe in its place
would be waited for without an end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> int:
    """A descriptor to read from, to be closed by the caller. Raises OSError, also for a folder, a pipe, a device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except ValueError as error:  # a NUL in its name
        raise OSError(errno.ENOENT, str(error), str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return descriptor


def regular_file(path: Path) -> BinaryIO:
    """The same as a file object. Raises OSError."""
    return os.fdopen(open_regular(path), "rb")
