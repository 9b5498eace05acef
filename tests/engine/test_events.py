"""Events to bytes and back: whatever is in them, the log stays valid JSON, one line each."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given

from engine import events as ev
from tests.engine.random_events import EVENTS, EVERY_KIND
from tests.engine.tasks.task_folders import UNTIMED


@UNTIMED
@given(EVENTS)
def test_every_event_is_one_line_of_valid_json_and_comes_back(event: ev.Event) -> None:
    line = ev.encode(event)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert json.loads(line.decode("utf-8"))["type"]
    back = ev.decode(line)
    assert type(back) is type(event)
    assert ev.encode(back) == line


def test_names_that_are_not_utf8_stay_distinguishable_case_19() -> None:
    def line(name: bytes) -> bytes:
        return ev.encode(ev.ArtifactRecorded(trial="t", service="main", source=os.fsdecode(name), status="collected"))

    assert line(b"bad\xffname") != line(b"bad\xfename")
    back = ev.decode(line(b"bad\xffname"))
    assert isinstance(back, ev.ArtifactRecorded)
    assert back.source == "bad\\udcffname"


def test_a_lone_surrogate_deep_inside_an_event_is_written_too_case_19() -> None:
    event = ev.RewardRecorded(trial="t", reward=1.0, rewards={"\ud800": 1.0}, source="reward.json")
    back = ev.decode(ev.encode(event))
    assert isinstance(back, ev.RewardRecorded)
    assert back.rewards == {"\\ud800": 1.0}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b'{"type":"trial_fin',
        b'{"type":"from_a_newer_version","at":"2026-01-01T00:00:00Z"}',
        b'{"type":"trial_finished"}',
        b'{"trial":"t"}',
        b'{"type":"agent_stepped","trial":"t","number":1,"tokens_in":1' + b"0" * 400 + b"}",
        b'{"type":"host_sampled","memory_used":1' + b"0" * 400 + b"}",
        b"\xff\xfe\x00",
        b"null",
        b"\x00" * 20,
    ],
)
def test_what_is_no_event_of_ours_decodes_to_nothing(line: bytes) -> None:
    assert ev.decode(line) is None


def test_a_cut_line_hides_only_itself_case_80() -> None:
    whole = ev.encode(ev.RunPaused())
    cut = ev.encode(ev.RunContinued())[:-9]
    assert [type(event) for event in ev.decode_lines([whole, cut, whole])] == [ev.RunPaused, ev.RunPaused]


def test_unknown_fields_of_a_newer_version_are_passed_over() -> None:
    line = b'{"type":"run_paused","at":"2026-01-01T00:00:00Z","by":"me","why":"new"}'
    assert isinstance(ev.decode(line), ev.RunPaused)


def test_no_event_can_carry_a_nan_into_a_file_case_47() -> None:
    line = ev.encode(ev.RewardRecorded(trial="t", reward=float("nan")))
    assert b"nan" not in line.lower()


def test_each_kind_of_event_has_a_tag_of_its_own() -> None:
    tags = [kind.__struct_config__.tag for kind in EVERY_KIND]
    assert len(set(tags)) == len(tags)
