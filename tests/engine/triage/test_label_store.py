"""Labels on the disk: whole lines, side by side, nothing glued, nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from engine import events as ev
from engine.readers.open_run import OpenedRun, open_run
from engine.readers.reader import RunReader
from engine.readers.run_folder import TRIALDECK, TrialdeckFormat
from engine.triage.label_store import LabelStore, labels_path, open_labels
from engine.user_places import foreign_labels_dir
from tests.engine.run_events import at, planned
from tests.engine.triage.labels import label


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    return LabelStore(tmp_path / "deep" / "labels.jsonl", "r")


def test_a_label_comes_back_as_it_was(store: LabelStore) -> None:
    first = label(note="why\nnot", blind=True)
    store.append(first)
    assert store.new_labels() == [first]
    assert store.new_labels() == []


def test_a_run_without_labels_has_none_and_no_file_is_made(store: LabelStore) -> None:
    assert store.new_labels() == []
    assert not store.path.exists()


@pytest.mark.parametrize(("folder", "file"), [(0o700, 0o600), (0o755, 0o644), (0o2775, 0o664), (0o777, 0o666)])
def test_who_may_write_in_the_folder_may_label_whoever_was_first(store: LabelStore, folder: int, file: int) -> None:
    store.path.parent.mkdir(parents=True, exist_ok=True)
    store.path.parent.chmod(folder)
    before = os.umask(0o077 if folder == 0o700 else 0o022)
    try:
        store.append(label())
    finally:
        os.umask(before)
    assert store.path.stat().st_mode & 0o777 == file
    store.path.chmod(0o600)
    store.append(label())
    assert store.path.stat().st_mode & 0o777 == 0o600, "what its owner set stays"


def test_what_another_person_appends_is_read_on(store: LabelStore) -> None:
    store.append(label())
    store.new_labels()
    other = label("bob")
    LabelStore(store.path, "r").append(other)
    assert store.new_labels() == [other]


def test_a_cut_last_line_is_left_alone_and_never_glued_to(store: LabelStore) -> None:
    """Case 80."""
    first, last = label(), label("bob")
    store.append(first)
    with store.path.open("ab") as file:
        file.write(b'{"id":"x","at":"2026-')
    assert store.new_labels() == [first]
    assert "line 2: cut off" in store.cut
    store.append(last)
    assert store.new_labels() == [last]
    assert store.cut == ""
    assert store.problems == ["labels.jsonl, line 2: no label (cut off or damaged), left as it is"]
    assert store.path.read_bytes().split(b"\n")[1] == b'{"id":"x","at":"2026-'


def test_labels_of_another_run_are_passed_over_and_said(store: LabelStore) -> None:
    LabelStore(store.path, "elsewhere").append(label(run="elsewhere"))
    assert store.new_labels() == []
    assert store.problems == ["labels.jsonl, line 1: a label of another run, passed over"]
    with pytest.raises(ValueError, match="elsewhere"):
        store.append(label(run="elsewhere"))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"id":"x","at":"2026-01-01T00:00:00","who":"a","run":"r","trial":"t","task":"t","arm":"a","attempt":1,'
         b'"cause":"model"}', "no offset"),
        (b'{"id":"x","at":"2026-01-01T00:00:00Z","who":"a","run":"r","trial":"t","task":"t","arm":"a","attempt":1}',
         "without a cause"),
        (b"\xff\xfe", "no label"),
        (b"[]", "no label"),
    ],
)  # fmt: skip
def test_lines_that_are_no_labels_are_said_by_number(store: LabelStore, line: bytes, problem: str) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(line + b"\n\n")
    assert store.new_labels() == []
    assert len(store.problems) == 1
    assert problem in store.problems[0]
    assert "line 1" in store.problems[0]


def test_a_replaced_file_is_read_from_its_beginning(store: LabelStore) -> None:
    store.append_all([label(), label()])
    store.new_labels()
    other = label("bob")
    store.path.unlink()
    LabelStore(store.path, "r").append(other)
    assert store.new_labels() == [other]


@pytest.mark.parametrize("longer", [False, True], ids=["shorter", "longer"])
def test_a_file_that_was_edited_in_its_place_is_read_from_its_beginning_and_it_is_said(
    store: LabelStore, longer: bool
) -> None:
    store.append_all([label(), label("zoe")])
    assert len(store.new_labels()) == 2 and not store.anew
    last = store.path.read_bytes().splitlines(keepends=True)[1]
    edited = last.replace(b"zoe", b"zoe" + b"z" * 400 * longer)
    store.path.write_bytes(edited)
    assert [one.who for one in store.new_labels()] == ["zoe" + "z" * 400 * longer] and store.anew
    assert store.new_labels() == [] and not store.anew


def test_a_file_that_was_taken_away_says_so_once(store: LabelStore) -> None:
    store.append(label())
    store.new_labels()
    store.path.unlink()
    assert store.new_labels() == [] and store.anew
    assert store.new_labels() == [] and not store.anew


def test_what_was_wrong_in_a_file_that_is_no_more_is_no_longer_said(store: LabelStore) -> None:
    store.append(label())
    with store.path.open("ab") as file:
        file.write(b"no label\n")
    store.new_labels()
    assert store.problems
    store.path.write_bytes(b"")
    store.new_labels()
    assert store.problems == []


def test_a_link_planted_in_place_of_the_file_is_not_followed(store: LabelStore, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine\n")
    store.path.parent.mkdir()
    store.path.symlink_to(target)
    with pytest.raises(OSError):
        store.append(label())
    assert target.read_text() == "mine\n"


def test_names_that_are_not_utf_8_are_written(store: LabelStore) -> None:
    """Case 19."""
    store.append(label(note="bad\udcffname"))
    assert store.new_labels()[0].note == "bad\\udcffname"


def test_a_write_that_fails_half_way_leaves_no_half_line(store: LabelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 11: the disk is full."""
    first = label()
    store.append(first)
    real = os.write
    calls = iter([10])

    def full(descriptor: int, data: bytes) -> int:
        for count in calls:
            return real(descriptor, data[:count])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        store.append(label())
    monkeypatch.undo()
    assert store.path.read_bytes().endswith(b"\n")
    assert store.new_labels() == [first]


