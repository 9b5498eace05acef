"""Where runs are looked for and made, unless a command says otherwise."""

from __future__ import annotations

from pathlib import Path

from engine.user_places import early_setting

RUNS_DIR = Path(early_setting("runs_dir") or "runs")
