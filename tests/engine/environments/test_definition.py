"""What is made of a task's definition before it starts: dictionaries in, dictionaries out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.environments.docker.definition import (
    MOST_PROCESSES,
    Definition,
    DefinitionRefused,
    Settled,
    base,
    settle,
)
from engine.environments.environment import EnvironmentSpec
from engine.tasks.task import NetworkMode, NetworkPolicy


def spec(**settings: Any) -> EnvironmentSpec:
    defaults: dict[str, Any] = {
        "run": "run",
        "trial": "org/Task$1",
        "name": "task",
        "environment": "agent",
        "log_folder": Path("/logs"),
        "task_folder": Path("/set/fix-it/environment"),
        "content_digest": "ab" * 32,
    }
    return EnvironmentSpec(**{**defaults, **settings})


def settled(services: Definition, *, more: Definition | None = None, **settings: Any) -> Settled:
    services.setdefault("main", {"image": "debian", "networks": {"default": None}})
    networks = {"default": {"name": "p_default", "ipam": {}}}
    return settle({"name": "p", "services": services, "networks": networks, **(more or {})}, spec(**settings), "p")


def main(result: Settled) -> Definition:
    found: Definition = result.definition["services"]["main"]
    return found


def test_the_base_keeps_main_alive_and_values_arrive_as_written() -> None:
    made = base(spec(env={"A": "$HOME ${X} $$"}), "img:$x")
    assert made["services"]["main"] == {
        "command": ["sh", "-c", "sleep infinity"],
        "init": True,
        "image": "img:$$x",
        "environment": {"A": "$$HOME $${X} $$$$"},
    }


def test_every_object_bears_the_labels() -> None:
    result = settled({"db": {"image": "x"}}, more={"volumes": {"data": {"name": "p_data"}}})
    for marked in (
        main(result)["labels"],
        result.definition["services"]["db"]["labels"],
        result.definition["networks"]["default"]["labels"],
        result.definition["volumes"]["data"]["labels"],
    ):
        assert marked["trialdeck.run"] == "run"
        assert marked["trialdeck.trial"] == "org/Task$$1"
        assert marked["trialdeck.phase"] == "agent"
        assert {"trialdeck.owner", "trialdeck.host", "trialdeck.project"} <= set(marked)
    assert result.definition["services"]["db"]["labels"]["trialdeck.service"] == "db"


def test_names_and_ports_of_the_whole_daemon_are_set_aside() -> None:
    """Case 4: with a note each; by DNS the fixed name still answers."""
    fixed = {
        "image": "x",
        "container_name": "fixed",
        "networks": {"default": {"aliases": ["b"]}},
        "ports": [
            {"target": 80, "published": "18999", "host_ip": "127.0.0.1", "protocol": "tcp"},
            {"target": 53, "protocol": "udp"},
        ],
    }
    result = settled({"main": fixed})
    assert "container_name" not in main(result)
    assert "ports" not in main(result)
    assert main(result)["expose"] == ["53/udp", "80/tcp"]
    assert main(result)["networks"]["default"]["aliases"] == ["b", "fixed"]
    assert len(result.notes) == 2
    assert "18999" in result.notes[1]


def test_fixed_network_and_volume_names_are_the_projects_own() -> None:
    """Case 22: a fixed volume name would carry one trial's data into the next; external ones stay what they are."""
    more = {
        "networks": {"default": {"name": "shared", "ipam": {"config": [{"subnet": "10.231.7.0/24"}]}}},
        "volumes": {"data": {"name": "data"}, "theirs": {"name": "theirs", "external": True}},
    }
    result = settled({}, more=more)
    assert result.definition["networks"]["default"]["name"] == "p_default"
    assert result.definition["networks"]["default"]["ipam"] == {}
    assert result.definition["volumes"]["data"]["name"] == "p_data"
    assert result.definition["volumes"]["theirs"] == {"name": "theirs", "external": True}
    assert len(result.notes) == 3


