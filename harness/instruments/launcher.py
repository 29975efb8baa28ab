"""The launcher of the spawn instrument: starts commands, one at a time, and writes what each start took.

A script of its own, standard library only: Linux counts the resident memory of the process that starts a program into
the program's peak, so this one is small. `python -I -S launcher.py DESCRIPTOR` reads from a file what to do, a
marshalled tuple: where the result goes, sides, starts, seconds, step, timeout.

A side is a command: (argv, environment, directory, [argv before each start, argv after it], [(where a directory is set
aside, where it stands), ...], slowdown,
(ruleset, user, room, kinds)). Directories stand while it is the side's turn: in between they are renamed, which takes
microseconds. slowdown: this share of what a start took is spent on a processor after it and counted as its own (of a
drill; else 0). The last being the sandbox that the command is started in, as harness/sandbox/enter.py has it; -1: none.
Only the thread that starts the command enters it, and nobody inside can reach this program's memory: the values are its
own. A start is (number of the side, what it adds to the environment, its own argv or none).

After `seconds` (0: never) the next start whose number is a multiple of `step` is not made, nor any after it; the first
start that fails is the last one; timeout: seconds of one start, 0: none.

One side alone is started by this process. Two have a process each, so that each has its own sandbox, and this one tells
them whose turn it is.

The result: {"runs": [[ns, user s, system s, ru_maxrss, delay ns, waited ns, ran ns, rest s, outlived, side], ...],
"own": [what a child of each side inherits of ru_maxrss, ...], "failed": null or [side, start, what, number]}.
delay: how long the program's first task could have run, and others did. waited: the same of whoever waited for its end.
ran: for how long that task ran. All three -1: not known. rest: processor seconds of what the program did not wait for.
outlived: 1 where something that it started went on after its end, and was ended. failed: what is "exit" with a code (a
signal is negative), "prepare" or "cleanup" likewise, "timeout" or "launcher" (the side's process has ended) with 0,
"pace" (a command changed what this one's process inherits) with which of harness.sandbox.enter.pace, else "start",
"directory", "stand" or "sandbox" with an errno, -1 where there is none.

`python -I -S launcher.py --serve SOCKET` forks for each request one that does the same: to start an interpreter takes
several times as long. harness/process/forkserver.py asks it.
"""

from __future__ import annotations

import _thread
import gc
import marshal
import posix  # os and signal would double the start-up: os loads modules, and signal makes enums
import resource  # wait4 would load it inside the first measurement
import sys
from time import perf_counter_ns, sleep, thread_time_ns

TYPE_CHECKING = False  # that of typing would double the start-up
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Failed = tuple[str, int] | None
    Once = Callable[[int], tuple[Failed, list[float]]]

if __name__ == "__main__":
    sys.path.append(f"{__file__.rpartition('/')[0]}/../..")

from harness.sandbox import enter  # noqa: E402  # found from here on

SIGKILL, SIGPIPE, SIGTERM, SIGXFSZ = 9, 13, 15, 25
"""On Linux and macOS alike."""
HEAD = 8
"""Bytes of the length of a request."""
_GRACE, _LONGEST = 500_000_000, 2_500_000_000
"""Nanoseconds until what outlived a command is killed, and until it is left to perfgate."""
_PAUSE = 0.001
_SIDE, _PLACES, _INSIDE = 0, 4, 6


class _UnreadyError(Exception):
    """A side's command cannot be started at all: what failed, and its number."""


