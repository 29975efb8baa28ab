"""The launcher of duets: starts a command of each side at once, several times, and writes what each took.

A script of its own, standard library only. `python -I -S duet_launcher.py SPEC` reads a JSON file:

{"runs": n, "places": [[processor of base, of head, side that is started first], ...], "known": [names of variables],
"sides": [{"argv": [...], "directory": "...", "environment": {...}, "output": "..."}, the same of head]}

Both children of an iteration wait until both are there, each on its processors; then they are let go, one right after
the other. On one processor a spinner takes the place of the one that has ended, until the other one has: alone, the
rest of the longer program would be faster than what both had together, and a change would seem smaller than it is.

The file "output" of each side gets what launcher.py writes: {"runs": [[ns, user s, system s, ru_maxrss],
...], "own": what a child inherits, "code": exit code of the last run (a signal is negative), "errno": why it could not
be started, else 0}. Wall time is from letting go to the end; what a child took before is left out.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import sys
import traceback
from time import perf_counter_ns
from typing import Any

_DEFAULT = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores these; a program expects them as they are by default."""


def main(spec: dict[str, Any]) -> None:
    """Run both commands until one fails, at most `runs` times."""
    known = {*spec["known"], "LC_CTYPE", "PWD"}
    # by what is added perfgate knows its processes
    added = {name: value for name, value in os.environ.items() if name not in known}
    sides = spec["sides"]
    for side in sides:
        side["environment"] = {**side["environment"], **added, "PWD": side["directory"]}
    measured: list[list[list[float]]] = [[], []]
    codes, errors = [0, 0], [0, 0]
    gc.disable()
    for place in spec["places"][: spec["runs"]]:
        found = _pair(sides, place)
        for number, each in enumerate(found):
            measured[number].append(each["run"])
            codes[number], errors[number] = each["code"], each["errno"]
        if any(codes) or any(errors):
            break
    for number, side in enumerate(sides):
        runs = measured[number][:-1] if errors[number] else measured[number]
        told = {"runs": runs, "own": _own_peak(), "code": codes[number], "errno": errors[number]}
        with open(side["output"], "x", encoding="ascii") as file:  # noqa: PTH123 - pathlib would double the start-up
            json.dump(told, file)


def _pair(sides: list[dict[str, Any]], place: list[int]) -> list[dict[str, Any]]:
    """Make one iteration of both."""
    children = [_child(side, processor) for side, processor in zip(sides, place[:2], strict=True)]
    # both are there, and have told what they took so far, or why they could not begin
    heard = [json.loads(_line(child["told"]) or b"-1") for child in children]
    before = [each if isinstance(each, list) else [0.0, 0.0] for each in heard]
    spinner = _Spinner(place[0]) if place[0] == place[1] >= 0 else None
    begun = [0, 0]
    first = place[2]
    for number in (first, 1 - first):
        begun[number] = perf_counter_ns()
        with contextlib.suppress(OSError):
            os.write(children[number]["go"], b"\n")
    found: list[dict[str, Any]] = [{}, {}]
    while not all(found):
        pid, status, used = os.wait4(-1, 0)
        end = perf_counter_ns()
        number = next((n for n, child in enumerate(children) if child["pid"] == pid), -1)
        if number < 0:
            continue  # the spinner, if someone ended it
        if spinner is not None and not any(found):
            spinner.spin()
        user, system = used.ru_utime - before[number][0], used.ru_stime - before[number][1]
        run = [end - begun[number], max(user, 0.0), max(system, 0.0), used.ru_maxrss]
        code = os.waitstatus_to_exitcode(status)
        found[number] = {"run": run, "code": code, "errno": 0}
    if spinner is not None:
        spinner.end()
    for number, child in enumerate(children):
        # what could not be started says why; a program that was has closed its end
        why = _line(child["told"]) if isinstance(heard[number], list) else str(heard[number]).encode()
        found[number]["errno"] = int(why) if why.strip() else 0
        os.close(child["told"])
        os.close(child["go"])
    return found


def _child(side: dict[str, Any], processor: int) -> dict[str, int]:
    """Start a process that is ready to become a side's program."""
    told, tell = os.pipe()
    wait, go = os.pipe()
    pid = os.fork()
    if pid:
        os.close(tell)
        os.close(wait)
        return {"pid": pid, "told": told, "go": go}
    try:
        os.chdir(side["directory"])
        if processor >= 0:
            os.sched_setaffinity(0, {processor})
        for number in _DEFAULT:
            signal.signal(number, signal.SIG_DFL)
        used = resource.getrusage(resource.RUSAGE_SELF)
        os.write(tell, f"[{used.ru_utime}, {used.ru_stime}]\n".encode())
        os.read(wait, 1)
        # both are closed by a program that starts
        os.execvpe(side["argv"][0], side["argv"], side["environment"])  # noqa: S606 - the user's own command
    except OSError as problem:
        os.write(tell, f"{problem.errno or -1}\n".encode())
    except BaseException:  # noqa: BLE001 - none may go on as a launcher
        traceback.print_exc()
        os.write(tell, b"-1\n")
    os._exit(127)


class _Spinner:
    """A process that keeps a processor busy from spin() to end()."""

    def __init__(self, processor: int) -> None:
        wait, self._go = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid:
            os.close(wait)
            return
        with contextlib.suppress(BaseException):
            os.close(self._go)
            os.sched_setaffinity(0, {processor})
            os.read(wait, 1)
            # a launcher that was killed leaves none behind
            while os.getppid() == parent:
                for _ in range(10_000):
                    pass
        os._exit(0)

    def spin(self) -> None:
        """Begin to use the processor."""
        with contextlib.suppress(OSError):
            os.write(self._go, b"\n")

    def end(self) -> None:
        """End the process, also if it has not begun."""
        with contextlib.suppress(OSError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._go)


def _line(descriptor: int) -> bytes:
    """Read up to the end of a line, or all there is."""
    found = b""
    while not found.endswith(b"\n"):
        part = os.read(descriptor, 1)
        if not part:
            break
        found += part
    return found


def _own_peak() -> int:
    """Return what a child's ru_maxrss begins with: the peak of this program's memory, in ru_maxrss's unit.

    Not its own ru_maxrss, as in launcher.py.
    """
    try:
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123 - as above
            return int(status.read().partition(b"VmHWM:")[2].split(None, 1)[0])
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as _file:  # noqa: PTH123 - as above
        main(json.load(_file))
