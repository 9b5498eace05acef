from __future__ import annotations

import json

import pytest

from console.scrub import Known, Scrubber, name, path


def scrubber(*known: Known, ids: tuple[str, ...] = ()) -> Scrubber:
    return Scrubber(known, ids)


def test_the_longer_of_two_folders_wins() -> None:
    found = scrubber(path("home", "/home/ada", "/home/user"), path("project", "/home/ada/bench", "/home/user/project"))
    assert found.text("/home/ada/bench/x /home/ada/y") == "/home/user/project/x /home/user/y"
    assert found.counts == {"project": 1, "home": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ada@tower-9:~$", "user@host:~$"),
        ("TOWER-9 and Tower-9.example.org", "host and host.example.org"),
        ("adamant adage x_ada_y", "adamant adage x_user_y"),
        ("tower-90", "tower-90"),
    ],
)
def test_names_go_only_where_they_stand_alone(text: str, expected: str) -> None:
    assert scrubber(name("user", "ada", "user"), name("host", "tower-9", "host")).text(text) == expected


def test_a_common_name_stays_in_logs_and_goes_where_the_engine_states_a_fact() -> None:
    found = scrubber(name("user", "root", "user"), path("home", "/boss", "/home/user"), name("host", "vm", "host"))
    log = "root@4f: ls /boss/x on vm"
    assert found.text(log) == log
    assert found.value({"home": "/boss/x", "who": "root", "at": "vm", "say": log}, fact=True) == {
        "home": "/home/user/x",
        "who": "user",
        "at": "host",
        "say": log,
    }


def test_a_folder_of_one_name_is_as_good_as_one_inside_a_container() -> None:
    found = scrubber(path("cwd", "/lab", "/home/user/project"))
    assert found.text("cd /lab/src") == "cd /lab/src"
    assert found.value(["file:///lab/src", "/lab", "/labour"], fact=True) == [
        "file:///home/user/project/src",
        "/home/user/project",
        "/labour",
    ]


def test_what_json_and_urls_make_of_a_folder_is_found_too() -> None:
    found = scrubber(path("home", "/home/zoë müller", "/home/user"))
    for text in ("/home/zoë müller/x", json.dumps("/home/zoë müller/x")[1:-1], "/home/zo%C3%AB%20m%C3%BCller/x"):
        assert found.text(text) == "/home/user/x"


def test_values_go_wherever_they_are_even_inside_of_words() -> None:
    found = scrubber(Known(kind="value of KEY", text='s3"cret', stand_in="<KEY>"))
    assert found.text('x=s3"crety') == "x=<KEY>y"
    assert found.text(json.dumps({"a": 's3"cret'})) == '{"a": "<KEY>"}'


def test_a_container_stays_one_container_under_its_long_and_its_short_id() -> None:
    container, other = "4f" * 32, "5e" * 32
    found = scrubber(ids=(container, other, "1a2b3c4d"))
    long, short, second, project = found.text(f"{container} {container[:12]} {other[:12]} trialdeck-x-1a2b3c4d").split()
    assert long.startswith(short)
    assert short != second
    assert container[:12] not in long
    assert project == "trialdeck-x-00000003"


def test_digests_that_are_no_ids_stay() -> None:
    digest = "sha256:" + "cd" * 32
    assert scrubber(ids=("4f" * 32,)).text(digest) == digest


def test_a_control_socket_has_a_user_id_in_it() -> None:
    found = scrubber()
    assert found.text('{"socket":"/tmp/trialdeck-1000/0123456789abcdef.sock"}') == (
        '{"socket":"/run/trialdeck/engine.sock"}'
    )


def test_bytes_that_are_no_text_pass_through() -> None:
    assert scrubber(name("user", "ada", "user")).raw(b"\xff\xfeada\xff") == b"\xff\xfeuser\xff"


def test_a_stand_in_is_not_scrubbed_again() -> None:
    found = scrubber(path("home", "/home/user", "/home/user"), name("user", "ada", "user"))
    assert found.text(found.text("/home/user/ada")) == "/home/user/user"
    assert found.counts == {"user": 1}


def test_a_cut_goes_through_nothing_that_is_to_be_replaced() -> None:
    found = scrubber(path("home", "/home/ada", "/home/user"))
    data = b"x" * 20_000 + b"/home/ada" + b"y" * 20_000
    assert [found.place_to_cut(data, wanted) for wanted in (19_999, 20_000, 20_004, 20_008, 20_009)] == [
        19_999,
        20_000,
        20_000,
        20_000,
        20_009,
    ]
