"""A model server that says what a script says: for tests, for `trialdeck doctor --agent` and for the demo."""
