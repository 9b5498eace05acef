"""Our environment as Harbor's agents see one. Needs Harbor."""

from __future__ import annotations

import logging
from pathlib import Path, PurePosixPath
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities
from harbor.models.task.config import EnvironmentConfig
from harbor.models.trial.paths import TrialPaths

from engine.agents.agent import AgentSession
from engine.agents.harbor.output import Output
from engine.agents.harbor.secrets import Secrets
from engine.environments.environment import ExecResult as Ran
from engine.environments.environment import Sink, Transfer
from engine.tasks.task import MAIN

MOST_ARGUMENT_BYTES = 100_000
"""Linux refuses an argument of 128 KiB; longer commands come in on standard input."""

MOST_DOWNLOAD_BYTES = 1 << 30
DOWNLOAD_SEC = 600.0
LOOKS = ("tmux capture-pane", "tmux has-session")
"""Looks at a terminal, many times a minute: they stay out of the agent's log."""


class EnvironmentGone(RuntimeError):
    """`main` died under the agent, or nobody knows how a command ended. The trial has said so by then."""


class TrialdeckEnvironment(BaseEnvironment):
    """What an agent runs goes through the trial's own `execute`: with the task's user, the mark, the clock and the log.

    Starting and stopping are the trial's; an agent that asks for it changes nothing.
    """

    def __init__(self, session: AgentSession, secrets: Secrets, logger: logging.Logger) -> None:
        self._session = session
        self._secrets = secrets
        self.last: Ran | None = None
        task = session.task
        super().__init__(
            environment_dir=task.folder / "environment",
            environment_name=task.id,
            session_id=f"{session.environment.spec.trial}__env",
            trial_paths=TrialPaths(session.folder.parent),
            task_env_config=EnvironmentConfig(
                workdir=task.environment.workdir, skills_dir=task.environment.skills_dir or None
            ),
            logger=logger,
        )
        self.default_user = session.user

    @staticmethod
    def type() -> str:
        return "trialdeck"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(docker_compose=True)

    def _validate_definition(self) -> None:
        """The trial has made the environment already."""

    async def start(self, force_build: bool) -> None:
        """It runs."""

    async def stop(self, delete: bool) -> None:
        """It lives as long as its trial wants."""

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: float | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        whole = self._merge_env(env) or {}
        self._secrets.add_named(whole)
        as_user = self._resolve_user(user)
        output = Output()
        words, stdin = _words(command, cwd or self.task_env_config.workdir)
        ran = await self._session.execute(
            words,
            env=whole,
            stdin=stdin,
            user=str(as_user) if as_user is not None else None,
            timeout_sec=timeout_sec or None,
            sink=output.take,
            logged=not command.lstrip().startswith(LOOKS),
        )
        self.last = ran
        return _result(ran, output, timeout_sec)

    async def service_exec(
        self,
        command: str,
        *,
        service: str | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: float | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        if self.is_main_service(service):
            return await self.exec(command, cwd=cwd, env=env, timeout_sec=timeout_sec, user=user)
        output = Output()
        sink: Sink = output.take
        ran = await self._session.environment.execute(
            ["sh", "-c", command],
            service=service or MAIN,
            workdir=cwd,
            env=env,
            user=str(user) if user is not None else None,
            timeout_sec=timeout_sec or None,
            sink=sink,
        )
        return _result(ran, output, timeout_sec)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        source = Path(source_path)
        if not source.is_file():
            raise FileNotFoundError(f"no such file: {source}")
        await self._session.environment.upload(source, target_path)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        source = Path(source_dir)
        if not source.is_dir():
            raise FileNotFoundError(f"no such folder: {source}")
        await self._session.environment.upload(source, target_dir)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await self._download(source_path, Path(target_path), folder=False, service=MAIN, exclude=())

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await self._download(source_dir, Path(target_dir), folder=True, service=MAIN, exclude=())

    async def download_dir_with_exclusions(
        self, *, source_dir: str, target_dir: Path | str, exclude: list[str]
    ) -> None:
        await self._download(source_dir, Path(target_dir), folder=True, service=MAIN, exclude=tuple(exclude))

    async def service_download_file(
        self, source_path: str, target_path: Path | str, *, service: str | None = None
    ) -> None:
        await self._download(source_path, Path(target_path), folder=False, service=service or MAIN, exclude=())

    async def service_download_dir(
        self, source_dir: str, target_dir: Path | str, *, service: str | None = None
    ) -> None:
        await self._download(source_dir, Path(target_dir), folder=True, service=service or MAIN, exclude=())

    async def stop_service(self, service: str) -> None:
        await self._session.environment.stop(service)

    async def _download(
        self, source: str, target: Path, *, folder: bool, service: str, exclude: tuple[str, ...]
    ) -> None:
        clean = str(PurePosixPath(source))
        found: Transfer = await self._session.environment.download(
            clean,
            target,
            service=service,
            exclude=exclude,
            max_bytes=MOST_DOWNLOAD_BYTES,
            timeout_sec=DOWNLOAD_SEC,
        )
        if found.status == "missing":
            raise FileNotFoundError(f"{clean} is not there")
        if found.status not in ("collected", "empty"):
            raise RuntimeError(f"{clean} could not be fetched: {found.status}")
        if found.status == "collected" and found.is_folder is not folder:
            raise RuntimeError(f"{clean} is a {'folder' if found.is_folder else 'file'}")


def _words(command: str, cwd: str | None) -> tuple[list[str], bytes | None]:
    """The command for the trial's `execute`, which knows no working directory of its own; and its standard input."""
    encoded = command.encode("utf-8", "surrogateescape")
    if len(encoded) > MOST_ARGUMENT_BYTES:
        enter = 'cd -- "$1" && ' if cwd is not None else ""
        return ["bash", "-c", f'{enter}eval "$(cat)"', "bash", *([cwd] if cwd is not None else [])], encoded
    if cwd is None:
        return ["bash", "-c", command], None
    return ["bash", "-c", 'cd -- "$1" && exec bash -c "$2"', "bash", cwd, command], None


def _result(ran: Ran, output: Output, timeout_sec: float | None) -> Any:
    if ran.timed_out:
        raise RuntimeError(f"Command timed out after {timeout_sec} seconds")
    if not ran.environment_alive:
        raise EnvironmentGone("main is dead")
    if ran.exit_code is None:
        raise EnvironmentGone(f"how a command ended is unknown: {ran.tail[-500:]}")
    said = output.text("stderr")
    if not ran.started and not said:
        said = ran.tail
    return ExecResult(stdout=output.text("stdout"), stderr=said, return_code=ran.exit_code)
