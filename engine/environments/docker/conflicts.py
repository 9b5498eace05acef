"""Who holds what a start was refused for: a name, a port, or all address ranges."""

from __future__ import annotations

from contextlib import suppress

from engine.environments.docker import labels
from engine.environments.docker.engine_api import Engine, EngineCallFailed, filters
from engine.environments.docker.failures import classify, fail, fixed_name, from_daemon, holder
from engine.issues import Code, Evidence, TrialFailed


async def with_holder(engine: Engine, error: EngineCallFailed, doing: str, *, service: str = "") -> TrialFailed:
    """The failure, with the other holder named; costs a look at the daemon, so only after a refusal."""
    known = None if error.unreachable else classify(error.message)
    if known is None or known.code not in (Code.ADDRESS_POOL_EXHAUSTED, Code.NAME_CONFLICT):
        return from_daemon(error, doing, service=service)
    evidence = [Evidence("daemon", error.message.strip()[-4000:])]
    message = f"{doing}: {known.message}"
    with suppress(EngineCallFailed):
        if known.code is Code.ADDRESS_POOL_EXHAUSTED:
            ours = len(await engine.get("networks", filters=filters(label=[labels.OWNER])))
            every = len(await engine.get("networks"))
            kept = (await engine.get("volumes", filters=filters(label=[labels.KEPT]))).get("Volumes") or ()
            left = f"; environments kept up: {len(kept)}, `trialdeck sweep --include-kept` removes them" if kept else ""
            message += f" ({ours} of its {every} networks are ours{left})"
            evidence.append(Evidence("networks", f"{ours} of trialdeck, {every} in all"))
        else:
            who = await _who(engine, error.message)
            if who:
                message += f" by {who}"
                evidence.append(Evidence("holder", who))
    return fail(known.code, message, *evidence, service=service)


async def _who(engine: Engine, text: str) -> str:
    wanted, port = holder(text), ""
    if wanted and ":" in wanted:
        wanted, port = "", wanted.rpartition(":")[2]
    name = fixed_name(text)
    for told in await engine.get("containers/json", all=True):
        names = [one.lstrip("/") for one in told.get("Names") or ()]
        held = {str(one.get("PublicPort")) for one in told.get("Ports") or ()}
        if (wanted and told["Id"].startswith(wanted)) or (name and name in names) or (port and port in held):
            project = (told.get("Labels") or {}).get(labels.COMPOSE_PROJECT, "")
            return f"container {names[0] if names else told['Id'][:12]}" + (f" of project {project}" if project else "")
    return f"port {port}" if port else ""
