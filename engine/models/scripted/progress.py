"""Which turn of which script a request gets.

The conversation itself says how far it is: the answers that its history holds were turns, so a request made again gets
the same turn again, and any number of trials share one server. Only turns that leave no answer in a history (failures)
are counted here, per conversation.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict

from engine.models.scripted.asked import Asked
from engine.models.scripted.script import CutOff, Done, Empty, Filter, Malformed, Passing, Refuse, Script, Scripts, Turn

MOST_CONVERSATIONS = 2000

CALL_ID = "call_of_turn_"


def call_id(turn: int, serial: int) -> str:
    """The id of a call made in that turn: by it a turn is known again in a history."""
    return f"{CALL_ID}{turn}_{serial:06d}"


class Progress:
    """Counts of the latest conversations; the longest unused is forgotten first."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self._served: OrderedDict[str, Counter[int]] = OrderedDict()

    def script_for(self, asked: Asked, wanted: str) -> tuple[str, Script]:
        """The script named `wanted`, else the first whose marker the user's text holds, else the default one. An empty
        one where there is none."""
        scripts = self._scripts.scripts
        if wanted:
            return wanted, scripts.get(wanted, Script())
        for name, script in scripts.items():
            if script.marker and any(script.marker in words for words in asked.said):
                return name, script
        return self._scripts.default, scripts.get(self._scripts.default, Script())

    def next_turn(self, name: str, script: Script, asked: Asked, session: str) -> tuple[int, Turn]:
        """The turn and its number from 0. A turn that is over by count is used up by this."""
        served = self._counts(name, asked, session)
        kept = served[-1] if script.counted else _answers(script, asked)
        served[-1] += 1
        last: tuple[int, Turn] = (len(script.turns), Done(text="The script has no more turns."))
        for number, turn in enumerate(script.turns):
            if isinstance(turn, Passing):
                if script.counted:
                    kept -= min(served[number], kept)
                if kept == 0 and (turn.times == 0 or served[number] < turn.times):
                    served[number] += 1
                    return number, turn
                continue
            last = number, turn
            if kept == 0:
                return number, turn
            kept -= 1
        return last

    def _counts(self, name: str, asked: Asked, session: str) -> Counter[int]:
        first = asked.said[0] if asked.said else ""
        digest = hashlib.sha256("\0".join((name, asked.wire, session, asked.session, first)).encode()).hexdigest()
        counts = self._served.pop(digest, Counter())
        self._served[digest] = counts
        if len(self._served) > MOST_CONVERSATIONS:
            self._served.popitem(last=False)
        return counts


def _answers(script: Script, asked: Asked) -> int:
    """How many answers in the history were turns that stay. Those of passing turns, which a program may or may not
    keep, are known by their text or the id of their call."""
    passing = {number for number, turn in enumerate(script.turns) if isinstance(turn, Passing)}
    ids = {f"{CALL_ID}{number}_" for number in passing}
    texts = {
        turn.text.strip()
        for turn in script.turns
        if isinstance(turn, CutOff | Refuse | Filter | Malformed) and turn.text
    }
    nothing = any(isinstance(turn, Empty | Malformed) for turn in script.turns)
    kept = 0
    for spoken in asked.spoken:
        words = spoken.text.strip()
        if spoken.calls:
            kept += not any(call.startswith(tuple(ids)) for call in spoken.calls) if ids else 1
        elif words or not nothing:
            kept += words not in texts
    return kept
