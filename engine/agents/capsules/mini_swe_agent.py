"""`mini-swe-agent-<version>`: mini-swe-agent with a Python of its own and everything it imports, from PyPI, by pip.

Its packages are those of one resolution, pinned in a file beside this one, whatever version of the agent is asked for:
what it needs in order to run its benchmarks is left out, which is most of it.
"""

from __future__ import annotations

import platform
import re
import shutil
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

from engine.agents.capsules.capsule import CapsuleUnusable, Contents, place_of
from engine.agents.capsules.pip_download import install_wheels
from engine.agents.capsules.python_v1 import PYTHON, packages_of, put_python
from engine.agents.capsules.recipe import Recipe, Say

PACKAGE = "mini-swe-agent"
VERSION = "2.4.6"
"""The version that is taken where none is asked for."""
_PREFIX = f"{PACKAGE}-"
PACKAGES = Path(__file__).with_name("mini_swe_agent_packages.txt")
_NOT_NEEDED = frozenset({"datasets"})
_UNUSED = ("bin", "litellm/proxy/_experimental/out")
"""Programs that name an interpreter of this machine, and the web pages of a server that is never started."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def tag_of(version: str) -> str:
    return f"{_PREFIX}{version}"


def _make(tag: str, folder: Path, say: Say) -> Contents:
    version = RECIPE.version_in(tag)
    site = packages_of(folder)
    with tempfile.TemporaryDirectory(prefix="pip-", dir=folder.parent) as aside:
        wanted = Path(aside) / "wanted.txt"
        wanted.write_text(f"{PACKAGES.read_text()}{PACKAGE}=={version}\n")
        say(f"download {PACKAGE} {version} and the packages it needs (100 MB)")
        install_wheels(f"{PACKAGE} {version}", wanted, site)
    for path in _UNUSED:
        shutil.rmtree(site / path, ignore_errors=True)
    missing = missing_packages(site)
    if missing:
        raise CapsuleUnusable(
            f"{PACKAGE} {version} needs {', '.join(missing)}, which this trialdeck's capsules don't hold: take "
            f"another version ({VERSION} works), or let it be installed in the container (install=pip)"
        )
    program = put_python(folder, place_of(tag), say)
    return Contents(versions={PACKAGE: version, "python": platform.python_version()}, programs={PYTHON: program})


def missing_packages(site: Path) -> list[str]:
    """What the agent's own package asks for and isn't there."""
    there: dict[str, Distribution] = {
        _plain(found.metadata["Name"]): found for found in distributions(path=[str(site)])
    }
    missing = []
    for line in there[PACKAGE].requires or []:
        needed, _, condition = line.partition(";")
        name = _NAME.match(needed.strip())
        if name is None or "extra" in condition or _plain(name[0]) in _NOT_NEEDED:
            continue
        if _plain(name[0]) not in there:
            missing.append(needed.strip())
    return missing


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


RECIPE = Recipe(
    tag=f"{_PREFIX}{{version}}",
    example=tag_of(VERSION),
    summary="mini-swe-agent with Python and the packages it needs, from PyPI",
    make=_make,
)
