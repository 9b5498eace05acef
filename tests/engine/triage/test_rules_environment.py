"""Infrastructure by the engine's and Docker's records; what a container says proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Evidence, Phase, Severity
from engine.triage.causes import Cause
from engine.triage.proposal import Strength
from tests.engine.run_events import at
from tests.engine.triage.trials import Run, ends, evidence, issue, prints, runs, says


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        (Code.PULL_FAILED, "image_pull"),  # case 5
        (Code.PULL_RATE_LIMITED, "image_pull"),
        (Code.BUILD_FAILED, "image_build"),
        (Code.SERVICE_UNHEALTHY, "health_check"),  # case 2
        (Code.HEALTHCHECK_FAILED, "health_check"),
        (Code.NAME_CONFLICT, "name_conflict"),  # case 4
        (Code.SERVICE_EXITED, "service_exited"),  # case 7
        (Code.ADDRESS_POOL_EXHAUSTED, "address_pool"),  # case 16
        (Code.DISK_FULL, "disk_full"),  # case 11
        (Code.OUT_OF_DESCRIPTORS, "out_of_descriptors"),  # case 73
        (Code.DAEMON_UNREACHABLE, "docker_unreachable"),
        (Code.START_TIMEOUT, "start_timeout"),  # case 35
    ],
)
def test_what_the_engine_booked_on_the_environment_is_infrastructure(run: Run, code: Code, rule: str) -> None:
    found = issue(code, severity=Severity.FATAL, evidence=(evidence("says so", "logs/build.log", 3),))
    run.trial(reward=None, issues=[found])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.INFRASTRUCTURE, Strength.STRONG)
    assert proposal.findings[0].rule == rule
    assert [(item.file, item.line) for item in proposal.findings[0].evidence] == [("logs/build.log", 3)]


def test_an_agent_that_somebody_paused_is_not_out_of_its_budget(run: Run) -> None:
    """Case 46: the limit was up, and the time was not the agent's."""
    paused = issue(Code.ENVIRONMENT_FAILED, "service main was paused while the trial was running")
    late = issue(Code.HARNESS_TIMEOUT, severity=Severity.WARNING)
    run.trial(reward=None, issues=[late, paused])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.INFRASTRUCTURE, Strength.STRONG)
    assert proposal.findings[0].rule == "environment_failed"


def test_a_name_that_docker_could_not_resolve_is_called_so(run: Run) -> None:
    said = evidence("dial tcp: lookup registry.example: Temporary failure in name resolution")
    run.trial(reward=None, issues=[issue(Code.PULL_FAILED, severity=Severity.FATAL, evidence=(said,))])
    assert run.propose().findings[0].rule == "dns"


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("E: Temporary failure resolving 'packages.example.org'", "dns"),
        ("curl: (60) SSL certificate problem: unable to get local issuer certificate", "tls"),
    ],
)
def test_an_agent_that_could_not_be_installed_for_the_network_is_not_to_blame(run: Run, said: str, rule: str) -> None:
    """Case 65."""
    run.trial(reward=None, issues=[issue(Code.AGENT_SETUP_FAILED, evidence=(evidence(said),))])
    proposal = run.propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.INFRASTRUCTURE, rule)
    assert run.found("agent_setup") is None


def test_a_server_of_the_task_that_was_not_there_is_no_fault_of_the_agent(run: Run) -> None:
    said = evidence("sums (failed)", "agent/claude_code.txt", 1)
    run.trial(issues=[issue(Code.MCP_SERVER_FAILED, "can't reach sums (failed)", evidence=(said,))])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.INFRASTRUCTURE, Strength.STRONG)
    assert (proposal.findings[0].rule, proposal.findings[0].evidence) == ("mcp_server", (said,))


def test_a_server_that_the_task_defines_wrongly_is_the_task_s_fault(run: Run) -> None:
    said = evidence("sums (failed)", "agent/claude_code.txt", 1)
    wrong = Evidence("the task's definition", "sums: its command /sums is not in main")
    run.trial(issues=[issue(Code.MCP_SERVER_FAILED, "can't reach sums (failed)", evidence=(said, wrong))])
    proposal = run.propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.TASK, "mcp_server")
    assert proposal.findings[0].text.endswith("; sums: its command /sums is not in main")


