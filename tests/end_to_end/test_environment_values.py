"""Real containers: values arrive as written, only allowed host variables, no network where none was asked for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.end_to_end.deck import only_run, state_of, trial_of, trialdeck
from tests.end_to_end.small_tasks import small_task

pytestmark = pytest.mark.docker

SECRET = "s3cr3t-$HOME-'quoted'-\"too\""
COMPOSE = 'services:\n  main:\n    environment: {SEEN: "${TD_SECRET:-not allowed}"}\n'


@pytest.mark.parametrize("compose", [False, True])
def test_values_arrive_as_written_and_stay_out_of_every_file(tmp_path: Path, compose: bool) -> None:
    """For a single container and for a Compose project: nobody on the way reads `$`, quotes and backslashes."""
    written = "a$b ${c} $$d \\ 'e' \"f\" `g`"
    files = {"environment__docker-compose_dot_yaml": COMPOSE} if compose else {}
    small_task(
        tmp_path / "values",
        toml="[environment]\nenv = { WRITTEN = '''" + written + "''', GIVEN = \"${TD_SECRET}\" }\n",
        test=(
            'printf %s "$WRITTEN" > /logs/artifacts/written; printf %s "$GIVEN" | sha256sum > /logs/artifacts/given\n'
            + ('printf %s "$SEEN" | sha256sum > /logs/artifacts/seen\n' if compose else "")
            + "cp -r /logs/artifacts/. /logs/verifier/; echo 1 > /logs/verifier/reward.txt\n"
        ),
        **files,
    )
    arguments = ("run", "values", "--agent", "oracle", "--plain", "--allow-host-env", "TD_SECRET")
    answer = trialdeck(*arguments, cwd=tmp_path, env={"TD_SECRET": SECRET})
    assert answer.returncode == 0, answer.stdout + answer.stderr
    logs = only_run(tmp_path) / "values__oracle__1" / "verifier"
    assert (logs / "written").read_text() == written
    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    assert (logs / "given").read_text().startswith(digest)
    if compose:
        assert (logs / "seen").read_text().startswith(digest)
    holding = [path for path in only_run(tmp_path).rglob("*") if path.is_file() and b"s3cr3t" in path.read_bytes()]
    assert holding == []
    assert "s3cr3t" not in answer.stdout + answer.stderr


def test_a_variable_that_was_not_allowed_refuses_the_task_by_name(tmp_path: Path) -> None:
    small_task(tmp_path / "asks", toml='[environment]\nenv = { KEY = "${TD_SECRET}" }\n')
    answer = trialdeck("run", "asks", "--agent", "oracle", "--plain", cwd=tmp_path, env={"TD_SECRET": SECRET})
    assert answer.returncode == 2
    assert "TD_SECRET" in answer.stderr and "--allow-host-env" in answer.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "compose", ["", "services:\n  web: {image: debian:bookworm-slim, init: true, command: [sleep, '60']}\n"]
)
def test_no_network_reaches_nothing_outside_but_its_own_services(tmp_path: Path, compose: str) -> None:
    files = {"environment__docker-compose_dot_yaml": compose} if compose else {}
    inside = "getent hosts web >/dev/null || ok=0\n" if compose else ""
    small_task(
        tmp_path / "closed",
        toml='[environment]\nnetwork_mode = "no-network"\n',
        test=f"ok=1\ngetent hosts example.org >/dev/null && ok=0\n{inside}echo $ok > /logs/verifier/reward.txt\n",
        **files,
    )
    answer = trialdeck("run", "closed", "--agent", "nop", "--plain", cwd=tmp_path)
    assert trial_of(state_of(only_run(tmp_path)), "closed").state == "passed", answer.stdout
