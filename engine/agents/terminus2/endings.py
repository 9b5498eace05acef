"""How the work of terminus2 ends before the model says that it is done, as issues with their evidence."""

from __future__ import annotations

from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.models.conversation import Reply
from engine.models.model_call import ModelCallFailed, Stop
from engine.text import clean

_MOST_EVIDENCE = 2_000


class Over(Exception):
    """The work is over. `ended` is a word for it, `note` says it in a sentence."""

    def __init__(self, ended: str, note: str, *issues: Issue) -> None:
        super().__init__(note)
        self.ended = ended
        self.note = note
        self.issues = issues


def call_failed(failed: ModelCallFailed, calls_answered: int) -> Over:
    failure = failed.failure
    evidence = [Evidence("the server's or the connection's words", clean(failure.words, _MOST_EVIDENCE))]
    if failure.status is not None:
        evidence.append(Evidence("HTTP status", str(failure.status)))
    evidence.append(Evidence("tries", str(failed.tries)))
    after = f"after {calls_answered} answered calls" if calls_answered else "and none was answered before"
    times = f" {failed.tries} times" if failed.tries > 1 else ""
    note = f"a call of the model failed{times}, {after}: {failure.code}"
    return Over(failure.code, note, _issue(Severity.ERROR, failure.code, note, *evidence))


def limit_reached(words: str) -> Over:
    return Over(
        "limit",
        f"limit reached: {words}",
        _issue(Severity.WARNING, Code.AGENT_LIMIT_REACHED, f"the agent's own limit was reached: {words}"),
    )


def refused(reply: Reply) -> Over:
    filtered = reply.stop is Stop.FILTER
    note = "a content filter ended the model's answer" if filtered else "the model refused to go on"
    code = Code.MODEL_FILTERED if filtered else Code.MODEL_REFUSED
    said = (Evidence("what it said", clean(reply.text, _MOST_EVIDENCE)),) if reply.text.strip() else ()
    return Over(code, note, _issue(Severity.ERROR, code, note, *said))


def context_full(failed: ModelCallFailed | None, tokens: int, *, summarises: bool) -> Over:
    how = "also after the conversation was begun anew" if summarises else "and summarise=off"
    note = f"the model's context is full (about {tokens:,} tokens), {how}"
    words = (Evidence("the server's words", clean(failed.failure.words, _MOST_EVIDENCE)),) if failed else ()
    return Over(Code.MODEL_CONTEXT_FULL, note, _issue(Severity.ERROR, Code.MODEL_CONTEXT_FULL, note, *words))


def unreadable(times: int, why: str, reply: Reply, *, cut_off: bool) -> Over:
    code = Code.MODEL_CUT_OFF if cut_off else Code.MODEL_CALL_MALFORMED
    note = f"{times} answers in a row could not be read" + (
        ", the last was cut off by the output limit" if cut_off else ""
    )
    return Over(
        code,
        note,
        _issue(
            Severity.ERROR,
            code,
            f"{note}: {why}",
            Evidence("the last answer", clean(reply.text, _MOST_EVIDENCE) or "(empty)"),
        ),
    )


def some_cut_off(times: int, reply_text: str) -> Issue:
    return _issue(
        Severity.WARNING,
        Code.MODEL_CUT_OFF,
        f"{times} answer{'s were' if times > 1 else ' was'} cut off by the output limit; the model was told so",
        Evidence("the end of the last one", clean(reply_text[-_MOST_EVIDENCE:], _MOST_EVIDENCE) or "(empty)"),
    )


def cost_unknown(max_cost: float, calls: int) -> Issue:
    return _issue(
        Severity.WARNING,
        Code.MODEL_USAGE_ODD,
        f"max_cost={max_cost:g} could not be kept to: of {calls} call{'s' if calls > 1 else ''} the cost is unknown",
    )


def terminal_gone(words: str) -> Over:
    note = "the terminal ended before the agent said that it was done"
    return Over(
        "terminal_gone", note, _issue(Severity.WARNING, Code.HARNESS_INTERRUPTED, note, Evidence("tmux says", words))
    )


def terminal_silent(times: int, words: str) -> Over:
    note = f"tmux in main gave no answer in {times} turns in a row; whether the terminal still runs is unknown"
    return Over(
        "terminal_silent", note, _issue(Severity.ERROR, Code.HARNESS_FAILED, note, Evidence("the last answer", words))
    )


def _issue(severity: Severity, code: Code, message: str, *evidence: Evidence) -> Issue:
    return Issue(severity, Phase.AGENT, code, message, evidence)
