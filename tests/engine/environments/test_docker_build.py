"""Images: built once for all trials of a run, and failures that name their step."""

from __future__ import annotations

import time
from typing import Any

import anyio
import pytest

from engine.environments.docker.engine_api import filters
from engine.environments.docker.labels import RUN
from engine.environments.docker.provider import DockerProvider
from engine.events import ActivityChanged
from engine.issues import Code
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

HELLO = """
    FROM debian:bookworm-slim
    RUN echo built > /built
    WORKDIR /app
"""


async def images(provider: DockerProvider, run: str) -> list[str]:
    told = await provider.engine.get("images/json", filters=filters(label=[f"{RUN}={run}"]))
    return [tag for one in told for tag in one["RepoTags"]]


async def test_trials_that_start_together_build_once(rig: Rig) -> None:
    """Each has the log of the one build; the image goes with the run."""
    first = rig.spec(dockerfile=HELLO, content_digest="c0ffee" * 6)
    again: dict[str, Any] = {"build_context": first.build_context, "content_digest": first.content_digest}
    specs = [first, *(rig.spec(name=f"attempt-{number}", **again) for number in range(3))]
    environments = [rig.provider.environment(spec, rig.recorder) for spec in specs]
    try:
        async with anyio.create_task_group() as group:
            for environment in environments:
                group.start_soon(environment.start)
        assert [environment.workdir for environment in environments] == ["/app"] * 4
        assert (await environments[2].execute(["cat", "/built"])).tail == "built\n"
        logs = {(spec.log_folder / "build.log").read_text() for spec in specs}
        assert len(logs) == 1
        assert "RUN echo built" in logs.pop()
        assert len(await images(rig.provider, rig.run)) == 1
    finally:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as group:
                for environment in environments:
                    group.start_soon(environment.down)
    assert await rig.provider.remove_images(rig.run) == []
    assert await images(rig.provider, rig.run) == []


TWO_BUILT = "services: {main: {build: .}, side: {build: ., init: true, command: [sleep, '60']}}"


@pytest.mark.parametrize("compose", [None, TWO_BUILT], ids=["alone", "with a Compose file"])
async def test_images_that_somebody_removed_meanwhile_are_built_again(rig: Rig, compose: str | None) -> None:
    """A nightly `docker image prune -a` must not cost the further attempts of a task."""
    first = rig.spec(dockerfile=HELLO, compose=compose, content_digest="c0ffee" * 6)
    again: dict[str, Any] = {"build_context": first.build_context, "compose_file": first.compose_file}
    for spec in (first, rig.spec(name="second", content_digest=first.content_digest, **again)):
        environment = rig.provider.environment(spec, rig.recorder)
        try:
            await environment.start()
            assert (await environment.execute(["cat", "/built"])).tail == "built\n"
        finally:
            assert await environment.down() == []
        made = await images(rig.provider, rig.run)
        assert made
        for tag in made:
            await rig.provider.engine.delete(f"images/{tag}", force=True)
    assert await images(rig.provider, rig.run) == []


async def test_a_failed_build_names_its_step_and_its_last_words(rig: Rig) -> None:
    issue = await rig.refused(
        dockerfile="FROM debian:bookworm-slim\nRUN true\nRUN echo needs more >&2; exit 9\nRUN true\n"
    )
    facts = {evidence.label: evidence for evidence in issue.evidence}
    assert issue.code is Code.BUILD_FAILED
    assert facts["step"].text.startswith("Dockerfile:3 RUN echo needs more")
    assert "needs more" in facts["last output"].text
    assert facts["last output"].file == "logs/build.log"
    assert any("[3/4] RUN echo needs" in event.activity for event in rig.recorder.of(ActivityChanged))


async def test_a_build_has_its_own_clock(rig: Rig) -> None:
    """Case 10: the build's limit is its own failure class, and the start's clock begins after it."""
    began = time.monotonic()
    slow = f"FROM debian:bookworm-slim\nRUN echo waiting {began}; sleep 600\n"
    issue = await rig.refused(dockerfile=slow, build_timeout_sec=2.0)
    assert issue.code is Code.BUILD_TIMEOUT
    assert time.monotonic() - began < 120
    patient = f"FROM debian:bookworm-slim\nRUN echo {began}; sleep 11\n"
    async with rig.up(dockerfile=patient, start_timeout_sec=10):
        pass


async def test_a_cancelled_build_is_taken_over_by_the_next_in_line(rig: Rig) -> None:
    text = f"FROM debian:bookworm-slim\nRUN echo {time.monotonic()}; sleep 1.5\n"
    first = rig.spec(dockerfile=text)
    second = rig.spec(build_context=first.build_context, content_digest=first.content_digest)
    one, two = (rig.provider.environment(spec, rig.recorder) for spec in (first, second))
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(two.start)
            with anyio.move_on_after(0.7):
                await one.start()
        assert (await two.execute(["true"])).exit_code == 0
    finally:
        assert await one.down() == []
        assert await two.down() == []


async def test_services_of_a_compose_file_are_built_once_each(rig: Rig) -> None:
    """Also what another service uses by its name, and `main` from the task's Dockerfile."""
    compose = """
        services:
          main: {depends_on: [api]}
          api:
            build: {context: ., dockerfile_inline: "FROM debian:bookworm-slim\\nRUN echo api > /who\\n"}
            image: example.invalid/api:1
            init: true
            command: [sleep, "60"]
          worker: {image: "example.invalid/api:1", init: true, command: [sleep, "60"]}
    """
    async with rig.up(compose=compose, dockerfile=HELLO) as environment:
        assert (await environment.execute(["cat", "/built"])).tail == "built\n"
        for service in ("api", "worker"):
            assert (await environment.execute(["cat", "/who"], service=service)).tail == "api\n"
        built = await images(rig.provider, rig.run)
        assert len(built) == 2
        assert all(tag.startswith("trialdeck-") for tag in built)


async def test_a_sidecar_that_fails_to_build_is_named(rig: Rig) -> None:
    compose = """
        services:
          main: {}
          api: {build: {context: ., dockerfile_inline: "FROM debian:bookworm-slim\\nRUN exit 3\\n"}}
    """
    issue = await rig.refused(compose=compose)
    assert (issue.code, issue.service) == (Code.BUILD_FAILED, "api")
    assert "exit code: 3" in {evidence.label: evidence.text for evidence in issue.evidence}["last output"]


async def test_a_registry_that_refuses_is_no_verdict(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 5: an own class with the raw text, a few tries, then a bound."""
    for module in ("pull", "build"):
        monkeypatch.setattr(f"engine.environments.docker.{module}.BACK_OFF_SEC", (0.05, 0.05))
    for settings in ({"image": "localhost:1/none:1"}, {"compose": "services: {main: {image: 'localhost:1/none:1'}}"}):
        issue = await rig.refused(**settings)
        assert issue.code is Code.PULL_FAILED
        assert "3 tries" in issue.message
        assert "connection refused" in issue.evidence[0].text
    never = await rig.refused(compose="services: {main: {image: 'localhost:1/none:2', pull_policy: never}}")
    assert never.code is Code.PULL_FAILED
    base = await rig.refused(dockerfile="FROM localhost:1/none:1\n")
    assert base.code is Code.PULL_FAILED
