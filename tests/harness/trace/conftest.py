"""Every test of this room runs with each tracer."""

import sys

import pytest

from harness.trace.trace import Tracer


@pytest.fixture(params=["seccomp", "ptrace"])
def tracer(request: pytest.FixtureRequest) -> Tracer:
    if sys.platform != "linux":
        pytest.skip("the kernel of Linux tells of system calls")
    found: Tracer = request.param
    return found
