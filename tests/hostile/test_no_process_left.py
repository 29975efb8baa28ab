"""No process can be started any more, as under a fork bomb: an interruption still ends the run in time (L3)."""

from __future__ import annotations

import resource
import signal
import subprocess
import time
from contextlib import suppress

import pytest

from tests.hostile.conftest import PLAN, Stage

MOST = 40


def few() -> None:
    """Let a user have so many processes."""
    resource.setrlimit(resource.RLIMIT_NPROC, (MOST, MOST))


@pytest.mark.parametrize("during", ["a build", "a benchmark"])
def test_an_interruption_ends_the_run(stage: Stage, during: str) -> None:
    wait = "echo > ~/here; sleep 60"
    build, command = (wait, "true") if during == "a build" else (":", wait)
    config = f'[gate]\nsameness = "off"\n{PLAN}[build]\ncommand = "{build}"\n[[benchmark]]\nname = "b"\ncommand = "{command}"\n'
    stage.commit(config, {"x": "1"}, {"x": "2"})
    if stage.uid is None:
        pytest.skip("whoever runs these tests has processes of their own, and root as many as there are")
    process, others = stage.started(before=few), list[subprocess.Popen[bytes]]()
    try:
        end = time.monotonic() + 30
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.05)
            # directories are renamed meanwhile
            with suppress(FileNotFoundError):
                if list(stage.root.glob("perfgate-*/home*/here")):
                    break
        with suppress(OSError, subprocess.SubprocessError):
            while len(others) < MOST:
                others.append(subprocess.Popen(["sleep", "60"], user=stage.uid, preexec_fn=few))
        assert len(others) < MOST
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=30)
        took = time.monotonic() - begin
    finally:
        for each in (process, *others):
            each.kill()
            each.communicate()
    assert process.returncode == 130
    assert took < 5
    assert not list(stage.root.glob("perfgate-*"))
