"""Events with safe text: the one place where what came from tasks and agents enters the model."""

from __future__ import annotations

import msgspec

from engine import events as ev
from engine.issues import Issue
from engine.text import clean, clean_line


def clean_plan(plan: ev.RunPlanned) -> ev.RunPlanned:
    """Every text of a plan: names of tasks and arms come from files and from people."""
    return msgspec.structs.replace(
        plan,
        name=clean_line(plan.name),
        source=clean_line(plan.source),
        task_set=msgspec.structs.replace(
            plan.task_set, name=clean_line(plan.task_set.name), version=clean_line(plan.task_set.version)
        ),
        host=msgspec.structs.replace(
            plan.host,
            name=clean_line(plan.host.name),
            docker=clean_line(plan.host.docker),
            compose=clean_line(plan.host.compose),
        ),
        arms=tuple(
            ev.ArmInfo(
                name=clean_line(arm.name),
                agent=clean_line(arm.agent),
                agent_version=clean_line(arm.agent_version),
                model=clean_line(arm.model),
                parameters={clean_line(key): clean(value) for key, value in arm.parameters.items()},
                provider=clean_line(arm.provider),
                effort=clean_line(arm.effort),
                tools=tuple(clean_line(one) for one in arm.tools),
                mcp=tuple(clean_line(one) for one in arm.mcp),
                skills=tuple(clean_line(one) for one in arm.skills),
                prompt_digest=clean_line(arm.prompt_digest),
                protocol=clean_line(arm.protocol),
                temperature=arm.temperature,
                context_tokens=arm.context_tokens,
                max_output_tokens=arm.max_output_tokens,
                capsules={clean_line(tag): clean_line(digest) for tag, digest in arm.capsules.items()},
                endpoint=ev.Endpoint(
                    base_url=clean_line(arm.endpoint.base_url),
                    key_env=clean_line(arm.endpoint.key_env),
                    key_file=clean_line(arm.endpoint.key_file),
                    headers={clean_line(key): clean_line(value) for key, value in arm.endpoint.headers.items()},
                ),
            )
            for arm in plan.arms
        ),
    )


def clean_issue(issue: Issue) -> Issue:
    """Every text of an issue: its evidence is what containers and agents wrote."""
    return msgspec.structs.replace(
        issue,
        message=clean_line(issue.message),
        service=clean_line(issue.service),
        step=clean_line(issue.step),
        evidence=tuple(
            msgspec.structs.replace(item, label=clean_line(item.label), text=clean(item.text))
            for item in issue.evidence
        ),
    )
