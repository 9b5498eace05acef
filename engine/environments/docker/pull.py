"""Makes sure that images are there: once for all trials of a run, with some patience for a busy registry."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec

from engine.environments.docker.definition import WantedImage
from engine.environments.docker.endpoint import cli_config
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.failures import Failure, classify, fail, from_daemon
from engine.environments.docker.once import Once
from engine.issues import Code, Evidence

TRIES = 3
BACK_OFF_SEC = (2.0, 8.0)
PULL_SEC = 1800.0


class Images:
    """The images of a provider's daemon, as far as somebody asked for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._present: Once[bool] = Once()
        self._slots = anyio.CapacityLimiter(3)

    async def ensure(self, wanted: WantedImage, log: Path, activity: Callable[[str], None]) -> None:
        """Raises TrialFailed `image_pull_failed` or `image_pull_rate_limited`."""
        await self._present.get(_key(wanted), lambda: self._ensure(wanted, log, activity))

    def forget(self, wanted: WantedImage) -> None:
        """It went; whoever asks next looks again."""
        self._present.forget(_key(wanted))

    async def _ensure(self, wanted: WantedImage, log: Path, activity: Callable[[str], None]) -> bool:
        if wanted.pull != "always" and await self._is_here(wanted.image):
            return True
        if wanted.pull == "never":
            raise fail(Code.PULL_FAILED, f"the image {wanted.image} isn't here, and its pull_policy is never")
        activity(f"pull {wanted.image}")
        async with self._slots:
            await self._pull(wanted, log)
        return True

    async def _is_here(self, image: str) -> bool:
        try:
            await self._engine.get(f"images/{image}/json")
        except EngineCallFailed as error:
            if error.not_found:
                return False
            raise from_daemon(error, f"look for the image {image}") from error
        return True

    async def _pull(self, wanted: WantedImage, log: Path) -> None:
        words: list[str] = []
        for number in range(TRIES):
            said = await self._try(wanted, log)
            if not said:
                return
            words.append(said)
            known = classify(said) or Failure(code=Code.PULL_FAILED, message="the pull failed", retryable=True)
            if not known.retryable or number == TRIES - 1:
                break
            await anyio.sleep(BACK_OFF_SEC[min(number, len(BACK_OFF_SEC) - 1)])
        code = known.code if known.code is not Code.ENVIRONMENT_FAILED else Code.PULL_FAILED
        tries = "" if len(words) == 1 else f" ({len(words)} tries)"
        raise fail(
            code, f"the image {wanted.image} can't be pulled: {known.message}{tries}", Evidence("registry", words[-1])
        )

    async def _try(self, wanted: WantedImage, log: Path) -> str:
        """Empty after a success, else what the daemon or the registry said."""
        name, tag = split_reference(wanted.image)
        params: dict[str, str | int | bool] = {"fromImage": name, "tag": tag}
        if wanted.platform:
            params["platform"] = wanted.platform
        headers = {}
        credentials = await anyio.to_thread.run_sync(registry_credentials, name)
        if credentials:
            headers["X-Registry-Auth"] = credentials
        log.parent.mkdir(parents=True, exist_ok=True)
        failure = ""
        try:
            with anyio.fail_after(PULL_SEC):
                async with self._engine.stream("POST", "images/create", params=params, headers=headers) as response:
                    with log.open("ab") as out:
                        rest = b""
                        async for chunk in response.content.iter_any():
                            *lines, rest = (rest + chunk).split(b"\n")
                            for line in lines:
                                failure = _error_in(line) or failure
                                if b'"progress' not in line:
                                    out.write(line + b"\n")
        except EngineCallFailed as error:
            failure = error.message
        except TimeoutError:
            failure = f"timeout: the pull did not end within {PULL_SEC:g} s"
        if failure:
            with log.open("a") as out:
                out.write(failure + "\n")
        return failure


def _key(wanted: WantedImage) -> str:
    return json.dumps([wanted.image, wanted.platform, wanted.pull])


def _error_in(line: bytes) -> str:
    try:
        told: dict[str, Any] = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return ""
    return str(told.get("error") or "")


def split_reference(image: str) -> tuple[str, str]:
    """Name and tag (or digest) of an image; without a tag it is `latest`."""
    if "@" in image:
        name, _, digest = image.partition("@")
        return name, digest
    head, colon, tail = image.rpartition(":")
    if not colon or "/" in tail:
        return image, "latest"
    return head, tail


def registry_credentials(name: str) -> str:
    """The header for a private registry, empty where the user never logged in. Blocking: a helper may be asked."""
    settings = cli_config()
    if not any(settings.get(key) for key in ("auths", "credsStore", "credHelpers")):
        return ""
    from docker.auth import load_config, resolve_repository_name

    registry, _ = resolve_repository_name(name)
    found = load_config().resolve_authconfig(registry)
    if not found:
        return ""
    return base64.urlsafe_b64encode(json.dumps(found).encode()).decode()
