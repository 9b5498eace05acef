"""The way to the numbers over runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import App

from screens.source import RunSource


def open_analysis(app: App[Any], sources: Sequence[RunSource]) -> None:
    from screens.analysing import Analysing
    from screens.analysis_screen import AnalysisScreen

    app.push_screen(AnalysisScreen(Analysing(sources)))
