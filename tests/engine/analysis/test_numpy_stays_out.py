from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["engine.analysis", "engine.analysis.rates", "engine.analysis.mcnemar"])
def test_a_rate_on_screen_needs_no_numpy(module: str) -> None:
    code = f"import sys, {module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
