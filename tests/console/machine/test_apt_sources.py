"""Deriving another suite's source from what a machine has, from sample source lists."""

from __future__ import annotations

from pathlib import Path

from console.machine.apt_sources import (
    Source,
    derive,
    parse_deb822,
    parse_one_line,
    read_sources,
    render_deb822,
    render_pins,
)

DEB822 = """\
Types: deb
# the state of an earlier day
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""

ONE_LINE = """\
# a machine that was upgraded from release to release
deb http://mirror.example/debian/ bookworm main contrib  # the release
deb-src http://mirror.example/debian/ bookworm main
deb [signed-by=/etc/apt/keyrings/own.gpg arch=amd64,i386] https://sec.example/debian-security bookworm-security main
deb cdrom:[Debian 12]/ bookworm main
"""

ARCHIVE = frozenset({"http://mirror.example/debian", "https://sec.example/debian-security"})


def test_deb822_sources_give_the_next_suite_with_its_pockets_addresses_and_keys() -> None:
    derived = derive(parse_deb822(DEB822), "bookworm", "trixie")
    assert render_deb822(derived) == (
        "Types: deb\n"
        "URIs: http://mirror.example/debian\n"
        "Suites: trixie trixie-updates\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
        "\n"
        "Types: deb\n"
        "URIs: http://mirror.example/debian-security\n"
        "Suites: trixie-security\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )


def test_one_line_sources_give_the_next_suite_with_their_options() -> None:
    derived = derive(parse_one_line(ONE_LINE), "bookworm", "trixie")
    assert derived == [
        Source(("http://mirror.example/debian/",), ("trixie",), ("main", "contrib")),
        Source(
            ("https://sec.example/debian-security",),
            ("trixie-security",),
            ("main",),
            (("Signed-By", "/etc/apt/keyrings/own.gpg"), ("Architectures", "amd64 i386")),
        ),
    ]


def test_a_disabled_source_and_a_source_of_sources_give_nothing() -> None:
    text = DEB822.replace("Types: deb\n", "Types: deb\nEnabled: no\n", 1).replace(
        "Types: deb\nURIs", "Types: deb-src\nURIs"
    )
    assert parse_deb822(text) == []


def test_a_key_block_inside_a_source_survives_word_for_word() -> None:
    block = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END PGP PUBLIC KEY BLOCK-----\n"
    text = "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\n" + block
    [derived] = derive(parse_deb822(text), "bookworm", "trixie")
    assert render_deb822([derived]).endswith(block)


def test_field_names_are_read_in_any_case() -> None:
    [source] = parse_deb822("types: deb\nuris: http://mirror.example/debian\nSUITES: bookworm\nsigned-by: /k.gpg\n")
    assert source == Source(("http://mirror.example/debian",), ("bookworm",), (), (("Signed-By", "/k.gpg"),))


def test_a_vendor_that_borrows_the_suite_name_is_left_out_once_apt_knows_the_archive() -> None:
    vendor = Source(("https://vendor.example/packages",), ("bookworm",), ("main",))
    own = parse_one_line(ONE_LINE)
    assert [s.uris for s in derive([vendor, *own], "bookworm", "trixie", ARCHIVE)] == [
        ("http://mirror.example/debian/",),
        ("https://sec.example/debian-security",),
    ]


def test_a_mirror_list_counts_as_the_archive_although_apt_reports_the_address_behind_it() -> None:
    listed = Source(("mirror+file:///etc/apt/mirrors/debian.list",), ("bookworm",), ("main",))
    assert [s.suites for s in derive([listed], "bookworm", "trixie", ARCHIVE)] == [("trixie",)]


def test_a_source_that_says_stable_serves_where_none_names_the_release() -> None:
    stable = Source(("http://mirror.example/debian",), ("stable", "stable-updates", "stable-backports"), ("main",))
    assert [s.suites for s in derive([stable], "bookworm", "trixie")] == [("trixie", "trixie-updates")]
    named = Source(("http://mirror.example/debian",), ("bookworm",), ("main",))
    assert derive([stable, named], "bookworm", "trixie") == derive([named], "bookworm", "trixie")


def test_other_suites_give_nothing() -> None:
    other = Source(("http://mirror.example/pgdg",), ("bookworm-pgdg",), ("main",))
    assert derive([other], "bookworm", "trixie") == []


def test_both_formats_are_read_from_a_machine_and_our_own_file_is_not(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (tmp_path / "sources.list").write_text("deb http://one.example/debian bookworm main\n")
    (parts / "debian.sources").write_text(DEB822)
    (parts / "old.list").write_text("deb http://two.example/debian bookworm main\n")
    (parts / "off.list.disabled").write_text("deb http://off.example/debian bookworm main\n")
    (parts / "trialdeck.sources").write_text(DEB822.replace("bookworm", "trixie"))
    assert [source.uris[0] for source in read_sources(tmp_path)] == [
        "http://one.example/debian",
        "http://mirror.example/debian",
        "http://mirror.example/debian-security",
        "http://two.example/debian",
    ]


def test_pins_hold_everything_of_the_suite_below_what_is_installed_except_the_named_packages() -> None:
    assert render_pins(["trixie"], ["docker.io", "docker-cli"]) == (
        "Package: *\nPin: release n=trixie\nPin-Priority: 50\n"
        "\n"
        "Package: docker.io docker-cli\nPin: release n=trixie\nPin-Priority: 500\n"
    )
