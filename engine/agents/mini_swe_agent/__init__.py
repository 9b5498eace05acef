"""mini-swe-agent, from PyPI: its own program in `main`, followed message by message."""
