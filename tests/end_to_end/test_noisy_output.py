"""Real containers: nothing is read out of what a command prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.deck import only_run, state_of, trial_of, trialdeck
from tests.end_to_end.small_tasks import DOCKERFILE, small_task

pytestmark = pytest.mark.docker


def test_cases_34_and_49_noise_and_interleaved_streams_change_no_verdict(tmp_path: Path) -> None:
    """An error before every command (34) hides nothing; each stream keeps its order (49)."""
    small_task(
        tmp_path / "noise",
        toml='[environment]\nenv = { BASH_ENV = "/etc/noisy.sh" }\n',
        solve="for i in 1 2 3; do echo out$i; echo err$i >&2; done; touch /app/done\n",
        test="[ -f /app/done ] && echo 1 > /logs/verifier/reward.txt\n",
        environment__Dockerfile=DOCKERFILE + 'RUN echo "source /opt/missing/conda.sh" > /etc/noisy.sh\n',
    )
    answer = trialdeck("run", "noise", "--agent", "oracle", "--plain", cwd=tmp_path)
    assert answer.returncode == 0, answer.stdout
    assert trial_of(state_of(only_run(tmp_path)), "noise").state == "passed"
    said = (only_run(tmp_path) / "noise__oracle__1" / "agent" / "oracle.txt").read_text().splitlines()
    assert any("/opt/missing/conda.sh" in line for line in said)
    assert [line for line in said if line.startswith("out")] == ["out1", "out2", "out3"]
    assert [line for line in said if line.startswith("err")] == ["err1", "err2", "err3"]
