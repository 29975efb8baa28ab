"""The Executor protocol with one real and one fake executor; time-outs, environment, exit status."""

import errno
import fcntl
import os
import re
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

from gate.writing.units import Duration
from harness.process.affinity import started_with, weigh_session
from harness.process.descendants import Descendants
from harness.process.forkserver import ForkServer, ForkServerError, Launch, LaunchSide
from harness.process.process_groups import (
    NOT_STARTED,
    Background,
    Process,
    StartError,
    bound,
    end_group,
    exit_status,
    last,
    marks,
    note,
)
from harness.sandbox.enter import enter, pace, put_back
from harness.sandbox.sandbox import Confinement

_LAUNCHER = Path(__file__).parents[1] / "instruments" / "launcher.py"

_TICK = 0.25
_GRACE = 3.0
_LEFTOVER_GRACE = 0.5

_ABSENT = 127
_SIGNALLED = 128

_CEILINGS = "GIT_CEILING_DIRECTORIES"

PADDING = "PERFGATE_PADDING"
MAX_PADDING = 4096
"""Environment padding is 0..4095 bytes: one page (Mytkowicz et al. 2009, section 4.1)."""
# In the environment of what runs in the background: tells its orphans from those of executions.
_MARK = "PERFGATE_BACKGROUND"
# A directory's own names: the shell and the executor set them anew.
_OF_DIRECTORY = ("PWD", "OLDPWD")
# `git rev-parse --local-env-vars`, and what git sets in hooks: they would turn the benchmarked tree's git elsewhere.
_GIT = re.compile(
    r"GIT_(ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|CONFIG|CONFIG_COUNT|CONFIG_PARAMETERS|CONFIG_VALUE_\d+|DIR|"
    r"GRAFT_FILE|IMPLICIT_WORK_TREE|INDEX_FILE|INTERNAL_\w+|NAMESPACE|NO_REPLACE_OBJECTS|OBJECT_DIRECTORY|PREFIX|"
    r"QUARANTINE_PATH|REPLACE_REF_BASE|SHALLOW_FILE|WORK_TREE)"
)


@dataclass(frozen=True, slots=True)
class Command:
    """One process to start.

    argv: program and arguments, ready to exec. environment: the whole environment, nothing is inherited; PWD is set to
    the directory, and names by which perfgate knows its processes are added. timeout: seconds until the whole process
    group is killed. stdout: the file that takes standard output; None discards it. max_stdout: bytes beyond which the
    process group is killed. cpus: the processors it may use, "0,2-3"; None: perfgate's own.
    launch: what argv does, in an interpreter of its own that is given it, and a fork of one can do as well. confined:
    its sandbox; None: it has none. enters: descriptors of what argv enters itself, once it has done what cannot be done
    inside.
    """

    argv: tuple[str, ...]
    directory: Path
    environment: dict[str, str]
    timeout: float
    stdout: Path | None = None
    max_stdout: float | None = None
    cpus: str | None = None
    launch: Launch | None = None
    confined: Confinement | None = None
    enters: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """What became of a Command.

    status: "" when it exited with 0, else in words: "exit 1", "signal SIGSEGV", "time-out after 10m",
    "cannot start: ...". started: UTC, ISO 8601. seconds: wall time. stderr: its last 64 KiB, decoded with replacement.
    code: what it exited with, where that is why it failed; None: a signal, a time-out, a complaint, or no start at all.
    begun: whether it could be started. timed_out: whether the time-out ended it. absent: there was no such program.
    """

    status: str
    started: str
    seconds: float
    stderr: str
    code: int | None = None
    begun: bool = True
    timed_out: bool = False
    absent: bool = False

    @property
    def fault(self) -> int | None:
        """Return the code of a failure that is the program's own; None: a signal, a time-out or the system did it.

        A shell exits with 128 + number after a signal.
        """
        if self.absent:
            return _ABSENT
        return self.code if self.code is not None and self.code < _SIGNALLED else None

    @property
    def unstarted(self) -> bool:
        """Return whether a program could not be started: the command's own, or one that its shell was to start."""
        return not self.begun or self.code in NOT_STARTED


def no_complaint() -> str:
    """Find nothing wrong."""
    return ""


