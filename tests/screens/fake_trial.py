"""A made-up trial with everything a trial screen can show: phases, issues with evidence, services, hooks, logs.

`python -m tests.screens.fake_trial FOLDER` writes the run for looking at; with `--live` its agent goes on writing.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from tests.screens import fake_run as fake
from tests.screens.fake_run import GIB, at

TRIAL = fake.trial_id(2, "sonnet-5.5", 1)
SIMPLE = fake.trial_id(7, "sonnet-5.5", 1)
STEPS = fake.trial_id(8, "sonnet-5.5", 1)
HOSTILE_TEXT = "exit status [/bin/sh -c x] [/red] \x1b[2J\x1b]52;c;AAAA\x07\x9b31m\x00 [@click=app.quit]x[/]"

HOOK_LOG = (
    'hook 1 on db: pg_dump -Fc shop > /out/shop.dump\npg_dump: error: no such table "orders"\nexit 3 after 0.4 s\n'
)


def story() -> list[ev.Event]:
    """Its present is `at(13_251)`; the trial collects since a minute."""
    issues = [
        Issue(
            severity=Severity.WARNING,
            phase=Phase.AGENT,
            code=Code.KILLED_UNKNOWN,
            message="a command ended with 137 and nothing says why",
            service="main",
            evidence=(Evidence("exit", "137 at 1:02:11", "logs/services/main.log", 3),),
        ),
        Issue(
            severity=Severity.ERROR,
            phase=Phase.COLLECT,
            code=Code.ARTIFACT_COLLECT_FAILED,
            message="pg_dump -Fc shop > /out/shop.dump  exit 3 after 0.4 s",
            service="db",
            evidence=(
                Evidence("output", 'pg_dump: error: no such table "orders"', "logs/hooks.log", 2),
                Evidence("command", "pg_dump -Fc shop \\\n  > /out/shop.dump"),
            ),
        ),
    ]
    return [
        *fake.plan(12),
        ev.EngineStarted(at=fake.START, pid=1, host="bench", session=1),
        ev.TrialStarted(at=at(10), trial=TRIAL, project="trialdeck-live-database-cutover-5f3a"),
        ev.PhaseStarted(at=at(10), trial=TRIAL, phase=Phase.PREPARE, limit_sec=600.0),
        ev.ServiceChanged(at=at(30), trial=TRIAL, service="db", state="healthy"),
        ev.ServiceChanged(at=at(35), trial=TRIAL, service="main", state="running"),
        ev.PhaseFinished(at=at(41), trial=TRIAL, phase=Phase.PREPARE, seconds=31.2),
        ev.PhaseStarted(at=at(41), trial=TRIAL, phase=Phase.AGENT, limit_sec=28_800.0),
        ev.AgentStepped(
            at=at(13_100), trial=TRIAL, number=214, tokens_in=1_840_211, tokens_cached=1_602_000, tokens_out=48_102,
            cost_usd=4.18,
        ),
        ev.IssueRaised(at=at(3_731), trial=TRIAL, issue=issues[0]),
        ev.AgentFinished(at=at(13_159), trial=TRIAL, exit_code=0, seconds=13_118.0),
        ev.PhaseFinished(at=at(13_159), trial=TRIAL, phase=Phase.AGENT, seconds=13_118.0),
        ev.FilesChanged(at=at(13_160), trial=TRIAL, added=12, changed=4, deleted=1),
        ev.PhaseStarted(at=at(13_200), trial=TRIAL, phase=Phase.COLLECT, limit_sec=120.0),
        ev.ActivityChanged(at=at(13_239), trial=TRIAL, activity="hook 2/3"),
        ev.HookFinished(
            at=at(13_201), trial=TRIAL, number=1, of=3, service="db", command="pg_dump -Fc shop > /out/shop.dump",
            exit_code=3, seconds=0.4, output='pg_dump: error: no such table "orders"\n',
        ),
        ev.IssueRaised(at=at(13_201), trial=TRIAL, issue=issues[1]),
        ev.ArtifactRecorded(at=at(13_240), trial=TRIAL, service="db", source="/out/shop.dump", status="missing"),
        ev.ArtifactRecorded(
            at=at(13_241), trial=TRIAL, service="main", source="/app/report.md", status="collected", bytes=18_442
        ),
        ev.ResourceSampled(
            at=at(13_250), trial=TRIAL, service="db", cpu_percent=4, cpu_limit=200, memory_bytes=int(0.6 * GIB),
            memory_limit=8 * GIB,
        ),
        ev.ResourceSampled(
            at=at(13_250), trial=TRIAL, service="main", cpu_percent=1, cpu_limit=200, memory_bytes=int(1.9 * GIB),
            memory_limit=2 * GIB,
        ),
    ]  # fmt: skip


def simple_trial() -> list[ev.Event]:
    """Over and passed, without a single issue."""
    return [*fake.begun(SIMPLE, 100), *fake.ended(SIMPLE, 400, True)]


def step_trial() -> list[ev.Event]:
    """Three steps; the second one's verifier failed."""
    found: list[ev.Event] = [ev.TrialStarted(at=at(100), trial=STEPS)]
    when = 100.0
    for step, phases in (
        ("", ((Phase.PREPARE, 4.0),)),
        ("schema", ((Phase.AGENT, 60.0), (Phase.COLLECT, 1.0), (Phase.VERIFY, 5.0))),
        ("backfill", ((Phase.AGENT, 240.0), (Phase.COLLECT, 2.0), (Phase.VERIFY, 31.0))),
        ("cutover", ((Phase.AGENT, 90.0), (Phase.COLLECT, 1.0), (Phase.VERIFY, 8.0))),
        ("", ((Phase.CLEANUP, 1.5),)),
    ):
        for phase, seconds in phases:
            found.append(ev.PhaseStarted(at=at(when), trial=STEPS, phase=phase, step=step))
            when += seconds
            ok = not (step == "backfill" and phase is Phase.VERIFY)
            found.append(ev.PhaseFinished(at=at(when), trial=STEPS, phase=phase, step=step, seconds=seconds, ok=ok))
    finished = ev.TrialFinished(
        at=at(when), trial=STEPS, outcome="scored", reward=0.5, passed=False, seconds=when - 100
    )
    return [*found, finished]


