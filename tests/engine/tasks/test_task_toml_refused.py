"""A task.toml that doesn't fit: one error each, with file, key or line, what was expected and what was found."""

from __future__ import annotations

import pytest

from tests.engine.tasks.task_files import parse, refused


def test_an_older_spelling_that_contradicts_the_newer_is_refused() -> None:
    message = refused('[environment]\nmemory = "2G"\nmemory_mb = 1024\n')
    assert 'environment.memory: "2G" (2048 MiB) contradicts memory_mb = 1024' in message
    assert parse('[environment]\nmemory = "2G"\nmemory_mb = 2048\n').environment.memory_mb == 2048


@pytest.mark.parametrize("size", ["2", "2T", "G", "-1G", "0G", "1K", "", "two", "2 gigabytes", "1e9999G"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    assert "environment.memory: expected" in refused(f'[environment]\nmemory = "{size}"\n')


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


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = = 2\n", 2), ('a = """\n\n', 3), ("a = 1\na = 2\n", 2), ("[x", 1)]
)
def test_a_syntax_error_names_its_line(text: str, line: int) -> None:
    message = refused(text)
    assert message.startswith(f"hello/task.toml, line {line}: is not valid TOML: ")


def test_endless_nesting_and_endless_digits_are_errors_of_the_file() -> None:
    assert "nested too deeply" in refused("a = " + "[" * 100_000)
    assert "is not valid TOML" in refused("a = " + "9" * 5_000)


def test_a_file_that_is_not_utf8_names_the_line_of_the_byte() -> None:
    assert refused(b"a = 1\nb = '\xff'\n").startswith("hello/task.toml, line 2: is not UTF-8 (byte 0xff)")


@pytest.mark.parametrize("table", ["environment", "agent", "verifier", "verifier.environment"])
@pytest.mark.parametrize("mode", ["", 'network_mode = "public"\n', 'network_mode = "no-network"\n'])
def test_allowed_hosts_without_an_allowlist_are_refused(table: str, mode: str) -> None:
    message = refused(f'[{table}]\n{mode}allowed_hosts = ["example.org"]\n')
    assert f'{table}.allowed_hosts: only goes with network_mode = "allowlist"' in message


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


@pytest.mark.parametrize(
    "name", ["", " ", ".", "..", "a/b", "a\\\\b", "a.", "a ", "nul", "com1.txt", "a\\nb", "x" * 300]
)
def test_a_step_name_that_is_no_safe_folder_name_is_refused(name: str) -> None:
    assert "steps[0].name: " in refused(f'[[steps]]\nname = "{name}"\n')


@pytest.mark.parametrize(("one", "two"), [("a", "a"), ("Build", "build"), ("é", "e\u0301")])
def test_two_steps_that_some_file_system_takes_for_one_are_refused(one: str, two: str) -> None:
    assert "steps[1].name: " in refused(f'[[steps]]\nname = "{one}"\n[[steps]]\nname = "{two}"\n')
