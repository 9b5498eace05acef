"""The stand-in image: its apt sources and how it's made, and that the real one works."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.machine.apt_sources import Source
from console.machine.base_image import TAG, bootstrap_argv, keys_of, plain_uri, short_reason
from console.machine.command import run
from console.machine.docker_client import find_client


def test_a_mirror_list_of_this_machine_becomes_an_address_that_a_container_can_use(tmp_path: Path) -> None:
    listed = tmp_path / "debian.list"
    listed.write_text("# mirrors\n\nhttps://mirror.example/debian\tpriority:1\nhttps://other.example/debian\n")
    assert plain_uri(f"mirror+file:{listed}") == "https://mirror.example/debian"
    assert plain_uri(f"mirror+file://{listed}") == "https://mirror.example/debian"
    assert plain_uri("http://mirror.example/debian") == "http://mirror.example/debian"
    assert plain_uri(f"mirror+file:{tmp_path}/none") == f"mirror+file:{tmp_path}/none"


def test_debootstrap_reads_the_releases_own_source_with_the_key_that_apt_uses(tmp_path: Path) -> None:
    key = tmp_path / "own.gpg"
    key.write_bytes(b"key")
    signed = (("Signed-By", str(key)),)
    security = Source(("http://mirror.example/debian-security",), ("bookworm-security",), ("main",), signed)
    release = Source(("http://mirror.example/debian",), ("bookworm", "bookworm-updates"), ("main",), signed)
    argv = bootstrap_argv([security, release], tmp_path / "root")
    assert argv[1:] == [
        "--variant=minbase",
        f"--keyring={key}",
        "bookworm",
        str(tmp_path / "root"),
        "http://mirror.example/debian",
    ]


def test_an_image_of_an_https_archive_holds_the_certificates_to_read_it(tmp_path: Path) -> None:
    release = Source(("https://mirror.example/debian",), ("bookworm",), ("main",))
    assert "--include=ca-certificates" in bootstrap_argv([release], tmp_path)


def test_only_key_files_that_are_there_are_taken_along(tmp_path: Path) -> None:
    key = tmp_path / "own.gpg"
    key.write_bytes(b"key")
    block = Source((), (), (), (("Signed-By", "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n mQ/INBF"),))
    named = Source((), (), (), (("Signed-By", f"{key} /nowhere/gone.gpg"),))
    assert keys_of([block, named, named]) == [key]


def test_the_end_of_dockers_chain_of_reasons_is_what_is_said() -> None:
    output = "Using default tag\nError response from daemon: Get https://r.example/v2/: dial tcp: no such host\n"
    assert short_reason(output) == "no such host"
    assert short_reason("") == "no reason given"


@pytest.mark.docker
def test_a_container_of_the_base_image_runs_and_finds_package_sources() -> None:
    client = find_client()
    assert client is not None
    inside = "test -x /usr/bin/apt-get && grep -rl bookworm /etc/apt/sources.list.d /etc/apt/sources.list 2>/dev/null"
    done = run([client.path, "run", "--rm", "--network=none", TAG, "sh", "-c", f"{inside}; true"], timeout=120)
    assert done.ok, done.output
    assert "/etc/apt/sources.list" in done.output
