"""How many trials at once the limit on open files allows, so that none fails for want of a descriptor."""

from __future__ import annotations

import resource

DESCRIPTORS_PER_TRIAL = 24
DESCRIPTORS_OF_OURS = 64
WANTED_DESCRIPTORS = 65536
WAY_OUT = "raise `ulimit -n`"


def raise_limit() -> int:
    """Raise this process's limit on open files as far as it goes; returns what it is then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, WANTED_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def trials_within(limit: int) -> int:
    """At least one: a run that can't have even that fails with its own words."""
    return max(1, (limit - DESCRIPTORS_OF_OURS) // DESCRIPTORS_PER_TRIAL)


def more_than_fit(wanted: int, now: int) -> str:
    """Why a run that goes on can't have so many trials at once from now on; "" where it can. Fewer than now always."""
    limit = raise_limit()
    fits = trials_within(limit)
    if wanted <= max(fits, now):
        return ""
    return f"only {limit} files may be open, enough for {fits} trials at once, not for {wanted}: {WAY_OUT}, then resume"
