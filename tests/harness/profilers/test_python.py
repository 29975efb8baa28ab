"""The sampler of Python programs: in real interpreters, with the project's own sitecustomize, threads and processes."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from harness.instruments.protocol import Context
from harness.process.execute import Command
from harness.profilers.profiler import Costs, Places, Tool
from harness.profilers.python import PROFILER, parse
from tests.harness.profilers.test_choice import subject

pytestmark = pytest.mark.endtoend

BURN = """\
import time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
"""


def sampled(tmp_path: Path, text: str, *options: str, files: Mapping[str, str] | None = None, **more: str) -> Costs:
    """Run a program under the sampler, as wrap lays it out."""
    project, scratch = tmp_path / "project", tmp_path / "scratch"
    for name, content in {"burning.py": BURN, "main.py": text, **(files or {})}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(content)
    scratch.mkdir()
    of = subject(project, [sys.executable, *options, "main.py"])
    context = Context(project, dict(os.environ), "base", 1, 0, 1, scratch)
    command = Command((sys.executable, *options, "main.py"), project, {**os.environ, **more}, 60)
    wrapped = PROFILER.wrap(Tool("", ""), of, context, command)
    subprocess.run(wrapped.argv, cwd=project, env=wrapped.environment, check=False, timeout=60)
    return PROFILER.read(of, context)


def inclusive(costs: Costs, function: str) -> float:
    return sum(cost for stack, cost in costs.items() if any(frame.function == function for frame in stack))


def test_functions_have_the_cpu_seconds_that_they_used(tmp_path: Path) -> None:
    text = "import burning, time\ndef long(): burning.burn(0.2)\ndef short(): burning.burn(0.05)\n"
    costs = sampled(tmp_path, text + "long(); short(); time.sleep(0.2)")
    assert inclusive(costs, "long") == pytest.approx(0.2, abs=0.05)
    assert inclusive(costs, "short") == pytest.approx(0.05, abs=0.04)
    stack = [(frame.function, frame.file) for frame in max(costs, key=lambda s: costs[s])]
    assert stack[-3:] == [("<module>", "main.py"), ("long", "main.py"), ("burn", "burning.py")]


def test_a_long_call_of_c_counts_whole(tmp_path: Path) -> None:
    text = "import time\ndef work():\n    began = time.thread_time()\n    sum(range(5_000_000))\n    print(time.thread_time() - began)\nwork()"
    costs = sampled(tmp_path, text)
    # no interruption comes through before the call ends
    assert inclusive(costs, "work") > 0.8 * sum(costs.values())


def test_threads_and_processes_are_sampled(tmp_path: Path) -> None:
    text = """\
import multiprocessing, os, subprocess, sys, threading
from burning import burn
def in_thread(): burn(0.2)
def in_fork(): burn(0.2)
if __name__ == "__main__":
    thread = threading.Thread(target=in_thread); thread.start(); thread.join()
    process = multiprocessing.get_context("fork").Process(target=in_fork); process.start(); process.join()
    subprocess.run([sys.executable, "-c", "from burning import burn\\ndef in_child(): burn(0.2)\\nin_child()"], check=True)
    def before_exec(): burn(0.2)
    before_exec()
    os.execv(sys.executable, [sys.executable, "-c", "from burning import burn\\ndef after_exec(): burn(0.2)\\nafter_exec()"])
"""
    costs = sampled(tmp_path, text)
    for name in ("in_thread", "in_fork", "in_child", "before_exec", "after_exec"):
        assert inclusive(costs, name) == pytest.approx(0.2, abs=0.1), name


def test_a_process_that_is_killed_leaves_what_it_wrote(tmp_path: Path) -> None:
    text = "import os, signal\nfrom burning import burn\nburn(0.7)\nos.kill(os.getpid(), signal.SIGKILL)"
    assert inclusive(sampled(tmp_path, text), "burn") > 0.4


def test_the_projects_own_sitecustomize_is_imported(tmp_path: Path) -> None:
    files = {"own/sitecustomize.py": "import builtins; builtins.customized = True"}
    text = (
        f"import sys, burning, sitecustomize\nassert customized and {str(tmp_path / 'scratch')!r} not in str(sys.path)\n"
        "assert sitecustomize.__file__.endswith('own/sitecustomize.py')\ndef reached(): burning.burn(0.1)\nreached()"
    )
    costs = sampled(tmp_path, text, files=files, PYTHONPATH=str(tmp_path / "project" / "own"))
    assert inclusive(costs, "reached") > 0


def test_an_interpreter_that_ignores_its_environment_gives_nothing(tmp_path: Path) -> None:
    costs = sampled(tmp_path, "for _ in range(10**6): pass", "-I")
    assert not costs
    with pytest.raises(OutputError, match="PYTHONPATH"):
        PROFILER.sampled(subject(tmp_path, "python3 x.py"), [costs])


def test_samples_are_read() -> None:
    whole = b"f main\t/p/main.py\t3\nf burn\t/p/burning.py\t2\ns 0.25 0 1\ns 0.5 0\n"
    assert parse(whole, Places(Path("/p"))) == {
        (Frame("main", "main.py", 3), Frame("burn", "burning.py", 2)): 0.25,
        (Frame("main", "main.py", 3),): 0.5,
    }
