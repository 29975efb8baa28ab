"""What a command loads before it does anything: the heavy packages only where they are needed."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.endtoend

HEAVY = {"numpy", "scipy", "pandas", "statsmodels"}

# Two sides, two builds each: enough for an interval.
MEASUREMENTS = "".join(
    f'{{"type":"execution","benchmark":"b","side":"{side}","build":{build},"execution":{execution},'
    f'"metrics":{{"time":{{"unit":"s","better":"lower","values":[0.1{build}{execution},0.1{execution}{build}]}}}}}}\n'
    for side in ("base", "head")
    for build in range(2)
    for execution in range(2)
)


def loaded(*arguments: str) -> set[str]:
    """The modules that a fresh interpreter imports; the command itself must succeed."""
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    return set(re.findall(r"^import time: .*\| +(\S+)$", done.stderr, flags=re.MULTILINE))


def packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_quick_options_load_nothing_heavy(option: str) -> None:
    # msgspec comes with the types of what is measured, which no help needs
    assert packages(loaded("-m", "gate", option)) & (HEAVY | {"msgspec"}) == set()


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "measurements.jsonl"
    path.write_text(MEASUREMENTS, encoding="utf-8")
    return str(path)


def test_decide_loads_numpy_and_of_scipy_only_compiled_functions(file: str) -> None:
    modules = loaded("-m", "gate", "decide", file)
    assert packages(modules) & HEAVY <= {"numpy", "scipy"}
    # their package takes longer than everything else together: what it imports beside them is not there
    assert "scipy.special._ufuncs_cxx" in modules
    assert modules.isdisjoint(
        {"scipy.special", "scipy._lib._array_api", "scipy.linalg", "scipy.stats", "numpy.testing"}
    )


def test_reports_load_no_pandas(file: str, tmp_path: Path) -> None:
    every = [f"--{form}={tmp_path / form}" for form in ("json", "markdown", "junit", "html")]
    assert packages(loaded("-m", "gate", "decide", file, *every)) & HEAVY <= {"numpy", "scipy"}
    assert packages(loaded("-m", "gate", "report", file, "--format", "csv")) & HEAVY <= {"numpy", "scipy"}


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_the_arrays_start_no_threads_and_benchmarks_see_no_variable_of_ours(file: str) -> None:
    name = "OPENBLAS_NUM_THREADS"
    shown = f"lambda: print(len(os.listdir('/proc/self/task')), os.environ.get({name!r}), file=sys.stderr)"
    code = f"import atexit, os, runpy, sys\natexit.register({shown})\nrunpy.run_module('gate', run_name='__main__')"
    clean = {key: value for key, value in os.environ.items() if key != name}
    command = [sys.executable, "-c", code, "decide", file]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=clean)
    assert done.stderr == "1 None\n"


def interrupted() -> None:
    """Leave an interruption to the program that is started here, for when it first lets one through."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interruption_while_python_starts_is_no_traceback() -> None:
    program = Path(__file__).parents[1] / "perfgate.py"
    done = subprocess.run(
        [sys.executable, program, "--version"], capture_output=True, text=True, check=False, preexec_fn=interrupted
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