def main(request: tuple[Any, ...]) -> None:
    """Make the starts until one fails, and write the result."""
    output, sides, starts, seconds, step, timeout = request
    gc.disable()
    for descriptor in {each for side in sides for each in (side[_INSIDE][0], side[_INSIDE][2])}:
        # no program may inherit what another one enters
        if descriptor >= 0:
            posix.set_inheritable(descriptor, False)
    runs: list[list[float]] = []
    if len(sides) > 1 or timeout or sides[0][_PLACES]:
        turns = _Turns(sides, starts, timeout)
        failed = turns.unready() or _repeat(runs, starts, seconds, step, turns.once)
        peaks = turns.end()
    else:
        try:
            failed = _at(sides[0], lambda once: _repeat(runs, starts, seconds, step, once), starts)
        except _UnreadyError as problem:
            failed = [0, 0, *problem.args]
        peaks = [own_peak()]
    told = f"{failed}".replace("'", '"') if failed else "null"
    # bytes: each fork would import the codec anew
    with open(output, "xb") as file:  # noqa: PTH123 - pathlib would double the start-up
        file.write(f'{{"runs": {runs}, "own": {peaks}, "failed": {told}}}'.encode())


def _repeat(
    runs: list[list[float]], starts: Sequence[Any], seconds: float, step: int, once: Once
) -> list[int | str] | None:
    """Make the starts, add what each took, and return what ended them, None where nothing failed."""
    begin = perf_counter_ns()
    for number, start in enumerate(starts):
        if seconds and number and not number % step and perf_counter_ns() - begin >= seconds * 1e9:
            break
        failed, run = once(number)
        if failed:
            return [start[_SIDE], number, *failed]
        runs.append([*run, start[_SIDE]])
    return None


class _Turns:
    """A process for each side, which makes a start whenever it gets the number of one."""

    def __init__(self, sides: Sequence[Any], starts: Sequence[Any], timeout: float) -> None:
        self._starts, self._timeout = starts, timeout
        self._places = [side[_PLACES] for side in sides]
        self._standing = -1
        self._helpers: list[tuple[int, int, int]] = []
        """Of each: its id, the pipe for numbers, and the pipe for answers."""
        self._polls: list[Any] = []
        self._peaks = [0] * len(sides)
        for side in sides:
            asked, ask = posix.pipe()
            told, tell = posix.pipe()
            process = posix.fork()
            if not process:
                for end in (ask, told, *(end for helper in self._helpers for end in helper[1:])):
                    posix.close(end)
                _serve_side(side, starts, asked, tell)
            posix.close(asked)
            posix.close(tell)
            self._helpers.append((process, ask, told))
        if any(side[_INSIDE][0] >= 0 for side in sides):
            # not before: a process that cannot be looked into gets no user namespace, in which directories stand
            enter.hide()
        if timeout:
            import select  # not before the sides have their processes: it would be memory that every child begins with

            self._polls = [select.poll() for _ in sides]
            for poll, helper in zip(self._polls, self._helpers, strict=True):
                poll.register(helper[2], select.POLLIN)

    def unready(self) -> list[int | str] | None:
        """Wait until all are ready, and return what failed."""
        for number in range(len(self._helpers)):
            failed, peak = self._answer(number)
            if failed:
                return [number, 0, *failed]
            self._peaks[number] = int(peak[0])
        return None

    def once(self, number: int) -> tuple[Failed, list[float]]:
        """Make a start, by its number."""
        side = self._starts[number][_SIDE]
        try:
            self._stand(side)
        except OSError as problem:
            sys.stderr.write(f"{problem}\n")
            return ("stand", problem.errno or -1), []
        try:
            posix.write(self._helpers[side][1], number.to_bytes(HEAD, sys.byteorder))
        except BrokenPipeError:
            return ("launcher", 0), []
        return self._answer(side)

    def _stand(self, side: int) -> None:
        """Let the directories of a side stand, and set those aside that do; -1: of no side."""
        if side == self._standing:
            return
        if self._standing >= 0:
            for aside, place in self._places[self._standing]:
                posix.rename(place, aside)
        self._standing = side
        if side >= 0:
            for aside, place in self._places[side]:
                posix.rename(aside, place)

    def end(self) -> list[int]:
        """End the processes, and what they have started; return what a child of each side inherits of ru_maxrss."""
        for process, ask, _ in self._helpers:
            posix.close(ask)
            # one that waits for a command that takes too long does not read; the command is ended by perfgate
            posix.kill(process, SIGKILL)
            posix.waitpid(process, 0)
        try:
            self._stand(-1)
        except OSError as problem:
            sys.stderr.write(f"{problem}\n")
        return self._peaks

    def _answer(self, side: int) -> tuple[Failed, list[float]]:
        if self._polls and not self._polls[side].poll(self._timeout * 1000):
            return ("timeout", 0), []
        answer = posix.read(self._helpers[side][2], 1 << 12)
        return marshal.loads(answer) if answer else (("launcher", 0), [])  # noqa: S302 - its own words


