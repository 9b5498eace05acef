"""Terminus as Terminal-Bench keeps it: a folder an episode, with what it was told, what it said, and the raw answer."""

from __future__ import annotations

import re
from pathlib import Path

from engine.regular_file import regular_file
from engine.trajectories.calls import call_text
from engine.trajectories.draft import Draft, Session
from engine.trajectories.object_walk import ObjectWalk
from engine.trajectories.steps import Call, Observation
from engine.trajectories.untyped import Record, as_json, items, moment, number, parsed, record, text
from engine.trajectories.usage import any_usage

_NAME = re.compile(r"episode-(\d{1,6})")
_MOST_FILE = 4 << 20
_XML_KEYS = re.compile(r"<keystrokes[^>]*>(.*?)</keystrokes>", re.DOTALL)
_THOUGHTS = ("state_analysis", "analysis", "explanation", "plan")


def episode_folders(folder: Path) -> list[Path]:
    """In the order of their numbers; links are left out. Raises nothing."""
    try:
        found = [
            (int(name[1]), child)
            for child in folder.iterdir()
            if (name := _NAME.fullmatch(child.name)) and child.is_dir() and not child.is_symlink()
        ]
    except OSError:
        return []
    return [child for _, child in sorted(found)]


def read_episodes(folder: Path) -> Session | None:
    """None where `folder` has no episodes."""
    episodes = episode_folders(folder)
    if not episodes:
        return None
    session = Session("terminus")
    session.agent = "terminus"
    answer: Draft | None = None
    for number_, episode in enumerate(episodes):
        prompt = _read(session, episode / "prompt.txt")
        if answer is None and prompt and not number_:
            session.begin("user").messages.append(session.keep(prompt))
        elif answer is not None and prompt:
            answer.observations.append(Observation(text=session.keep(prompt)))
        response = _read(session, episode / "response.txt")
        debug = record(parsed(_read(session, episode / "debug.json")))
        if not response and not debug:
            continue
        answer = session.begin("agent")
        _response(session, answer, response)
        _debug(session, answer, debug)
    return session


def _read(session: Session, path: Path) -> str:
    try:
        if path.is_symlink() or not path.is_file():
            return ""
        with regular_file(path) as file:
            found = file.read(_MOST_FILE + 1)
    except OSError as error:
        session.problem(f"{path.parent.name}/{path.name}: {error.strerror or error}")
        return ""
    if len(found) > _MOST_FILE:
        session.problem(f"{path.parent.name}/{path.name}: only the first {_MOST_FILE >> 20} MB are read")
    return text(found[:_MOST_FILE].decode("utf-8", "replace"))


def _response(session: Session, draft: Draft, response: str) -> None:
    """JSON, perhaps with words around it, or XML; whatever is neither is a message."""
    answer = _object_in(response)
    draft.thoughts = [session.keep(said) for key in _THOUGHTS if (said := text(answer.get(key)))]
    for each in items(answer.get("commands")):
        command = each if isinstance(each, str) else record(each)
        keys = call_text(command)
        draft.calls.append(Call(tool="keystrokes", text=session.keep(keys)))
    if not answer:
        for keys in _XML_KEYS.findall(response):
            draft.calls.append(Call(tool="keystrokes", text=session.keep(keys)))
        if response.strip():
            draft.messages.append(session.keep(response))
    if answer.get("is_task_complete") is True or answer.get("task_complete") is True:
        draft.messages.append("The agent says that the task is complete.")
        session.ended = "task_complete"
    else:
        session.ended = ""


def _object_in(response: str) -> Record:
    """The JSON object that an answer is, or that stands in it."""
    start = response.find("{")
    if start < 0:
        return {}
    found = {key: value for key, value in ObjectWalk(response[start:], ()) if key}
    return found if not {"commands", *_THOUGHTS}.isdisjoint(found) else {}


def _debug(session: Session, draft: Draft, debug: Record) -> None:
    answer = record(parsed(debug.get("original_response")))
    usage = any_usage(record(answer.get("usage") or debug.get("usage")))
    draft.tokens_in, draft.tokens_cached, draft.tokens_out = usage.tokens_in, usage.tokens_cached, usage.tokens_out
    draft.cost_usd = number(debug.get("response_cost")) or None
    draft.model = text(answer.get("model")) or text(debug.get("model"))
    session.model = session.model or draft.model
    draft.at = moment(debug.get("start_time"))
    draft.observed(moment(debug.get("end_time")))
    if error := debug.get("error") or debug.get("exception"):
        session.error(error if isinstance(error, str) else as_json(error), draft)
