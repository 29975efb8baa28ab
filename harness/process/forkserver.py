"""A process that is kept to fork others from: starting an interpreter for each would cost more than what they do.

On Linux only, where perfgate can be the parent of what it did not start itself (harness/process/descendants.py). A
fork has the working directory, environment, standard streams and session that a process started for the command would
have.
"""

import array
import marshal
import os
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.process.affinity import weigh_session
from harness.process.descendants import adopts_orphans
from harness.sandbox.sandbox import KEEPERS, Confinement

_HEAD = 8
"""Bytes of the length of a request, as in harness/instruments/launcher.py."""
_PAUSE = 0.005
_LOADER = "LD_LIBRARY_PATH"
"""What this interpreter may need to start."""


class ForkServerError(Exception):
    """Nothing can be forked: the command must be started instead."""


@dataclass(frozen=True, slots=True)
class LaunchSide:
    """A command that harness/instruments/launcher.py starts."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path
    confined: Confinement | None = None
    places: Mapping[Path, Path] = field(default_factory=dict)
    """Directories, where they are set aside, and where they stand while it is this command's turn."""
    slowdown: float = 0.0
    """So much of what it takes is added to it: of a drill."""
    around: tuple[tuple[str, ...], ...] = ((), ())
    """What is run before and after each start; empty: nothing. Of a launch without starts: the program, and nothing."""


@dataclass(frozen=True, slots=True)
class LaunchStart:
    """One start of a side's command."""

    side: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it adds to the side's."""
    argv: tuple[str, ...] = ()
    """Its own; none: the side's."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What harness/instruments/launcher.py is asked for: which starts, of what, and where the result goes.

    No starts: it becomes the command of the only side, and there is no result.
    """

    script: Path
    output: Path
    sides: tuple[LaunchSide, ...]
    starts: Sequence[LaunchStart]
    seconds: float = 0.0
    """After so many no start is made whose number is a multiple of `step`, nor one after it; 0: all are made."""
    step: int = 1
    timeout: float = 0.0
    """Seconds of one start; 0: none. One that takes longer is the last one."""

    @property
    def argv(self) -> tuple[str, ...]:
        """The command line of a launcher that does only this, but for the descriptor of its request."""
        return (sys.executable, "-I", "-S", str(self.script))

    @property
    def enters(self) -> tuple[int, ...]:
        """The descriptors by which its commands' sandboxes are entered."""
        return tuple(dict.fromkeys(each for side in self.sides for each in entered(side.confined)))

    def request(self, added: Mapping[str, str], numbers: Mapping[int, int]) -> bytes:
        """Return what the launcher is to be told.

        Args:
            added: variables of all its commands.
            numbers: what it knows the descriptors by.
        """
        sides = []
        for side in self.sides:
            confined = side.confined or Confinement(-1, -1)
            room = numbers.get(confined.room, -1)
            inside = (numbers.get(confined.ruleset, -1), confined.user, room, confined.kinds)
            environment = _encoded({**side.environment, **added, "PWD": str(side.directory)})
            places = [(os.fsencode(directory), os.fsencode(path)) for directory, path in side.places.items()]
            around = [_words(each) for each in side.around]
            argv, directory = _words(side.argv), os.fsencode(side.directory)
            sides.append((argv, environment, directory, around, places, side.slowdown, inside))
        known: dict[int, tuple[int, dict[bytes, bytes], list[bytes]]] = {}
        starts = []
        for start in self.starts:
            # most are one and the same, which marshal then writes once
            if id(start) not in known:
                known[id(start)] = (start.side, _encoded(start.environment), _words(start.argv))
            starts.append(known[id(start)])
        return marshal.dumps((os.fsencode(self.output), sides, starts, self.seconds, self.step, self.timeout))


def _words(argv: Sequence[str]) -> list[bytes]:
    return [os.fsencode(each) for each in argv]


def _encoded(environment: Mapping[str, str]) -> dict[bytes, bytes]:
    return {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}


def entered(confined: Confinement | None) -> tuple[int, ...]:
    """Return the descriptors that it needs for that."""
    return () if confined is None else tuple(each for each in (confined.ruleset, confined.room) if each >= 0)


class Forked:
    """A process that was forked for this one, its parent; used as subprocess.Popen is."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Reap it if it has ended, and return its code; None while it lives."""
        return self._reaped(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended. Raises: subprocess.TimeoutExpired: it has not."""
        if timeout is None:
            return self._reaped(0) or 0
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired([], timeout)
            time.sleep(_PAUSE)
        return code

    def _reaped(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


class ForkServer:
    """Forks launchers from one that is started here, and ends with this object or with perfgate."""

    def __init__(self, script: Path, marks: Mapping[str, str]) -> None:
        """Start it; its environment holds the marks and no more.

        Raises: ForkServerError: this system can have none, or it cannot be started.
        """
        if sys.platform != "linux":
            raise ForkServerError
        own, other = socket.socketpair()
        needed = {_LOADER: os.environ[_LOADER]} if _LOADER in os.environ else {}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(script), "--serve", str(other.fileno())],
                pass_fds=[other.fileno()],
                env={**needed, **marks},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            own.close()
            raise ForkServerError from None
        finally:
            other.close()
        KEEPERS.add(self._process.pid)
        weigh_session(self._process.pid)
        self._socket = own
        self.close = weakref.finalize(self, _end, own, self._process)

    @property
    def pid(self) -> int:
        """The server's own id."""
        return self._process.pid

    def fork(self, launch: Launch, added: Mapping[str, str], output: int, errors: int) -> Forked:
        """Fork a launcher into a session of its own.

        Args:
            added: variables of all its commands.
            output, errors: its standard streams, beside an empty input.

        Raises:
            ForkServerError: the server has ended, or a fork would not be this process's child.
        """
        if not adopts_orphans():
            raise ForkServerError
        enters = launch.enters
        request = launch.request(added, {each: number for number, each in enumerate(enters)})
        streams = array.array("i", (output, errors, *enters)).tobytes()
        try:
            beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)]
            self._socket.sendmsg([len(request).to_bytes(_HEAD, sys.byteorder)], beside)
            self._socket.sendall(request)
            told = b""
            while told.count(b"\n") < 2:
                part = self._socket.recv(64)
                if not part:
                    raise ForkServerError
                told += part
        except OSError:
            raise ForkServerError from None
        return Forked(int(told.strip()))


def _end(own: socket.socket, process: subprocess.Popen[bytes]) -> None:
    own.close()
    # it reads the end of the socket and leaves
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    KEEPERS.discard(process.pid)
