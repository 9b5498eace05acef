"""A run's triage as lines for a person who has no screen, or wants none."""

from __future__ import annotations

from collections.abc import Iterator

from console.triage_facts import Triage
from engine.issues import Evidence
from engine.text import clean, clean_line
from engine.triage.agreement import agreements
from engine.triage.asymmetry import UNLIKELY, ArmCauses, asymmetries, causes_by_arm, proposals_by_arm
from engine.triage.causes import Cause
from engine.triage.proposal import Finding, Proposal, Strength
from engine.triage.queue import QueueItem

_DOT = {Strength.STRONG: "●", Strength.WEAK: "○"}


def queue_lines(triage: Triage, items: list[QueueItem]) -> list[str]:
    """The head, then a paragraph a trial."""
    lines = head_lines(triage)
    for item in items:
        lines += ["", *item_lines(triage, item)]
    if not triage.items:
        lines += ["", "nothing needs a decision: no failed, unscored or doubtful trial"]
    elif not items:
        lines += ["", "nothing is left to decide"]
    return lines


def head_lines(triage: Triage) -> list[str]:
    plan = triage.state.plan
    name = triage.text(clean_line(plan.name if plan is not None else triage.run.folder.name))
    blind = " · blind" if triage.blindfold is not None else ""
    lines = [f"triage   {name} ({triage.run.kind})   {triage.decided} of {len(triage.items)} decided{blind}"]
    lines[0] += f" · you: {triage.viewer}"
    people = [who for who in triage.book.people if who != triage.viewer]
    lines.append(f"labels   {triage.store.path}" + (f" · also by {', '.join(people)}" if people else ""))
    differ = triage.book.disagreements(triage.viewer)
    if differ:
        count = f"{len(differ)} trials" if len(differ) > 1 else "one trial"
        lines.append(f"differ   people disagree on {count}: --settle TRIAL CAUSE decides it")
    return lines + [f"!        {clean_line(problem)}" for problem in triage.problems]


def item_lines(triage: Triage, item: QueueItem) -> Iterator[str]:
    trial = triage.state.trials[item.trial]
    arm = "" if triage.blindfold is not None else f" · {trial.arm}"
    why = triage.text(clean_line(item.reason))
    yield f"{triage.name(item.trial)}   {trial.task} · attempt {trial.attempt}{arm}   {item.kind}: {why}"
    proposal = item.proposal
    if proposal is None or proposal.cause is None:
        yield "  proposed  nothing: no rule found a cause"
    else:
        yield f"  proposed  {proposal.cause}  ({weight(proposal)})"
    for number, finding in enumerate(proposal.findings if proposal is not None else (), 1):
        yield f"  {number:>2} {_DOT[finding.strength]} {finding_text(triage, finding)}"
    yield from _label_lines(triage, item)


def weight(proposal: Proposal) -> str:
    """How many rules speak for the proposed cause, and how strongly: "2 rules, strong"."""
    count = len({finding.rule for finding in proposal.findings if finding.cause is proposal.cause})
    return f"{count} rule{'s' if count != 1 else ''}, {proposal.strength}"


def finding_text(triage: Triage, finding: Finding) -> str:
    places = ", ".join(place for item in finding.evidence if (place := place_of(item)))
    jump = f"  → {places}" if places else ""
    return triage.text(clean_line(f"{finding.cause}: {finding.text}   [{finding.source}]{jump}"))


def place_of(evidence: Evidence) -> str:
    """`logs/services/db.log:112`; "" for evidence that lies in no file."""
    if not evidence.file:
        return ""
    return f"{evidence.file}:{evidence.line}" if evidence.line else evidence.file


def _label_lines(triage: Triage, item: QueueItem) -> Iterator[str]:
    book, viewer = triage.book, triage.viewer
    settled = book.settled(item.trial)
    if settled is not None:
        yield f"  settled   {settled.cause} by {clean_line(settled.who)}{_note(triage, settled.note)}"
    own = book.of(item.trial, viewer)
    if own is not None:
        yield f"  you       {own.cause}{_note(triage, own.note)}"
    elif item.skipped:
        yield "  you       skipped"
    for who, label in triage.others(item.trial).items():
        yield f"  {clean_line(who):<9} {label.cause}{_note(triage, label.note)}"
    if item.disagreed:
        yield "  !         people disagree, and nobody has settled it"