def hostile_trial(trial: str) -> list[ev.Event]:
    """Whatever a task can name, it names with control characters and markup."""
    evidence = Evidence(HOSTILE_TEXT, f"{HOSTILE_TEXT}\nsecond {HOSTILE_TEXT}", "../../../etc/passwd", 3)
    issue = Issue(
        severity=Severity.ERROR,
        phase=Phase.COLLECT,
        code=Code.ARTIFACT_COLLECT_FAILED,
        message=HOSTILE_TEXT,
        service=HOSTILE_TEXT,
        evidence=(evidence,),
    )
    return [
        *fake.begun(trial, 100),
        ev.ActivityChanged(at=at(140), trial=trial, activity=HOSTILE_TEXT),
        ev.ServiceChanged(
            at=at(150), trial=trial, service=HOSTILE_TEXT, state=HOSTILE_TEXT, detail=HOSTILE_TEXT, exit_code=1
        ),
        ev.HookFinished(
            at=at(160), trial=trial, number=1, of=1, service=HOSTILE_TEXT, command=HOSTILE_TEXT, exit_code=1,
            seconds=1, output=HOSTILE_TEXT, step=HOSTILE_TEXT,
        ),
        ev.ArtifactRecorded(
            at=at(170), trial=trial, service=HOSTILE_TEXT, source=HOSTILE_TEXT, status=HOSTILE_TEXT, note=HOSTILE_TEXT,
            step=HOSTILE_TEXT,
        ),
        ev.RewardRecorded(at=at(180), trial=trial, reward=0.5, rewards={HOSTILE_TEXT: 0.5, "b": 1}, step=HOSTILE_TEXT),
        ev.IssueRaised(at=at(190), trial=trial, issue=issue),
    ]  # fmt: skip


def write_logs(trial_folder: Path, lines: int = 60) -> None:
    for name, text in {
        "agent/terminus2.txt": "".join(
            f"[{number:03}] $ psql -c 'select count(*) from orders_{number}'\n count\n-------\n {number * 37}\n"
            for number in range(lines)
        ),
        "logs/services/main.log": "boot\nready\nsignal: killed (137)\nrestart\n",
        "logs/services/db.log": "".join(f"LOG:  checkpoint complete: wrote {n} buffers\n" for n in range(lines)),
        "logs/hooks.log": HOOK_LOG,
        "logs/build.log": "Step 1/4 : FROM debian:bookworm-slim\n",
        "trial.log": "12:00:10 prepare\n12:00:41 agent\n15:40:00 collect\n",
    }.items():
        path = trial_folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write(folder: Path) -> Path:
    """A run with all these trials, its engine alive."""
    fake.write(folder, [*story(), *simple_trial(), *step_trial()])
    write_logs(folder / TRIAL)
    write_logs(folder / SIMPLE, lines=3)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--live", action="store_true")
    given = parser.parse_args()
    write(given.folder)
    number = 0
    while given.live:
        with (given.folder / TRIAL / "agent" / "terminus2.txt").open("a") as log:
            log.write(f"[{number}] still here\n")
        number += 1
        time.sleep(0.4)


if __name__ == "__main__":
    main()
