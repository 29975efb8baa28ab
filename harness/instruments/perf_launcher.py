"""The launcher of the perf_stat instrument: starts a command several times under `perf stat`.

A script of its own, started as `python -I -S perf_launcher.py OUTPUT RUNS LC_CTYPE PERF... -- COMMAND...`, standard
library only. PERF is the call of perf stat up to its --; the file of its counters is added, OUTPUT.0, OUTPUT.1 and so
on. Standard input, output and error are the command's own. LC_CTYPE: "=value", or "" when the environment has none.

OUTPUT gets {"runs": how often it was started, "code": exit code of the last run (a signal is negative)}.
"""

import _locale
import contextlib
import os
import signal
import sys


def main(output: str, runs: int, lc_ctype: str, perf: list[str], argv: list[str]) -> None:
    """Run the command until it fails, at most `runs` times."""
    # Python may have set it for itself at its start (PEP 538)
    os.environb.pop(b"LC_CTYPE", None)
    if lc_ctype:
        os.environb[b"LC_CTYPE"] = os.fsencode(lc_ctype[1:])
    # what perf writes to standard error when a signal ended the program: it exits with 0 then (WEXITSTATUS in its
    # builtin-stat.c) and tells by psignal(3), in the user's language; a locale that is not installed: it speaks C, too
    with contextlib.suppress(_locale.Error):  # type: ignore[attr-defined]
        _locale.setlocale(_locale.LC_ALL, "")
    said = {os.fsencode(f"{argv[0]}: {signal.strsignal(each)}\n"): each for each in signal.valid_signals()}
    # Python ignores these; a program expects them as they are by default
    default = (signal.SIGPIPE, signal.SIGXFSZ)
    done = code = 0
    while done < runs and not code:
        command = [*perf, "-o", f"{output}.{done}", "--", *argv]
        before = os.fstat(2).st_size
        process = os.posix_spawn(perf[0], command, os.environb, setsigdef=default)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        after = os.fstat(2).st_size
        # whoever reads standard error may have cut it short
        length = min(max(map(len, said)), after - before if after >= before else after)
        with contextlib.suppress(OSError):  # no file, or one that cannot be read
            end = os.pread(2, length, after - length)
            code = code or next((-number for line, number in said.items() if end.endswith(line)), 0)
        done += 1
    with open(output, "x", encoding="ascii") as file:  # noqa: PTH123 - pathlib would double the start-up
        file.write(f'{{"runs": {done}, "code": {code}}}')


if __name__ == "__main__":
    place = sys.argv.index("--")
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:place], sys.argv[place + 1 :])
