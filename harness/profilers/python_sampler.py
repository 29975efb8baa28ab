"""The sampler of Python programs: becomes the sitecustomize module of the interpreters that a benchmark starts.

A file of its own, standard library only, for Python 3.8 and later; nothing is installed into the project. A timer of
CPU time interrupts the program; each thread's stack is given the CPU time that the thread used since the last time, so
that the costs add up to what was used, however long a call of a C function kept the interruption waiting.

The directory that PERFGATE_SAMPLES names gets a file for each process: `f NAME<tab>PATH<tab>LINE` are functions,
counted from 0, and `s SECONDS INDEX...` stacks, the outermost function first.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time

TYPE_CHECKING = False  # typing takes milliseconds to import, in each process
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

_INTERVAL = 0.001
# CPU seconds between two writes: what is lost of a process that is killed
_WRITTEN = 0.5
_DEEPEST = 1000


class Sampler:
    """Samples this process and, by files of their own, those that it forks."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.begin()

    def begin(self) -> None:
        """Sample a process that was just forked."""
        self.path = f"{self.directory}/{os.getpid()}-{time.time_ns()}"
        self.costs: dict[tuple[CodeType, ...], float] = {}
        self.codes: dict[CodeType, str] = {}
        self.unwritten = 0.0
        self.main = threading.get_ident()
        self.used = {self.main: time.thread_time()}
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)

    def tick(self, _number: int, frame: FrameType | None) -> None:
        """Give each thread's stack what the thread used; the main thread's frame is that of this handler otherwise."""
        for thread, top in sys._current_frames().items():
            try:
                if thread == self.main:
                    its, now = frame, time.thread_time()
                else:
                    its, now = top, time.clock_gettime(time.pthread_getcpuclockid(thread))
            except (AttributeError, OSError):
                continue
            seconds = now - self.used.get(thread, 0.0)
            self.used[thread] = now
            if seconds <= 0:
                continue
            stack: list[CodeType] = []
            while its is not None and len(stack) < _DEEPEST:
                # what this file spends itself is its caller's
                if stack or its.f_code.co_filename != __file__:
                    stack.append(its.f_code)
                its = its.f_back
            if not stack:
                # a thread that begins or ends has no frame of the program
                continue
            key = tuple(stack)
            self.costs[key] = self.costs.get(key, 0.0) + seconds
            self.unwritten += seconds
        if self.unwritten > _WRITTEN:
            self.write()
        # not what this took
        self.used[self.main] = time.thread_time()

    def share(self, seconds: float) -> None:
        """Share what came after the last interruption among the stacks, lest a short process lose it."""
        whole = sum(self.costs.values())
        if whole > 0 and seconds > 0:
            self.costs = {stack: cost * (1 + seconds / whole) for stack, cost in self.costs.items()}

    def write(self) -> None:
        """Append what was sampled since the last time."""
        costs, self.costs, self.unwritten = self.costs, {}, 0.0
        lines = []
        for stack, seconds in costs.items():
            for code in stack:
                if code not in self.codes:
                    self.codes[code] = str(len(self.codes))
                    name = getattr(code, "co_qualname", code.co_name)
                    place = _line(os.path.abspath(code.co_filename))  # noqa: PTH100
                    lines.append(f"f {_line(name)}\t{place}\t{code.co_firstlineno}\n")
            lines.append(f"s {seconds:.9f} {' '.join(self.codes[code] for code in reversed(stack))}\n")
        if lines:
            with open(self.path, "a", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123
                file.write("".join(lines))

    def end(self) -> None:
        """Stop the timer, and write the rest."""
        try:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.share(time.thread_time() - self.used[self.main])
            self.write()
        except OSError:
            return

    def before(self, function: Callable[..., object]) -> Callable[..., object]:
        """Return a function that ends sampling first: a process that is replaced would be killed by its timer."""

        def replaced(*given: object, **named: object) -> object:
            self.end()
            return function(*given, **named)

        return replaced

    def started(self, function: Callable[..., object]) -> Callable[..., object]:
        """Return a function that starts a thread which leaves the signal to the main one, where handlers run.

        Linux interrupts the thread that used the time otherwise, and one that waits for it would not notice.
        """

        def start(*given: object) -> object:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
            try:
                return function(*given)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

        return start


def _line(text: str) -> str:
    return " ".join(text.split())


def start(directory: str) -> None:
    """Sample this process until it ends."""
    sampler = Sampler(directory)
    signal.signal(signal.SIGPROF, sampler.tick)
    atexit.register(sampler.end)
    # timers are not inherited
    os.register_at_fork(after_in_child=sampler.begin)
    threading.Thread.start = sampler.started(threading.Thread.start)  # type: ignore[method-assign,assignment]
    for name in ("_exit", "execv", "execve"):
        setattr(os, name, sampler.before(getattr(os, name)))


def follow() -> None:
    """Import the sitecustomize module that the program would have without this one, and hide this one's directory."""
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


def main() -> None:
    """Sample where that can be: not outside the main thread, and not where there is no such timer."""
    try:
        start(os.environ["PERFGATE_SAMPLES"])
    except (KeyError, ValueError, OSError, AttributeError):
        return


if __name__ == "sitecustomize":
    main()
    follow()
