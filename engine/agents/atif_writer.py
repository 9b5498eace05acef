"""A trajectory in ATIF, written while the agent works: whatever moment the process dies at, a valid file lies there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from engine.agents.agent import StepReport
from engine.agents.atif_step import Spent, atif_step, encoded, spent_in
from engine.issues import Code, Issue, Phase, Severity
from engine.trajectories.steps import Step

SCHEMA = "ATIF-v1.7"
_BITE = 1 << 20
_COPIED_SHARE = 8
"""Where no hard link can be made, the file is written anew only once it has grown by this part of itself."""


class AtifWriter:
    """Two files take turns at the name: the one that isn't shown gets the steps it lacks and is then renamed over the
    other. So every step is written twice however long the session is, and a reader never meets half a file.

    Nothing raises on a full disk: `failed` says what happened last, and the next step tries to write all that is
    missing. Not for two writers of one path.
    """

    def __init__(self, path: Path, *, agent: str, agent_version: str, model: str, session_id: str) -> None:
        self.path = path
        self.failed: OSError | None = None
        self._spare = path.with_name(f".{path.name}.spare")
        self._turning = path.with_name(f".{path.name}.turning")
        head: dict[str, object] = {"name": agent, "version": agent_version or "unknown"}
        if model:
            head["model_name"] = model
        start = encoded({"schema_version": SCHEMA, "session_id": session_id, "agent": head})
        self._head = start[:-1] + b',\n"steps":[\n'
        self._starts: list[int] = []  # where each step begins, a comma before it included
        self._spent: list[Spent] = []
        self._totals = _Totals()
        self._ended = ""
        self._shown = 0  # bytes of head and steps in the file at `path`, without its tail
        self._alike = 0  # as far as this the spare has the same bytes
        self._held_from = 0  # what comes after here isn't written yet
        self._held = self._head

    @property
    def steps(self) -> int:
        return len(self._starts)

    def add(
        self,
        step: Step,
        *,
        report: StepReport | None = None,
        arguments: Mapping[str, Mapping[str, object]] | None = None,
        error: str = "",
        copied: bool = False,
    ) -> None:
        """The next step, or one again of which more is known by now: `step.number` counts from 1, and is at most one
        more than that of the last.

        `report` tells more of its tokens, `arguments` more of its calls (by id) than their text; `error` is what went
        wrong in it; `copied`: its tokens were counted before.
        """
        number = step.number
        if not 1 <= number <= len(self._starts) + 1:
            raise ValueError(f"step {number} after {len(self._starts)}: steps are numbered without a gap")
        fresh = atif_step(step, report=report, arguments=arguments, error=error, copied=copied)
        spent = Spent() if copied else spent_in(step, report)
        lead = b",\n" if number > 1 else b""
        end = self._held_from + len(self._held)
        if number > len(self._starts):
            self._starts.append(end)
            self._spent.append(spent)
            self._totals.add(spent)
            self._hold(end, lead + fresh)
        else:
            start = self._starts[number - 1]
            old_end = self._starts[number] if number < len(self._starts) else end
            try:
                rest = self._bytes(old_end, end)
            except OSError as error_:
                self.failed = error_
                return
            moved = len(lead) + len(fresh) - (old_end - start)
            self._starts[number:] = [at + moved for at in self._starts[number:]]
            self._spend_again(number, spent)
            self._hold(start, lead + fresh + rest)
        self._write()

    def finish(self, ended: str = "") -> None:
        """Everything is on disk. `ended` is the agent's own word for how it ended."""
        self._ended = ended
        if self._starts:
            self._write(last=True)
        for leftover in (self._spare, self._turning):
            leftover.unlink(missing_ok=True)
        self._alike = 0

    def complaint(self, phase: Phase) -> Issue | None:
        """What to tell a person if the file lacks something."""
        if self.failed is None:
            return None
        why = self.failed.strerror or str(self.failed)
        return Issue(Severity.WARNING, phase, Code.DISK_FULL, f"{self.path.name} is not complete: {why}")

    def _spend_again(self, number: int, spent: Spent) -> None:
        if spent != self._spent[number - 1]:
            self._spent[number - 1] = spent
            self._totals = _Totals()
            for each in self._spent:
                self._totals.add(each)

    def _hold(self, start: int, fresh: bytes) -> None:
        """`fresh` stands from `start` on, and nothing after it."""
        if start >= self._held_from:
            self._held = self._held[: start - self._held_from] + fresh
        else:
            self._held_from, self._held = start, fresh

    def _bytes(self, start: int, end: int) -> bytes:
        """A part of what was told so far, written already or not."""
        kept = b""
        if start < min(end, self._held_from):
            with self.path.open("rb") as file:
                kept = os.pread(file.fileno(), min(end, self._held_from) - start, start)
        return kept + self._held[max(0, start - self._held_from) : max(0, end - self._held_from)]

    def _write(self, *, last: bool = False) -> None:
        try:
            if not self._alike:
                self._make_spare()
                if self._shown and not last and len(self._held) * _COPIED_SHARE < self._shown:
                    return
            self._fill_spare(last=last)
            self._turn()
            self.failed = None
        except OSError as error:
            self.failed = error

    def _make_spare(self) -> None:
        for leftover in (self._spare, self._turning):
            leftover.unlink(missing_ok=True)
        self._spare.touch()

    def _fill_spare(self, *, last: bool) -> None:
        start = min(self._alike, self._held_from)
        self._alike = start  # from here on the spare may be anything until it is filled
        with self._spare.open("r+b") as file:
            file.seek(start)
            if start < self._held_from:
                with self.path.open("rb") as shown:
                    shown.seek(start)
                    left = self._held_from - start
                    while left and (bite := shown.read(min(left, _BITE))):
                        file.write(bite)
                        left -= len(bite)
            file.write(self._held)
            file.write(self._tail())
            file.truncate()
            file.flush()
            if last:
                os.fsync(file.fileno())

    def _turn(self) -> None:
        """The spare takes the name. The file that had it is the next spare where a hard link can keep it."""
        kept = False
        if self._shown:
            self._turning.unlink(missing_ok=True)
            try:
                os.link(self.path, self._turning)
                kept = True
            except OSError:
                kept = False
        self._spare.replace(self.path)
        self._shown = self._held_from + len(self._held)
        same = self._held_from if kept else 0
        self._held_from, self._held, self._alike = self._shown, b"", 0
        if kept:
            self._turning.replace(self._spare)
            self._alike = same

    def _tail(self) -> bytes:
        metrics = {**self._totals.metrics(), "total_steps": len(self._starts)}
        tail = b'\n],\n"final_metrics":' + encoded(metrics)
        return tail + (b',\n"extra":' + encoded({"ended": self._ended}) if self._ended else b"") + b"}\n"


class _Totals:
    """Sums over the steps that called a model. What no step says is unknown, and left out; what only some say is a
    lower bound, and how many are missing stands beside it."""

    _KEYS = (
        ("tokens_in", "total_prompt_tokens"),
        ("tokens_out", "total_completion_tokens"),
        ("tokens_cached", "total_cached_tokens"),
        ("cost_usd", "total_cost_usd"),
    )

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._unknown: dict[str, int] = {}

    def add(self, spent: Spent) -> None:
        if spent == Spent():
            return
        for name, _ in self._KEYS:
            value = getattr(spent, name)
            if value is None:
                self._unknown[name] = self._unknown.get(name, 0) + 1
            else:
                self._sums[name] = self._sums.get(name, 0) + value

    def metrics(self) -> dict[str, object]:
        found: dict[str, object] = {key: self._sums[name] for name, key in self._KEYS if name in self._sums}
        missing = {f"steps_without_{name}": count for name, count in self._unknown.items() if name in self._sums}
        return {**found, "extra": missing} if missing else found
