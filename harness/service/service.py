"""Services and background loads: started beside executions, when they are ready, and stopped with all they started."""

import errno
import math
import os
import secrets
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from gate.config.types import Benchmark, Service
from gate.formats.parts.output import OutputError
from gate.model import Side
from gate.writing.units import Duration
from harness.instruments.protocol import Context, Unusable, arguments, environment
from harness.instruments.values import regular, tail
from harness.process.budget import Budget
from harness.process.execute import Command, Executor
from harness.process.process_groups import Background, StartError
from harness.sandbox.sandbox import outputs

_LOOPBACK = ("127.0.0.1", "::1")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.05
# for one answer, of which the limit may hold several
_PATIENCE = 2.0


class NotStartedError(Exception):
    """A companion is not there: its status, what it said, and whether a program could not be started."""

    def __init__(self, status: str, said: str = "", *, unstarted: bool = False) -> None:
        super().__init__(status)
        self.unusable = Unusable(status, said, unstarted)


@dataclass(frozen=True, slots=True)
class Probe:
    """One way to ask a service whether it is ready."""

    ask: Callable[[float], str]
    """Asks once, for at most so many seconds; gives why it is not ready, "" when it is."""
    hosts: tuple[str, ...] = ()
    port: int = 0
    """Where it will listen, and nobody before: none of what is known by its log."""

    def taken(self) -> str:
        """Say, before the service starts, why the answer would be somebody else's; "" when it would not."""
        found = next((host for host in self.hosts if not _refusal(host, self.port, _PATIENCE)), None)
        return "" if found is None else f"another process listens on port {self.port} of {found} already"


def _getting(address: SplitResult) -> Probe:
    """Get a page without a proxy: 2xx is ready, and so is a redirect, which is not followed."""
    host, port = address.hostname or "", address.port or 80

    def ask(seconds: float) -> str:
        from http.client import HTTPConnection, HTTPException  # late: slow to import, and seldom needed

        connection = HTTPConnection(host, port, timeout=min(seconds, _PATIENCE))
        try:
            target = (address.path or "/") + (f"?{address.query}" if address.query else "")
            connection.request("GET", target, headers={"Connection": "close"})
            status = connection.getresponse().status
        except TimeoutError:
            return "no answer"
        except OSError as error:
            return _words(error)
        except HTTPException as error:
            return f"no HTTP answer ({type(error).__name__})"
        finally:
            connection.close()
        return "" if 200 <= status < 400 else f"answered with {status}"

    return Probe(ask, (host,), port)


def _reading(log: Path, wanted: bytes) -> Probe:
    """Look for a text in what the service has written."""
    position = 0

    def ask(_: float) -> str:
        nonlocal position
        try:
            # by name: a service may have put a link there
            opened = regular(log, math.inf)
        except OutputError as error:
            return str(error)
        if opened is None:
            return "its output was removed"
        with opened as file:
            if position > file.seek(0, 2):  # it has been cut to its end
                position = 0
            # what was found last time may have been the beginning of the text
            file.seek(max(0, position - len(wanted)))
            found = file.read()
            position = file.tell()
        return "" if wanted in found else "its output does not contain that text"

    return Probe(ask)


def make_probe(ready: str, log: Path) -> Probe:
    """Read a `ready`, its placeholders replaced; log: what the service writes.

    Raises: NotStartedError: it names no port, or no place.
    """
    kind, _, rest = ready.partition(":")
    if kind == "log":
        return _reading(log, rest.encode())
    with suppress(ValueError):  # urlsplit knows brackets, and which ports there are
        address = urlsplit(ready if kind == "http" else f"tcp://{rest if ':' in rest else f':{rest}'}")
        port = address.port
        if kind == "http" and address.hostname:
            return _getting(address)
        if kind == "tcp" and port:
            hosts = (address.hostname,) if address.hostname else _LOOPBACK

            def connect(seconds: float) -> str:
                # of several hosts one is enough
                reasons = [_refusal(host, port, min(seconds, _PATIENCE)) for host in hosts]
                return "" if "" in reasons else reasons[0]

            return Probe(connect, hosts, port)
    raise NotStartedError(f'service: ready = "{ready}": write "tcp:PORT", "tcp:HOST:PORT" or "http://HOST:PORT/PATH"')


