"""The launcher of the spawn instrument: starts a command several times and writes what each start took.

A script of its own, standard library only: Linux counts the resident memory of the process that starts a program into
the program's peak, so this one is small. `python -I -S launcher.py OUTPUT RUNS LC_CTYPE RULESET USER NETWORK
COMMAND...` does it once. Standard input, output and error are the command's own. LC_CTYPE: "=value", or "" when the
environment has none. RULESET, USER, NETWORK: the sandbox that the command is started in, as harness/sandbox/enter.py
has it; -1: none. Only the thread that starts the command enters it, and nobody inside can reach this program's memory:
the values are its own.

OUTPUT gets {"runs": [[ns, user s, system s, ru_maxrss], ...], "own": what a child inherits, "code": exit code of
the last run (a signal is negative), "errno": why it could not be started, else 0}.

`python -I -S launcher.py --serve SOCKET` forks for each request one that does the same: to start an interpreter takes
several times as long. harness/process/forkserver.py asks it.
"""

from __future__ import annotations

import _thread
import gc
import posix  # os and signal would double the start-up: os loads modules, and signal makes enums
import resource  # wait4 would load it inside the first measurement
import sys
from time import perf_counter_ns

TYPE_CHECKING = False  # that of typing would double the start-up
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Text = str | bytes

if __name__ == "__main__":
    sys.path.append(f"{__file__.rpartition('/')[0]}/../..")

from harness.sandbox import enter  # noqa: E402  # found from here on

SIGPIPE, SIGXFSZ = 13, 25
"""On Linux and macOS alike."""
HEAD = 8
"""Bytes of the length of a request."""


def main(
    output: Text,
    runs: int,
    argv: list[Text],
    environment: dict[bytes, bytes],
    directory: Text = ".",
    inside: tuple[int, int, int] = (-1, -1, -1),
) -> None:
    """Run the command until it fails, at most `runs` times."""
    gc.disable()
    measured: list[list[float]] = []
    code = error = 0
    try:
        posix.chdir(directory)
        if inside[0] < 0:
            code = measure(measured, runs, argv, environment)
        else:
            code = _inside(lambda: measure(measured, runs, argv, environment), inside)
    except OSError as problem:
        error = problem.errno or -1
    own = own_peak()
    # bytes: each fork would import the codec anew
    with open(output, "xb") as file:  # noqa: PTH123 - pathlib would double the start-up
        file.write(f'{{"runs": {measured}, "own": {own}, "code": {code}, "errno": {error}}}'.encode())


def measure(measured: list[list[float]], runs: int, argv: list[Text], environment: dict[bytes, bytes]) -> int:
    """Start the command and wait for it, until it fails, and add what each run took; return its last exit code."""
    # Python ignores these; a program expects them as they are by default
    default = (SIGPIPE, SIGXFSZ)
    program = argv[0]
    code = 0
    spawn, wait, clock = posix.posix_spawnp, posix.wait4, perf_counter_ns
    _warm_up(environment)
    while len(measured) < runs and not code:
        start = clock()
        process = spawn(program, argv, environment, setsigdef=default)
        _, status, used = wait(process, 0)
        end = clock()
        measured.append([end - start, used.ru_utime, used.ru_stime, used.ru_maxrss])
        code = posix.waitstatus_to_exitcode(status)
    return code


def _inside(work: Callable[[], int], inside: tuple[int, int, int]) -> int:
    """Do something in a thread that has entered the sandbox, and return what it returns."""
    done: list[int] = []
    failed: list[BaseException] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def run() -> None:
        try:
            enter.enter(*inside)
            done.append(work())
        except BaseException as problem:  # noqa: BLE001 - raised again below
            failed.append(problem)
        finally:
            ended.release()

    # the thread is inside, too, and has this program's memory: the command must not be able to look into it
    enter.hide()
    _thread.start_new_thread(run, ())
    ended.acquire()
    if failed:
        raise failed[0]
    return done[0]


def _warm_up(environment: dict[bytes, bytes]) -> None:
    # a directory cannot be started; to try touches the memory that the first measurement would wait for
    try:
        posix.posix_spawnp("/", ["/"], environment, setsigdef=(SIGPIPE, SIGXFSZ))
    except OSError:
        return


def inherited(lc_ctype: str) -> dict[bytes, bytes]:
    """Return the environment that this process was started with."""
    environment = dict(posix.environ)
    # Python may have set it for itself at its start (PEP 538)
    environment.pop(b"LC_CTYPE", None)
    if lc_ctype:
        environment[b"LC_CTYPE"] = lc_ctype[1:].encode(sys.getfilesystemencoding(), "surrogateescape")
    return environment


def own_peak() -> int:
    """Return what a child's ru_maxrss begins with: the peak of this program's memory, in ru_maxrss's unit.

    This process's own ru_maxrss would not do: it begins with the size of whoever started this one.
    """
    try:
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123 - as above
            return int(status.read().partition(b"VmHWM:")[2].split(None, 1)[0])
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def serve(number: int) -> None:
    """Answer requests until the other end of a socket is closed.

    A request is its length, with standard output and error beside it, maybe a ruleset and a network, and a marshalled
    tuple of main's first arguments and the user to become. The answer is two lines in any order: the id of a process,
    once it leads its own session, and an empty one, once it is a child of whoever takes orphans. That is perfgate,
    which can wait for it.
    """
    import _socket  # of the package socket most is not needed here, and would be memory that every child begins with
    import marshal

    asked = _socket.socket(fileno=number)
    while True:
        # no program may inherit what comes beside a request
        head, beside, *_ = asked.recvmsg(HEAD, _socket.CMSG_SPACE(16), _socket.MSG_CMSG_CLOEXEC)
        if not head:
            return
        files = [
            int.from_bytes(data[at : at + 4], sys.byteorder) for _, _, data in beside for at in range(0, len(data), 4)
        ]
        request = asked.recv(int.from_bytes(head, sys.byteorder), _socket.MSG_WAITALL)
        between = posix.fork()
        if not between:
            if posix.fork():
                posix._exit(0)
            _child(marshal.loads(request), files, number)  # noqa: S302 - perfgate's own words
        for file in files:
            posix.close(file)
        posix.waitpid(between, 0)
        posix.write(number, b"\n")


def _child(request: tuple[Any, ...], files: list[int], number: int) -> None:
    code = 1
    try:
        posix.setsid()
        posix.write(number, b"%d\n" % posix.getpid())
        posix.close(number)
        for target, file in enumerate(files[:2], 1):
            posix.dup2(file, target)
            posix.close(file)
        path = request[3].get(b"PATH")
        # where posix_spawnp looks for the program
        if path is None:
            posix.unsetenv(b"PATH")
        else:
            posix.putenv(b"PATH", path)
        result, runs, argv, environment, directory, user = request
        ruleset, network = [*files[2:], -1, -1][:2]
        main(result, runs, argv, environment, directory, (ruleset, user, network))
        code = 0
    except BaseException:  # noqa: BLE001 - none may go on as a server
        sys.excepthook(*sys.exc_info())
    finally:
        posix._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(int(sys.argv[2]))
    else:
        _sandbox = (int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]))
        main(sys.argv[1], int(sys.argv[2]), [*sys.argv[7:]], inherited(sys.argv[3]), ".", _sandbox)