def _note(triage: Triage, note: str) -> str:
    return f"   “{triage.text(clean_line(clean(note), 300))}”" if note else ""


# --- the summary ------------------------------------------------------------------------------------------------------


def summary_lines(triage: Triage) -> list[str]:
    """The rate of each cause in each arm with its flag, agreement, disagreements."""
    lines = head_lines(triage)
    labels = triage.book.as_analysis_labels(triage.state)
    arms = causes_by_arm(triage.state, labels)
    lines += ["", *(_totals(arms) if triage.blindfold is not None else _rates(arms))]
    if triage.blindfold is None:
        lines += _proposed(triage)
    lines += ["", *_asymmetry_lines(triage, arms), "", *_agreement_lines(triage)]
    differ = triage.book.disagreements(triage.viewer)
    for trial in differ:
        said = ", ".join(f"{clean_line(who)} {label.cause}" for who, label in triage.book.standing(trial).items())
        lines.append(f"  {triage.name(trial)}   {said}")
    return lines


def _rates(arms: list[ArmCauses]) -> list[str]:
    width = max(len("of assigned, of failures"), *(len(arm.arm) for arm in arms), 0) if arms else 0
    head = "".join(f"  {arm.arm:<{width}}" for arm in arms)
    lines = [f"{'cause':<16}{head}".rstrip()]
    lines.append(f"{'assigned':<16}" + "".join(f"  {arm.assigned:<{width}}" for arm in arms).rstrip())
    lines.append(f"{'failures':<16}" + "".join(f"  {arm.failures:<{width}}" for arm in arms).rstrip())
    for cause in Cause:
        cells = [
            f"{arm.causes.get(cause, 0)}  {_percent(arm.of_assigned(cause))}, {_percent(arm.of_failures(cause))}"
            for arm in arms
        ]
        if any(arm.causes.get(cause) for arm in arms):
            lines.append(f"{cause:<16}" + "".join(f"  {cell:<{width}}" for cell in cells).rstrip())
    lines.append(f"{'undecided':<16}" + "".join(f"  {arm.undecided:<{width}}" for arm in arms).rstrip())
    return [*lines, "", "rates: of assigned trials, then of failures; labels on passes count, too"]


def _proposed(triage: Triage) -> Iterator[str]:
    """What rules say of each arm: an asymmetry shows there before anybody has decided."""
    counts = proposals_by_arm(triage.state, {trial: found.cause for trial, found in triage.proposals.items()})
    for arm, found in counts.items():
        said = ", ".join(f"{cause} {found[cause]}" for cause in Cause if found[cause])
        yield f"rules propose for {arm}: {said or 'nothing'}"


def _totals(arms: list[ArmCauses]) -> list[str]:
    """Arms stay hidden: the sums only."""
    lines = [f"{'cause':<16}  all arms (blind: rates per arm are hidden)"]
    for cause in Cause:
        count = sum(arm.causes.get(cause, 0) for arm in arms)
        if count:
            lines.append(f"{cause:<16}  {count}")
    return [*lines, f"{'undecided':<16}  {sum(arm.undecided for arm in arms)}"]


def _asymmetry_lines(triage: Triage, arms: list[ArmCauses]) -> Iterator[str]:
    if triage.blindfold is not None:
        return
    found = asymmetries(arms)
    flagged = [each for each in found if each.flagged]
    for each in flagged:
        yield (
            f"! {each.cause} strikes the arms unequally: {each.count_a} in {each.a}, {each.count_b} in {each.b} "
            f"(exact p {each.p:.3g}, {each.adjusted:.3g} adjusted for {each.looked_at} looked at)"
        )
    if found and not flagged:
        count = f"{len(found)} differences" if len(found) > 1 else "1 difference"
        yield (
            f"no asymmetry: {count} looked at, none less likely than {100 * UNLIKELY:g} % "
            f"by Fisher's exact test after Holm (smallest p {found[0].p:.3g})"
        )
    if not found:
        yield "no asymmetry to look for: nothing is labelled, or there is one arm only"


def _agreement_lines(triage: Triage) -> Iterator[str]:
    found = agreements(triage.book)
    if not found:
        yield "agreement: one person's labels so far, or none"
    for each in found:
        kappa = f"kappa {each.kappa:.2f}" if each.kappa is not None else f"kappa undefined: {each.why}"
        yield f"agreement of {clean_line(each.a)} and {clean_line(each.b)}: {each.agreed} of {each.n} alike, {kappa}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
