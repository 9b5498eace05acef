"""A task's folder -> Task, and the ways a folder can be broken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.issues import Code
from engine.tasks.folder import read_task
from engine.tasks.invalid import TaskInvalid
from engine.tasks.task import Artifact, CollectHook, NetworkMode, NetworkPolicy, VerifierMode
from engine.tasks.verifier_image import test_script as script_of
from engine.tasks.verifier_image import verifier_image
from tests.engine.tasks.task_folders import make_task
from tests.shared_data import shared_data

STEPS = '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
STEPS_OWN = 'environment = {docker_image = "s"}'
SEPARATE = '[verifier]\nenvironment_mode = "separate"\n'


def refused(folder: Path) -> str:
    with pytest.raises(TaskInvalid) as caught:
        read_task(folder)
    assert caught.value.issue.code is Code.TASK_INVALID
    return caught.value.issue.message


def test_a_whole_task_reads_without_a_complaint(tmp_path: Path) -> None:
    task = read_task(make_task(tmp_path / "hello", '[task]\nname = "org/hello"\n[metadata]\ncategory = "c"\n'))
    assert (task.id, task.name, task.category, task.warnings) == ("hello", "org/hello", "c", ())
    assert task.folder == tmp_path / "hello"
    assert task.dockerfile == tmp_path / "hello" / "environment" / "Dockerfile"
    assert len(task.digest) == 64


def test_the_113_real_tasks_of_deepswe_read_without_an_error_or_a_warning() -> None:
    folder = shared_data("deep-swe")
    tasks = [read_task(child) for child in sorted(folder.iterdir()) if child.is_dir()]
    assert len(tasks) == 113
    assert [task.warnings for task in tasks if task.warnings] == []
    assert {task.schema_version for task in tasks} == {"1.3"}
    assert {task.verifier_mode() for task in tasks} == {VerifierMode.SEPARATE}
    assert {len(task.verifier.collect) for task in tasks} == {1}
    assert all(task.environment.docker_image and task.agent.timeout_sec for task in tasks)
    for task in tasks:
        image = verifier_image(task)
        assert image is not None and image.tests_baked and image.folder == task.folder / "tests"


@pytest.mark.parametrize("name", ["Fix_Build", "ORG.fix-build", "-Größe-42", "タスク", "a b", "two\nlines", "$(id)"])
def test_the_id_is_the_name_of_the_folder_whatever_it_is(tmp_path: Path, name: str) -> None:
    """Case 1: names that Compose would refuse are kept as they are."""
    assert read_task(make_task(tmp_path / name)).id == name


def test_a_folder_name_that_is_not_utf8_gives_an_id_that_is(tmp_path: Path) -> None:
    """Case 19: a name of any bytes is shown escaped, and never breaks what is written about it."""
    folder = tmp_path / os.fsdecode(b"bad\xffname")
    assert read_task(make_task(folder)).id == "bad\\xffname"
    (folder / "instruction.md").unlink()
    assert "bad\\xffname" in refused(folder)
    refused(folder).encode("utf-8")


def test_a_file_name_that_is_not_utf8_is_part_of_a_task(tmp_path: Path) -> None:
    """Case 19."""
    folder = make_task(tmp_path / "hello")
    before = read_task(folder).digest
    Path(os.fsdecode(os.fsencode(folder) + b"/tests/bad\xffname")).write_text("x")
    assert read_task(folder).digest != before


def test_the_folder_may_be_named_by_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_task(tmp_path / "hello"))
    task = read_task(Path())
    assert (task.id, task.folder) == ("hello", tmp_path / "hello")


def test_a_message_names_the_file_as_seen_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(tmp_path / "hello", "x = ")
    monkeypatch.chdir(tmp_path)
    assert refused(Path("hello")).startswith("hello/task.toml, line 1: is not valid TOML")


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("task.toml", "task.toml: is missing"),
        ("instruction.md", "instruction.md: is missing"),
        ("environment/Dockerfile", "environment: no environment: neither a Dockerfile nor a docker-compose.yaml"),
        ("tests/test.sh", "tests/test.sh: is missing"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, missing: str, said: str) -> None:
    assert said in refused(make_task(tmp_path / "hello", files={missing: None}))


def test_a_folder_that_is_not_there_or_is_a_file_is_named(tmp_path: Path) -> None:
    assert "nowhere: there is no such folder" in refused(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    assert "file: is not a folder" in refused(tmp_path / "file")


def test_an_older_kind_of_task_is_told_as_what_it_is(tmp_path: Path) -> None:
    message = refused(make_task(tmp_path / "old", files={"task.toml": None, "task.yaml": "instruction: x\n"}))
    assert "Terminal-Bench 0.x" in message


@pytest.mark.parametrize("text", ["", " \n\t\n", "# canary 123\n\n", "<!-- canary -->"])
def test_an_empty_instruction_is_refused(tmp_path: Path, text: str) -> None:
    assert "instruction.md: is empty" in refused(make_task(tmp_path / "hello", files={"instruction.md": text}))


@pytest.mark.parametrize(
    ("toml", "files"),
    [
        ('[environment]\ndocker_image = "debian"\n', {}),
        ("", {"environment/docker-compose.yaml": "services: {}\n"}),
        ("", {"environment/docker-compose.yml": "services: {}\n"}),
    ],
)
def test_a_dockerfile_is_not_needed_beside_an_image_or_a_compose_file(
    tmp_path: Path, toml: str, files: dict[str, str | bytes | None]
) -> None:
    read_task(make_task(tmp_path / "hello", toml, {"environment/Dockerfile": None, **files}))


@pytest.mark.parametrize(
    ("toml", "files", "needed"),
    [
        ("", {}, True),
        (SEPARATE, {}, True),
        ('[verifier.environment]\ndocker_image = "v"\n', {}, False),
        (SEPARATE, {"tests/Dockerfile": "FROM x\n"}, False),
        ("[verifier.environment]\n", {"tests/docker-compose.yaml": "services: {}\n"}, False),
        ('[verifier]\nenvironment_mode = "shared"\n', {"tests/Dockerfile": "FROM x\n"}, True),
        ('[environment]\nos = "windows"\n', {"tests/test.ps1": ""}, False),
    ],
)
def test_test_sh_is_needed_unless_the_verifier_image_owns_it(
    tmp_path: Path, toml: str, files: dict[str, str | bytes | None], needed: bool
) -> None:
    """Case 40: tests are baked in or uploaded, by rule."""
    folder = make_task(tmp_path / "hello", toml, {"tests/test.sh": None, **files})
    if needed:
        assert "tests/test.sh: is missing" in refused(folder)
    else:
        read_task(folder)


@pytest.mark.parametrize("entry", ["artifacts", "hook"])
def test_collecting_from_a_sidecar_needs_a_compose_file(tmp_path: Path, entry: str) -> None:
    toml = {
        "artifacts": 'artifacts = [{source = "/x", service = "side"}]\n',
        "hook": '[[verifier.collect]]\ncommand = "dump"\nservice = "side"\n',
    }[entry]
    assert 'service "side" is collected from' in refused(make_task(tmp_path / "hello", toml))
    read_task(make_task(tmp_path / "hello", toml, {"environment/docker-compose.yaml": "services: {side: {}}\n"}))


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["tests/x", "solution/x", "environment/Dockerfile", "instruction.md", "task.toml"])
@pytest.mark.parametrize("target", ["../../outside", "/etc/hostname", "../../nowhere"])
def test_a_link_that_leaves_the_task_is_refused_and_named(tmp_path: Path, place: str, target: str) -> None:
    (tmp_path / "outside").write_text("x")
    folder = make_task(tmp_path / "hello")
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).unlink(missing_ok=True)
    wanted = target if "/" in place else target.removeprefix("../")
    (folder / place).symlink_to(wanted)
    message = refused(folder)
    if "nowhere" not in target or place.endswith("/x"):
        assert f"hello/{place}: is a link that leaves the task folder, to {wanted}" in message


def test_a_folder_that_is_a_link_out_of_the_task_is_refused(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    folder = make_task(tmp_path / "hello", files={"tests/test.sh": None})
    (folder / "tests").symlink_to("../common")
    assert "hello/tests: is a link that leaves the task folder, to ../common" in refused(folder)


def test_links_inside_the_task_and_loops_of_links_are_fine(tmp_path: Path) -> None:
    folder = make_task(tmp_path / "hello")
    (folder / "tests" / "again").symlink_to("test.sh")
    (folder / "tests" / "all").symlink_to("..")
    (folder / "tests" / "loop").symlink_to("loop")
    assert read_task(folder).warnings == ()


def test_a_sibling_with_the_tasks_name_in_front_is_outside(tmp_path: Path) -> None:
    (tmp_path / "hello-too").mkdir()
    folder = make_task(tmp_path / "hello")
    (folder / "tests" / "x").symlink_to("../../hello-too")
    assert "leaves the task folder" in refused(folder)


def test_a_link_that_only_the_builder_sees_is_a_warning(tmp_path: Path) -> None:
    folder = make_task(tmp_path / "hello")
    (folder / "environment" / "mtab").symlink_to("/proc/mounts")
    (warning,) = read_task(folder).warnings
    assert warning.file == "environment/mtab"
    assert "/proc/mounts" in warning.message


def test_a_task_may_itself_be_named_by_a_link(tmp_path: Path) -> None:
    make_task(tmp_path / "real")
    (tmp_path / "alias").symlink_to("real")
    assert read_task(tmp_path / "alias").id == "alias"


def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    folder = make_task(tmp_path / "hello", files={"task.toml": None})
    (folder / "task.toml").mkdir()
    assert "hello/task.toml: can't be read: Is a directory" in refused(folder)


def test_a_fifo_in_the_folder_is_never_opened(tmp_path: Path) -> None:
    folder = make_task(tmp_path / "hello")
    os.mkfifo(folder / "tests" / "pipe")
    read_task(folder)


# --- steps ------------------------------------------------------------------------------------------------------------


def with_steps(folder: Path, toml: str = STEPS, **files: str | bytes | None) -> Path:
    named: dict[str, str | bytes | None] = {
        "instruction.md": None,
        "steps/one/instruction.md": "1\n",
        "steps/two/instruction.md": "2\n",
    }
    return make_task(folder, toml, {**named, **files})


def test_a_task_with_steps_needs_an_instruction_for_each_and_none_of_its_own(tmp_path: Path) -> None:
    task = read_task(with_steps(tmp_path / "hello"))
    assert [(step.name, step.folder) for step in task.steps] == [
        ("one", tmp_path / "hello" / "steps" / "one"),
        ("two", tmp_path / "hello" / "steps" / "two"),
    ]
    (tmp_path / "hello" / "steps" / "two" / "instruction.md").unlink()
    assert "steps/two/instruction.md: is missing" in refused(tmp_path / "hello")
    (tmp_path / "hello" / "steps" / "two").rmdir()
    assert "steps/two: is missing" in refused(tmp_path / "hello")


def test_a_step_without_a_test_of_its_own_uses_the_tasks(tmp_path: Path) -> None:
    folder = with_steps(tmp_path / "hello", **{"steps/one/tests/test.sh": "exit 0\n"})
    one, two = (task := read_task(folder)).steps
    assert script_of(task, one) == folder / "steps" / "one" / "tests" / "test.sh"
    assert script_of(task, two) == folder / "tests" / "test.sh"
    (folder / "tests" / "test.sh").unlink()
    assert "steps/two/tests/test.sh: is missing" in refused(folder)


def test_a_step_inherits_what_it_does_not_say(tmp_path: Path) -> None:
    toml = """
        artifacts = ["/task"]
        [agent]
        timeout_sec = 100
        user = "worker"
        network_mode = "no-network"
        [verifier]
        user = "checker"
        env = {A = "task", B = "task"}
        network_mode = "public"
        collect = [{command = "task"}]
        [environment.healthcheck]
        command = "task"
        [[steps]]
        name = "one"
        artifacts = ["/one"]
        agent = {timeout_sec = 5, user = 0}
        verifier = {timeout_sec = 6, env = {B = "one"}, collect = [{command = "one"}], network_mode = "no-network"}
        healthcheck = {command = "one"}
        [[steps]]
        name = "two"
    """
    one, two = read_task(with_steps(tmp_path / "hello", toml)).steps
    assert (one.agent.timeout_sec, one.agent.user) == (5, "0")
    assert (two.agent.timeout_sec, two.agent.user) == (100, "worker")
    assert one.agent.network == two.agent.network == NetworkPolicy(mode=NetworkMode.NO_NETWORK)
    assert (one.verifier.timeout_sec, one.verifier.user) == (6, "checker")
    assert (one.verifier.env, two.verifier.env) == ({"A": "task", "B": "one"}, {"A": "task", "B": "task"})
    assert one.verifier.network == NetworkPolicy(mode=NetworkMode.NO_NETWORK)
    assert two.verifier.network == NetworkPolicy(mode=NetworkMode.PUBLIC)
    assert one.verifier.collect == (CollectHook(command="task"), CollectHook(command="one"))
    assert one.artifacts == (Artifact(source="/task"), Artifact(source="/one"))
    assert two.artifacts == (Artifact(source="/task"),)
    assert one.healthcheck is not None and one.healthcheck.command == "one"
    assert two.healthcheck is None


def test_a_step_does_not_inherit_the_verifiers_time_and_this_is_told(tmp_path: Path) -> None:
    task = read_task(with_steps(tmp_path / "hello", "[verifier]\ntimeout_sec = 5\n" + STEPS))
    assert [step.verifier.timeout_sec for step in task.steps] == [600, 600]
    assert [warning.key for warning in task.warnings] == [
        "steps[0].verifier.timeout_sec",
        "steps[1].verifier.timeout_sec",
    ]


@pytest.mark.parametrize(
    ("task", "step", "mode"),
    [
        ("", "", VerifierMode.SHARED),
        ("[verifier.environment]\n", "", VerifierMode.SEPARATE),
        (SEPARATE, "", VerifierMode.SEPARATE),
        ("", "environment = {}", VerifierMode.SEPARATE),
        (SEPARATE, 'environment_mode = "shared"', VerifierMode.SHARED),
        ("[verifier.environment]\n", 'environment_mode = "shared"', VerifierMode.SHARED),
        ('[verifier]\nenvironment_mode = "shared"\n', "environment = {}", VerifierMode.SEPARATE),
        ('[verifier]\nenvironment_mode = "shared"\n', 'environment_mode = "separate"', VerifierMode.SEPARATE),
    ],
)
def test_which_verifier_a_step_has(tmp_path: Path, task: str, step: str, mode: VerifierMode) -> None:
    toml = f'{task}[[steps]]\nname = "one"\nverifier = {{{step}}}\n'
    read = read_task(with_steps(tmp_path / "hello", toml))
    assert read.verifier_mode(read.steps[0].verifier) is mode
    assert (verifier_image(read, read.steps[0]) is None) == (mode is VerifierMode.SHARED)


# --- the separate verifier's image ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "files", "image", "folder", "baked"),
    [
        (SEPARATE, [], None, "environment", False),
        (SEPARATE + '[environment]\ndocker_image = "e"\n', [], "e", "environment", False),
        (SEPARATE + '[environment]\ndocker_image = "e"\n', ["tests/Dockerfile"], None, "tests", True),
        ('[verifier.environment]\ndocker_image = "v"\n', ["tests/Dockerfile"], "v", "tests", True),
        ("[verifier.environment]\n", ["tests/docker-compose.yaml"], None, "tests", True),
        ("[verifier.environment]\n", [], None, "environment", False),
    ],
)
def test_where_a_separate_verifiers_image_comes_from(
    tmp_path: Path, toml: str, files: list[str], image: str | None, folder: str, baked: bool
) -> None:
    """Case 40."""
    task = read_task(make_task(tmp_path / "hello", toml, dict.fromkeys(files, "FROM debian\n")))
    found = verifier_image(task)
    assert found is not None
    assert (found.settings.docker_image, found.folder, found.tests_baked) == (image, task.folder / folder, baked)


def test_a_separate_verifier_without_settings_has_those_of_the_task(tmp_path: Path) -> None:
    toml = SEPARATE + "[environment]\nmemory_mb = 512\nenv = {A = 'b'}\n"
    found = verifier_image(read_task(make_task(tmp_path / "hello", toml)))
    assert found is not None
    assert (found.settings.memory_mb, found.settings.env) == (512, {"A": "b"})


@pytest.mark.parametrize(
    ("task", "step", "files", "image", "folder"),
    [
        ('docker_image = "v"', "", [], "v", "tests"),
        ('docker_image = "v"', "", ["steps/one/tests/Dockerfile"], None, "steps/one/tests"),
        ('docker_image = "v"', STEPS_OWN, ["steps/one/tests/Dockerfile"], "s", "steps/one/tests"),
        ('docker_image = "s"', STEPS_OWN, ["steps/one/tests/Dockerfile"], "s", "steps/one/tests"),
        ('docker_image = "v"', "environment = {cpus = 1}", [], "v", "tests"),
        ("", "", ["tests/Dockerfile"], None, "tests"),
        ("", "", [], None, "environment"),
    ],
)
def test_a_steps_own_verifier_image_comes_before_the_tasks(
    tmp_path: Path, task: str, step: str, files: list[str], image: str | None, folder: str
) -> None:
    toml = f'[verifier.environment]\n{task}\n[[steps]]\nname = "one"\nverifier = {{{step}}}\n'
    read = read_task(with_steps(tmp_path / "hello", toml, **dict.fromkeys(files, "FROM debian\n")))
    found = verifier_image(read, read.steps[0])
    assert found is not None
    assert (found.settings.docker_image, found.folder) == (image, read.folder / folder)