def _oom(service: str) -> ev.ServiceChanged:
    return ev.ServiceChanged(at=at(5), trial="t", service=service, state="oom", exit_code=137)


def test_docker_s_own_record_of_memory_is_strong(run: Run) -> None:
    """Case 17."""
    run.trial(events=[_oom("db")]).file("logs/services/db.log", "one\ntwo\n")
    found = run.found("out_of_memory")
    assert found is not None
    assert (found.cause, found.strength) == (Cause.INFRASTRUCTURE, Strength.STRONG)
    assert [(item.file, item.line) for item in found.evidence] == [("logs/services/db.log", 2)]


def test_the_issue_and_the_event_of_one_kill_are_one_finding(run: Run) -> None:
    run.trial(events=[_oom("main")], issues=[issue(Code.OUT_OF_MEMORY, service="main")])
    assert [finding.rule for finding in run.propose().findings].count("out_of_memory") == 1


def test_a_limit_that_others_lived_with_is_doubtful(run: Run) -> None:
    run.trial(events=[_oom("main")]).trial("u", 1.0, arm="o")
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.INFRASTRUCTURE, Strength.WEAK)
    found = run.found("memory_was_enough")
    assert found is not None
    assert found.cause is Cause.MODEL


def test_137_without_a_record_is_no_memory(run: Run) -> None:
    """Case 17: a plain kill."""
    killed = issue(Code.KILLED_UNKNOWN, severity=Severity.WARNING)
    run.trial(issues=[killed], events=[ev.AgentFinished(at=at(6), trial="t", exit_code=137, seconds=1)])
    found = run.found("killed_unknown")
    assert found is not None
    assert (found.cause, found.strength) == (Cause.AMBIGUOUS, Strength.WEAK)
    assert run.found("out_of_memory") is None


LOOK_ALIKES = """\
137
Killed
OOM
Out of memory: Killed process 1 (perl)
HTTP 429 Too Many Requests
no space left on device
could not find an available, non-overlapping IPv4 address pool
Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?
connection refused
{"type":"error","error":{"type":"overloaded_error","message":"529"}}
Temporary failure in name resolution
collected 0 items
"""


def test_words_in_logs_of_services_and_commands_prove_nothing(run: Run) -> None:
    """Case 25: a model can print all of it."""
    run.trial().session(runs("cat notes"), prints(LOOK_ALIKES), says(LOOK_ALIKES, "m2"), ends(result=LOOK_ALIKES))
    run.file("logs/services/main.log", LOOK_ALIKES).file("logs/hooks.log", LOOK_ALIKES)
    assert run.rules() == {"tests_failed"}


def test_the_task_s_own_text_proves_nothing(run: Run) -> None:
    asked = {"type": "user", "message": {"role": "user", "content": f"Fix what gives this:\n{LOOK_ALIKES}"}}
    run.trial().session(asked, says(), ends())
    assert run.rules() == {"tests_failed"}


def _died(
    code: Code = Code.SERVICE_DIED, service: str = "cache", message: str = "service cache ended"
) -> list[ev.Event]:
    return [ev.IssueRaised(at=at(5), trial="t", issue=issue(code, message, service=service))]


REFUSED = "Could not connect to Redis at cache:6379: Connection refused"


def test_a_service_that_died_under_the_agent_is_infrastructure(run: Run) -> None:
    """Case 8."""
    run.trial(events=_died()).session(
        runs("redis-cli get a", "m1"), prints("1", "m1"),
        runs("redis-cli get b", "m2"), prints(REFUSED, "m2"),
        runs("redis-cli get c", "m3"), prints(REFUSED, "m3"), ends(),
    )  # fmt: skip
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.INFRASTRUCTURE, Strength.STRONG)
    refused = run.found("refused_after_death")
    assert refused is not None
    assert (refused.step, refused.source, refused.strength) == (2, "steps 2–3", Strength.STRONG)
    assert (refused.evidence[0].file, refused.evidence[0].line) == ("agent/claude-code.txt", 4)


def test_refused_connections_without_a_dead_service_say_nothing(run: Run) -> None:
    run.trial().session(
        runs("curl a", "m1"), prints(REFUSED, "m1"), runs("curl b", "m2"), prints(REFUSED, "m2"), ends()
    )
    assert run.rules() == {"tests_failed"}


