"""What a person sees of a model that doesn't answer, while a program in `main` asks it again and again."""

from __future__ import annotations

from collections.abc import Callable

from engine.models.gateway_call import GatewayCall
from engine.models.model_call import ModelFailure
from engine.models.retries import why_words


class GatewayActivity:
    """Counts failures in a row; the program's own tries aren't known to anybody else."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._failed = 0
        self._last: ModelFailure | None = None

    def begins(self) -> None:
        if self._last is not None:
            self._tell(f"model: {why_words(self._last)}, try {self._failed + 1}")

    def ends(self, call: GatewayCall) -> None:
        if call.hung_up:
            return
        if call.failure is not None:
            self._failed += 1
            self._last = call.failure
            again = "once" if self._failed == 1 else f"{self._failed} times in a row"
            self._tell(f"model: {why_words(self._last)}, {again}")
        elif self._failed:
            self._failed, self._last = 0, None
            self._tell("model: answers again")