def wait_until_ready(probe: Probe, ready: str, ended: Callable[[], str], limit: float, budget: Budget) -> str:
    """Ask until a service is ready; returns why it is not, "" when it is.

    Args:
        ended: says how the service ended, "" while it lives.
        limit: seconds.
        budget: what the waiting keeps to.

    Raises:
        BudgetEndedError: the budget has ended.
    """
    begin = time.monotonic()
    pause = _FIRST_PAUSE
    while True:
        budget.require()
        remaining = min(begin + limit - time.monotonic(), budget.left)
        reason = probe.ask(max(0.01, remaining))
        # asked after the answer, which may have been another process's when ours has ended
        if status := ended():
            return f"service ended before it was ready: {status}"
        if not reason:
            return ""
        remaining = begin + limit - time.monotonic()
        if remaining <= 0:
            return f"service not ready after {Duration(limit)} ({ready}): {reason}"
        time.sleep(min(pause, remaining, budget.left))
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _refusal(host: str, port: int, seconds: float) -> str:
    """Connect and hang up; returns why that cannot be done."""
    try:
        with socket.create_connection((host, port), timeout=seconds) as connected:
            if connected.getsockname() != connected.getpeername():
                return ""
            # A port above the ephemeral ones can be given to the caller itself, who then meets himself (RFC 793,
            # simultaneous open). Reset, or the port would be taken for a minute.
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return "connection refused"
    except TimeoutError:
        return "no answer"
    except OSError as error:
        return _words(error)


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


_GRACE = 3.0
"""Seconds to end in: as long as other processes get."""


@dataclass(frozen=True, slots=True)
class _Companion:
    """A service or a load that was started."""

    name: str
    """Such as "service" or "load"."""
    background: Background
    log: Path
    port: int
    """What {port} was in its command."""

    def said(self) -> str:
        text = tail(self.log)
        return f"--- {self.name} ---\n{text}\n" if text else ""


@dataclass(frozen=True, slots=True)
class Living:
    """What lives beside an execution, maybe nothing."""

    port: int
    """What {port} and PERFGATE_PORT stand for."""
    companions: tuple[_Companion, ...] = ()

    def complaint(self) -> str:
        """Say which of them ended, and how; "" while all live."""
        for each in self.companions:
            if not each.background.alive():
                when = "while the benchmark ran" if each.name == "service" else "before the benchmark"
                return f"{each.name} ended {when}: {each.background.status()}"
        return ""

    def unstarted(self) -> bool:
        """Return whether one of them ended because a shell could not start a program."""
        return any(each.background.unstarted() for each in self.companions)

    def logs(self) -> str:
        """Return the end of what each of them wrote."""
        return "".join(each.said() for each in self.companions)


