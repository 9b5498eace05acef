"""task.toml -> settings, and what is said of keys and names that nobody knows."""

from __future__ import annotations

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from engine.tasks.invalid import TaskInvalid
from engine.tasks.task import (
    Artifact,
    CollectHook,
    Healthcheck,
    McpServer,
    NetworkMode,
    NetworkPolicy,
    TaskWarning,
    VerifierMode,
)
from engine.tasks.toml_file import parse_task_file
from tests.engine.tasks.task_files import FILE, parse
from tests.engine.tasks.task_folders import UNTIMED


def warned(text: str) -> list[tuple[str, str]]:
    return [(warning.key, warning.message) for warning in parse(text).warnings]


def test_an_empty_file_gives_the_defaults_of_the_format() -> None:
    file = parse("")
    assert file.environment.build_timeout_sec == 600
    assert (file.environment.cpus, file.environment.memory_mb, file.environment.os) == (None, None, "linux")
    assert file.environment.network is None
    assert file.agent.timeout_sec is None
    assert (file.verifier.timeout_sec, file.verifier.environment_mode) == (600, None)
    assert (file.artifacts, file.steps, file.multi_step_reward_strategy) == ((), (), "mean")
    assert file.warnings == ()


def test_every_key_of_the_format_arrives() -> None:
    file = parse(
        """
        schema_version = "1.3"
        source = "https://example.org/set"
        artifacts = ["/app/out", {source = "/var/log/x", destination = "x", exclude = ["*.tmp"], service = "side"}]
        multi_step_reward_strategy = "final"
        [metadata]
        category = "games"
        created = 2025-01-02
        nested.deep = [1, {a = true}]
        [task]
        name = "org/hello"
        version = "2"
        description = "d"
        authors = [{name = "A", email = "a@example.org"}]
        keywords = ["k"]
        [environment]
        build_timeout_sec = 1
        docker_image = "debian:bookworm-slim"
        workdir = "/app"
        skills_dir = "/skills"
        os = "Linux"
        cpus = 2
        memory_mb = 1024
        storage_mb = 2048
        gpus = 1
        gpu_types = ["H100"]
        tpu = {type = "v6e", topology = "2x4"}
        network_mode = "allowlist"
        allowed_hosts = ["Example.org.", "*.example.com", "192.0.2.1", "2001:DB8::1", "10.0.0.0/8"]
        env = {A = "${B:-c}"}
        healthcheck = {command = "true", interval_sec = 1, retries = 9}
        [[environment.mcp_servers]]
        name = "m"
        transport = "http"
        url = "http://side:1/mcp"
        headers = {X-A = "b"}
        [[environment.mcp_servers]]
        name = "s"
        transport = "stdio"
        command = "run"
        args = ["-x"]
        [agent]
        timeout_sec = 5
        user = 1000
        network_mode = "no-network"
        [verifier]
        timeout_sec = 7.5
        env = {V = "1"}
        user = "checker"
        network_mode = "public"
        environment_mode = "separate"
        environment = {cpus = 0.5}
        collect = [{command = "dump", service = "side", timeout_sec = 3, user = 0}]
        [solution]
        env = {S = "2"}
        [[steps]]
        name = "one"
        min_reward = {reward = 1, style = 0.5}
        agent = {timeout_sec = 9}
        verifier = {timeout_sec = 8}
        healthcheck = {command = "ready"}
        artifacts = ["/app/one"]
        [[steps]]
        name = "two"
        min_reward = 1
        verifier = {timeout_sec = 8}
        """
    )
    assert file.warnings == ()
    assert (file.schema_version, file.name, file.version, file.description) == ("1.3", "org/hello", "2", "d")
    assert (file.source, file.keywords) == ("https://example.org/set", ("k",))
    assert file.metadata["nested"] == {"deep": [1, {"a": True}]}
    assert file.artifacts == (
        Artifact(source="/app/out"),
        Artifact(source="/var/log/x", destination="x", exclude=("*.tmp",), service="side"),
    )
    environment = file.environment
    assert (environment.build_timeout_sec, environment.docker_image) == (1, "debian:bookworm-slim")
    assert (environment.workdir, environment.skills_dir, environment.os) == ("/app", "/skills", "linux")
    assert (environment.cpus, environment.memory_mb, environment.storage_mb) == (2, 1024, 2048)
    assert (environment.gpus, environment.gpu_types, environment.tpu) == (1, ("H100",), "v6e 2x4")
    assert environment.network == NetworkPolicy(
        mode=NetworkMode.ALLOWLIST,
        allowed_hosts=("example.org", "*.example.com", "192.0.2.1", "2001:db8::1", "10.0.0.0/8"),
    )
    assert environment.env == {"A": "${B:-c}"}
    assert environment.healthcheck == Healthcheck(command="true", interval_sec=1, retries=9)
    assert environment.mcp_servers == (
        McpServer(name="m", transport="streamable-http", url="http://side:1/mcp", headers={"X-A": "b"}),
        McpServer(name="s", transport="stdio", command="run", args=("-x",)),
    )
    assert (file.agent.timeout_sec, file.agent.user) == (5, "1000")
    assert file.agent.network == NetworkPolicy(mode=NetworkMode.NO_NETWORK)
    verifier = file.verifier
    assert (verifier.timeout_sec, verifier.env, verifier.user) == (7.5, {"V": "1"}, "checker")
    assert verifier.network == NetworkPolicy(mode=NetworkMode.PUBLIC)
    assert verifier.environment_mode is VerifierMode.SEPARATE
    assert verifier.environment is not None and verifier.environment.cpus == 0.5
    assert verifier.collect == (CollectHook(command="dump", service="side", timeout_sec=3, user="0"),)
    assert file.solution_env == {"S": "2"}
    one, two = file.steps
    assert (one.name, one.min_reward, one.agent.timeout_sec) == ("one", {"reward": 1, "style": 0.5}, 9)
    assert one.healthcheck == Healthcheck(command="ready")
    assert one.artifacts == (Artifact(source="/app/one"),)
    assert (two.name, two.min_reward) == ("two", 1)
    assert file.multi_step_reward_strategy == "final"


