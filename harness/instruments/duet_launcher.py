"""The launcher of duets: starts a command of each side at once, several times, and writes what each took.

A script of its own, standard library only. `python -I -S duet_launcher.py SPEC` reads a JSON file:

{"runs": n, "places": [[processor of base, of head, side that is started first], ...], "known": [names of variables],
"sides": [{"argv": [...], "directory": "...", "environment": {...}, "output": "...", "sandbox": [ruleset, user,
room, kinds]}, the same of head]}, with the sandbox that its program starts in as launcher.py has it.

Both children of an iteration are made one right after the other, wait until both are there, each on its processors, and
are let go in the same order. On one processor a spinner takes the place of the one that has ended, until the other one
has: alone, the rest of the longer program would be faster than what both had together, and a change would seem smaller
than it is.

The file "output" of each side gets what launcher.py writes: {"runs": [[ns, user s, system s, ru_maxrss],
...], "own": what a child inherits, "code": exit code of the last run (a signal is negative), "errno": why it could not
be started, else 0, "pace": which of harness.sandbox.enter.pace a program changed of this process, else -1}. Wall time
is from letting go to the end; what a child took before is left out.
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

if __name__ == "__main__":
    sys.path.append(os.path.normpath(f"{__file__}/../../.."))

from harness.instruments.launcher import own_peak
from harness.sandbox import enter

_READY, _BEFORE, _ERRNO = b"r", b"b", b"e"
"""What begins the lines that a child tells: it is there; user and system seconds so far; why it has no program."""
_DEFAULT = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores these; a program expects them as they are by default."""


def main(spec: dict[str, Any]) -> None:
    """Run both commands until one fails, at most `runs` times."""
    known = {*spec["known"], "LC_CTYPE", "PWD"}
    # by what is added perfgate knows its processes
    added = {name: value for name, value in os.environ.items() if name not in known}
    sides = spec["sides"]
    for descriptor in {each for side in sides for each in (side["sandbox"][0], side["sandbox"][2])}:
        # neither program may inherit what both enter
        if descriptor >= 0:
            os.set_inheritable(descriptor, False)
    for side in sides:
        side["environment"] = {**side["environment"], **added, "PWD": side["directory"]}
    measured: list[list[list[float]]] = [[], []]
    codes, errors, changed = [0, 0], [0, 0], -1
    known_pace = enter.pace()
    gc.disable()
    for place in spec["places"][: spec["runs"]]:
        changed = next((n for n, pair in enumerate(enter.pace().items()) if pair not in known_pace.items()), -1)
        if changed >= 0:
            # each side inherits it, and would be compared with iterations before that
            break
        found = _pair(sides, place)
        for number, each in enumerate(found):
            measured[number].append(each["run"])
            codes[number], errors[number] = each["code"], each["errno"]
        if any(codes) or any(errors):
            break
    for number, side in enumerate(sides):
        runs = measured[number][:-1] if errors[number] else measured[number]
        told = {"runs": runs, "own": own_peak(), "code": codes[number], "errno": errors[number]}
        told["pace"] = changed
        with open(side["output"], "x", encoding="ascii") as file:  # noqa: PTH123 - pathlib would double the start-up
            json.dump(told, file)


def _pair(sides: list[dict[str, Any]], place: list[int]) -> list[dict[str, Any]]:
    """Make one iteration of both."""
    # whoever is made first has other pages to copy, and whoever is waited for last is let go right after it has told:
    # no side may always be that one
    order = (place[2], 1 - place[2])
    made = {number: _child(sides[number], place[number]) for number in order}
    # each is there, or has ended
    ready = {number: _line(made[number]["told"]) for number in order}
    children = [made[0], made[1]]
    spinner = _Spinner(place[0]) if place[0] == place[1] >= 0 else None
    begun = [0, 0]
    for number in order:
        begun[number] = perf_counter_ns()
        with contextlib.suppress(OSError):
            os.write(children[number]["go"], b"\n")
    ended: dict[int, tuple[int, int, Any]] = {}
    while len(ended) < len(children):
        pid, status, used = os.wait4(-1, 0)
        end = perf_counter_ns()
        number = next((n for n, child in enumerate(children) if child["pid"] == pid), -1)
        if number < 0:
            continue  # the spinner, if someone ended it
        if spinner is not None and not ended:
            spinner.spin()
        ended[number] = (end - begun[number], os.waitstatus_to_exitcode(status), used)
    if spinner is not None:
        spinner.end()
    return [_told(child, ready[number], *ended[number]) for number, child in enumerate(children)]


def _told(child: dict[str, int], ready: bytes, took: int, code: int, used: Any) -> dict[str, Any]:
    """Take from what a child took in all what it took before its program began; errno: why that could not begin."""
    lines = [ready.strip()]
    while line := _line(child["told"]):
        lines.append(line.strip())
    os.close(child["told"])
    os.close(child["go"])
    known = {line[:1]: line[1:] for line in lines}
    before = [float(number) for number in known.get(_BEFORE, b"0 0").split()]
    times = (max(whole - own, 0.0) for whole, own in zip((used.ru_utime, used.ru_stime), before, strict=True))
    return {"run": [took, *times, used.ru_maxrss], "code": code, "errno": int(known.get(_ERRNO, b"0"))}


def _child(side: dict[str, Any], processor: int) -> dict[str, int]:
    """Start a process that is ready to become a side's program.

    It tells that it is there, then what it took until it was let go, and why there is no program, if there is none. To
    wake the launcher takes time, and it waits for one side at a time: so a child counts from when it was let go.
    """
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
        if side["sandbox"][0] >= 0:
            enter.enter(*side["sandbox"])
            os.chdir(side["directory"])
        with contextlib.suppress(OSError):
            # what this touches lies elsewhere for each side, and its pages are to be copied before it counts
            os.execve("", side["argv"], side["environment"])  # noqa: S606 - there is no such program
        os.write(tell, _READY + b"\n")
        os.read(wait, 1)
        used = resource.getrusage(resource.RUSAGE_SELF)
        os.write(tell, _BEFORE + f"{used.ru_utime} {used.ru_stime}\n".encode())
        # both pipes are closed by a program that starts
        os.execvpe(side["argv"][0], side["argv"], side["environment"])  # noqa: S606 - the user's own command
    except OSError as problem:
        os.write(tell, _ERRNO + f"{problem.errno or -1}\n".encode())
    except BaseException:  # noqa: BLE001 - none may go on as a launcher
        traceback.print_exc()
        os.write(tell, _ERRNO + b"-1\n")
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


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as _file:  # noqa: PTH123 - as above
        main(json.load(_file))
