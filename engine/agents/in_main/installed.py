"""Programs installed in `main`, over its network, where no capsule carries them in.

The certificates that this host trusts are carried in: slim images have none, and a mirror within a company has its own.
"""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from anyio import to_thread

from engine.agents.agent import AgentSession
from engine.agents.capsules.capsule import Capsule
from engine.agents.in_main.setup_failed import setup_failed

INSTALLED = "/opt/trialdeck/installed"
CERTIFICATES = "/opt/trialdeck/ca-certificates.crt"
_INSTALL_SEC = 330.0
_CERTIFICATE_FILES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
_NPM = """
const { dirname } = require("path");
process.env.PATH = [dirname(process.execPath), process.env.PATH].filter(Boolean).join(":");
require(process.argv[1]);
"""
"""npm by a Node.js that isn't in PATH: scripts of packages look for it there. Its path and its words follow."""
_OF_THE_HOST = (
    "NPM_CONFIG_REGISTRY",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""Where packages come from, as the user's shell says it; only the commands that install get to know it."""


async def npm_install(session: AgentSession, package: str, version: str, *, node: Capsule | None) -> tuple[str, str]:
    """With the Node.js of a capsule, else with the image's. Returns the program of Node.js and the folder of the
    package, in `main`. Raises TrialFailed."""
    folder = f"{INSTALLED}/{package.rpartition('/')[2]}"
    program = node.programs["node"] if node is not None else "node"
    npm = [program, "-e", _NPM, node.programs["npm"]] if node is not None else ["npm"]
    words = ["install", "--prefix", folder, "--no-fund", "--no-audit", "--no-update-notifier", "--loglevel=error"]
    await _install(session, [*npm, *words, f"{package}@{version}"], f"{package} {version}", "Node.js with npm")
    return program, f"{folder}/node_modules/{package}"


async def pip_install(session: AgentSession, package: str, version: str, *, pinned: bytes) -> str:
    """Into a virtual environment of the image's Python, with exactly the packages that are `pinned`, lines of a file
    of requirements. Returns its Python, in `main`. Raises TrialFailed."""
    folder = f"{INSTALLED}/{package}"
    what, wanted = f"{package} {version}", f"{INSTALLED}/{package}.txt"
    await session.environment.upload_bytes(pinned + f"{package}=={version}\n".encode(), wanted)
    await _install(session, ["python3", "-m", "venv", folder], what, "Python with venv")
    python = f"{folder}/bin/python3"
    words = ["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "--no-input"]
    await _install(session, [python, *words, "--requirement", wanted], what, "Python with pip")
    return python


async def _install(session: AgentSession, command: list[str], what: str, needs: str) -> None:
    session.activity(f"install {what} in main")
    result = await session.execute(command, user="0", env=await _environment(session), timeout_sec=_INSTALL_SEC)
    if result.exit_code != 0:
        raise setup_failed(
            f"{what} can't be installed in main", result, way_out=f"that needs a network there, and {needs}"
        )


async def _environment(session: AgentSession) -> dict[str, str]:
    found = {name: value for name in _OF_THE_HOST if (value := os.environ.get(name))}
    for value in found.values():
        if "@" in value:  # a password of a proxy or a mirror
            session.hide(value)
    certificates = await to_thread.run_sync(_certificates)
    if certificates:
        await session.environment.upload_bytes(certificates, CERTIFICATES)
        found |= dict.fromkeys(_CERTIFICATE_VARIABLES, CERTIFICATES)
    return found


def _certificates() -> bytes:
    """What this host trusts, b"" where no file says it."""
    told = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile or ""
    for path in map(Path, filter(None, (told, *_CERTIFICATE_FILES))):
        try:
            return path.read_bytes()
        except OSError:
            continue
    return b""
