"""No process can be started any more, as under a fork bomb: an interruption still ends the run in time (L3)."""

import os
import resource
import signal
import subprocess
import time
from contextlib import suppress

import pytest

from tests.hostile.conftest import PLAN, Stage

MOST = 40
BOMB = """
import os, time
try:
    while os.fork():
        pass
except OSError:
    pass
time.sleep(60)
"""


def few() -> None:
    """Let a user have so many processes."""
    resource.setrlimit(resource.RLIMIT_NPROC, (MOST, MOST))


@pytest.mark.parametrize("during", ["a build", "a benchmark"])
def test_an_interruption_ends_the_run(stage: Stage, during: str) -> None:
    # it needs no process more when it says that it is there
    wait = "sleep 60 & echo > ~/here; wait"
    build, command = (wait, "true") if during == "a build" else (":", wait)
    config = f'[gate]\nsameness = "off"\n{PLAN}[build]\ncommand = "{build}"\n[[benchmark]]\nname = "b"\ncommand = "{command}"\n'
    stage.commit(config, {"x": "1"}, {"x": "2"})
    if stage.uid is None:
        pytest.skip("whoever runs these tests has processes of their own, and root as many as there are")
    process = stage.started(before=few)
    bomb: subprocess.Popen[bytes] | None = None
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.05)
            # directories are renamed meanwhile
            with suppress(FileNotFoundError):
                if list(stage.root.glob("perfgate-*/home*/here")):
                    break
        bomb = subprocess.Popen(
            ["/usr/bin/env", "python3", "-IS", "-c", BOMB], user=stage.uid, preexec_fn=few, start_new_session=True
        )
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=60)
    finally:
        if bomb is not None:
            os.killpg(bomb.pid, signal.SIGKILL)
            bomb.wait()
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert not list(stage.root.glob("perfgate-*"))
