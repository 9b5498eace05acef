"""task.toml -> settings, and what is said of a file that doesn't fit."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from engine.issues import Code, Severity
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
from engine.tasks.toml_file import TaskFile, parse_task_file
from tests.engine.tasks.task_folders import UNTIMED

FILE = Path("hello/task.toml")


def parse(text: str) -> TaskFile:
    return parse_task_file(text.encode(), FILE)


def refused(text: str | bytes) -> str:
    with pytest.raises(TaskInvalid) as caught:
        parse_task_file(text if isinstance(text, bytes) else text.encode(), FILE)
    issue = caught.value.issue
    assert (issue.severity, issue.code, issue.phase) == (Severity.FATAL, Code.TASK_INVALID, None)
    assert str(caught.value) == issue.message
    assert issue.message.startswith("hello/task.toml")
    return issue.message


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


def test_an_older_spelling_that_contradicts_the_newer_is_refused() -> None:
    message = refused('[environment]\nmemory = "2G"\nmemory_mb = 1024\n')
    assert 'environment.memory: "2G" (2048 MiB) contradicts memory_mb = 1024' in message
    assert parse('[environment]\nmemory = "2G"\nmemory_mb = 2048\n').environment.memory_mb == 2048


@pytest.mark.parametrize("size", ["2", "2T", "G", "-1G", "0G", "1K", "", "two", "2 gigabytes", "1e9999G"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    assert "environment.memory: expected" in refused(f'[environment]\nmemory = "{size}"\n')


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


MIB = "expected a whole number of MiB above 0"
CPUS = "expected a number of CPUs above 0"
SECONDS = "expected a number of seconds above 0"
MODES = 'expected one of "public", "no-network", "allowlist"'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schema_version = 1", "schema_version: expected text, found the number 1"),
        ("artifacts = '/a'", 'artifacts: expected a list, found the text "/a"'),
        ("artifacts = [1]", "artifacts[0]: expected text that is not empty or a table, found the number 1"),
        ("artifacts = [{}]", "artifacts[0].source: is missing"),
        ("environment = 1", "environment: expected a table, found the number 1"),
        ("[environment]\nmemory_mb = '2G'", f'environment.memory_mb: {MIB}, found the text "2G"'),
        ("[environment]\nmemory_mb = 1.5", f"environment.memory_mb: {MIB}, found the number 1.5"),
        ("[environment]\nmemory_mb = -1", f"environment.memory_mb: {MIB}, found the number -1"),
        ("[environment]\nmemory = 2048", "environment.memory: expected text like"),
        ("[environment]\ncpus = true", f"environment.cpus: {CPUS}, found true"),
        ("[environment]\ncpus = inf", f"environment.cpus: {CPUS}, found the number inf"),
        ("[environment]\ncpus = 0", f"environment.cpus: {CPUS}, found the number 0"),
        ("[environment]\nbuild_timeout_sec = []", f"environment.build_timeout_sec: {SECONDS}, found a list of 0"),
        ("[environment]\nos = 'beos'", 'environment.os: expected "linux" or "windows", found "beos"'),
        ("[environment]\nworkdir = 'app'", 'environment.workdir: expected an absolute path, found "app"'),
        (
            "[environment]\nallow_internet = 'no'",
            'environment.allow_internet: expected true or false, found the text "no"',
        ),
        ("[environment]\nnetwork_mode = 'none'", f'environment.network_mode: {MODES}, found the text "none"'),
        ("[environment.env]\nPORT = 8080", "environment.env.PORT: expected text, found the number 8080"),
        ("[environment.env]\n'A=B' = 'x'", 'environment.env."A=B": expected a variable name'),
        ('[environment.env]\nA = "x\\u0000y"', "environment.env.A: expected a value without NUL"),
        ("[environment.healthcheck]\nretries = 1", "environment.healthcheck.command: is missing"),
        (
            "[environment.healthcheck]\ncommand = 'x'\nretries = 0",
            "environment.healthcheck.retries: expected a whole number above 0",
        ),
        ("[[environment.mcp_servers]]\nname = 'm'", "environment.mcp_servers[0].url: is missing"),
        (
            "[[environment.mcp_servers]]\nname = 'm'\ntransport = 'pipe'",
            "environment.mcp_servers[0].transport: expected",
        ),
        ("[agent]\ntimeout_sec = nan", f"agent.timeout_sec: {SECONDS}, found the number nan"),
        ("[agent]\ntimeout_sec = 2025-01-02", f"agent.timeout_sec: {SECONDS}, found the time 2025-01-02"),
        ("[agent]\nuser = true", "agent.user: expected a user name or a user number, found true"),
        ("[verifier]\nenvironment_mode = 'fresh'", 'verifier.environment_mode: expected one of "shared", "separate"'),
        ("[verifier]\nenvironment_mode = 'shared'\n[verifier.environment]", "verifier.environment_mode: "),
        ("[verifier]\ncollect = {command = 'x'}", "verifier.collect: expected a list, found a table"),
        ("[[verifier.collect]]\nservice = 'side'", "verifier.collect[0].command: is missing"),
        ("[[verifier.collect]]\ncommand = 'x'\nservice = 'a b'", "verifier.collect[0].service: expected the name"),
        ("multi_step_reward_strategy = 'best'", 'multi_step_reward_strategy: expected "mean" or "final"'),
        ("[[steps]]", "steps[0].name: is missing"),
        ("[[steps]]\nname = 'a'\nmin_reward = 'high'", "steps[0].min_reward: expected a number or a table"),
        ("[[steps]]\nname = 'a'\nmin_reward = {reward = nan}", "steps[0].min_reward.reward: expected a number"),
    ],
)
def test_what_does_not_fit_is_one_error_with_file_key_expected_and_found(text: str, said: str) -> None:
    assert f"hello/task.toml: {said}" in refused(text)


def test_whole_numbers_written_as_fractions_are_whole_numbers() -> None:
    assert parse("[environment]\nmemory_mb = 2048.0\ncpus = 2.0").environment.memory_mb == 2048


def test_a_number_of_a_user_may_be_0() -> None:
    assert parse("[agent]\nuser = 0").agent.user == "0"
    assert parse("[agent]\nuser = ''").agent.user is None


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = = 2\n", 2), ('a = """\n\n', 3), ("a = 1\na = 2\n", 2), ("[x", 1)]
)
def test_a_syntax_error_names_its_line(text: str, line: int) -> None:
    message = refused(text)
    assert message.startswith(f"hello/task.toml, line {line}: is not valid TOML: ")


