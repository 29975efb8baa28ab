"""A clock for pytest-benchmark that also tells how long the program was kept from running.

It becomes the sitecustomize module of the interpreters that a benchmark starts. A file of its own, standard library
only, for Python 3.8 and later; nothing is installed into the project. In pytest it is a plugin. What pytest-benchmark
measures stays wall time, and for each round the kernel says how long the thread waited for a processor. A benchmark of
the JSON gets `"perfgate": {"active": [...], "own": 1.0}`: the time of each round without that wait, and which share of
the CPU time of the program and its children this thread used. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import os
import sys
import time
from _thread import get_ident

TYPE_CHECKING = False  # typing takes milliseconds to import, in each process
if TYPE_CHECKING:
    from typing import Any

_NAME = "perfgate_clocks"
_PLUGINS = "PYTEST_PLUGINS"
_LONGEST = 100
_APART = 2e-5
"""Seconds of CPU time between two readings: less of other threads in a round is nothing that can be told."""
_schedstat, _thread = -1, 0
"""What the kernel tells of a thread, open, and that thread."""


class Reading(float):
    """The wall time when the timer was called, and what was read meanwhile; the difference of two is a round."""

    after: float
    at: float
    waited: float
    own: float
    whole: float

    def __sub__(self, start: float) -> float:
        """Return the time between the end of a call and the beginning of this one, and keep what happened in it."""
        if not isinstance(start, Reading):
            return float(self) - start
        wall = float(self) - start.after
        if len(_rounds) < _MOST:
            active = (self.at - start.at) - (self.waited - start.waited)
            _rounds.append((wall, active, self.own - start.own, self.whole - start.whole))
        return wall


_MOST = 200_000
_rounds: list[tuple[float, float, float, float]] = []
"""Of the rounds that were timed, in their order: seconds of wall time, without waiting, of this thread, and of all."""
_calls: list[float] = [1.0]
"""The seconds of the shortest call of the timer; the two of a round add about one to what is read in them."""


def perf_counter() -> float:
    """Return the time, as pytest-benchmark's own timer of this name does."""
    if get_ident() != _thread:
        return time.perf_counter()
    reading = Reading(time.perf_counter())
    waited = -1.0
    # a thread is stopped where it calls the kernel: again until it was not, between the time and what was waited then
    while waited != (waiting := (int(os.pread(_schedstat, _LONGEST, 0).split()[1]) * 1e-9)):
        waited, reading.at = waiting, time.perf_counter()
    reading.waited = waited
    reading.own, children = time.thread_time(), os.times()
    reading.whole = time.process_time() + children.children_user + children.children_system
    reading.after = time.perf_counter()
    _calls[0] = min(_calls[0], reading.after - float(reading))
    return reading


def begin() -> bool:
    """Return whether the kernel counts how long this thread waits; hide from the programs that it starts."""
    global _schedstat, _thread
    # leave the environment to other programs as it was
    own = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    for variable, separator, name in (("PYTHONPATH", os.pathsep, own), (_PLUGINS, ",", _NAME)):
        rest = separator.join(each for each in os.environ.pop(variable, "").split(separator) if each != name)
        if rest:
            os.environ[variable] = rest
    try:
        _schedstat, _thread = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC), get_ident()
        counts = any(map(int, os.pread(_schedstat, _LONGEST, 0).split()))
    except (OSError, ValueError):
        return False
    return counts


def pytest_configure(config: Any) -> None:
    """Take the place of the usual timer, where something can be told."""
    if begin() and getattr(config.option, "benchmark_timer", None) == "time.perf_counter":
        config.option.benchmark_timer = f"{_NAME}.perf_counter"
        config.pluginmanager.register(Writer())


class Writer:
    """Has a hook that pytest knows only with pytest-benchmark."""

    def pytest_benchmark_update_json(self, config: Any, benchmarks: Any, output_json: dict[str, Any]) -> None:  # noqa: ARG002
        """Write what is known of the rounds of each benchmark, which are found by their times."""
        begin = 0
        for benchmark in output_json["benchmarks"]:
            found: list[tuple[float, float, float, float]] = []
            place, iterations = begin, benchmark["stats"]["iterations"]
            for seconds in benchmark["stats"].get("data") or ():
                while place < len(_rounds) and _rounds[place][0] / iterations != seconds:
                    place += 1
                found += _rounds[place : place + 1]
                place += 1
            # the middle one: the kernel may count a disturbance between the two clocks as anybody's
            shares = sorted(1 - max(0.0, every - own - _APART) / every for _, _, own, every in found if every > 0)
            if place <= len(_rounds) and shares:
                begin = place
                active = [(ran - _calls[0]) / iterations for _, ran, _, _ in found]
                benchmark["perfgate"] = {"active": active, "own": shares[len(shares) // 2]}


class Finder:
    """Waits until pytest is imported."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG004
        """Name the plugin to pytest, in this process alone; find nothing."""
        if name == "_pytest.config":
            sys.meta_path.remove(Finder)
            os.environ[_PLUGINS] = ",".join(filter(None, [os.environ.get(_PLUGINS), _NAME]))


def follow() -> None:
    """Import the sitecustomize module that the program would have without this one, and leave its path."""
    from importlib.machinery import PathFinder

    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]  # noqa: PTH100
    found = PathFinder.find_spec("sitecustomize", sys.path)
    if found is None or found.loader is None:
        return
    module = type(sys)("sitecustomize")
    module.__spec__, module.__loader__, module.__file__ = found, found.loader, found.origin
    sys.modules["sitecustomize"] = module
    found.loader.exec_module(module)


if __name__ == "sitecustomize":
    sys.modules[_NAME] = sys.modules[__name__]
    sys.meta_path.insert(0, Finder)
    follow()