def _serve_side(side: Sequence[Any], starts: Sequence[Any], asked: int, tell: int) -> None:
    """Be the process of a side: answer that it is ready, and then each number by what that start took."""

    def answer(once: Once) -> None:
        posix.write(tell, marshal.dumps((None, [own_peak()])))
        while head := posix.read(asked, HEAD):
            posix.write(tell, marshal.dumps(once(int.from_bytes(head, sys.byteorder))))

    code = 1
    try:
        _at(side, answer, starts)
        code = 0
    except _UnreadyError as problem:
        posix.write(tell, marshal.dumps((problem.args, [])))
    except BaseException:  # noqa: BLE001 - none may go on as another process
        sys.excepthook(*sys.exc_info())
    finally:
        posix._exit(code)


def _at(side: Sequence[Any], work: Callable[[Once], Any], starts: Sequence[Any]) -> Any:
    """Do something where a side's command is started, with what starts it; in a thread where there is a sandbox.

    Raises: _UnreadyError: it cannot be done there.
    """
    _, environment, directory, _, places, _, inside = side
    what = "directory"
    try:
        if not places:
            posix.chdir(directory)
        # where posix_spawnp looks for the program
        if b"PATH" in environment:
            posix.putenv(b"PATH", environment[b"PATH"])
        else:
            posix.unsetenv(b"PATH")
        what = "sandbox"
        if inside[0] < 0:
            enter.adopt()
            return work(_starter(side, starts, *_opened()))
        if inside[1] < 0 <= inside[2]:
            # a user's namespace is no thread's
            enter.join(*inside[2:])
            inside = (inside[0], -1, -1, 0)
            posix.chdir(b"/" if places else directory)
        return _inside(lambda *opened: work(_starter(side, starts, *opened)), inside, b"/" if places else directory)
    except OSError as problem:
        if what != "directory":
            sys.stderr.write(f"{what}: {problem}\n")
        raise _UnreadyError(what, problem.errno or -1) from None


def _inside(work: Callable[..., Any], inside: tuple[int, int, int, int], directory: bytes) -> Any:
    """Do something in a thread that has entered the sandbox, in a directory, and return what it returns."""
    done: list[Any] = []
    failed: list[BaseException] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def run() -> None:
        try:
            opened = _opened()
            enter.enter(*inside)
            if inside[2] >= 0:
                posix.chdir(directory)
            done.append(work(*opened))
        except BaseException as problem:  # noqa: BLE001 - raised again below
            failed.append(problem)
        finally:
            ended.release()

    # the thread is inside, too, and has this program's memory: the command must not be able to look into it
    enter.hide()
    enter.adopt()
    _thread.start_new_thread(run, ())
    ended.acquire()
    if failed:
        raise failed[0]
    return done[0]


def _opened() -> tuple[int, int]:
    """Open what the kernel tells of this thread's own delays, and of the orphans that come to this process; -1: none.

    They come to its first thread (find_new_reaper in kernel/exit.c).
    """
    opened = []
    for path in ("/proc/thread-self/schedstat", f"/proc/self/task/{posix.getpid()}/children"):
        try:
            opened.append(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC))
        except OSError:
            opened.append(-1)
    own, orphans = opened
    return own if own >= 0 and _parsed(posix.pread(own, 99, 0)) else -1, orphans


def _parsed(schedstat: bytes) -> list[int]:
    """Return nanoseconds run, nanoseconds delayed and how often it ran; nothing where the kernel does not count."""
    found = [int(each) for each in schedstat.split()]
    return found if any(found) else []


