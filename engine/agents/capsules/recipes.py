"""The capsules that can be built here. A new one is a line more."""

from __future__ import annotations

from engine.agents.capsules import claude_code, codex, mini_swe_agent, node, python_v1, tmux
from engine.agents.capsules.capsule import CapsuleUnusable
from engine.agents.capsules.recipe import Recipe

RECIPES: tuple[Recipe, ...] = (
    tmux.RECIPE,
    node.RECIPE,
    python_v1.RECIPE,
    claude_code.RECIPE,
    codex.RECIPE,
    mini_swe_agent.RECIPE,
)


def recipe_for(tag: str) -> Recipe:
    """Raises CapsuleUnusable for a tag that nobody can build."""
    for recipe in RECIPES:
        if recipe.matches(tag):
            return recipe
    known = ", ".join(recipe.tag.replace("{version}", "VERSION") for recipe in RECIPES)
    raise CapsuleUnusable(f'there is no capsule "{tag}", and none can be built with that tag: known are {known}')
