"""A model to talk to: the provider's SDK beneath, retries, counts and costs around it."""

from __future__ import annotations

import contextlib
import importlib
import logging
import random
import time
from collections.abc import Callable, Sequence

import anyio
import msgspec

from engine.issues import Code
from engine.models.answer_cost import answer_cost
from engine.models.conversation import ModelClient, Reply, Turn
from engine.models.failures import MOST_WORDS, failure_in_answer, failure_of_error
from engine.models.heard import Heard, heard_in
from engine.models.model_call import ModelCall, ModelCallFailed, ModelFailure, Stop
from engine.models.retries import Pacing, pause_before, retry_words
from engine.models.scrubbed import scrubbed_failure, secrets_of
from engine.models.settings import ModelInvalid, ModelSettings, Wire
from engine.models.silence import silence
from engine.models.speaking import Speaking, Unanswered
from engine.models.usage_of import usage_of
from engine.text import clean_line

CLOSE_SEC = 5.0
_MOST_NAME = 200
_LOGGERS = ("openai", "anthropic", "httpx", "httpcore", "httpx2", "httpcore2")


def connect(
    settings: ModelSettings,
    *,
    on_call: Callable[[ModelCall], None],
    activity: Callable[[str], None],
    first_number: Callable[[], int] | None = None,
    pacing: Pacing | None = None,
) -> ModelClient:
    """A client of one trial's model. Nothing is sent before the first question.

    `on_call` is told of every request that reached its end, failed tries included; `first_number` gives each its number
    (None: they are counted from 1). Raises ModelInvalid where the provider's SDK isn't installed.
    """
    speaking = _speaking(settings)
    # What SDKs log of a request holds its headers and the task's text, if a variable of the environment says so.
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    return _Client(
        settings,
        speaking,
        on_call=on_call,
        activity=activity,
        number=first_number,
        pacing=pacing or Pacing(clock=time.monotonic, chance=random.random),
    )


def load_sdk(wire: Wire) -> None:
    """Import what `connect` needs, which takes a second or two: in a thread, so that other trials go on meanwhile. Says
    nothing where it isn't installed; `connect` does."""
    module = "anthropic_speaking" if wire is Wire.ANTHROPIC else "openai_speaking"
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module(f"engine.models.{module}")


def _speaking(settings: ModelSettings) -> Speaking:
    try:
        if settings.wire is Wire.ANTHROPIC:
            from engine.models.anthropic_speaking import AnthropicSpeaking

            return AnthropicSpeaking(settings)
        from engine.models.openai_speaking import OpenAISpeaking

        return OpenAISpeaking(settings)
    except ModuleNotFoundError as error:
        if error.name not in ("openai", "anthropic"):
            raise
        raise ModelInvalid(
            f"model {settings.name}: protocol {settings.wire} needs the package {error.name}, which isn't installed: "
            "pip install 'trialdeck[models]'"
        ) from None


class _Client:
    def __init__(
        self,
        settings: ModelSettings,
        speaking: Speaking,
        *,
        on_call: Callable[[ModelCall], None],
        activity: Callable[[str], None],
        number: Callable[[], int] | None,
        pacing: Pacing,
    ) -> None:
        self._settings = settings
        self._speaking = speaking
        self._on_call = on_call
        self._activity = activity
        self._number = number
        self._pacing = pacing
        self._count = 0

    async def ask(self, turns: Sequence[Turn], *, system: str = "") -> Reply:
        started = self._pacing.clock()
        tries = 0
        while True:
            tries += 1
            try:
                reply = await self._once(turns, system, tries)
            except Unanswered as error:
                failure = error.failure
            else:
                if tries > 1:
                    self._activity(f"model: answered at try {tries}")
                return reply
            pause = pause_before(tries, failure, self._pacing.clock() - started, self._pacing)
            if pause is None:
                raise ModelCallFailed(failure, tries)
            self._activity(retry_words(failure, tries + 1, pause, self._pacing))
            await self._pacing.sleep(pause)
            self._activity(f"model: try {tries + 1} of {self._pacing.most_tries}")

    async def close(self) -> None:
        with anyio.move_on_after(CLOSE_SEC, shield=True):
            await self._speaking.close()

    async def _once(self, turns: Sequence[Turn], system: str, tries: int) -> Reply:
        """One request, told to `on_call`. Raises Unanswered, its words free of keys."""
        number = self._next_number()
        started = self._pacing.clock()
        heard, headers = Heard(), dict[str, str]()
        failure: ModelFailure | None
        try:
            answer = await self._speaking.ask(turns, system)
            heard, headers = heard_in(self._settings.wire, answer.body), dict(answer.headers)
            failure = failure_in_answer(self._settings.wire, answer.body) or silence(heard)
        except Unanswered as error:
            failure = error.failure
        except anyio.get_cancelled_exc_class():  # what it cost by then nobody will say
            spent, name = self._pacing.clock() - started, self._settings.name
            self._on_call(ModelCall(number=number, seconds=spent, path=self._speaking.path, model=name, hung_up=True))
            raise
        except Exception as error:
            failure = _of_error(error)
        if failure is not None:
            failure = scrubbed_failure(failure, secrets_of(self._settings))
        usage = usage_of(self._settings.wire, heard.usage)
        cost, source = answer_cost(self._settings.name, heard, usage, headers)
        call = ModelCall(
            number=number,
            seconds=self._pacing.clock() - started,
            path=self._speaking.path,
            model=clean_line(heard.model, _MOST_NAME) or self._settings.name,
            usage=usage,
            stop=heard.stop if heard.stop_word else None,
            cost_usd=cost,
            cost_source=source,
            failure=failure,
        )
        self._on_call(call)
        if failure is not None:
            raise Unanswered(failure)
        return Reply(
            text=heard.text,
            reasoning=heard.reasoning,
            # Nothing said, though something was written: no end that an agent may take for one.
            stop=Stop.OTHER if heard.stop is Stop.END and not heard.text.strip() else heard.stop,
            usage=usage,
            cost_usd=cost,
            cost_source=source,
            model=call.model,
            seconds=call.seconds,
            tries=tries,
        )

    def _next_number(self) -> int:
        self._count += 1
        return self._count if self._number is None else self._number()


def _of_error(error: Exception) -> ModelFailure:
    failure = failure_of_error(error)
    if failure.code is not Code.MODEL_UNREACHABLE or failure.retryable or isinstance(error, OSError):
        return failure
    # It was no connection that failed: an answer in nobody's form, or a question that the SDK wouldn't put.
    words = clean_line(f"{type(error).__name__}: {failure.words}", MOST_WORDS)
    return msgspec.structs.replace(failure, code=Code.MODEL_FAILED, words=words)