def _starter(side: Sequence[Any], starts: Sequence[Any], own: int, orphans: int) -> Once:
    """Return what makes a start, by its number, and returns what failed or what the start took."""
    # Python ignores these; a program expects them as they are by default
    default = (SIGPIPE, SIGXFSZ)
    argv, environment, directory, (prepare, cleanup), places, slowdown, _ = side
    spawn, clock, read = posix.posix_spawnp, perf_counter_ns, posix.pread
    if own >= 0:
        wait, one, until = posix.waitid, posix.P_PID, posix.WEXITED | posix.WNOWAIT
    _warm_up(environment)
    known = enter.pace()

    def once(number: int) -> tuple[Failed, list[float]]:
        _, added, other = starts[number]
        words, whole = other or argv, {**environment, **added}
        program = words[0]
        delay = waited = ran = -1
        if failed := _unready(known, directory if places else b"") or _aside("prepare", prepare, whole, orphans):
            return failed, []
        first = read(own, 99, 0) if own >= 0 else b""
        begin = clock()
        try:
            process = spawn(program, words, whole, setsigdef=default)
        except OSError as problem:
            return ("start", problem.errno or -1), []
        if own < 0:
            _, status, used = posix.wait4(process, 0)
            end = clock()
        else:
            # from here on: what delayed this thread before delayed the program as well, or nobody
            before = read(own, 99, 0)
            if wait(one, process, until | posix.WNOHANG):
                # but a program that has ended by now went on without this thread, which came too late to see it
                before = first
            wait(one, process, until)
            end = clock()
            after = read(own, 99, 0)
            of_first = _schedstat(process)
            _, status, used = posix.wait4(process, 0)
            if of_first:
                ran, delay, _ = of_first
                waited = _parsed(after)[1] - _parsed(before)[1]
        rest, outlived = _end_rest(orphans)
        code = posix.waitstatus_to_exitcode(status)
        took = [end - begin, used.ru_utime, used.ru_stime, used.ru_maxrss, delay, waited, ran, rest, outlived]
        _lengthen(took, slowdown)
        failed = _aside("cleanup", cleanup, whole, orphans)
        return ("exit", code) if code else failed, took

    return once


def _lengthen(took: list[Any], share: float) -> None:
    """Spend a share of what a start took on a processor, and count it as the program's own."""
    if not share:
        return
    whole, _, _, _, delay, waited, ran, *_ = took
    # what it waited for a processor was no work of it
    wanted = share * (whole - max(0, delay) - max(0, waited))
    begin, own = perf_counter_ns(), thread_time_ns()
    while (spent := thread_time_ns() - own) < wanted:
        pass
    lasted = perf_counter_ns() - begin
    took[0] += lasted
    took[1] += spent / 1e9
    if ran >= 0:
        took[4] += max(0, lasted - spent)
        took[6] += spent


def _unready(known: dict[str, Any], directory: bytes) -> Failed:
    """Return why a start would not be like the ones before it; directory: whose trees take turns, else nothing."""
    now = enter.pace()
    if now != known:
        # a command of either side that runs as the same user did that
        return "pace", next(number for number, name in enumerate(now) if now[name] != known[name])
    if directory:
        try:
            # what stands there is not what stood there before
            posix.chdir(directory)
        except OSError as problem:
            return "directory", problem.errno or -1
    return None


def _aside(what: str, words: list[bytes], environment: dict[bytes, bytes], orphans: int) -> Failed:
    """Run what stands before or after a start, if anything does, and end what it leaves behind; return what failed."""
    if not words:
        return None
    try:
        process = posix.posix_spawnp(words[0], words, environment, setsigdef=(SIGPIPE, SIGXFSZ))
    except OSError as problem:
        sys.stderr.write(f"{problem}\n")
        return what, 127
    code = posix.waitstatus_to_exitcode(posix.waitpid(process, 0)[1])
    _end_rest(orphans)
    return (what, code) if code else None


def _warm_up(environment: dict[bytes, bytes]) -> None:
    # a directory cannot be started; to try touches the memory that the first measurement would wait for
    try:
        posix.posix_spawnp("/", ["/"], environment, setsigdef=(SIGPIPE, SIGXFSZ))
    except OSError:
        return


