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


@dataclass(frozen=True, slots=True)
class Probe:
    """One way to ask a service whether it is ready."""

    ask: Callable[[float], str]
    """Asks once, for at most so many seconds; gives why it is not ready, "" when it is."""
    hosts: tuple[str, ...] = ()
    port: int = 0
    """Where it will listen, and nobody before: none of what is known by its log, or by a command."""

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
        return _reading(log, rest.encode())
    if kind == "command":
        return Probe(lambda seconds: run(rest, seconds))
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