def test_a_subnet_stays_where_a_service_has_an_address_in_it() -> None:
    more = {"networks": {"default": {"name": "p_default", "ipam": {"config": [{"subnet": "10.231.7.0/24"}]}}}}
    services = {"main": {"image": "x", "networks": {"default": {"ipv4_address": "10.231.7.5"}}}}
    assert settled(services, more=more).definition["networks"]["default"]["ipam"]["config"]


def test_no_network_is_internal_for_all() -> None:
    policy = NetworkPolicy(mode=NetworkMode.NO_NETWORK)
    more = {"networks": {"default": {"name": "p_default"}, "back": {"name": "p_back", "driver": "bridge"}}}
    result = settled({"db": {"image": "x", "network_mode": "service:main"}}, more=more, network=policy)
    assert all(network["internal"] for network in result.definition["networks"].values())


@pytest.mark.parametrize(
    ("services", "more"),
    [
        ({"db": {"image": "x", "network_mode": "host"}}, {}),
        ({"db": {"image": "x", "network_mode": "bridge"}}, {}),
        ({}, {"networks": {"out": {"name": "out", "external": True}}}),
    ],
)
def test_what_would_lead_out_is_refused_by_name(services: Definition, more: Definition) -> None:
    with pytest.raises(DefinitionRefused, match="no-network"):
        settled(services, more=more, network=NetworkPolicy(mode=NetworkMode.NO_NETWORK))


@pytest.mark.parametrize(
    ("own", "memory", "cpus"),
    [
        ({}, ("mem_limit", "104857600"), ("cpus", 0.5)),
        ({"mem_limit": "1"}, ("mem_limit", "1"), ("cpus", 0.5)),
        ({"cpus": 2}, ("mem_limit", "104857600"), ("cpus", 2)),
    ],
)
def test_declared_limits_are_mains_where_it_says_nothing(
    own: Definition, memory: tuple[str, str], cpus: tuple[str, float]
) -> None:
    made = main(settled({"main": {"image": "x", **own}, "db": {"image": "y"}}, memory_mb=100, cpus=0.5))
    assert made[memory[0]] == memory[1]
    assert made[cpus[0]] == cpus[1]


def test_limits_are_written_in_the_spelling_that_the_task_uses() -> None:
    """Compose refuses `cpus` beside `deploy.resources.limits`."""
    own = {"image": "x", "deploy": {"resources": {"limits": {"memory": "64"}}}}
    made = main(settled({"main": own}, memory_mb=100, cpus=0.5))
    assert made["deploy"]["resources"]["limits"] == {"memory": "64", "cpus": 0.5, "pids": MOST_PROCESSES}
    assert "cpus" not in made
    assert "mem_limit" not in made


def test_a_smaller_host_caps_every_service_that_wants_more() -> None:
    result = settled(
        {
            "main": {"image": "x"},
            "db": {"image": "y", "cpus": 8, "mem_limit": str(64 << 30)},
            "queue": {"image": "z", "deploy": {"resources": {"limits": {"cpus": "4", "memory": "1048576"}}}},
        },
        cpus=16,
        cpus_cap=2.0,
        memory_mb_cap=1024,
    )
    services = result.definition["services"]
    assert services["main"]["cpus"] == 2
    assert (services["db"]["cpus"], services["db"]["mem_limit"]) == (2, str(1 << 30))
    assert services["queue"]["deploy"]["resources"]["limits"] == {
        "cpus": 2,
        "memory": "1048576",
        "pids": MOST_PROCESSES,
    }


def test_bound_folders_of_ours_win_over_the_tasks() -> None:
    own = {"image": "x", "volumes": [{"type": "volume", "target": "/logs/agent"}, {"type": "volume", "target": "/d"}]}
    made = main(settled({"main": own}, bind={Path("/h$st"): "/logs/agent"}))
    assert [(one["target"], one.get("source")) for one in made["volumes"]] == [("/d", None), ("/logs/agent", "/h$$st")]


