"""Whether Harbor can be used here, and how it is loaded without a word on the terminal."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from engine.agents.agent import AgentMissing

OLDEST_PYTHON = (3, 12)
WAY_OUT = "pip install 'trialdeck[harbor]' on Python 3.12+"
WRITTEN_FOR = "0.26.*"
_PRICES = "LITELLM_LOCAL_MODEL_COST_MAP"
"""Unless a person says otherwise, the model prices that LiteLLM brings along: fetching others would make every start
wait for somebody's server, and one run's costs differ from the next one's."""


def harbor_version() -> str:
    """ "" where Harbor isn't installed or can't run."""
    if sys.version_info < OLDEST_PYTHON or importlib.util.find_spec("harbor") is None:
        return ""
    try:
        return importlib.metadata.version("harbor")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def require_harbor(what: str) -> None:
    """Raises AgentMissing, which says how to get it."""
    if not harbor_version():
        here = ".".join(map(str, sys.version_info[:2]))
        raise AgentMissing(f"{what}: Harbor's agents are not here (this is Python {here}): {WAY_OUT}")


def load(module: str) -> ModuleType:
    """A module that needs Harbor. Takes seconds where LiteLLM comes along with it. Raises AgentMissing where this
    Harbor is not what ours was written for."""
    try:
        with quietly():
            return importlib.import_module(module)
    except (ImportError, AttributeError) as error:
        raise AgentMissing(
            f"Harbor {harbor_version()} doesn't fit, {WRITTEN_FOR} does (pip install 'harbor=={WRITTEN_FOR}'): {error}"
        ) from None


@contextmanager
def quietly() -> Iterator[None]:
    """Around whatever may import a part of Harbor. Its words of warning go to no terminal: what matters of them is an
    error that we show."""
    logger = logging.getLogger("harbor")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    theirs = os.environ.get(_PRICES)
    if theirs is None and "litellm" not in sys.modules:
        os.environ[_PRICES] = "True"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if theirs is None:
            os.environ.pop(_PRICES, None)
