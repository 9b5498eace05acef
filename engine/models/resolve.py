"""From an arm to a model that can be called: names become values; what is missing is said before anything starts."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.events import ArmInfo
from engine.models.prices import check_prices
from engine.models.settings import ModelInvalid, ModelSettings, Secret, Wire

DEFAULT_BASE_URL = {
    Wire.OPENAI_CHAT: "https://api.openai.com/v1",
    Wire.OPENAI_RESPONSES: "https://api.openai.com/v1",
    Wire.ANTHROPIC: "https://api.anthropic.com",
}
DEFAULT_KEY_ENV = {
    Wire.OPENAI_CHAT: "OPENAI_API_KEY",
    Wire.OPENAI_RESPONSES: "OPENAI_API_KEY",
    Wire.ANTHROPIC: "ANTHROPIC_API_KEY",
}
NO_KEY = "no-key-needed"
"""What a server of one's own is sent that wants no key: the SDKs insist on something."""

_MOST_KEY_BYTES = 64 << 10
_VARIABLE = re.compile(r"\$\{(\w+)\}", re.ASCII)


def settings_of(arm: ArmInfo, wires: Sequence[Wire], environ: Mapping[str, str]) -> ModelSettings:
    """`wires` are those that the arm's agent speaks, most usual first.

    Raises ModelInvalid, which names the arm, the key and the way out, and never holds a value of the environment. May
    read the key file and the user's prices.
    """
    what = f"arm {arm.name}"
    if not arm.model:
        raise ModelInvalid(f"{what}: model is missing: {arm.agent} works with one (model=NAME, as its server knows it)")
    wire = _wire(arm, wires, what)
    check_prices()
    return ModelSettings(
        name=arm.model,
        wire=wire,
        base_url=_base_url(arm, wire),
        key=_key(arm, wire, environ, what),
        effort=arm.effort,
        temperature=arm.temperature,
        max_output_tokens=arm.max_output_tokens,
        context_tokens=arm.context_tokens,
        headers={name: filled_header(name, value, environ, what) for name, value in arm.endpoint.headers.items()},
    )


def _wire(arm: ArmInfo, wires: Sequence[Wire], what: str) -> Wire:
    if not wires:
        raise ModelInvalid(f"{what}: model is {arm.model}, but {arm.agent} calls no model")
    if not arm.protocol:
        return wires[0]
    found = next((wire for wire in wires if wire == arm.protocol), None)
    if found is None:
        raise ModelInvalid(f'{what}: protocol is "{arm.protocol}", but {arm.agent} speaks {", ".join(wires)}')
    return found


def _base_url(arm: ArmInfo, wire: Wire) -> str:
    address = (arm.endpoint.base_url or DEFAULT_BASE_URL[wire]).rstrip("/")
    # The Anthropic SDK adds /v1 itself; many a server's address is told with it.
    return address.removesuffix("/v1") if wire is Wire.ANTHROPIC else address


def _key(arm: ArmInfo, wire: Wire, environ: Mapping[str, str], what: str) -> Secret:
    endpoint = arm.endpoint
    if endpoint.key_file:
        return key_of_file(Path(endpoint.key_file).expanduser(), f"{what}: key_file {endpoint.key_file}")
    variable = endpoint.key_env or DEFAULT_KEY_ENV[wire]
    key = environ.get(variable, "").strip()
    if key:
        return _checked(key, f"{what}: key_env {variable}")
    if endpoint.key_env:
        raise ModelInvalid(f"{what}: key_env: {variable} is {_missing(variable, environ)}; {_way_out(variable)}")
    if not endpoint.base_url:
        raise ModelInvalid(
            f"{what}: no key for {arm.model}: {variable} is {_missing(variable, environ)}; {_way_out(variable)}, "
            "or name another variable (key_env=NAME) or a server of your own (base_url=…)"
        )
    return Secret(NO_KEY)


def _missing(variable: str, environ: Mapping[str, str]) -> str:
    return "empty" if variable in environ else "not set"


def _way_out(variable: str) -> str:
    return f"set {variable} where trialdeck is started, or give a file that holds the key (key_file=PATH)"


def key_of_file(path: Path, what: str) -> Secret:
    """Raises ModelInvalid."""
    try:
        # A pipe or a device in a key's place is not waited for.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ModelInvalid(f"{what}: is no file")
            # As ssh has it: our own file that others may read is a mistake of ours and refused; how another owner
            # (root, who mounted a secret) has set a file's rights is that owner's business.
            if found.st_uid == os.geteuid() and found.st_mode & 0o077:
                raise ModelInvalid(
                    f"{what}: others can read it (mode {stat.S_IMODE(found.st_mode):04o}), so it is no secret; "
                    "`chmod 600` it"
                )
            data = file.read(_MOST_KEY_BYTES + 1)
    except FileNotFoundError:
        raise ModelInvalid(f"{what}: is not there; expected a file that holds the key and nothing else") from None
    except OSError as error:
        raise ModelInvalid(f"{what}: can't be read ({error.strerror})") from None
    if len(data) > _MOST_KEY_BYTES:
        raise ModelInvalid(f"{what}: is larger than 64 KiB, which no key is")
    key = data.decode("utf-8", "replace").strip()
    if not key:
        raise ModelInvalid(f"{what}: is empty; expected the key and nothing else")
    return _checked(key, what)


def _checked(key: str, what: str) -> Secret:
    if "\n" in key or "\r" in key:
        raise ModelInvalid(f"{what}: has several lines; expected the key and nothing else")
    if not _fits_a_header(key) or " " in key or "\t" in key:
        raise ModelInvalid(f"{what}: has characters that no key has (spaces, quotes around it, letters beyond ASCII?)")
    return Secret(key)


def filled_header(name: str, value: str, environ: Mapping[str, str], what: str) -> Secret:
    """The header's value with its variables filled in. Raises ModelInvalid."""
    for variable in _VARIABLE.findall(value):
        if not environ.get(variable, "").strip():
            raise ModelInvalid(
                f"{what}: headers: {name} is filled from {variable}, which is {_missing(variable, environ)}; set "
                f"{variable} where trialdeck is started"
            )
    filled = _VARIABLE.sub(lambda found: environ[found.group(1)].strip(), value)
    if not _fits_a_header(filled):
        raise ModelInvalid(f"{what}: headers: {name} has characters that no header can have (a line break?)")
    return Secret(filled)


def _fits_a_header(text: str) -> bool:
    return all(" " <= letter <= "~" or letter == "\t" for letter in text)
