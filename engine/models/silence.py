"""An answer that says nothing."""

from __future__ import annotations

from engine.issues import Code
from engine.models.heard import Heard
from engine.models.model_call import ModelFailure, Stop
from engine.text import clean_line

_MOST_WORDS = 300


def silence(heard: Heard) -> ModelFailure | None:
    """An answer with nothing in it that cost the model no word: the server's doing, not the model's."""
    if heard.text.strip() or heard.reasoning.strip() or heard.stop not in (Stop.END, Stop.OTHER):
        return None
    written = next((heard.usage[key] for key in ("output_tokens", "completion_tokens") if heard.usage.get(key)), 0)
    if written:
        return None
    words = f"the answer is empty: no text and no tokens written (it stopped with: {heard.stop_word or 'nothing said'})"
    return ModelFailure(code=Code.MODEL_FAILED, words=clean_line(words, _MOST_WORDS), status=200, retryable=True)
