"""Readiness of a service: it accepts connections, answers, has written a text, or a command succeeds."""

from __future__ import annotations

import math
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from gate.formats.parts.output import OutputError
from gate.units import Duration
from harness.instruments.protocol import regular
from harness.process.budget import Budget

_LOOPBACK = ("127.0.0.1", "::1")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.05
# for one answer, of which the limit may hold several
_PATIENCE = 2.0


class ReadyError(Exception):
    """`ready` cannot be meant: why, in words."""


class Probe(Protocol):
    """One way to ask a service whether it is ready."""

    def ask(self, seconds: float) -> str:
        """Ask once, for at most so many seconds; returns why it is not ready, "" when it is."""
        ...

    def taken(self) -> str:
        """Say, before the service starts, why the answer would be somebody else's; "" when it would not."""
        ...


@dataclass(frozen=True, slots=True)
class TcpProbe:
    """Connects; of several hosts one is enough."""

    hosts: tuple[str, ...]
    port: int

    def ask(self, seconds: float) -> str:
        """Connect and hang up."""
        reasons = [_refusal(host, self.port, min(seconds, _PATIENCE)) for host in self.hosts]
        return "" if "" in reasons else reasons[0]

    def taken(self) -> str:
        """Return whether somebody listens there already."""
        found = next((host for host in self.hosts if not _refusal(host, self.port, _PATIENCE)), None)
        return "" if found is None else f"another process listens on port {self.port} of {found} already"


@dataclass(frozen=True, slots=True)
class HttpProbe:
    """Gets a page without a proxy; a redirect is an answer, and is not followed."""

    address: SplitResult

    def ask(self, seconds: float) -> str:
        """Take 2xx and 3xx for ready."""
        from http.client import HTTPConnection, HTTPException  # late: slow to import, and seldom needed

        address = self.address
        connection = HTTPConnection(address.hostname or "", address.port or 80, timeout=min(seconds, _PATIENCE))
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

    def taken(self) -> str:
        """Return whether somebody listens there already."""
        return TcpProbe((self.address.hostname or "",), self.address.port or 80).taken()


class LogProbe:
    """Looks for a text in what the service has written."""

    def __init__(self, log: Path, text: str) -> None:
        self._log = log
        self._text = text.encode()
        self._position = 0

    def ask(self, seconds: float) -> str:  # noqa: ARG002  # the Protocol's
        """Read on from where the last look ended."""
        try:
            # by name: a service may have put a link there
            opened = regular(self._log, math.inf)
        except OutputError as error:
            return str(error)
        if opened is None:
            return "its output was removed"
        with opened as file:
            if self._position > file.seek(0, 2):  # it has been cut to its end
                self._position = 0
            # what was found last time may have been the beginning of the text
            file.seek(max(0, self._position - len(self._text)))
            found = file.read()
            self._position = file.tell()
        return "" if self._text in found else "its output does not contain that text"

    def taken(self) -> str:
        """Nobody else writes its log."""
        return ""


@dataclass(frozen=True, slots=True)
class CommandProbe:
    """Runs a command, given as a function of its time limit that returns "" or how it failed."""

    run: Callable[[float], str]

    def ask(self, seconds: float) -> str:
        """Run it once."""
        return self.run(seconds)

    def taken(self) -> str:
        """What a command looks at is its own business."""
        return ""


def make_probe(ready: str, log: Path, run: Callable[[str, float], str]) -> Probe:
    """Read a `ready`, its placeholders replaced.

    Args:
        log: what the service writes.
        run: runs a command for at most so many seconds, and returns "" or how it failed.

    Raises:
        ReadyError: it names no port, or no place.
    """
    kind, _, rest = ready.partition(":")
    if kind == "log":
        if not rest:
            raise ReadyError(f'ready = "{ready}" names no text to wait for')
        return LogProbe(log, rest)
    if kind == "command":
        return CommandProbe(lambda seconds: run(rest, seconds))
    with suppress(ValueError):  # urlsplit knows brackets, and which ports there are
        address = urlsplit(ready if kind == "http" else f"tcp://{rest if ':' in rest else f':{rest}'}")
        port = address.port
        if kind == "http" and address.hostname:
            return HttpProbe(address)
        if kind == "tcp" and port:
            return TcpProbe((address.hostname,) if address.hostname else _LOOPBACK, port)
    raise ReadyError(f'ready = "{ready}": write "tcp:PORT", "tcp:HOST:PORT" or "http://HOST:PORT/PATH"')


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
