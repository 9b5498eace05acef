"""A console that was stopped from outside and goes on: it takes the terminal anew, once.

At SIGCONT Textual starts to read the terminal, for it had ended that at SIGTSTP. SIGSTOP can't be seen coming: what
read before still does, keys are shared out among the two, and leaving waits for one of them, which waits for a key.
"""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import TYPE_CHECKING

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from console.app import TrialDeckApp


def go_on_when_continued(app: TrialDeckApp, loop: asyncio.AbstractEventLoop) -> None:
    loop.add_signal_handler(signal.SIGCONT, partial(_continued, app))


def _continued(app: TrialDeckApp) -> None:
    driver = app._driver
    if not isinstance(driver, LinuxDriver) or app.leaving.begun:
        return
    if driver._auto_restart and not driver._must_signal_resume:
        driver.exit_event.set()
        if driver._key_thread is not None:
            driver._key_thread.join()
        driver.suspend_application_mode()  # which throws away keys typed meanwhile where it ends the thread itself
        driver.exit_event.clear()
        driver._must_signal_resume = True  # so that all is painted anew, over whatever a shell wrote meanwhile
    driver._sigcont_application()
