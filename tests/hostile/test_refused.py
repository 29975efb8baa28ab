"""A system that refuses namespaces, or some of what they need: the first line of a run says what is missing, and why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox import landlock
from harness.sandbox.sandbox import namespaces
from tests.hostile.conftest import ROOT, USER, started_by

NETWORK, FILES = "a network of their own", "a /tmp of their own"
SAID = {
    "namespaces": f"{NETWORK} and {FILES} (Operation not permitted)",
    "more namespaces": f"{NETWORK} and {FILES} (a limit in /proc/sys/user is reached)",
    "entering": f"{NETWORK} and {FILES} (Operation not permitted)",
    "mounts": f"{FILES} (Permission denied)",
    "filters": "",
}


@pytest.mark.endtoend
@pytest.mark.skipif(landlock.version() < landlock.LEAST, reason="there is no sandbox on this system")
@pytest.mark.skipif(not {"network", "files"} <= namespaces(), reason="this system refuses namespaces itself")
@pytest.mark.parametrize("uid", [None, USER], ids=["as it is", "a user"])
@pytest.mark.parametrize("refused", SAID)
def test_what_is_missing_is_said(refused: str, uid: int | None) -> None:
    if uid is not None and os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user already")
    python = started_by(uid)[0]
    paths = [str(ROOT), *(each for each in sys.path if each.endswith("site-packages"))]
    code = (
        f"import sys; sys.path[:0] = {paths!r}; from harness.sandbox.sandbox import examined; print(examined('auto'))"
    )
    done = subprocess.run(
        [python, "-I", str(Path(__file__).with_name("without.py")), refused, python, "-I", "-B", "-c", code],
        user=uid, group=uid, extra_groups=None if uid is None else [], capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.startswith("on ("), done.stderr
    assert (SAID[refused] or "no network for benchmarks; no servers") in done.stdout
