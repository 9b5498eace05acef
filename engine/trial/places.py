"""The engine's own folders inside a container, made and emptied."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from engine.environments.environment import Environment
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.tasks.task import MAIN

EMPTY_SEC = 60.0
EMPTY_SCRIPT = """
shopt -s dotglob nullglob
for folder; do
    if [ -L "$folder" ] || [ -f "$folder" ]; then rm -f -- "$folder" || failed=1; continue; fi
    names=("$folder"/*)
    for ((at = 0; at < ${#names[@]}; at += 200)); do rm -rf -- "${names[@]:at:200}" || failed=1; done
done
exit "${failed:-0}"
"""
"""For `bash -c`: removes what is in each of the given folders, however much. A link or a file in
a folder's place is removed itself, and nothing it leads to."""


async def make_log_folders(environment: Environment, names: Sequence[str]) -> None:
    """`/logs/<name>` with mode 0777 (the folders only), so that a task's own user can write there."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)  # becomes `/logs` itself, which others must be able to enter
        for name in names:
            folder = Path(made) / name
            folder.mkdir()
            folder.chmod(0o777)
        await environment.upload(Path(made), "/logs")


async def empty_folders(environment: Environment, folders: Sequence[str], phase: Phase, code: Code) -> None:
    """Nothing is in these folders of `main` afterwards. Raises TrialFailed (`code`) where that can't be had: what an
    agent may have put there must not be taken for a verifier's word."""
    folders = [folder for folder in folders if not await environment.is_empty(folder)]
    if not folders:
        return
    result = await environment.execute(["bash", "-c", EMPTY_SCRIPT, "bash", *folders], user="0", timeout_sec=EMPTY_SEC)
    if result.exit_code == 0:
        return
    if not result.environment_alive:
        code, message = Code.ENVIRONMENT_DIED, "main is dead"
    elif not result.started:
        message = "bash can't be started in main"
    else:
        message = f"{', '.join(folders)} could not be emptied (exit code {result.exit_code})"
    raise TrialFailed(
        Issue(
            Severity.FATAL,
            phase,
            code,
            message,
            (Evidence("last output", result.tail),) if result.tail else (),
            service=MAIN,
        )
    )
