"""Codex, from npm: its own program in `main`, followed by its events."""
