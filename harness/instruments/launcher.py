"""The embedded stand-in for hyperfine: start a command some times, one after the other, and write what each took.

A script of its own, started as `python -I -S launcher.py OUTPUT RUNS LC_CTYPE COMMAND...`, standard library only: Linux
counts the resident memory of the process that starts a program into the program's peak, so this one is small. Standard
input, output and error are the command's own. LC_CTYPE: "=value", or "" when the environment has none.

OUTPUT gets {"runs": [[ns, user s, system s, ru_maxrss], ...], "own": what a child inherits, "code": exit code of
the last run (a signal is negative), "errno": why it could not be started, else 0}.
"""

import gc
import posix  # os and signal would double the start-up: os loads modules, and signal makes enums
import sys
from time import perf_counter_ns

SIGPIPE, SIGXFSZ = 13, 25
"""On Linux and macOS alike."""


def main(output: str, runs: int, lc_ctype: str, argv: list[str]) -> None:
    """Run the command until it fails, at most `runs` times."""
    environment = dict(posix.environ)
    # Python may have set it for itself at its start (PEP 538)
    environment.pop(b"LC_CTYPE", None)
    if lc_ctype:
        environment[b"LC_CTYPE"] = lc_ctype[1:].encode(sys.getfilesystemencoding(), "surrogateescape")
    # Python ignores these; a program expects them as they are by default
    default = (SIGPIPE, SIGXFSZ)
    program = argv[0]
    measured: list[list[float]] = []
    code = error = 0
    gc.disable()
    spawn, wait, clock = posix.posix_spawnp, posix.wait4, perf_counter_ns
    while len(measured) < runs and not code:
        try:
            start = clock()
            process = spawn(program, argv, environment, setsigdef=default)
            _, status, used = wait(process, 0)
            end = clock()
        except OSError as problem:
            error = problem.errno or -1
            break
        measured.append([end - start, used.ru_utime, used.ru_stime, used.ru_maxrss])
        code = posix.waitstatus_to_exitcode(status)
    own = own_peak()
    with open(output, "x", encoding="ascii") as file:  # noqa: PTH123 - pathlib would double the start-up
        file.write(f'{{"runs": {measured}, "own": {own}, "code": {code}, "errno": {error}}}')


def own_peak() -> int:
    """Return what a child's ru_maxrss begins with: the peak of this program's memory, in ru_maxrss's unit.

    This process's own ru_maxrss would not do: it begins with the size of whoever started this one.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - as above
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])
