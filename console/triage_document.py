"""A run's triage as a versioned JSON document, and as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

from console.triage_facts import Triage
from engine.analysis.safe_cell import safe_cell
from engine.text import clean, clean_line
from engine.triage.agreement import agreements
from engine.triage.asymmetry import asymmetries, causes_by_arm, proposals_by_arm
from engine.triage.labels import Label
from engine.triage.proposal import Proposal
from engine.triage.queue import QueueItem

SCHEMA = "trialdeck.triage/1"
CSV_COLUMNS = (
    "trial",
    "task",
    "arm",
    "attempt",
    "state",
    "kind",
    "reason",
    "proposed",
    "strength",
    "rules",
    "evidence",
    "decided",
    "your_cause",
    "settled_cause",
    "disagreed",
)


def triage_document(triage: Triage, items: list[QueueItem]) -> dict[str, Any]:
    """In blind mode trials are named by their cases, and nothing tells their arm."""
    plan = triage.state.plan
    return {
        "schema": SCHEMA,
        "run": {
            "folder": str(triage.run.folder),
            "kind": triage.run.kind,
            "identity": triage.identity,
            "name": triage.text(clean_line(plan.name)) if plan is not None else "",
        },
        "viewer": triage.viewer,
        "blind": triage.blindfold is not None,
        "labels_file": str(triage.store.path),
        "problems": [clean_line(problem) for problem in triage.problems],
        "queue": [_item(triage, item) for item in items],
        "summary": summary(triage),
    }


def summary(triage: Triage) -> dict[str, Any]:
    labels = triage.book.as_analysis_labels(triage.state)
    arms = causes_by_arm(triage.state, labels)
    proposed = proposals_by_arm(triage.state, {trial: found.cause for trial, found in triage.proposals.items()})
    hidden = triage.blindfold is not None
    return {
        "decided": triage.decided,
        "queue": len(triage.items),
        "arms": None
        if hidden
        else [
            {
                "arm": arm.arm,
                "assigned": arm.assigned,
                "failures": arm.failures,
                "undecided": arm.undecided,
                "proposed": {str(cause): count for cause, count in sorted(proposed[arm.arm].items())},
                "causes": {
                    str(cause): {
                        "count": count,
                        "of_assigned": arm.of_assigned(cause),
                        "of_failures": arm.of_failures(cause),
                    }
                    for cause, count in sorted(arm.causes.items())
                },
            }
            for arm in arms
        ],
        "asymmetries": None
        if hidden
        else [
            {
                "cause": str(each.cause),
                "arms": [each.a, each.b],
                "counts": [each.count_a, each.count_b],
                "p": each.p,
                "p_holm": each.adjusted,
                "looked_at": each.looked_at,
                "flagged": each.flagged,
            }
            for each in asymmetries(arms)
        ],
        "agreement": [
            {
                "people": [each.a, each.b],
                "n": each.n,
                "agreed": each.agreed,
                "kappa": each.kappa,
                "why_undefined": each.why or None,
            }
            for each in agreements(triage.book)
        ],
        "disagreements": [triage.name(trial) for trial in triage.book.disagreements(triage.viewer)],
    }


def triage_csv(triage: Triage, items: list[QueueItem]) -> str:
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(CSV_COLUMNS)
    for item in items:
        found = _item(triage, item)
        proposal = item.proposal
        cells = {
            **found,
            "proposed": found["proposal"]["cause"],
            "strength": found["proposal"]["strength"],
            "rules": " ".join(finding.rule for finding in proposal.findings) if proposal is not None else "",
            "evidence": "; ".join(
                f"{each['file']}:{each['line']}"
                for finding in found["proposal"]["findings"]
                for each in finding["evidence"]
                if each["file"]
            ),
            "your_cause": (found["label"] or {}).get("cause"),
            "settled_cause": (found["settled"] or {}).get("cause"),
        }
        rows.writerow([_cell(cells[name]) for name in CSV_COLUMNS])
    return out.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return safe_cell(str(value))


def _item(triage: Triage, item: QueueItem) -> dict[str, Any]:
    trial = triage.state.trials[item.trial]
    own = triage.book.of(item.trial, triage.viewer)
    settled = triage.book.settled(item.trial)
    return {
        "case": item.case,
        "trial": triage.name(item.trial),
        "task": trial.task,
        "arm": None if triage.blindfold is not None else trial.arm,
        "attempt": trial.attempt,
        "state": trial.state,
        "kind": str(item.kind),
        "reason": triage.text(clean_line(item.reason)),
        "proposal": _proposal(triage, item.proposal),
        "decided": item.decided,
        "skipped": item.skipped,
        "label": _label(triage, own),
        "settled": _label(triage, settled),
        "others": {clean_line(who): _label(triage, label) for who, label in triage.others(item.trial).items()},
        "disagreed": item.disagreed,
    }


def _proposal(triage: Triage, proposal: Proposal | None) -> dict[str, Any]:
    if proposal is None:
        return {"cause": None, "strength": None, "findings": []}
    return {
        "cause": proposal.cause and str(proposal.cause),
        "strength": str(proposal.strength) if proposal.cause is not None else None,
        "findings": [
            {
                "rule": finding.rule,
                "cause": str(finding.cause),
                "strength": str(finding.strength),
                "text": triage.text(clean_line(finding.text)),
                "source": triage.text(clean_line(finding.source)),
                "step": finding.step or None,
                "evidence": [
                    {
                        "label": triage.text(clean_line(each.label)),
                        "text": triage.text(clean(each.text, 2_000)),
                        "file": triage.text(clean_line(each.file)),
                        "line": each.line,
                    }
                    for each in finding.evidence
                ],
            }
            for finding in proposal.findings
        ],
    }


def _label(triage: Triage, label: Label | None) -> dict[str, Any] | None:
    if label is None:
        return None
    return {
        "who": clean_line(label.who),
        "at": label.at.isoformat(),
        "cause": str(label.cause),
        "note": triage.text(clean(label.note)),
        "blind": label.blind,
        "imported": label.imported,
    }