def test_folders_that_main_may_only_read_are_mounted_so() -> None:
    made = main(settled({}, bind={Path("/a"): "/a"}, bind_read_only={Path("/b"): "/opt/trialdeck/b"}))
    assert [(one["target"], one.get("read_only", False)) for one in made["volumes"]] == [
        ("/a", False),
        ("/opt/trialdeck/b", True),
    ]


def test_in_a_read_only_root_what_an_agent_brings_along_has_a_place() -> None:
    """Case 38."""
    own = {"main": {"image": "x", "read_only": True, "tmpfs": ["/tmp"]}}
    assert main(settled(own))["tmpfs"] == ["/tmp"]
    made = main(settled(own, bind_read_only={Path("/b"): "/opt/trialdeck/b"}))
    unpacked = main(settled(own, brings_in=True))
    assert made["tmpfs"] == unpacked["tmpfs"] == ["/tmp", "/opt/trialdeck:mode=755,exec"]
    assert "tmpfs" not in main(settled({"main": {"image": "x"}}, brings_in=True))


def test_names_without_a_value_ask_nobody() -> None:
    """Compose would look for them in the environment of the tool itself."""
    assert main(settled({"main": {"image": "x", "environment": {"PATH": None, "A": ""}}}))["environment"] == {"A": ""}


def test_builds_get_a_tag_of_content_and_run_and_users_of_the_name_follow() -> None:
    services = {
        "main": {"image": "own:1", "build": {"context": "/c", "args": {"A": "1", "HOME": None}}},
        "worker": {"image": "own:1"},
        "cache": {"image": "redis:7", "pull_policy": "always", "platform": "linux/amd64"},
    }
    result = settled(services)
    tag = result.built["main"]
    assert tag.startswith("trialdeck-fix-it-main:")
    assert result.definition["services"]["worker"]["image"] == main(result)["image"] == tag
    assert "build" not in main(result)
    assert result.build["services"]["main"]["build"]["args"] == {"A": "1"}
    assert [(one.image, one.pull, one.platform) for one in result.images] == [("redis:7", "always", "linux/amd64")]
    assert {service["pull_policy"] for service in result.definition["services"].values()} == {"never"}
    assert settled(dict(services), name="attempt-2", trial="t2").built["main"] == tag
    assert settled(dict(services), run="other").built["main"] != tag
    assert settled(dict(services), trial="another", name="another").built["main"] == tag
    assert settled(dict(services), content_digest="cd" * 32).built["main"] != tag


def test_the_rendered_definition_itself_is_left_alone() -> None:
    rendered = {"name": "p", "services": {"main": {"image": "x", "container_name": "c"}}, "networks": {}}
    settle(rendered, spec(), "p")
    assert rendered["services"] == {"main": {"image": "x", "container_name": "c"}}


def test_no_service_may_take_all_process_numbers_of_the_host_unless_the_task_says_so() -> None:
    deploy = {"resources": {"limits": {"pids": 50}}}
    services = {"own": {"image": "x", "pids_limit": -1}, "deployed": {"image": "x", "deploy": deploy}}
    result = settled({"db": {"image": "x"}, **services})
    limits = {name: service.get("pids_limit") for name, service in result.definition["services"].items()}
    assert limits == {"main": MOST_PROCESSES, "db": MOST_PROCESSES, "own": -1, "deployed": None}


def test_beside_limits_of_a_deployment_the_number_of_processes_stands_among_them() -> None:
    """Compose refuses a project that has the one and not the other."""
    limits = {"memory": "268435456"}
    result = settled({"db": {"image": "x", "deploy": {"resources": {"limits": limits}}}})
    db = result.definition["services"]["db"]
    assert "pids_limit" not in db
    assert db["deploy"]["resources"]["limits"] == {**limits, "pids": MOST_PROCESSES}