@pytest.mark.parametrize(
    ("code", "service", "command"),
    [
        (Code.ENVIRONMENT_DIED, "main", "kill -9 1"),
        (Code.ENVIRONMENT_DIED, "main", "cd / && rm -rf /bin /usr/bin"),
        (Code.SERVICE_DIED, "cache", "redis-cli -h cache shutdown nosave"),
    ],
)
def test_what_the_agent_ended_itself_is_the_models_doing(run: Run, code: Code, service: str, command: str) -> None:
    """Case 25: who killed it."""
    run.trial(events=_died(code, service)).session(runs(command), prints("", failed=True), ends())
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.MODEL, Strength.STRONG)
    assert proposal.findings[0].rule == "ended_by_agent"
    assert command in proposal.findings[0].evidence[0].text


@pytest.mark.parametrize("command", ["kill -9 12", "kill 1234", "rm -rf /app/bin", "pkill redis", "echo shutdowns"])
def test_commands_that_look_alike_end_no_service(run: Run, command: str) -> None:
    run.trial(events=_died()).session(runs(command), prints(""), ends())
    assert run.propose().cause is Cause.INFRASTRUCTURE


def test_a_service_that_died_for_its_memory_was_not_ended_by_a_command(run: Run) -> None:
    run.trial(events=_died(message="service cache ended for its memory limit")).session(
        runs("redis-cli shutdown"), prints(""), ends()
    )
    assert run.propose().cause is Cause.INFRASTRUCTURE


def test_a_volume_that_the_agent_filled_is_its_own_doing(run: Run) -> None:
    """Case 11: the second one is the model's problem."""
    run.trial().session(
        runs("head -c 3M /dev/zero > big"), prints("head: write error: No space left on device", failed=True), ends()
    )
    proposal = run.propose()
    assert proposal.cause is Cause.MODEL
    assert proposal.findings[0].rule == "own_volume_full"


def test_the_engines_own_full_disk_outranks_the_commands_that_met_it(run: Run) -> None:
    """Case 11: the first one is ours."""
    full = issue(Code.DISK_FULL, severity=Severity.ERROR, phase=Phase.COLLECT)
    run.trial(issues=[full]).session(
        runs("head -c 3M /dev/zero > big"), prints("head: write error: No space left on device", failed=True), ends()
    )
    assert run.propose().cause is Cause.INFRASTRUCTURE
    assert run.found("own_volume_full") is None


@pytest.mark.parametrize(
    "command",
    ["rm -rf build && cd / && ls", "grep -n reboot notes", "echo never halt here", "kill -9 12", "rm -rf /tmp/usr"],
)
def test_a_command_that_only_looks_like_one_that_ends_the_container_is_not_blamed(run: Run, command: str) -> None:
    """Case 25: the environment died, and not by this."""
    run.trial(events=_died(Code.ENVIRONMENT_DIED, "main")).session(runs(command), prints("", failed=True), ends())
    assert "ended_by_agent" not in run.rules()
    assert run.propose().cause is Cause.INFRASTRUCTURE


def test_a_kill_after_which_commands_still_worked_did_not_end_the_container(run: Run) -> None:
    """Case 25."""
    run.trial(events=_died(Code.ENVIRONMENT_DIED, "main")).session(
        runs("pkill -f server", "m1"), prints("", "m1"), runs("make", "m2"), prints("built", "m2"), ends()
    )
    assert "ended_by_agent" not in run.rules()
    assert run.propose().cause is Cause.INFRASTRUCTURE


def test_a_command_of_endless_arguments_is_looked_at_once_not_squared(run: Run) -> None:
    """Squared, this takes minutes, and the queue stands still for as long."""
    long = "rm -f x\n" * 60_000 + "cp a " * 60_000
    run.trial(events=_died(Code.ENVIRONMENT_DIED, "main")).session(runs(long), prints("", failed=True), ends())
    assert run.rules().isdisjoint({"ended_by_agent", "reward_by_agent"})


def test_an_exit_code_that_nobody_knows_speaks_weakly_for_the_environment(run: Run) -> None:
    """Case 32."""
    unknown = issue(Code.ENVIRONMENT_FAILED, "Docker gave no exit code", severity=Severity.WARNING)
    run.trial(issues=[unknown])
    proposal = run.propose()
    assert (proposal.cause, proposal.strength) == (Cause.INFRASTRUCTURE, Strength.WEAK)
    assert proposal.findings[0].rule == "environment_failed"
