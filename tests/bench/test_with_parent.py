"""What a bench has started does not outlive it, however it ended."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

STARTS = """
import subprocess, sys
from bench.with_parent import end_with_parent
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], preexec_fn=end_with_parent)
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent is gone")
def test_a_child_ends_with_its_parent_even_where_that_was_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", STARTS], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait(30)
    parent.stdout.close()
    gone, alive = psutil.wait_procs([child], timeout=30)
    assert not alive and gone
