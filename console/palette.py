"""The command palette over the registry of actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, cast

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.css.query import NoMatches
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.worker import ResultType, Worker, WorkType

from console.other_words import OTHER_WORDS
from screens.actions import EVERYWHERE, Action, Place, keys_text, own_keys


class DeckPalette(CommandPalette):
    """Textual's would go on after it was closed where keys come in a batch: look for what was typed before Esc in a
    list that has gone, call a command once for each Enter, close what lies under it."""

    @property
    def open(self) -> bool:
        return self in self.app.screen_stack

    def run_worker(self, work: WorkType[ResultType], *given: Any, **named: Any) -> Worker[ResultType]:
        """Those that look for commands: what they find has no place once the list has gone."""

        async def while_open() -> ResultType | None:
            assert callable(work)
            try:
                found: ResultType = await cast("Callable[[], Awaitable[ResultType]]", work)()
            except NoMatches:
                if self.open:
                    raise
                return None
            return found

        return super().run_worker(cast("WorkType[ResultType]", while_open), *given, **named)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._only_if_open(event)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._only_if_open(event)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._only_if_open(event)

    def _only_if_open(self, event: Message) -> None:
        """What Textual does with a message comes after this."""
        if not self.open:
            event.stop()
            event.prevent_default()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.is_mounted and self.open

    def dismiss(self, result: None = None) -> AwaitComplete:
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


class DeckCommands(Provider):
    """The actions of the screen that the palette was opened from, then the app's own."""

    def _commands(self) -> Iterator[tuple[str, Any, str]]:
        """Title, as it is shown and matched, what to call, and other words for it."""
        place = getattr(self.screen, "PLACE", None)
        if isinstance(place, Place):
            for action in place.actions:
                if action.palette:
                    yield (
                        self._title(place, action),
                        partial(self.app.run_action, action.name, self.screen),
                        _also(action),
                    )
        for title, command in getattr(self.screen, "more_commands", list)():
            yield title, command, ""
        for action in EVERYWHERE.actions:
            if action.palette:
                yield (
                    self._title(EVERYWHERE, action),
                    partial(self.app.run_action, action.name, self.app),
                    _also(action),
                )

    def _title(self, place: Place, action: Action) -> str:
        keys = keys_text(place, action, own_keys(self.app))
        named = f"{action.label} · {action.help}"  # who knows the word on the footer finds it by that
        return f"{named}  ({keys})" if keys else named

    async def discover(self) -> Hits:
        for title, command, _ in self._commands():
            yield DiscoveryHit(Content(title), command, text=title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, command, also in self._commands():
            score = max(matcher.match(title), matcher.match(also))
            if score > 0:
                yield Hit(score, Content(title), command, text=title)


def _also(action: Action) -> str:
    return OTHER_WORDS.get(action.name, "")
