"""`python -m console`: the same as `trialdeck`."""

from __future__ import annotations

from console.main import main

if __name__ == "__main__":
    main()
