from __future__ import annotations

import json
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from console.commands.export import Binary, export
from console.errors import Unusable
from console.export_run import export_run
from console.identity import Identity, identity_of
from console.run_condition import Condition, load
from console.scrub import Known, name, path
from console.show_document import show_document
from engine import events as ev
from engine.layout import ENGINE, ENGINE_LOG, EVENTS, RESERVE
from engine.log_streams import Stream, read_ranges
from engine.owner import boot_id, this_process
from engine.readers.open_run import open_run
from engine.readers.reader import Liveness
from engine.readers.run_folder import RunFolderReader
from engine.runs.atomic_file import write_json
from engine.runs.card import CardTask, Conduct, RunCard, read_card, write_card
from engine.triage.label_store import open_labels
from engine.trial.log_file import LogFile
from tests.console.run_folders import begun, broken_build, planned, scored, started, whole_run, write
from tests.engine.triage.labels import label
from tests.screens.fake_run import at

USER, HOST, HOME = "ada-lovelace", "tower-9", "/home/ada-lovelace"
PROJECT = f"{HOME}/bench"
VALUE = "sk-verysecretvalue"
CONTAINER = "4f5e6d7c8b9a" + "0123456789abcdef" * 3 + "0011"
TELLING = (USER, HOST, HOME, PROJECT, VALUE, CONTAINER, CONTAINER[:12], boot_id())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose every file tells who made it."""
    folder = tmp_path / "runs" / "2025-11-30__12-00-00__small"
    trial = "hello__oracle__1"
    events = [
        msgspec.structs.replace(one, host=HOST)
        if isinstance(one, ev.EngineStarted)
        else msgspec.structs.replace(one, card_digest=card().digest)
        if isinstance(one, ev.RunPlanned)
        else one
        for one in whole_run()
    ]
    told = broken_build(f"{PROJECT}/tasks/hello/Dockerfile: {USER}@{HOST} said {VALUE}")
    events.insert(-2, ev.IssueRaised(at=at(6), trial=trial, issue=told))
    events.insert(
        -2, ev.ServiceChanged(at=at(6), trial=trial, service="main", state="exited", exit_code=0, container=CONTAINER)
    )
    write(folder, events)
    write_card(folder, card())
    write_json(folder / ENGINE, this_process("/tmp/trialdeck-0/0123456789abcdef.sock"))
    (folder / ENGINE_LOG).write_text(f"process 4711 on {HOST}, boot {boot_id()}, in {PROJECT}\n")
    write_json(folder / "config.json", {"job_name": "small", "jobs_dir": f"{PROJECT}/runs", "tasks": [{"path": "/"}]})
    uri = f"file://{PROJECT}/runs/{folder.name}/{trial}"
    for name_, content in {
        "result.json": json.dumps({"trial_uri": uri, "started_at": "2025-11-30T12:00:00Z"}),
        "trial.log": f"12:00 container {CONTAINER[:12]} up\n",
        "agent/agent.txt": f"{USER}@{HOST}:{PROJECT}$ export KEY={VALUE}\n" * 3,
        "artifacts/report.txt": f"made by {USER}\n",
        "artifacts/nested/deep.json": json.dumps({"home": HOME}),
    }.items():
        (folder / trial / name_).parent.mkdir(parents=True, exist_ok=True)
        (folder / trial / name_).write_text(content)
    (folder / trial / "artifacts" / "image.bin").write_bytes(b"\x00\x01" + HOME.encode())
    (folder / trial / "artifacts" / "link").symlink_to("/etc/passwd")
    return folder


def card() -> RunCard:
    return RunCard(
        run="2025-11-30__12-00-00__small",
        name="small",
        created=datetime(2025, 11, 30, 12, tzinfo=UTC),
        engine_version="0.1.0",
        arms=(ev.ArmInfo(name="replay", agent="replay", parameters={"sessions": f"{PROJECT}/sessions"}),),
        task_set=ev.TaskSetInfo(name="samples"),
        tasks=(CardTask(id="hello", folder=f"{PROJECT}/tasks/hello", digest="ab" * 32),),
        allowed_host_env=("KEY",),
        conduct=Conduct(host=ev.HostInfo(name=HOST), working_folder=PROJECT, paths=(f"{PROJECT}/tasks",)),
    )


@pytest.fixture
def identity(run: Path, monkeypatch: pytest.MonkeyPatch) -> Identity:
    """As if this were the machine of the run."""
    monkeypatch.setenv("HOME", HOME)
    for variable in ("USER", "LOGNAME"):
        monkeypatch.setenv(variable, USER)
    monkeypatch.setenv("KEY", VALUE)
    monkeypatch.setattr("socket.gethostname", lambda: HOST)
    return identity_of(run, read_card(run))


def every_byte(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def facts(folder: Path) -> dict[str, Any]:
    """Everything that a run adds up to, but for where it lies and what is told of its host."""
    found: dict[str, Any] = msgspec.to_builtins(show_document(folder, load(folder)[0], Condition("")))
    for key in ("folder", "identity", "host", "card_digest"):
        del found["run"][key]
    for trial in found["trials"]:
        for issue in trial["issues"]:
            issue["message"] = len(issue["message"]) > 0
    return found


def test_a_scrubbed_copy_has_nothing_of_whose_machine_it_was(run: Path, identity: Identity, tmp_path: Path) -> None:
    whole = every_byte(run)
    assert all(told.encode() in whole for told in TELLING)
    done = export_run(run, tmp_path / "copy", scrub=True, keep_binary=False, identity=identity)
    left = every_byte(tmp_path / "copy").lower()
    assert [told for told in TELLING if told.lower().encode() in left] == []
    assert str(tmp_path).encode() not in left
    assert {"host name", "user name", "home folder", "value of KEY", "boot id"} <= set(done.replaced)


def test_people_who_labelled_stay_apart_and_unnamed(run: Path, identity: Identity, tmp_path: Path) -> None:
    store = open_labels(open_run(run))
    for who in (USER, "grace", "Zoë B.", "root", "grace"):
        store.append(label(who, "hello__oracle__1", run=store.run_identity))
    with (run / EVENTS).open("ab") as events:
        events.write(ev.encode(ev.RunPaused(at=at(9), by="grace")))
    export_run(run, tmp_path / "copy", scrub=True, identity=identity)
    labels = [json.loads(line) for line in (tmp_path / "copy" / "labels.jsonl").read_bytes().splitlines()]
    assert [one["who"] for one in labels] == ["user", "user 2", "user 3", "root", "user 2"]
    assert json.loads((tmp_path / "copy" / EVENTS).read_bytes().splitlines()[-1])["by"] == "user 2"
    assert len(open_labels(open_run(tmp_path / "copy")).new_labels()) == 5


def test_a_scrubbed_copy_adds_up_to_the_same(run: Path, identity: Identity, tmp_path: Path) -> None:
    export_run(run, tmp_path / "copy", scrub=True, identity=identity)
    assert facts(tmp_path / "copy") == facts(run)
    state, _ = load(tmp_path / "copy")
    assert state.plan is not None
    assert state.plan.card_digest == read_card(tmp_path / "copy").digest


def test_the_engine_of_a_scrubbed_copy_has_no_number_and_no_host_however_common_its_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [ev.EngineStarted(at=at(0), pid=4711, host="vm", session=1), *planned(["vm"])])
    export_run(
        folder, tmp_path / "copy", scrub=True, identity=Identity(known=(name("host name", "vm", "host"),), ids=())
    )
    engine, plan, *_ = [json.loads(line) for line in (tmp_path / "copy" / EVENTS).read_bytes().splitlines()]
    assert (engine["pid"], engine["host"], plan["host"]["name"]) == (1, "host", "host")
    assert (tmp_path / "copy" / EVENTS).read_bytes().count(b'"task":"vm"') == 2


def test_scrubbing_keeps_the_card_readable_under_its_new_digest(run: Path, identity: Identity, tmp_path: Path) -> None:
    export_run(run, tmp_path / "copy", scrub=True, identity=identity)
    card = read_card(tmp_path / "copy")  # raises where the digest is not that of the content
    assert card.arms[0].parameters == {"sessions": "/home/user/project/sessions"}
    assert card.tasks[0].folder == "/home/user/tasks/hello"
    assert card.conduct.host.name == "host"


def test_files_for_harbor_keep_their_shape(run: Path, identity: Identity, tmp_path: Path) -> None:
    export_run(run, tmp_path / "copy", scrub=True, identity=identity)
    config = json.loads((tmp_path / "copy" / "config.json").read_bytes())
    assert config == {"job_name": "small", "jobs_dir": "/home/user/runs", "tasks": [{"path": "/"}]}
    result = json.loads((tmp_path / "copy" / "hello__oracle__1" / "result.json").read_bytes())
    assert result["trial_uri"] == f"file:///home/user/runs/{run.name}/hello__oracle__1"
    assert result["started_at"] == "2025-11-30T12:00:00Z"


def test_what_is_no_text_is_left_out_or_kept_as_it_is_and_named(run: Path, identity: Identity, tmp_path: Path) -> None:
    place = "hello__oracle__1/artifacts/image.bin"
    done = export_run(run, tmp_path / "without", scrub=True, keep_binary=False, identity=identity)
    assert done.binary == [place]
    assert not (tmp_path / "without" / place).exists()
    export_run(run, tmp_path / "with", scrub=True, keep_binary=True, identity=identity)
    assert (tmp_path / "with" / place).read_bytes() == (run / place).read_bytes()


def test_links_are_not_followed_and_said(run: Path, tmp_path: Path) -> None:
    done = export_run(run, tmp_path / "copy")
    assert done.left_out == ["hello__oracle__1/artifacts/link (a link or device)"]
    assert not (tmp_path / "copy" / "hello__oracle__1" / "artifacts" / "link").is_symlink()


def test_a_plain_copy_is_byte_for_byte_and_nobodys_live_run(run: Path, tmp_path: Path) -> None:
    export_run(run, tmp_path / "copy")
    for source in run.rglob("*"):
        if source.is_file() and not source.is_symlink() and source.name != ENGINE:
            assert (tmp_path / "copy" / source.relative_to(run)).read_bytes() == source.read_bytes()
    assert not (tmp_path / "copy" / ENGINE).exists()


def test_a_copy_of_a_live_run_is_an_interrupted_one_with_whole_lines_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "live", [started(), *planned(["hello"]), *begun("hello__oracle__1")])
    write_json(folder / ENGINE, this_process())
    with (folder / EVENTS).open("ab") as file:
        file.write(b'{"type":"trial_fin')
    export(str(folder), to=tmp_path / "copy")
    assert "live still runs: this is a copy of the present moment" in capsys.readouterr().err
    assert (tmp_path / "copy" / EVENTS).read_bytes().endswith(b"}\n")
    reader = RunFolderReader(tmp_path / "copy")
    assert len(reader.poll()) == 6
    assert reader.liveness() is Liveness.STALE
    reader.close()


def test_events_of_a_newer_version_are_scrubbed_and_kept(run: Path, identity: Identity, tmp_path: Path) -> None:
    with (run / EVENTS).open("ab") as file:
        file.write(json.dumps({"type": "from_the_future", "where": f"{HOME}/x", "n": 1.5}).encode() + b"\n")
        file.write(f"not json {HOST}\n".encode())
    export_run(run, tmp_path / "copy", scrub=True, identity=identity)
    future, text = (tmp_path / "copy" / EVENTS).read_bytes().splitlines()[-2:]
    assert json.loads(future) == {"type": "from_the_future", "where": "/home/user/x", "n": 1.5}
    assert text == b"not json host"


def test_a_long_log_is_scrubbed_across_the_pieces_that_it_is_read_in(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", whole_run())
    piece = 1 << 20
    lines = "x" * (piece - 5) + HOME + "\n" + "y" * piece
    one_line = "".join("z" * (length - len(HOME)) + HOME for length in (101, 107, 1009)) * 16_000  # 19 MB
    (folder / "long.log").write_text(lines + "\n" + one_line)
    known = (path("home folder", HOME, "/home/user"),)
    export_run(folder, tmp_path / "copy", scrub=True, identity=Identity(known=known, ids=()))
    text = (tmp_path / "copy" / "long.log").read_text()
    assert HOME not in text
    assert text.count("/home/user") == 1 + 3 * 16_000


def test_a_scrubbed_log_still_tells_its_streams_apart(tmp_path: Path) -> None:
    write(tmp_path / "run", whole_run())
    agent = tmp_path / "run" / "hello__oracle__1" / "agent"
    agent.mkdir(parents=True)
    with LogFile(agent / "long.txt", agent) as log:
        log.write("stdout", f"{HOME} {USER}\n".encode() * 40_000)
        log.write("stderr", f"{USER} was here\n{USER} and ".encode())
        log.write("stdout", f"{USER} at {HOME}\n{USER}\n".encode())
        log.write("stderr", f"{HOME}\n".encode())
        log.write("stdout", f"{HOME}\n".encode() * 40_000)
        log.write("stderr", b"the end\n")
    with (agent / "long.txt.streams").open("ab") as file:
        file.write(b"99999999 stdout\n")  # of what a crash kept from coming
    known = (path("home folder", HOME, "/home/someone"), name("user name", USER, "x"))
    export_run(tmp_path / "run", tmp_path / "copy", scrub=True, identity=Identity(known=known, ids=()))
    copy = tmp_path / "copy" / "hello__oracle__1" / "agent" / "long.txt"
    assert USER.encode() not in copy.read_bytes()
    ranges, at, found = read_ranges(copy), 0, []
    for line in copy.read_bytes().splitlines(keepends=True):
        if ranges.at(at) is Stream.STDERR:
            found.append(line)
        at += len(line)
    assert found == [b"x was here\n", b"x and x at /home/someone\n", b"/home/someone\n", b"the end\n"]
    assert b"99999999" not in (copy.parent / "long.txt.streams").read_bytes()


def test_of_a_log_that_is_no_text_the_streams_go_where_it_goes(run: Path, identity: Identity, tmp_path: Path) -> None:
    agent = run / "hello__oracle__1" / "agent"
    with LogFile(agent / "bytes.txt", agent) as log:
        log.write("stdout", b"\0\n")
        log.write("stderr", b"two\n")
    export_run(run, tmp_path / "with", scrub=True, identity=identity)
    assert read_ranges(tmp_path / "with" / "hello__oracle__1" / "agent" / "bytes.txt").changes() == [(2, Stream.STDERR)]
    export_run(run, tmp_path / "without", scrub=True, identity=identity, keep_binary=False)
    assert not list(tmp_path.glob("without/*/agent/bytes*"))


def test_streams_of_lines_that_are_others_now_are_left_out_and_said(tmp_path: Path) -> None:
    write(tmp_path / "run", whole_run())
    agent = tmp_path / "run" / "hello__oracle__1" / "agent"
    agent.mkdir(parents=True)
    with LogFile(agent / "key.txt", agent) as log:
        log.write("stdout", b"begin\nkey\nend\n")
        log.write("stderr", b"two\n")
    known = (Known(kind="value", text="begin\nkey\nend", stand_in="***"),)
    found = export_run(tmp_path / "run", tmp_path / "copy", scrub=True, identity=Identity(known=known, ids=()))
    assert found.left_out == ["hello__oracle__1/agent/key.txt.streams (the log has other lines now)"]
    assert names(tmp_path / "copy" / "hello__oracle__1" / "agent") == ["key.txt"]


def test_an_archive_holds_the_run_and_no_user(run: Path, identity: Identity, tmp_path: Path) -> None:
    export_run(run, tmp_path / "out" / "run.tar.gz", scrub=True, identity=identity)
    with tarfile.open(tmp_path / "out" / "run.tar.gz") as tar:
        assert {(member.uname, member.gname, member.uid) for member in tar} == {("", "", 0)}
        assert {member.name.partition("/")[0] for member in tar} == {run.name}
        tar.extractall(tmp_path / "unpacked", filter="data")
    assert facts(tmp_path / "unpacked" / run.name) == facts(run)
    assert names(tmp_path / "out") == ["run.tar.gz"]


def test_nothing_is_overwritten_unasked(run: Path, tmp_path: Path) -> None:
    for target in (tmp_path / "copy.tar.gz", tmp_path / "file"):
        target.write_text("mine")
        with pytest.raises(Unusable, match="is there already; --overwrite replaces it"):
            export_run(run, target)
        assert target.read_text() == "mine"
    export_run(run, tmp_path / "copy.tar.gz", overwrite=True)
    assert tarfile.is_tarfile(tmp_path / "copy.tar.gz")


def test_a_folder_that_is_no_run_is_not_even_overwritten_when_asked(run: Path, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_text("")
    with pytest.raises(Unusable, match="is no run folder, so it is not replaced"):
        export_run(run, tmp_path / "photos", overwrite=True)
    assert (tmp_path / "photos" / "one.jpg").exists()


def test_an_old_copy_is_replaced_when_asked(run: Path, tmp_path: Path) -> None:
    export_run(run, tmp_path / "copy")
    (tmp_path / "copy" / "stray").write_text("")
    export_run(run, tmp_path / "copy", overwrite=True)
    assert not (tmp_path / "copy" / "stray").exists()
    assert names(tmp_path) == ["copy", "runs"]


def test_a_copy_that_fails_leaves_nothing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(OSError, match="No space"):
        export_run(run, tmp_path / "copy")
    assert names(tmp_path) == ["runs"]


def test_a_run_is_not_copied_into_itself(run: Path) -> None:
    with pytest.raises(Unusable, match="lies in the run itself"):
        export_run(run, run / "copy")


def test_a_value_too_short_to_be_replaced_is_said(
    run: Path, identity: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEY", "ab")
    export(str(run), to=tmp_path / "copy", scrub=True)
    assert "look for yourself: the values of KEY" in capsys.readouterr().err


def test_each_line_of_a_value_is_replaced(run: Path, tmp_path: Path) -> None:
    found = identity_of(run, read_card(run), {"KEY": "first-line\nsecond-line"})
    texts = [known.text for known in found.known if known.kind == "value of KEY"]
    assert texts == ["first-line\nsecond-line", "first-line", "second-line"]


def test_the_command_says_what_it_replaced(
    run: Path, identity: Identity, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(str(run), to=tmp_path / "copy", scrub=True, binary=Binary.LEAVE_OUT)
    said = capsys.readouterr()
    assert "exported 2025-11-30__12-00-00__small to" in said.out
    assert any(line.split()[:3] == ["replaced", "4", "value"] for line in said.out.splitlines())
    assert "1 files that are not text left out: hello__oracle__1/artifacts/image.bin" in said.out


def test_names_of_files_are_scrubbed_with_what_refers_to_them(tmp_path: Path) -> None:
    trial = f"{HOST}__oracle__1"
    folder = write(tmp_path / "run", [started(), *planned([HOST], ["oracle"]), *begun(trial), *scored(trial, True)])
    (folder / trial).mkdir()
    (folder / trial / "trial.log").write_text("x")
    known: tuple[Known, ...] = (name("host name", HOST, "host"),)
    export_run(folder, tmp_path / "copy", scrub=True, identity=Identity(known=known, ids=()))
    state, _ = load(tmp_path / "copy")
    (found,) = state.trials
    assert (tmp_path / "copy" / found / "trial.log").read_text() == "x"


def test_a_value_that_is_not_known_here_any_more_is_said(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KEY", raising=False)
    export(str(run), to=tmp_path / "copy", scrub=True)
    assert "not set here, so their values were not looked for: KEY" in capsys.readouterr().err


def test_the_room_set_aside_for_the_last_events_is_not_copied(run: Path, tmp_path: Path) -> None:
    (run / RESERVE).write_bytes(bytes(1000))
    export_run(run, tmp_path / "copy")
    assert not (tmp_path / "copy" / RESERVE).exists()
