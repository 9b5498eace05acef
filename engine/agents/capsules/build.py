"""Building a capsule, once for all runs of this user."""

from __future__ import annotations

import subprocess
import threading

from engine.agents.capsules import store
from engine.agents.capsules.capsule import Capsule, CapsuleUnusable
from engine.agents.capsules.recipe import Say
from engine.agents.capsules.recipes import recipe_for


def build(tag: str, say: Say) -> Capsule:
    """The capsule with this tag, built if it isn't there; takes minutes where it downloads. Several builders at once
    build it once. Blocks: call it from a thread.

    Raises CapsuleUnusable, also for one that is there and isn't what it was when it was built.
    """
    recipe = recipe_for(tag)
    with store.locked(tag, lambda: say(f"capsule {tag} is being built by another trial or command: wait for it")):
        if (found := store.find(tag, whole=True)) is not None:
            return found
        say(f"build capsule {tag}: {recipe.summary}")
        with store.draft(tag) as aside:
            folder = aside / "capsule"
            folder.mkdir()
            try:
                contents = recipe.make(tag, folder, say)
                return store.keep(tag, folder, contents)
            except OSError as error:
                raise CapsuleUnusable(
                    f"capsule {tag} can't be built: {error.filename or aside}: {error.strerror or error}"
                ) from None
            except subprocess.TimeoutExpired as error:
                words = error.cmd if isinstance(error.cmd, str) else " ".join(map(str, error.cmd[:3]))
                raise CapsuleUnusable(
                    f"capsule {tag} can't be built: `{words} …` did not end within {error.timeout:.0f} s"
                ) from None


_checked: set[str] = set()
_checking = threading.Lock()


def find_or_build(tag: str, say: Say) -> Capsule:
    """As `build`, but every file of one that is there is read once in this process only; then names, modes and sizes
    are compared."""
    with _checking:
        found = store.find(tag, whole=tag not in _checked)
        if found is not None:
            _checked.add(tag)
    return found if found is not None else build(tag, say)