class Companions:
    """Starts services and loads of a run.

    directory: an existing one, for the logs of services that live longer than an execution. budget: what waiting for
    them keeps to.
    """

    def __init__(self, executor: Executor, directory: Path, budget: Budget) -> None:
        self._executor = executor
        self._budget = budget
        self._directory = directory
        self._builds: dict[tuple[Side, str, str], _Companion] = {}
        self._started = 0

    @contextmanager
    def around(self, benchmark: Benchmark, context: Context) -> Iterator[Living | Unusable]:
        """Surround one execution by its service, which is ready, and its load; or say why there is none.

        Whatever happens, the load is stopped first, and then the service, if it lives for this execution only.

        Raises:
            OSError: a log cannot be written.
            BudgetEndedError: the budget has ended.
        """
        companions: list[_Companion] = []
        living: Living | Unusable
        with ExitStack() as stack:
            try:
                with self._budget.phase("service"):
                    if benchmark.service is not None:
                        companions.append(self._service(benchmark, benchmark.service, context, stack))
                    port = companions[0].port if companions else context.port
                    if benchmark.load is not None:
                        command = _command(benchmark.load.command, context, port, benchmark.load.cpus)
                        log = context.scratch / "load.log"
                        load = _Companion("load", self._start("load", command, log), log, port)
                        stack.callback(load.background.stop, _GRACE)
                        companions.append(load)
                living = Living(port, tuple(companions))
            except NotStartedError as error:
                said = error.unusable.stderr + "".join(each.said() for each in companions)
                living = replace(error.unusable, stderr=said)
            yield living

    def stop_builds(self) -> None:
        """Stop the services that live per build; the next execution of such a benchmark starts one anew."""
        with ExitStack() as stack:
            while self._builds:
                stack.callback(self._builds.popitem()[1].background.stop, _GRACE)

    def _service(self, benchmark: Benchmark, service: Service, context: Context, stack: ExitStack) -> _Companion:
        """Give the service of an execution, ready; it is stopped by the stack or, per build, by stop_builds."""
        per_build = service.per == "build"
        # a treatment may set what a server is, so it has one of its own
        key = (context.side, benchmark.name, context.treatment)
        if per_build and key in self._builds:
            found = self._builds[key]
            if not found.background.alive():
                ended = f"service ended before the benchmark: {found.background.status()}"
                raise NotStartedError(ended, found.said(), unstarted=found.background.unstarted())
            return found
        self._started += 1
        log = (
            outputs(self._directory, context.side) / f"service-{self._started}.log"
            if per_build
            else context.scratch / "service.log"
        )
        log.parent.mkdir(exist_ok=True)
        ready = arguments([service.ready or "tcp:{port}"], _values(context, context.port))[0]
        probe = make_probe(ready, log)
        if taken := probe.taken():
            raise NotStartedError(f"service: {taken}: another server already answers there; use {{port}}, a free port")
        command = _command(service.command, context, context.port, service.cpus)
        background = self._start("service", command, log)
        made = _Companion("service", background, log, context.port)
        if per_build:
            self._builds[key] = made
        else:
            stack.callback(background.stop, _GRACE)
        reason = wait_until_ready(probe, ready, background.status, float(service.timeout), self._budget)
        if reason:
            raise NotStartedError(reason, made.said(), unstarted=background.unstarted())
        return made

    def _start(self, name: str, command: Command, log: Path) -> Background:
        try:
            return self._executor.start(command, log)
        except StartError as error:
            raise NotStartedError(f"{name} {error}", unstarted=True) from None


def _values(context: Context, port: int) -> dict[str, str]:
    return {"seed": str(context.seed), "port": str(port)}


def _command(command: str | list[str], context: Context, port: int, cpus: str | None) -> Command:
    return Command(
        argv=arguments(command, _values(context, port)),
        directory=context.directory,
        environment=environment(replace(context, port=port)),
        timeout=0.0,
        cpus=cpus,
        confined=context.confined,
    )


_FIRST, _LAST = 10000, 32767
"""Below what Linux (32768) and macOS (49152) take for outgoing connections, one of which could be there first."""
_TRIES = 500

_given: deque[int] = deque(maxlen=_TRIES)


def free_port() -> int:
    """Choose a free TCP port of this machine, at random; none that was given in the last hundreds of calls.

    Raises: OSError: there is none.
    """
    for _ in range(_TRIES):
        port = _FIRST + secrets.randbelow(_LAST - _FIRST + 1)
        # bound, never listened on; without SO_REUSEADDR, as a service may bind it
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind(("0.0.0.0", port))  # noqa: S104  # taken on any address is taken
            if port not in _given:
                _given.append(port)
                return port
    raise OSError(errno.EADDRINUSE, f"no free port between {_FIRST} and {_LAST}: {os.strerror(errno.EADDRINUSE)}")
