"""One request on its way through the gateway, and what is told of it when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import msgspec

from engine.models.answer_cost import answer_cost
from engine.models.answer_reading import Read
from engine.models.heard import Heard
from engine.models.model_call import ModelCall, ModelFailure
from engine.models.scrubbed import scrubbed_failure, secrets_of
from engine.models.settings import ModelInvalid, ModelSettings, Wire
from engine.models.usage_of import usage_of
from engine.text import clean_line

MOST_REQUEST_COPY = 4 << 20
_MOST_NAME = 200


class _Asked(msgspec.Struct):
    model: str = ""


class GatewayCall:
    """What is known of a request so far; `over` gives it as a fact, once. `failure` is free of keys."""

    def __init__(self, settings: ModelSettings, wire: Wire, path: str, number: int) -> None:
        self._settings = settings
        self._wire = wire
        self._path = path
        self._number = number
        self._started = time.monotonic()
        self._request: bytearray | None = bytearray()
        self._failure: ModelFailure | None = None
        self._over = False
        self.heard = Heard()
        self.headers: Mapping[str, str] = {}
        self.hung_up = False
        self.answered = False
        """Its answer went to the program whole: who leaves then has not hung up."""

    def answer(self, read: Read) -> None:
        """All of it has passed."""
        self.heard, self.answered = read.heard, True
        if read.failure is not None:
            self.failed(read.failure)

    def left(self) -> None:
        """The program is gone, or the gateway closes."""
        self.hung_up = not self.answered

    @property
    def failure(self) -> ModelFailure | None:
        return self._failure

    def failed(self, failure: ModelFailure) -> ModelFailure:
        """The first failure counts; the words are given back as anybody may see them."""
        found = scrubbed_failure(failure, secrets_of(self._settings))
        self._failure = self._failure or found
        return found

    def asks(self, piece: bytes) -> None:
        """A piece of the request's body, looked at for the model's name."""
        if self._request is not None:
            if len(self._request) + len(piece) > MOST_REQUEST_COPY:
                self._request = None
            else:
                self._request += piece

    def over(self, on_call: Callable[[ModelCall], None]) -> None:
        if self._over:
            return
        self._over = True
        asked = self._asked_for()
        usage = usage_of(self._wire, self.heard.usage)
        try:
            cost, source = answer_cost(asked or self._settings.name, self.heard, usage, self.headers)
        except ModelInvalid:  # the user's price file was changed while the run goes on
            cost, source = None, None
        on_call(
            ModelCall(
                number=self._number,
                seconds=time.monotonic() - self._started,
                path=self._path,
                model=clean_line(self.heard.model or asked, _MOST_NAME) or self._settings.name,
                usage=usage,
                stop=self.heard.stop if self.heard.stop_word else None,
                cost_usd=cost,
                cost_source=source,
                failure=None if self.hung_up else self._failure,
                hung_up=self.hung_up,
                answer_began=bool(self.headers),
            )
        )

    def _asked_for(self) -> str:
        """The model that the request names: a program may ask a second one."""
        data, self._request = bytes(self._request or b""), None
        try:
            return msgspec.json.decode(data, type=_Asked).model
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return ""