class Executor(Protocol):
    """Starts processes; never raises for what a process did."""

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> ProcessEnd:
        """Start a process, wait for it, and end what is left of it.

        complaint: asked several times a second, and once more when the process has ended; a text that is not empty
        ends the process, and is the status.
        """
        ...

    def start(self, command: Command, log: Path) -> Background:
        """Start a process in the background; standard output and error go to the end of a log, of which the end stays.

        Raises: StartError: it cannot be started.
        """
        ...


class ProcessExecutor:
    """Starts real processes, each in its own session, with nothing on standard input.

    running: a file in the run's work directory that names the processes, for whoever cleans up after a perfgate that
    was killed. without_git: directories in and below which git finds no repository of one further up.

    The whole process group ends with the process: on a time-out, on any exception (which is raised again) and after a
    normal exit, when the process left children behind. On Linux what left the group ends too.
    """

    def __init__(self, running: Path | None = None, without_git: Collection[Path] = ()) -> None:
        self._running = running
        self._ceilings = os.pathsep.join(map(str, without_git))
        self._descendants = Descendants()
        self._background: list[Background] = []
        self._servers: dict[Path, ForkServer | None] = {}
        self._paces = [Pace(os.getpid())]
        """Of what starts commands."""

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> ProcessEnd:
        """Start a process and wait for it.

        Raises: OSError: perfgate's own files (standard error's, standard output's) cannot be written.
        """
        started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        server = self._server(command)
        with (
            # a confined program may open its standard error again: that is so in memory
            os.fdopen(os.memfd_create("stderr"), "w+b")
            if command.confined is not None and sys.platform == "linux"
            else tempfile.TemporaryFile() as errors,
            _output(command.stdout) as output,
            self._descendants.execution(),
        ):
            fd = errors.fileno()
            # so that cutting the file short while it is written leaves no hole
            fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
            if command.confined is not None and command.confined.user >= 0:
                for stream in (errors, output) if command.stdout is not None else (errors,):
                    os.fchown(stream.fileno(), command.confined.user, -1)
            begin = time.perf_counter()
            try:
                process = self._start(command, output.fileno(), errors.fileno(), server)
            except StartError as error:
                taken = time.perf_counter() - begin
                return ProcessEnd(str(error), started, taken, "", begun=False, absent=error.absent)
            try:

                def again() -> str:
                    self._descendants.reap(process.pid)
                    return complaint()

                end = begin + command.timeout
                status, late = _until_end(process, command, end, output.fileno(), errors.fileno(), again)
                seconds = time.perf_counter() - begin
            except BaseException:
                end_group(process, _GRACE)
                raise
            end_group(process, _GRACE if status else _LEFTOVER_GRACE)
            status = status or complaint() or self._paced(command)
            told = last(errors.fileno())
            if status:
                return ProcessEnd(status, started, seconds, told, timed_out=late)
            code = process.wait()
            return ProcessEnd(exit_status(code), started, seconds, told, code if code > 0 else None)

    def start(self, command: Command, log: Path) -> Background:
        """Start a process in the background.

        Raises:
            StartError: it cannot be started.
            OSError: the log cannot be written.
        """
        mark = f"{_MARK}={secrets.token_hex(8)}"
        marked = replace(command, environment={**command.environment, _MARK: mark.partition("=")[2]})
        log.unlink(missing_ok=True)
        fd = os.open(log, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with self._descendants.starting(mark) as adopt:
                process = self._start(marked, fd, fd)
                adopt(process.pid)
                released = partial(self._descendants.release, process.pid)
                made = Background(process, fd, released)
                self._background.append(made)
        except BaseException:
            os.close(fd)
            raise
        return made

    def close(self) -> None:
        """End what was started in the background and still lives, such as when an exception came between."""
        with ExitStack() as stack:
            for server in self._servers.values():
                if server is not None:
                    stack.callback(server.close)
            self._servers.clear()
            while self._background:
                stack.callback(self._background.pop().stop, _GRACE)

    def _server(self, command: Command) -> ForkServer | None:
        """Give what the command can be forked from, started with the first that can; None: it is started by itself."""
        launch = command.launch or _alone(command)
        if launch is None or command.cpus is not None:
            return None
        if launch.script not in self._servers:
            self._servers[launch.script] = None
            with suppress(ForkServerError):
                server = ForkServer(launch.script, self._marks())
                self._servers[launch.script] = server
                if command.confined is not None:
                    self._paces.append(Pace(server.pid))
                self._note(server.pid)
        return self._servers[launch.script]

    def _marks(self) -> dict[str, str]:
        return marks(self._running) if self._running is not None else {}

    def _paced(self, command: Command) -> str:
        """Say what a command has changed that the next ones inherit of perfgate's own processes; "": nothing."""
        if command.confined is None:
            return ""
        said = [what for each in self._paces if (what := each.changed())]
        several = command.launch is not None and len(command.launch.sides) > 1
        return f"{'base or head' if several else 'it'} {said[0]}" if said else ""

    def _note(self, pid: int) -> None:
        if self._running is not None:
            note(self._running, pid)

    def _start(self, command: Command, output: int, errors: int, server: ForkServer | None = None) -> Process:
        slowed = self._paced(command)
        if slowed:
            raise StartError(f"cannot start: a service, a load or another run's command: {slowed}")
        added = {"PWD": str(command.directory), **self._marks()}
        if self._ceilings:
            # keep git from a repository around the temporary directory, and from the one behind a shared path
            given = command.environment.get(_CEILINGS)
            added[_CEILINGS] = os.pathsep.join(filter(None, (self._ceilings, given)))
        launch = command.launch
        forking = launch or _alone(command)
        if server is not None and forking is not None:
            with suppress(ForkServerError):
                forked = server.fork(forking, added, output, errors)
                self._note(forked.pid)
                return forked
        with ExitStack() as stack:
            argv, enters, confined = command.argv, command.enters, command.confined
            if launch is not None:
                request = stack.enter_context(tempfile.TemporaryFile())
                request.write(launch.request(added, {each: each for each in launch.enters}))
                request.seek(0)
                argv, enters = (*argv, str(request.fileno())), (*launch.enters, request.fileno())
            program = _resolved(argv[0], command.environment.get("PATH", os.defpath))

            entered = None if confined is None or enters else partial(enter, *astuple(confined))
            own = entered is not None and confined is not None and confined.alone

            def by_itself() -> None:
                enter(*astuple(confined))  # type: ignore[arg-type]  # where it is one
                os.chdir(command.directory)

            def start() -> subprocess.Popen[bytes]:
                return subprocess.Popen(
                    argv,
                    executable=program,
                    cwd=command.directory,
                    env={**command.environment, **added},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,
                    pass_fds=enters,
                    # in the fork, which has one thread
                    preexec_fn=by_itself if own else None,
                )

            try:
                if command.cpus is None and entered is None:
                    process = start()
                else:
                    process = started_with(start, command.cpus, None if own else entered)
            except (OSError, ValueError) as error:
                why = f"cannot start: {start_error(error, command.argv[0], command.directory)}"
                raise StartError(why, absent=isinstance(error, (FileNotFoundError, PermissionError))) from None
        weigh_session(process.pid)
        self._note(process.pid)
        return process


def _resolved(program: str, path: str) -> str | None:
    """Find a program by looking: to try it in each folder of PATH takes longer. None: leave it to the system."""
    found = shutil.which(program, path=path) if program and not os.path.dirname(program) else None  # noqa: PTH120
    return found if found is not None and Path(found).is_absolute() else None


def _alone(command: Command) -> Launch | None:
    """Return the launch of a command that a small process forks, enters what no thread can, and becomes; or None.

    To fork perfgate itself takes several milliseconds. What cannot be started is left to perfgate, which knows why.
    """
    confined = command.confined
    if confined is None or not confined.alone or command.enters:
        return None
    program = _resolved(command.argv[0], command.environment.get("PATH", os.defpath)) or command.argv[0]
    place = command.directory / program
    if "/" not in program or not place.is_file() or not os.access(place, os.X_OK):
        return None
    side = LaunchSide(command.argv, command.environment, command.directory, confined, around=((program,), ()))
    return Launch(_LAUNCHER, Path(os.devnull), (side,), ())


def _output(path: Path | None) -> BinaryIO:
    if path is None:
        return Path(os.devnull).open("wb")
    # never through what a program of an earlier command has put there: a link, or a pipe, which would wait
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def _until_end(
    process: Process, command: Command, end: float, output: int, errors: int, again: Callable[[], str]
) -> tuple[str, bool]:
    """Wait until a process ends or must be ended; return why it must be, "" when it ended, and whether time is why.

    end: its time-out. again: called now and then; a text that is not empty ends it. It is not polled where the system
    can do without, and there not reaped (Linux).
    """
    with ExitStack() as stack:
        poller: select.poll | None = None
        if sys.platform == "linux":
            with suppress(OSError):  # a sandbox may lack pidfd_open
                fd = os.pidfd_open(process.pid)
                stack.callback(os.close, fd)
                poller = select.poll()
                poller.register(fd, select.POLLIN)
        while True:
            remaining = end - time.perf_counter()
            seconds = max(0.0, min(remaining, _TICK))
            if poller is not None:
                if poller.poll(seconds * 1000):
                    return "", False
            else:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(seconds)
                    return "", False
            if remaining <= 0:
                return f"time-out after {Duration(command.timeout)}", True
            if command.max_stdout is not None and os.fstat(output).st_size > command.max_stdout:
                return f"more than {command.max_stdout:.0f} bytes on standard output", False
            if why := again():
                return why, False
            bound(errors)


def start_error(error: Exception, program: str, directory: Path) -> str:
    """Say why a program could not be started in a directory."""
    if not directory.is_dir():
        return f"the directory {directory} does not exist"
    if isinstance(error, FileNotFoundError):
        if "/" in program and (directory / program).is_file():
            return f'the interpreter that "{program}" names in its first line does not exist'
        return f'there is no program "{program}"'
    if isinstance(error, PermissionError):
        return f'"{program}" is not executable'
    if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
        return f'"{program}" is neither a program of this machine nor does it begin with #!'
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).lower()


