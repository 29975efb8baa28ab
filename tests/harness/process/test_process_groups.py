"""Which processes live."""

import os
import subprocess
import sys

import pytest

from harness.process.process_groups import alive, start_time


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_what_has_ended_is_dead_before_its_parent_waits_for_it() -> None:
    # as a killed run is whose new parent, the first process of a container, reaps late
    with subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE) as process:
        started = start_time(process.pid)
        assert alive(process.pid, started) and alive(process.pid, None)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not alive(process.pid, started)
        assert not alive(process.pid, None)
