"""An environment with a Compose file: Compose merges and starts it, everything else goes through the Engine API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio

from engine.environments.docker import labels
from engine.environments.docker.compose import ComposeProject, render, up_failed
from engine.environments.docker.conflicts import with_holder
from engine.environments.docker.containers import sharing_network
from engine.environments.docker.definition import Definition, DefinitionRefused, Settled, base, settle
from engine.environments.docker.engine_api import EngineCallFailed, filters
from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.failures import fail
from engine.environments.docker.host_tools import ToolMissing, ToolResult
from engine.environments.docker.removal import Thing
from engine.environments.docker.together import together
from engine.issues import Code, Evidence, Severity, TrialFailed
from engine.tasks.task import MAIN

SLOT_SEC = 3.0


class ProjectEnvironment(DockerEnvironment):
    """`main` and its sidecars."""

    _settled: Settled | None = None
    _tag: str | None = None

    async def _prepare_images(self) -> None:
        spec = self.spec
        assert spec.compose_file is not None
        log = spec.log_folder / "compose.log"
        tag = spec.image
        if spec.build_context is not None:
            tag = labels.image_tag(labels.content_name(spec.build_context), spec.content_digest, spec.run)
        try:
            rendered, unset = await render(base(spec, tag), spec.compose_file, self.project, spec.allowed_host_env, log)
            settled = settle(rendered, spec, self.project)
        except DefinitionRefused as error:
            raise fail(Code.COMPOSE_INVALID, str(error), Evidence("file", str(spec.compose_file))) from error
        except ToolMissing as error:
            raise fail(Code.ENVIRONMENT_FAILED, str(error)) from error
        self._settled, self._tag = settled, tag
        self._record(settled.definition)
        self._warn(settled, unset)
        self._compose = ComposeProject(
            self._engine.reached_at, self.project, spec.compose_file.parent, spec.allowed_host_env
        )
        main = settled.definition["services"][MAIN]
        if not main.get("image"):
            raise fail(Code.COMPOSE_INVALID, "main has neither an image nor a build", service=MAIN)
        self.image = str(main["image"]).replace("$$", "$")
        await self._get_images()

    async def _get_images(self) -> None:
        assert self._settled is not None
        await self._build(self._settled, self._tag)
        await self._pull(self._settled, self._tag)

    def _forget_images(self) -> None:
        settled = self._settled
        for tag in (*settled.built.values(), *([self._tag] if self._tag else ())) if settled is not None else ():
            self._shop.builds.forget(tag)
        for wanted in settled.images if settled is not None else ():
            self._shop.images.forget(wanted)

    async def _build(self, settled: Settled, tag: str | None) -> None:
        spec = self.spec
        log = spec.log_folder / "build.log"
        if spec.build_context is not None and self.image == tag:
            await self._shop.builds.image(
                tag, spec.build_context, spec.run, log, spec.build_timeout_sec, self._watch.activity
            )

        async def build(services: list[str], left: float, on_line: Callable[[str], None]) -> ToolResult:
            return await self._compose.build(settled.build, services, log=log, timeout_sec=left, on_line=on_line)

        if settled.built:
            await self._shop.builds.services(settled.built, log, spec.build_timeout_sec, self._watch.activity, build)

    async def _pull(self, settled: Settled, tag: str | None) -> None:
        ours = {tag} if self.spec.build_context is not None else set()
        log = self.spec.log_folder / "pull.log"
        async with together() as group:
            for wanted in set(settled.images):
                if wanted.image not in ours:
                    group.start_soon(self._shop.images.ensure, wanted, log, self._watch.activity)

    def _record(self, definition: Definition) -> None:
        """The rendered definition beside the logs; values of the host's variables are named, not shown."""
        text = without_values(json.dumps(definition, indent=2, ensure_ascii=False), self.spec.allowed_host_env)
        folder = self.spec.log_folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "compose.rendered.json").write_text(text + "\n", errors="surrogateescape")

    def _warn(self, settled: Settled, unset: list[str]) -> None:
        if settled.notes:
            self._watch.raise_issue(
                Severity.WARNING,
                Code.TASK_WARNING,
                "the Compose file fixes names that are global on the daemon; they are set aside for this trial",
                *(Evidence("note", note) for note in settled.notes),
            )
        if unset:
            self._watch.raise_issue(
                Severity.WARNING,
                Code.TASK_WARNING,
                f"the Compose file uses variables that have no value here: {', '.join(unset)}",
                Evidence("way out", f"--allow-host-env {unset[0]}, or a default in the file"),
            )

    async def _bring_up(self, limit: float) -> None:
        assert self._settled is not None
        async with self._slot():
            result = await self._compose.up(
                self._settled.definition, log=self.spec.log_folder / "compose.log", timeout_sec=limit
            )
        if result.exit_code == 0:
            return
        if result.timed_out:
            await self._raise_start_timeout()
        await self._watch.look(self._find_containers)
        self._watch.follow_logs()
        failed = up_failed(result, "start")
        if failed.issue.code is Code.SERVICE_EXITED:
            raise await self._network_gone(failed, result.tail)
        if failed.issue.code is Code.ENVIRONMENT_FAILED:
            await self._raise_failed()
        if failed.issue.code in (Code.ADDRESS_POOL_EXHAUSTED, Code.NAME_CONFLICT):
            raise await with_holder(self._engine, EngineCallFailed(0, result.tail), "start")
        raise failed

    async def _network_gone(self, failed: TrialFailed, text: str) -> TrialFailed:
        """A service could not join the network of one that has ended: that one is named."""
        containers = self._watch.containers.values()
        for container in containers:
            if container.id[:12] in text or (not container.running and sharing_network(container, containers)):
                words = await self._watch.last_words(container)
                return fail(
                    Code.SERVICE_EXITED,
                    f"service {container.service} ended (exit code {container.exit_code}) before another one could "
                    "share its network",
                    *failed.issue.evidence,
                    Evidence("log", words or "(nothing said)", file=f"services/{container.service}.log"),
                    service=container.service,
                )
        return failed

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """A place for starting. A project that waits for its own health checks gives it back after a while."""
        holder = object()
        await self._shop.starts.acquire_on_behalf_of(holder)
        held = True

        def give_back() -> None:
            nonlocal held
            if held:
                held = False
                self._shop.starts.release_on_behalf_of(holder)

        async def later() -> None:
            await anyio.sleep(SLOT_SEC)
            give_back()

        try:
            async with together() as group:
                group.start_soon(later)
                yield
                group.cancel_scope.cancel()
        finally:
            give_back()

    def _made(self) -> Sequence[Thing]:
        definition = self._settled.definition if self._settled is not None else {}
        return [
            Thing(kind, one["name"], one["name"])
            for kind in ("network", "volume")
            for one in (definition.get(f"{kind}s") or {}).values()
            if one and not one.get("external")
        ]

    async def _find_containers(self) -> Sequence[str]:
        chosen = filters(label=[f"{labels.PROJECT}={self.project}"])
        return [one["Id"] for one in await self._engine.get("containers/json", all=True, filters=chosen)]


def without_values(text: str, variables: Mapping[str, str]) -> str:
    """JSON with the names of variables instead of their values; the longest first, since one may be part of another."""
    for name, value in sorted(variables.items(), key=lambda item: -len(item[1])):
        for written in (value.replace("$", "$$"), value):  # as Compose escapes it, and as it is
            if len(value) > 3:
                text = text.replace(json.dumps(written, ensure_ascii=False)[1:-1], "${" + name + "}")
    return text
