"""Head's benchmark slows down what starts base: priorities, slices, processors and limits of perfgate's processes (S9)."""

import subprocess
import sys

import pytest

from harness.process.execute import Pace
from tests.hostile.conftest import PLAN, Stage

CALLS = """\
import ctypes, glob, os, resource, struct, sys
call = ctypes.CDLL(None).syscall
X86 = os.uname().machine == "x86_64"
def attributes(**more):
    own = {"policy": 0, "nice": os.getpriority(os.PRIO_PROCESS, 0), "runtime": 0, **more}
    return struct.pack("=IIQiIQQQ", 48, own["policy"], 0, own["nice"], 0, own["runtime"], 0, 0)
"""
SLOW = """\
def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
# of this run alone: others are measured meanwhile
above = [os.getppid()]
while len(above) < 4 and above[-1] > 1:
    above.append(parent(above[-1]))
for place in glob.glob("/proc/[0-9]*/task/[0-9]*") if os.environ["PERFGATE_SIDE"] == "head" else ():
    try:
        words = open(place + "/cmdline", "rb").read()
        whole = int(place.split("/")[2])
        near = whole in above or parent(whole) in above
        if near and (b"launcher.py" in words or b"gate" in words):
            pid = int(place.rpartition("/")[2])
            HOW
    except OSError:
        pass
"""
HOW = {
    "io": "call(251 if X86 else 30, 1, pid, 3 << 13)",
    "slice": "call(314 if X86 else 274, pid, attributes(runtime=100000000), 0)",
    "nice": "os.setpriority(os.PRIO_PROCESS, pid, 19)",
    "policy": "os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))",
    "processors": "os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))})",
}
LIMITS = "resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1))"


def attacked(stage: Stage, how: str) -> None:
    config = f'[gate]\nthreshold = "2000%"\n{PLAN}[[benchmark]]\nname = "b"\ncommand = "python3 -IS slow.py"\n'
    stage.commit(config, {"slow.py": ""}, {"slow.py": CALLS + SLOW.replace("HOW", how)})
    stage.check(PERFGATE_TRACEBACK="1")


@pytest.mark.parametrize("how", HOW)
def test_each_is_found(how: str) -> None:
    with subprocess.Popen(["sleep", "60"]) as victim:
        pace = Pace(victim.pid)
        assert not pace.changed()
        subprocess.run([sys.executable, "-IS", "-c", f"{CALLS}pid = {victim.pid}\n{HOW[how]}"], check=True)
        assert pace.changed().startswith("changed the ")
        victim.kill()


@pytest.mark.parametrize(
    "how", ["nice", *(pytest.param(each, marks=pytest.mark.nightly) for each in HOW if each != "nice")]
)
def test_is_found_before_base_is_started_again(stage: Stage, how: str) -> None:
    """As root too: the thread that starts a command is inside, and so the other user's."""
    attacked(stage, HOW[how])
    assert stage.code == 4, stage.shown
    assert "changed the " in stage.shown
    assert "head" in stage.shown


def test_nobody_is_ended_by_a_limit(stage: Stage) -> None:
    """What is lowered only root raises again, and a second of CPU time ends perfgate itself: the kernel refuses it."""
    attacked(stage, LIMITS)
    assert stage.code == 0, stage.shown
    assert stage.verdict("b") != "none"
