"""Commands in real containers: output, exit codes, ends that nobody wished for."""

from __future__ import annotations

import time

import anyio
import pytest

from engine.environments.docker.environment import DockerEnvironment
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


async def test_streams_stay_apart_and_bytes_arrive_as_written(
    box: DockerEnvironment, output: dict[str, bytearray]
) -> None:
    """Case 19: bytes that are no UTF-8 reach the sink untouched, and the tail is still text."""
    result = await box.execute(
        ["sh", "-c", r"printf 'o\377\376k\n'; printf 'e\201\n' >&2; exit 3"],
        sink=lambda stream, data: output[stream].extend(data),
    )
    assert result.exit_code == 3
    assert bytes(output["stdout"]) == b"o\xff\xfek\n"
    assert bytes(output["stderr"]) == b"e\x81\n"
    result.tail.encode()


async def test_characters_cut_by_frames_are_whole_in_the_tail(
    box: DockerEnvironment, output: dict[str, bytearray]
) -> None:
    """Case 23."""
    result = await box.execute(
        ["perl", "-e", r'print "\xe2\x82\xac" x 30000'], sink=lambda stream, data: output[stream].extend(data)
    )
    assert output["stdout"].decode() == "€" * 30000
    assert set(result.tail[2:]) == {"€"}


async def test_output_comes_while_the_command_runs(box: DockerEnvironment) -> None:
    """The command goes on only once its first line has come."""
    came = anyio.Event()
    said: list[bytes] = []

    def sink(stream: str, data: bytes) -> None:
        said.append(data)
        came.set()

    async def answer() -> None:
        await came.wait()
        await box.execute(["touch", "/tmp/heard"])

    await box.execute(["rm", "-f", "/tmp/heard"])
    script = "echo 1; until [ -e /tmp/heard ]; do sleep 0.05; done; echo 2"
    async with anyio.create_task_group() as group:
        group.start_soon(answer)
        ended = await box.execute(["sh", "-c", script], sink=sink, timeout_sec=60)
    assert not ended.timed_out
    assert said[0] == b"1\n" and b"".join(said) == b"1\n2\n"


async def test_a_line_of_any_length_passes(box: DockerEnvironment, output: dict[str, bytearray]) -> None:
    """Case 29."""
    await box.execute(
        ["perl", "-e", 'print "x" x 200000, "\\nnext\\n"'], sink=lambda stream, data: output[stream].extend(data)
    )
    assert output["stdout"].splitlines() == [b"x" * 200000, b"next"]


async def test_stdin_of_any_size_arrives_whole_and_ends(box: DockerEnvironment) -> None:
    """Case 26: what is too long for an argument travels over stdin or as a file."""
    data = b"Fix it.\n" + b"x" * 3_000_000
    result = await box.execute(["sh", "-c", "wc -c; cat > /dev/null; echo done"], stdin=data, timeout_sec=20)
    assert result.tail.split() == [str(len(data)), "done"]
    await box.upload_bytes(data, "/tmp/instruction.md")
    assert (await box.execute(["wc", "-c", "/tmp/instruction.md"])).tail.split()[0] == str(len(data))


async def test_a_command_that_never_reads_its_stdin_ends_all_the_same(box: DockerEnvironment) -> None:
    result = await box.execute(["true"], stdin=b"x" * 2_000_000, timeout_sec=20)
    assert result.exit_code == 0


async def test_environment_user_and_folder_are_as_asked(box: DockerEnvironment) -> None:
    result = await box.execute(
        ["sh", "-c", 'id -u; pwd; printf "%s|" "$PLAIN" "$HARD"'],
        user="12345",
        workdir="/usr/share",
        env={"PLAIN": "a b", "HARD": "line\none $HOME `x` \\ '\""},
    )
    assert result.tail == "12345\n/usr/share\na b|line\none $HOME `x` \\ '\"|"


async def test_every_exit_code_is_read_when_there_is_one(box: DockerEnvironment) -> None:
    """Case 32: never 0, never unknown."""
    codes: list[int | None] = []

    async def one() -> None:
        codes.append((await box.execute(["sh", "-c", "exit 42"])).exit_code)

    for _ in range(4):
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(one)
    assert codes == [42] * 20


async def test_a_timeout_kills_the_whole_tree(box: DockerEnvironment) -> None:
    script = "sh -c 'sleep 1000.1' & nohup sleep 1000.1 & setsid sleep 1000.1 & echo begun; sleep 1000.1"
    began = time.monotonic()
    result = await box.execute(["sh", "-c", script], timeout_sec=4)
    assert result.timed_out
    assert not result.out_of_memory
    assert result.environment_alive
    assert "begun" in result.tail
    assert time.monotonic() - began < 120
    assert await count(box, "1000.1") == 0


async def test_a_cancelled_command_is_dead(box: DockerEnvironment) -> None:
    with anyio.move_on_after(0.5):
        await box.execute(["sh", "-c", "sleep 1000.2 & sleep 1000.2"])
    assert await count(box, "1000.2") == 0


async def count(box: DockerEnvironment, word: str) -> int:
    """How many processes have `word` for an argument."""
    script = 'n=0; for f in /proc/[0-9]*/cmdline; do grep -qxz -- "$1" $f 2>/dev/null && n=$((n+1)); done; echo $n'
    return int((await box.execute(["bash", "-c", script, "count", word])).tail) - 1


async def test_memory_limit_kill_and_plain_kill_are_told_apart(rig: Rig) -> None:
    """Case 17: three answers for 137, from the kernel's record."""
    async with rig.up(memory_mb=64) as environment:
        limit = await environment.execute(["sh", "-c", "tail /dev/zero; exit 137"])
        plain = await environment.execute(["sh", "-c", "kill -9 $$"])
        ours = await environment.execute(["sleep", "100"], timeout_sec=0.2)
        assert (limit.exit_code, limit.out_of_memory, limit.environment_alive) == (137, True, True)
        assert (plain.exit_code, plain.out_of_memory, plain.timed_out) == (137, False, False)
        assert (ours.timed_out, ours.out_of_memory) == (True, False)


async def test_a_dead_container_is_not_a_failed_command(rig: Rig) -> None:
    """Case 25: who died is asked of the engine; text that looks like an engine's error proves nothing."""
    async with rig.up() as environment:
        text = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
        liar = await environment.execute(["sh", "-c", f"echo '{text}'; exit 1"])
        assert (liar.exit_code, liar.environment_alive, liar.started) == (1, True, True)
        killer = await environment.execute(["bash", "-c", "kill -9 -- -1; kill -TERM 1; sleep 5"], timeout_sec=10)
        assert not killer.environment_alive
        after = await environment.execute(["true"])
        assert (after.exit_code, after.environment_alive, after.started) == (None, False, False)


async def test_a_program_that_cannot_start_is_told_from_one_that_failed(box: DockerEnvironment) -> None:
    """Case 25: the same 126 from the runtime and from a script."""
    missing = await box.execute(["no-such-program"])
    script = await box.execute(["sh", "-c", "exit 126"])
    nowhere = await box.execute(["true"], workdir="/no/such/folder")
    assert not missing.started
    assert "no-such-program" in missing.tail
    assert (script.started, script.exit_code) == (True, 126)
    assert not nowhere.started
