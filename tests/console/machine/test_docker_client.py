"""Choosing the docker command, and reading what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.machine.command import Outcome
from console.machine.docker_client import (
    Client,
    best,
    candidates,
    chosen_engine,
    put_first,
    read_client,
    version_in,
)

ENGINE = Outcome(0, "26.1.5+dfsg1|26.1.5+dfsg1\n")
COMPOSE = Outcome(0, "2.26.1-4\n")
BUILDX = Outcome(0, "github.com/docker/buildx 0.13.1+ds1 0.13.1+ds1-3\n")
NO_COMMAND = Outcome(1, "docker: 'compose' is not a docker command.\nSee 'docker --help'\n")


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_client_with_an_engine_compose_and_buildx_fits() -> None:
    client = read_client("docker", ENGINE, COMPOSE, BUILDX)
    assert client == Client("docker", "26.1.5+dfsg1", "2.26.1", "0.13.1")
    assert client.fits


def test_compose_1_counts_as_none() -> None:
    assert read_client("docker", ENGINE, Outcome(0, "1.29.2\n"), BUILDX).compose is None


def test_a_missing_plugin_is_told_from_a_missing_engine() -> None:
    client = read_client("docker", ENGINE, NO_COMMAND, BUILDX)
    assert (client.server, client.compose, client.fits) == ("26.1.5+dfsg1", None, False)


@pytest.mark.parametrize("printed", ["|26.1.5\n", "\n", "|\n", "<no value>|20.10\n"])
def test_a_client_that_only_names_itself_has_no_engine(printed: str) -> None:
    said = printed + "Cannot connect to the Docker daemon at unix:///run/x. Is the docker daemon running?\n"
    client = read_client("docker", Outcome(1, said), COMPOSE, BUILDX)
    assert client.server is None
    assert client.said == "Cannot connect to the Docker daemon at unix:///run/x. Is the docker daemon running?"
    assert not client.denied


def test_a_socket_that_may_not_be_opened_is_told_from_a_daemon_that_is_down() -> None:
    said = "permission denied while trying to connect to the Docker daemon socket at unix:///run/docker.sock\n"
    assert read_client("docker", Outcome(1, said), COMPOSE, BUILDX).denied


def test_versions_are_found_in_what_programs_print() -> None:
    assert version_in("Docker Compose version v2.26.1") == "2.26.1"
    assert version_in("nothing here") is None


def test_the_client_with_most_working_parts_wins_and_path_decides_between_equals() -> None:
    old = Client("/usr/local/bin/docker", server=None, compose=None, buildx=None)
    fitting = Client("/usr/bin/docker", server="26.1.5", compose="2.26.1", buildx="0.13.1")
    assert best([old, fitting]) == fitting
    assert best([fitting, Client("/other", server="26", compose="2", buildx="0")]) == fitting
    assert best([]) is None


def test_links_to_one_client_count_once(tmp_path: Path) -> None:
    real = program(tmp_path / "real" / "docker")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "docker").symlink_to(real)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "docker").write_text("not executable")
    path = f"{tmp_path}/plain:{tmp_path}/link:{tmp_path}/real:{tmp_path}/gone"
    ours = [found for found in candidates(path) if found.startswith(str(tmp_path))]
    assert ours == [f"{tmp_path}/link/docker"]


def test_a_client_that_path_hides_is_put_first_and_one_that_it_finds_is_left_alone(tmp_path: Path) -> None:
    hidden, front = program(tmp_path / "b" / "docker"), program(tmp_path / "a" / "docker", "#!/bin/sh\nexit 1\n")
    environ = {"PATH": f"{tmp_path}/a:{tmp_path}/b"}
    links = tmp_path / "links"
    put_first(Client(str(front), None, None, None), environ, links)
    assert environ["PATH"] == f"{tmp_path}/a:{tmp_path}/b"
    put_first(Client(str(hidden), None, None, None), environ, links)
    assert environ["PATH"] == f"{links}:{tmp_path}/a:{tmp_path}/b"
    assert (links / "docker").resolve() == hidden


@pytest.mark.parametrize(
    ("environ", "config", "chosen"),
    [
        ({}, "", None),
        ({}, "{not json", None),
        ({}, '{"currentContext": "default"}', None),
        ({"DOCKER_CONTEXT": "default"}, '{"currentContext": "lab"}', "the Docker context lab"),
        ({"DOCKER_HOST": "ssh://lab"}, '{"currentContext": "other"}', "DOCKER_HOST=ssh://lab"),
    ],
)
def test_an_engine_chosen_by_the_user_is_recognised(environ: dict[str, str], config: str, chosen: str | None) -> None:
    assert chosen_engine(environ, config) == chosen