def test_older_files_say_version_memory_storage_and_allow_internet() -> None:
    file = parse(
        'version = "1.0"\n[environment]\ncpus = 1\nmemory = "2G"\nstorage = "512m"\nallow_internet = false\n'
        '[verifier.environment]\nmemory = "1.5G"\nstorage = "2048K"\nallow_internet = true\n'
    )
    assert file.schema_version == "1.0"
    assert (file.environment.memory_mb, file.environment.storage_mb) == (2048, 512)
    assert file.environment.network == NetworkPolicy(mode=NetworkMode.NO_NETWORK)
    assert file.verifier.environment is not None
    assert (file.verifier.environment.memory_mb, file.verifier.environment.storage_mb) == (1536, 2)
    assert file.verifier.environment.network == NetworkPolicy(mode=NetworkMode.PUBLIC)
    assert file.warnings == ()


def test_a_network_mode_wins_over_allow_internet_and_the_contradiction_is_told() -> None:
    text = '[environment]\nnetwork_mode = "public"\nallow_internet = false\n'
    assert parse(text).environment.network == NetworkPolicy(mode=NetworkMode.PUBLIC)
    assert [key for key, _ in warned(text)] == ["environment.allow_internet"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("colour = 1", "colour"),
        ("[environment]\nmemry_mb = 1", "environment.memry_mb"),
        ("[agent]\nenv = {A = 'b'}", "agent.env"),
        ("[verifier.environment]\nfast = true", "verifier.environment.fast"),
        ("[[verifier.collect]]\ncommand = 'x'\nwhen = 1", "verifier.collect[0].when"),
        ("artifacts = ['/a', {source = '/b', kind = 1}]", "artifacts[1].kind"),
        ("[[steps]]\nname = 'a'\n[steps.agent]\nspeed = 1", "steps[0].agent.speed"),
        ("[task]\nname = 'a/b'\n'odd key' = 1", 'task."odd key"'),
    ],
)
def test_an_unknown_key_is_a_warning_that_names_it(text: str, key: str) -> None:
    (warning,) = parse(text).warnings
    assert (warning.file, warning.key) == ("task.toml", key)
    assert warning.message.startswith("unknown key")


def test_a_misspelt_key_is_answered_with_the_right_one() -> None:
    assert warned("[environment]\nmemry_mb = 1") == [
        ("environment.memry_mb", 'unknown key, ignored; did you mean "memory_mb"?')
    ]


def test_metadata_and_variables_are_free_tables() -> None:
    assert warned("[metadata]\nanything.goes = 1\n[environment.env]\nANY = 'x'\n[solution.env]\nB = 'y'") == []


def test_whole_numbers_written_as_fractions_are_whole_numbers() -> None:
    assert parse("[environment]\nmemory_mb = 2048.0\ncpus = 2.0").environment.memory_mb == 2048


def test_a_number_of_a_user_may_be_0() -> None:
    assert parse("[agent]\nuser = 0").agent.user == "0"
    assert parse("[agent]\nuser = ''").agent.user is None


def test_a_byte_order_mark_and_windows_line_ends_are_tolerated() -> None:
    file = parse_task_file(b'\xef\xbb\xbfschema_version = "1.1"\r\n[agent]\r\ntimeout_sec = 5\r\n', FILE)
    assert (file.schema_version, file.agent.timeout_sec, file.warnings) == ("1.1", 5, ())


def test_an_empty_list_of_allowed_hosts_asks_for_nothing() -> None:
    assert parse("[environment]\nallowed_hosts = []").environment.network is None


def test_a_relative_artifact_of_main_is_fine() -> None:
    """Case 41: its place is below the working directory."""
    assert parse('artifacts = ["out/rel.txt"]').artifacts == (Artifact(source="out/rel.txt"),)


def test_a_step_in_any_script_is_fine() -> None:
    assert [step.name for step in parse('[[steps]]\nname = "日本語 1"\n').steps] == ["日本語 1"]


def test_a_schema_version_that_nobody_knows_is_read_with_a_warning() -> None:
    assert parse('schema_version = "2.0"').schema_version == "2.0"
    assert [key for key, _ in warned('schema_version = "2.0"')] == ["schema_version"]
    assert [key for key, _ in warned('schema_version = "1.2"\nversion = "7"')] == ["version"]


def test_a_task_name_without_an_org_is_kept_with_a_warning() -> None:
    file = parse('[task]\nname = "hello"')
    assert file.name == "hello"
    assert file.warnings[0] == TaskWarning(
        file="task.toml", key="task.name", message='"hello" is not of the form "org/name"; Harbor refuses it'
    )


@UNTIMED
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_and_nothing_else(data: bytes) -> None:
    try:
        parse_task_file(data, FILE)
    except TaskInvalid as invalid:
        assert invalid.issue.message.startswith("hello/task.toml")


KEYS = ["environment", "agent", "verifier", "steps", "artifacts", "env", "cpus", "user", "memory", "collect", "tpu"]
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.dates()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)),
    max_leaves=8,
)


@UNTIMED
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
def test_any_value_under_any_key_is_read_or_refused_and_nothing_else(table: dict[str, object]) -> None:
    try:
        parse(tomli_w.dumps(table))
    except TaskInvalid as invalid:
        assert invalid.issue.message.startswith("hello/task.toml")
