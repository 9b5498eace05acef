"""What every test of a screen is run with: Textual's event loop, and clock times that are the same everywhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from tests.screens.quiet import BOUND_SEC, notices_that_stay, pilots_wait_until_quiet


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with pilots_wait_until_quiet(), notices_that_stay():
        yield


@pytest.fixture(autouse=True)
def nothing_is_written_later(own_places: None) -> Iterator[None]:
    """What an app still writes down in threads once it is closed goes where its test's things are."""
    yield
    for thread in threading.enumerate():
        if thread.name == "remember a run" or thread.name.startswith(("keep ", "labels of ")):
            thread.join(BOUND_SEC)
