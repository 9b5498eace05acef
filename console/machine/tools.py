"""Programs that the test suite and the demo need and that a bare machine may lack."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from console.machine import apt
from console.machine.privilege import privilege
from console.machine.progress import Progress
from console.machine.trouble import Trouble

TEST_TOOLS = {"git": "git", "tmux": "tmux"}
"""Each program's name, and the package that it's in on Debian and Ubuntu."""


def missing_packages(tools: Mapping[str, str]) -> list[str]:
    return [package for program, package in tools.items() if shutil.which(program) is None]


def ensure_tools(progress: Progress, tools: Mapping[str, str] = TEST_TOOLS) -> None:
    """Install the missing ones with apt. Where that can't be done it's said; whoever needs them tells the rest."""
    packages = missing_packages(tools)
    if not packages:
        return
    listed = " ".join(packages)
    act = privilege() if apt.has_apt() else None
    if act is None:
        progress.say(f"missing here: {listed}; what needs it will not work. Install it as this system does it.")
        return
    progress.say(f"Missing here: {listed}. ./dev will install it with apt.")
    try:
        act.unlock()
        apt.Apt(act, progress).install(packages)
    except Trouble as trouble:
        progress.say(str(trouble))
