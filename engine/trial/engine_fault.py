"""What an exception means that no phase explains: the host ran out of something, or a fault of ours."""

from __future__ import annotations

import errno
import traceback

from engine.issues import Code, Evidence, Issue, Phase, Severity


def engine_fault(error: Exception, phase: Phase | None) -> Issue:
    """The traceback is named as that of `exception.txt`, where the caller puts it; it never goes to a screen."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Issue(
            Severity.FATAL,
            phase,
            Code.DISK_FULL,
            f"no space left on the host's disk: {error.filename or error}",
            (Evidence("way out", "free space where the run folder lies, then `trialdeck resume`"),),
        )
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return Issue(
            Severity.FATAL,
            phase,
            Code.OUT_OF_DESCRIPTORS,
            "the engine ran out of file descriptors",
            (Evidence("way out", "raise `ulimit -n` or lower --concurrency"),),
        )
    text = traceback_of(error)
    return Issue(
        Severity.FATAL,
        phase,
        Code.ENGINE_FAILED,
        f"the engine failed: {type(error).__name__}: {error}",
        (Evidence("traceback", text[-3000:], "exception.txt", 1),),
    )


def traceback_of(error: Exception) -> str:
    return "".join(traceback.format_exception(error))
