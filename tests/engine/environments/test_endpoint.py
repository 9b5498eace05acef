"""Where the daemon is: variables, contexts, certificates."""

from __future__ import annotations

import hashlib
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from engine.environments.docker.certificates import tls_settings
from engine.environments.docker.endpoint import Endpoint, find_endpoint, is_here
from tests.engine.environments.tls_daemon import certificates


def context(config: Path, name: str, endpoint: dict[str, Any] | None, *, tls: bool = False) -> Path:
    """A context as the CLI stores it; the folder of its certificates."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    meta = config / "contexts" / "meta" / digest
    meta.mkdir(parents=True)
    endpoints = {} if endpoint is None else {"docker": endpoint}
    (meta / "meta.json").write_text(json.dumps({"Name": name, "Endpoints": endpoints}))
    folder = config / "contexts" / "tls" / digest / "docker"
    if tls:
        folder.parent.mkdir(parents=True)
        certificates(folder)
    return folder


def test_a_context_is_found_also_where_the_cli_has_no_settings_file(tmp_path: Path) -> None:
    folder = context(tmp_path, "far", {"Host": "tcp://lab:2376"}, tls=True)
    found = find_endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "far"})
    assert (found.host, found.tls, found.certificates, found.verify) == ("tcp://lab:2376", True, folder, True)
    assert found.named_by == "DOCKER_CONTEXT=far"
    assert found.tls_context() is not None


def test_the_contexts_default_is_the_usual_socket_whatever_the_settings_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"currentContext": "gone"}')
    assert find_endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "default"}) == Endpoint()
    (tmp_path / "config.json").write_text('{"currentContext": 5}')
    assert find_endpoint({"DOCKER_CONFIG": str(tmp_path)}) == Endpoint()


def test_a_context_that_verifies_nothing_speaks_tls_all_the_same(tmp_path: Path) -> None:
    context(tmp_path, "far", {"Host": "tcp://lab:2376", "SkipTLSVerify": True})
    context(tmp_path, "plain", {"Host": "tcp://lab:2375"})
    found = find_endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "far"})
    plain = find_endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "plain"})
    settings = found.tls_context()
    assert settings is not None and not settings.check_hostname
    assert plain.tls_context() is None


def test_a_context_behind_ssh_needs_no_certificates(tmp_path: Path) -> None:
    context(tmp_path, "lab", {"Host": "ssh://me@lab"}, tls=True)
    found = find_endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "lab"})
    assert found.is_ssh and not found.tls and found.socket == "/var/run/docker.sock"
    assert Endpoint(host="ssh://lab/run/user/7/docker.sock").socket == "/run/user/7/docker.sock"


@pytest.mark.parametrize("address", ["ssh://me:secret@lab", "ssh://me:secret@lab:x", "tcp://me:secret@lab:2375"])
def test_a_password_in_an_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ValueError, match="DOCKER_HOST has a password in it") as refused:
        find_endpoint({"DOCKER_HOST": address})
    assert "secret" not in str(refused.value)


def test_a_context_that_cannot_be_used_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"currentContext": "gone"}')
    with pytest.raises(ValueError, match=r"'gone' doesn't exist in .*contexts .*docker context use default"):
        find_endpoint({"DOCKER_CONFIG": str(tmp_path)})
    broken = context(tmp_path, "broken", None).parents[2] / "meta"
    with pytest.raises(ValueError, match="'broken' names no Docker engine"):
        find_endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "broken"})
    file = broken / hashlib.sha256(b"broken").hexdigest() / "meta.json"
    file.write_text("{bad")
    with pytest.raises(ValueError, match=f"'broken' can't be read: {file}"):
        find_endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "broken"})
    context(tmp_path, "odd", {"Host": "fd://"})
    with pytest.raises(ValueError, match="the Docker context 'odd' is 'fd://': expected"):
        find_endpoint({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "odd"})


@pytest.mark.parametrize("name", ["a..b", "x" * 64, "[::1", "h:x"])
def test_a_name_that_no_host_can_have_is_refused_with_what_named_it(name: str) -> None:
    with pytest.raises(ValueError, match=r"^DOCKER_HOST is 'tcp://.*expected"):
        find_endpoint({"DOCKER_HOST": f"tcp://{name}:2375"})


def test_tls_is_asked_for_by_a_variable_or_by_the_address() -> None:
    host = {"DOCKER_HOST": "tcp://lab:2376", "DOCKER_CERT_PATH": "/c"}
    assert not find_endpoint(host).tls
    assert find_endpoint({**host, "DOCKER_TLS_VERIFY": "1"}).verify
    unverified = find_endpoint({**host, "DOCKER_TLS": "1"})
    assert (unverified.tls, unverified.verify, unverified.certificates) == (True, False, Path("/c"))
    by_address = find_endpoint({"DOCKER_HOST": "https://lab:2376"})
    assert (by_address.tls, by_address.verify, by_address.certificates) == (True, True, None)
    assert not find_endpoint({"DOCKER_HOST": "unix:///s", "DOCKER_TLS_VERIFY": "1"}).tls


@pytest.mark.parametrize(
    ("missing", "garbage", "words"),
    [
        ("ca.pem", "", "ca.pem is missing there"),
        ("cert.pem", "", "key.pem is there, and cert.pem, which belongs to it, is missing"),
        ("key.pem", "", "cert.pem is there, and key.pem, which belongs to it, is missing"),
        ("", "ca.pem", "ca.pem can't be used: expected a certificate in PEM form"),
        ("", "cert.pem", "cert.pem and key.pem can't be used"),
    ],
)
def test_a_file_that_is_missing_or_none_is_named(tmp_path: Path, missing: str, garbage: str, words: str) -> None:
    folder = certificates(tmp_path / "c")
    if missing:
        (folder / missing).unlink()
    if garbage:
        (folder / garbage).write_text("garbage")
    with pytest.raises(ValueError, match=f"DOCKER_CERT_PATH is {folder}: ") as refused:
        tls_settings(folder, "DOCKER_CERT_PATH", verify=True)
    assert words in str(refused.value)


def test_a_key_of_another_certificate_is_told_as_that(tmp_path: Path) -> None:
    folder, other = certificates(tmp_path / "c"), certificates(tmp_path / "o", "client-stranger")
    (other / "key.pem").rename(folder / "key.pem")
    with pytest.raises(ValueError, match=r"key\.pem is not the key of cert\.pem"):
        tls_settings(folder, "DOCKER_CERT_PATH", verify=True)


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="this system doesn't tell who listens")
def test_a_socket_that_ssh_passes_on_is_not_this_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the other host bears this one's name, as machines from one image do."""
    monkeypatch.chdir(tmp_path)
    info = {"Name": socket.gethostname()}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        listener.listen()
        endpoint = Endpoint(host="unix://s")
        assert is_here(endpoint, info)
        comm = Path("/proc/self/comm").read_text().strip()
        monkeypatch.setattr("engine.environments.docker.endpoint.FORWARDERS", frozenset({comm}))
        assert not is_here(endpoint, info)
    assert is_here(Endpoint(host="unix://nobody-there"), info), "who can't be asked passes nothing on"