def test_endless_nesting_and_endless_digits_are_errors_of_the_file() -> None:
    assert "nested too deeply" in refused("a = " + "[" * 100_000)
    assert "is not valid TOML" in refused("a = " + "9" * 5_000)


def test_a_byte_order_mark_and_windows_line_ends_are_tolerated() -> None:
    file = parse_task_file(b'\xef\xbb\xbfschema_version = "1.1"\r\n[agent]\r\ntimeout_sec = 5\r\n', FILE)
    assert (file.schema_version, file.agent.timeout_sec, file.warnings) == ("1.1", 5, ())


def test_a_file_that_is_not_utf8_names_the_line_of_the_byte() -> None:
    assert refused(b"a = 1\nb = '\xff'\n").startswith("hello/task.toml, line 2: is not UTF-8 (byte 0xff)")


@pytest.mark.parametrize("table", ["environment", "agent", "verifier", "verifier.environment"])
@pytest.mark.parametrize("mode", ["", 'network_mode = "public"\n', 'network_mode = "no-network"\n'])
def test_allowed_hosts_without_an_allowlist_are_refused(table: str, mode: str) -> None:
    message = refused(f'[{table}]\n{mode}allowed_hosts = ["example.org"]\n')
    assert f'{table}.allowed_hosts: only goes with network_mode = "allowlist"' in message


def test_an_empty_list_of_allowed_hosts_asks_for_nothing() -> None:
    assert parse("[environment]\nallowed_hosts = []").environment.network is None


@pytest.mark.parametrize(
    "host",
    ["http://example.org", "example.org:80", "10.0.0.1/8", "*", "a.*.b", "*.10.0.0.1", "", "a_b", "fe80::1%eth0"],
)
def test_an_allowed_host_that_is_none_is_refused(host: str) -> None:
    message = refused(f'[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["ok.org", "{host}"]\n')
    assert "environment.allowed_hosts[1]: expected a host name" in message


@pytest.mark.parametrize(
    "entry",
    [
        '"../up"',
        '"/a/../b"',
        '{source = "log/x", service = "side"}',
        '{source = "/x", destination = "/abs"}',
        '{source = "/x", destination = "a/../../b"}',
        '{source = "/x", destination = "a\\\\b"}',
        '{source = "/x", destination = "manifest.json"}',
        '{source = "/x", destination = "./manifest.json/"}',
        '{source = "/x", service = "-side"}',
    ],
)
def test_an_artifact_that_would_leave_its_place_is_refused(entry: str) -> None:
    assert "hello/task.toml: artifacts[0]" in refused(f"artifacts = [{entry}]")


def test_a_relative_artifact_of_main_is_fine() -> None:
    """Case 41: its place is below the working directory."""
    assert parse('artifacts = ["out/rel.txt"]').artifacts == (Artifact(source="out/rel.txt"),)


@pytest.mark.parametrize(
    "name", ["", " ", ".", "..", "a/b", "a\\\\b", "a.", "a ", "nul", "com1.txt", "a\\nb", "x" * 300]
)
def test_a_step_name_that_is_no_safe_folder_name_is_refused(name: str) -> None:
    assert "steps[0].name: " in refused(f'[[steps]]\nname = "{name}"\n')


@pytest.mark.parametrize(("one", "two"), [("a", "a"), ("Build", "build"), ("é", "e\u0301")])
def test_two_steps_that_some_file_system_takes_for_one_are_refused(one: str, two: str) -> None:
    assert "steps[1].name: " in refused(f'[[steps]]\nname = "{one}"\n[[steps]]\nname = "{two}"\n')


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