_APPENDS = """
import sys
from pathlib import Path
from engine.triage.label_store import LabelStore
from tests.engine.triage.labels import label
store = LabelStore(Path(sys.argv[1]), "r")
for number in range(60):
    store.append(label(sys.argv[2], note="x" * 3000, id=f"{sys.argv[2]}{number}"))
"""


def test_processes_that_append_at_once_lose_and_mix_nothing(store: LabelStore) -> None:
    people = ("ada", "bob", "eve")
    at_work = [
        subprocess.Popen([sys.executable, "-c", _APPENDS, str(store.path), who], cwd=Path(__file__).parents[3])
        for who in people
    ]
    assert [process.wait(60) for process in at_work] == [0, 0, 0]
    found = store.new_labels()
    assert store.problems == []
    for who in people:
        assert [each.id for each in found if each.who == who] == [f"{who}{number}" for number in range(60)]


class _Foreign(TrialdeckFormat):
    kind = "harbor"
    ours = False

    def identity(self, folder: Path) -> str:
        return "../0a1b\0"

    def reader(self, folder: Path) -> RunReader:  # type: ignore[override]
        raise AssertionError


def test_labels_lie_in_our_run_and_outside_of_another_tools(tmp_path: Path) -> None:
    assert labels_path(OpenedRun(tmp_path, TRIALDECK)) == tmp_path / "labels.jsonl"
    foreign = labels_path(OpenedRun(tmp_path, _Foreign()))
    assert foreign.parent == foreign_labels_dir()
    assert foreign.name.startswith("harbor-")
    assert labels_path(OpenedRun(tmp_path / "moved", _Foreign())) == foreign


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_plain_file_is_not_waited_for_and_named(store: LabelStore, make: Callable[[Path], None]) -> None:
    store.path.parent.mkdir()
    make(store.path)
    for use in (store.new_labels, lambda: store.append(label())):
        with pytest.raises(OSError) as raised:
            use()
        assert raised.value.filename == str(store.path)


def test_labels_stay_with_a_run_whose_folder_was_copied_or_renamed(tmp_path: Path) -> None:
    """Its id is in its plan, which follows the start of its engine."""
    folder = tmp_path / "before"
    folder.mkdir()
    events = [ev.EngineStarted(at=at(0), pid=1, host="h", session=1), *planned("t")]
    (folder / "events.jsonl").write_bytes(b"".join(msgspec.json.encode(event) + b"\n" for event in events))
    run = open_run(folder)
    assert run.identity == "r"
    first, old = label(run="r"), label("bob", run="before")
    open_labels(run).append(first)
    with labels_path(run).open("ab") as file:
        file.write(msgspec.json.encode(old) + b"\n")
    assert [each.who for each in open_labels(run).new_labels()] == [first.who, "bob"]
    moved = open_run(folder.rename(tmp_path / "after"))
    assert open_labels(moved).new_labels()[0] == first
