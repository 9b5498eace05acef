"""apt's words, turned into the one thing that a person can act on."""

from __future__ import annotations

import pytest

from console.machine.apt import explain, is_locked, lock_holder

LOCK = (
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (unattended-upgr)\n"
    "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n"
)
LISTS_LOCK = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 9 (apt-get)\n"
OFFLINE = "W: Failed to fetch http://mirror.example/x  Temporary failure resolving 'mirror.example'\n"


def test_the_holder_of_the_lock_is_named() -> None:
    assert lock_holder(LOCK) == "unattended-upgr (process 4711)"
    assert lock_holder(LISTS_LOCK) == "apt-get (process 9)"
    assert is_locked("E: Unable to lock directory /var/lib/apt/lists/\n")
    assert lock_holder("E: Unable to lock directory /var/lib/apt/lists/\n") == "another package operation"


def test_other_failures_are_no_lock() -> None:
    assert not is_locked(OFFLINE)


@pytest.mark.parametrize(
    ("output", "what", "way_out"),
    [
        (LOCK, "unattended-upgr (process 4711)", "let it finish"),
        (OFFLINE, "can't be reached", "proxy"),
        (
            "E: dpkg was interrupted, you must manually run 'dpkg --configure -a'\n",
            "interrupted",
            "dpkg --configure -a",
        ),
        ("E: You don't have enough free space in /var/cache/apt/archives/.\n", "disk is full", "df -h"),
        ("dpkg: error: cannot copy: No space left on device\n", "disk is full", "df -h"),
        ("E: Unable to locate package docker-buildx\n", "no package docker-buildx", "universe"),
        ("E: Package 'docker-compose-v2' has no installation candidate\n", "no package docker-compose-v2", "universe"),
        ("E: The repository 'http://x trixie InRelease' is not signed.\n", "doesn't trust", "clock"),
        ("E: Packages need to be removed but remove is disabled.\n", "remove packages", "by hand"),
    ],
)
def test_a_failure_names_the_thing_and_the_way_out(output: str, what: str, way_out: str) -> None:
    trouble = explain(output, "installing docker.io with apt")
    assert trouble.what.startswith("installing docker.io with apt: ")
    assert what in trouble.what
    assert way_out in trouble.way_out
    assert output.splitlines()[0] in str(trouble)


def test_an_unknown_failure_shows_apts_own_errors() -> None:
    trouble = explain("Reading package lists...\nE: Something new\n", "installing x")
    assert trouble.evidence == "E: Something new"