def _schedstat(process: int) -> list[int]:
    try:
        file = posix.open(f"/proc/{process}/schedstat", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return []
    try:
        return _parsed(posix.read(file, 99))
    finally:
        posix.close(file)


def _end_rest(orphans: int) -> tuple[float, int]:
    """Reap what a command left behind, and end what of it lives.

    Returns:
        The processor seconds that it took, and 1 where something lived.
    """
    seconds, begin = 0.0, 0
    told: set[int] = set()
    while True:
        try:
            process, _, used = posix.wait4(-1, posix.WNOHANG)
        except ChildProcessError:
            return seconds, int(begin > 0)
        if process:
            seconds += used.ru_utime + used.ru_stime
            continue
        begin = begin or perf_counter_ns()
        taken = perf_counter_ns() - begin
        if orphans < 0 or taken > _LONGEST:
            return seconds, 1
        # a child's id is not used again before it is reaped
        for each in map(int, posix.pread(orphans, 1 << 16, 0).split()):
            try:
                if taken > _GRACE:
                    posix.kill(each, SIGKILL)
                elif each not in told:
                    told.add(each)
                    posix.kill(each, SIGTERM)
            except OSError:  # it has ended, or is another user's
                pass
        sleep(_PAUSE)


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

    A request is its length, with standard output and error beside it and what sandboxes are entered by, and what main
    takes, marshalled, with the places of those descriptors. The answer is two lines in any order: the id of a process,
    once it leads its own session, and an empty one, once it is a child of whoever takes orphans. That is perfgate,
    which can wait for it. Without starts it becomes the command of the only side, and writes no result.
    """
    import _socket  # of the package socket most is not needed here, and would be memory that every child begins with

    asked = _socket.socket(fileno=number)
    while True:
        # no program may inherit what comes beside a request
        head, beside, *_ = asked.recvmsg(HEAD, _socket.CMSG_SPACE(24), _socket.MSG_CMSG_CLOEXEC)
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


def _become(side: Sequence[Any]) -> None:
    """Become a command that was not started by a thread, since none can enter what it enters."""
    import _signal  # type: ignore[import-not-found]  # signal would make enums

    argv, environment, directory, ((program,), _), *_ = side
    for number in (SIGPIPE, SIGXFSZ):
        _signal.signal(number, _signal.SIG_DFL)
    try:
        enter.enter(*side[_INSIDE])
        posix.chdir(directory)
        posix.execve(program, argv, environment)
    except OSError as problem:
        sys.stderr.write(f"cannot start: {problem}\n")
        posix._exit(126)


def _child(request: tuple[Any, ...], files: list[int], number: int) -> None:
    code = 1
    try:
        posix.setsid()
        if priority := posix.getpriority(posix.PRIO_PROCESS, 0):
            # the session's weight, as processors.weigh_session gives it
            try:
                group = posix.open("/proc/self/autogroup", posix.O_WRONLY)
                posix.write(group, b"%d" % priority)
                posix.close(group)
            except OSError:  # there is none, or the right is missing
                pass
        posix.write(number, b"%d\n" % posix.getpid())
        posix.close(number)
        for target, file in enumerate(files[:2], 1):
            posix.dup2(file, target)
            posix.close(file)
        beside = [*files[2:], -1]  # the last one for -1
        output, sides, *rest = request
        there = [(*side, (beside[ruleset], user, beside[room], kinds)) for *side, (ruleset, user, room, kinds) in sides]
        if not rest[0]:
            _become(there[0])
        main((output, there, *rest))
        code = 0
    except BaseException:  # noqa: BLE001 - none may go on as a server
        sys.excepthook(*sys.exc_info())
    finally:
        posix._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(int(sys.argv[2]))
    else:
        with open(int(sys.argv[1]), "rb") as _file:  # noqa: PTH123 - as above
            _request = marshal.load(_file)  # noqa: S302 - perfgate's own words
        main(_request)
