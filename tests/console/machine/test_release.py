"""Reading os-release, and which releases hold a Docker that is new enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.machine.release import parse_release, this_release

BOOKWORM = """PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION_CODENAME=bookworm
ID=debian
"""


def test_quoted_and_bare_values_are_read() -> None:
    release = parse_release(BOOKWORM)
    assert (release.id, release.major, release.codename) == ("debian", 12, "bookworm")
    assert release.name == "Debian GNU/Linux 12 (bookworm)"


def test_only_a_release_whose_compose_is_old_takes_docker_from_the_next_suite() -> None:
    assert parse_release(BOOKWORM).next_suite == "trixie"
    assert parse_release(BOOKWORM.replace("bookworm", "trixie").replace('"12"', '"13"')).next_suite is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ID=debian\nVERSION_ID=12\n", True),
        ("ID=debian\n", True),
        ("ID=debian\nVERSION_ID=11\n", False),
        ("ID=ubuntu\nVERSION_ID='22.04'\n", True),
        ("ID=ubuntu\nVERSION_ID='20.04'\n", False),
        ("ID=alpine\nVERSION_ID=3.20\n", False),
        ("", False),
    ],
)
def test_which_releases_have_the_packages(text: str, expected: bool) -> None:
    assert parse_release(text).has_apt_docker is expected


def test_a_broken_line_does_not_stop_the_reading() -> None:
    assert parse_release('PRETTY_NAME="half\nnonsense\n# ID=no\nID=debian\n').id == "debian"


def test_a_machine_without_os_release_has_none(tmp_path: Path) -> None:
    assert this_release(tmp_path / "os-release") is None
