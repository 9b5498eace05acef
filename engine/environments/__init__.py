"""Where a trial runs: one protocol, several providers."""