def clean_environment(
    caller: Mapping[str, str], passed: Collection[str] = (), added: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of builds and benchmarks: the caller's without secrets, CI's own and git's names.

    passed: names that are let through all the same. added: values set over it.
    """
    kept = {
        name: value
        for name, value in caller.items()
        if name in passed
        or not (is_of_runner(name) or is_secret(name) or _GIT.fullmatch(name) or name in _OF_DIRECTORY)
    }
    return kept | dict(added or {})


def environment_difference(caller: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return what to change in the caller's environment to get another: name -> value, "" for a name to remove.

    The padding is left out, and the value of a removed name is never shown.
    """
    unspoken = {PADDING, *_OF_DIRECTORY}
    changed = {n: v for n, v in environment.items() if n not in unspoken and caller.get(n) != v}
    removed = {n: "" for n in caller if n not in unspoken and n not in environment}
    return dict(sorted((changed | removed).items()))


def find_program(name: str, caller: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program on the caller's PATH."""
    found = shutil.which(name, path=caller.get("PATH", os.defpath))
    return str(Path(found).resolve()) if found else None


def find_own(name: str) -> str | None:
    """Return the absolute path of a program that was installed with perfgate, which need not be on PATH."""
    # not where the interpreter leads: in an environment it is a link to another folder's
    return find_program(name, {"PATH": str(Path(sys.executable).parent)})


class Pace:
    """What a process has when this is made."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._known = pace(pid)

    def changed(self) -> str:
        """Put back what something that is not perfgate has changed, and say what, in words; "": nothing."""
        now: dict[str, object] = {}
        with suppress(OSError):  # it has ended, which others find
            now = pace(self._pid)
        what = next((name for name in now if now[name] != self._known.get(name)), None)
        if what is None:
            return ""
        put_back(self._pid, self._known)
        return f"changed the {what} of perfgate's own process {self._pid}"


_OF_RUNNER = re.compile(r"GITHUB_|ACTIONS_|RUNNER_|INPUT_", re.IGNORECASE)
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|CREDENTIAL|KEY", re.IGNORECASE)


def is_of_runner(name: str) -> bool:
    """Return whether a CI runner sets a variable for its own steps."""
    return _OF_RUNNER.match(name) is not None


def is_secret(name: str) -> bool:
    """Return whether a variable's name says that it holds a secret."""
    return _SECRET.search(name) is not None
