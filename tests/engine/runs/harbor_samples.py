"""Records as the files of a Harbor job are made from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from engine.runs.harbor_records import AgentRecord, FailureRecord, JobRecord, Span, TrialRecord

NOON = datetime(2026, 3, 4, 12, 0, 0, tzinfo=UTC)

DIGEST = "sha256:" + "ab" * 32

ORACLE = AgentRecord(name="oracle", version="1")

REPLAY = AgentRecord(name="replay", arm="replay-b", model="acme/deep-1", parameters={"session": "b", "speed": 2})


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def span(start: float, end: float) -> Span:
    return Span(started_at=at(start), finished_at=at(end))


def job(folder: str = "/srv/runs/one", **changes: Any) -> JobRecord:
    plain = JobRecord(
        run_id="run-1",
        name="one",
        folder=folder,
        started_at=NOON,
        total_trials=5,
        agents=[ORACLE, REPLAY],
        concurrency=4,
    )
    return msgspec.structs.replace(plain, **changes)


def trial(name: str = "hello__1", **changes: Any) -> TrialRecord:
    plain = TrialRecord(
        task_name=name.split("__")[0],
        trial_name=name,
        task_path=f"/srv/tasks/{name.split('__')[0]}",
        task_digest=DIGEST,
        agent=ORACLE,
        dataset="samples",
        started_at=at(0),
        finished_at=at(9),
        environment_setup=span(0, 2),
        agent_setup=span(2, 3),
        agent_execution=span(3, 6),
        verifier=span(6, 8.5),
        verifier_mode="shared",
    )
    return msgspec.structs.replace(plain, **changes)


def failure(kind: str = "AgentTimeoutError", *, counts: bool = False) -> FailureRecord:
    return FailureRecord(type=kind, message="no end after 8 s", occurred_at=at(6), reward_counts=counts)
