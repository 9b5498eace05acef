"""What tmux's answers mean: a client that failed says neither that the session lives nor that it doesn't."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
import msgspec
import pytest

from engine.agents.agent import AgentSession
from engine.agents.terminus2 import scripts
from engine.agents.terminus2.keys import stroke_of
from engine.agents.terminus2.screen import View
from engine.agents.terminus2.terminal import (
    PAUSES,
    Standing,
    Terminal,
    TerminalFailed,
    TerminalGone,
    TerminalSilent,
    Tmux,
    parse_look,
    standing,
)
from engine.environments.environment import ExecResult, Sink
from engine.events import ArmInfo
from tests.engine.agents.sessions import Session

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("exit_code", "words", "state"),
    [
        (0, "", Standing.ALIVE),
        (1, "can't find session: main", Standing.GONE),
        (1, "no server running on /dev/shm/.trialdeck-1/socket", Standing.GONE),
        (1, "error connecting to /tmp/x/socket (No such file or directory)", Standing.GONE),
        (1, "error connecting to /tmp/x/socket (Resource temporarily unavailable)", Standing.UNKNOWN),
        (1, "", Standing.UNKNOWN),
        (1, "server exited unexpectedly", Standing.UNKNOWN),
        (126, "OCI runtime exec failed: can't find nothing", Standing.UNKNOWN),
        (None, "no server running on x", Standing.UNKNOWN),
    ],
)
def test_only_clear_words_say_that_it_is_gone(exit_code: int | None, words: str, state: Standing) -> None:
    """Case 70."""
    assert standing(exit_code, words) is state


class Answers:
    """Answers commands one after another: (exit code, stdout, stderr)."""

    def __init__(self, *answers: tuple[int | None, str, str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.typed: list[bytes | None] = []
        self.alive = True

    async def __call__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        user: str | None = None,
        timeout_sec: float | None = None,
        sink: Sink | None = None,
        logged: bool = True,
    ) -> ExecResult:
        await anyio.lowlevel.checkpoint()
        assert timeout_sec is not None
        self.asked.append(command[2])
        self.typed.append(stdin)
        code, out, words = self.answers.pop(0)
        if sink is not None:
            sink("stdout", out.encode())
            sink("stderr", words.encode())
        return ExecResult(exit_code=code, seconds=0.0, environment_alive=self.alive, started=code is not None)


@pytest.fixture
def session(tmp_path: Path) -> AgentSession:
    return Session(tmp_path, ArmInfo(name="a", agent="terminus2")).given


@pytest.fixture
def terminal(session: AgentSession, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Terminal, Answers]]:
    async def no_pause(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr("engine.agents.terminus2.terminal.anyio.sleep", no_pause)

    def make(*answers: tuple[int | None, str, str]) -> tuple[Terminal, Answers]:
        execute = Answers(*answers)
        made = Terminal(msgspec.structs.replace(session, execute=execute), Tmux(program="tmux", origin="a test"))
        made.place = "/p"
        return made, execute

    return make


OK = (0, "", "")
BUSY = (1, "", "error connecting to /p/socket (Resource temporarily unavailable)")


async def test_a_busy_server_is_asked_again(terminal: Callable[..., tuple[Terminal, Answers]]) -> None:
    asking, execute = terminal(BUSY, BUSY, (0, "", ""), (0, "0 0 0 0\n$ \nM\nM\n$ \n", ""))
    with pytest.raises(TerminalSilent):  # the mark is not the one that was asked for, but the answer came
        await asking.look()
    assert execute.asked == [scripts.LOOK, scripts.ASK, scripts.ASK, scripts.LOOK]


async def test_keys_are_never_sent_twice(terminal: Callable[..., tuple[Terminal, Answers]]) -> None:
    asking, execute = terminal(BUSY, OK)
    with pytest.raises(TerminalSilent, match="temporarily unavailable"):
        await asking.send(stroke_of("echo once >> file\n"))
    assert execute.asked == [scripts.TYPE, scripts.ASK]
    assert execute.typed == [b"echo once >> file\r", None]


async def test_a_session_that_ended_is_gone(terminal: Callable[..., tuple[Terminal, Answers]]) -> None:
    gone = (1, "", "no server running on /p/socket")
    asking, _ = terminal(gone, gone)
    with pytest.raises(TerminalGone, match="no server running"):
        await asking.send(stroke_of("C-c"))


async def test_a_server_that_never_answers_is_not_gone(terminal: Callable[..., tuple[Terminal, Answers]]) -> None:
    asking, execute = terminal((None, "", ""), *[(1, "", "")] * len(PAUSES))
    with pytest.raises(TerminalSilent):
        await asking.send(stroke_of("Enter"))
    assert execute.answers == []


async def test_a_dead_container_has_no_terminal(terminal: Callable[..., tuple[Terminal, Answers]]) -> None:
    asking, execute = terminal((None, "", ""))
    execute.alive = False
    with pytest.raises(TerminalGone, match="main is dead"):
        await asking.look()


async def test_nothing_to_type_is_not_typed(terminal: Callable[..., tuple[Terminal, Answers]]) -> None:
    asking, execute = terminal()
    assert await asking.send(stroke_of("")) == ""
    assert execute.asked == []


async def test_a_line_that_the_kernel_cuts_is_told(terminal: Callable[..., tuple[Terminal, Answers]]) -> None:
    asking, _ = terminal((0, "children 12 13\nby-lines\n", ""), OK)
    assert "4,095 bytes" in await asking.send(stroke_of("x" * 5000 + "\n"))
    assert await asking.send(stroke_of("short\n")) == ""


@pytest.mark.parametrize("answer", [(127, "", "sh: tmux: not found"), (0, "odd", ""), (None, "", "")])
async def test_a_terminal_that_can_not_be_started_says_why(
    terminal: Callable[..., tuple[Terminal, Answers]], answer: tuple[int | None, str, str]
) -> None:
    asking, _ = terminal(answer)
    with pytest.raises(TerminalFailed, match=r"tmux \(a test\) can't be started"):
        await asking.start()


async def test_what_moved_while_it_was_looked_is_looked_at_again(
    terminal: Callable[..., tuple[Terminal, Answers]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.agents.terminus2.terminal.os.urandom", lambda size: b"\0" * size)
    mark = "mark:" + "00" * 12
    moved = (0, f"5 9 1 0\n$ a\n$ \n{mark}\n{mark}\n$ a\n$ \n", "")
    still = (0, f"9 9 1 0\n$ a\n$ \n{mark}\n{mark}\n$ a\n$ \n", "")
    asking, execute = terminal(moved, still)
    assert await asking.look() == View(True, "$ a\n$")
    assert execute.answers == []
    asking, _ = terminal(moved, moved, moved)
    assert await asking.look() == View(False, "$ a\n$")


async def test_words_on_the_other_stream_are_no_part_of_a_screen(
    terminal: Callable[..., tuple[Terminal, Answers]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 49."""
    monkeypatch.setattr("engine.agents.terminus2.terminal.os.urandom", lambda size: b"\0" * size)
    mark = "mark:" + "00" * 12
    asking, _ = terminal((0, f"0 0 0 0\n$ \n{mark}\n{mark}\n$ \n", f"bash: warning\n{mark}\n"))
    assert await asking.look() == View(True, "$")


def test_a_look_is_taken_apart_by_its_mark() -> None:
    look = parse_look(b"3 3 1 0\nmark\n$ \nM\nold \nM\n$ \xff\n\n", "M")
    assert (look.history, look.row, look.full_screen, look.moved) == (3, 1, False, False)
    assert look.rows == ("mark", "$ ")
    assert look.old == ("old ",)
    assert look.since == ("$ \ufffd", "", "")
    for broken in (b"", b"a b c d\nM\nM\n", b"1 1 1 0\nM\n", b"1 1\nM\nM\n"):
        with pytest.raises(TerminalSilent, match="can't be read"):
            parse_look(broken, "M")
