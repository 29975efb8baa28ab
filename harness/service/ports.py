"""Free ports for services, all of five digits, so that {port} does not change the layout."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from collections import deque
from contextlib import suppress
from pathlib import Path

_FIRST, _LAST = 10000, 65535
# Where the system does not tell: below what Linux (32768) and macOS (49152) take for outgoing connections.
_EPHEMERAL = 32768
_FEWEST = 1000
_TRIES = 500

_given: deque[int] = deque(maxlen=_FEWEST // 2)


def free_port() -> int:
    """Choose a free TCP port of this machine, at random; none that was given in the last hundreds of calls.

    Below the ports that outgoing connections take, one of which could have taken it before the service does.

    Raises:
        OSError: there is none.
    """
    last = _below_ephemeral()
    for _ in range(_TRIES):
        port = _FIRST + secrets.randbelow(last - _FIRST + 1)
        if port not in _given and _is_free(port):
            _given.append(port)
            return port
    raise OSError(errno.EADDRINUSE, f"no free port between {_FIRST} and {last}: {os.strerror(errno.EADDRINUSE)}")


def _below_ephemeral() -> int:
    first = _EPHEMERAL
    with suppress(OSError, ValueError, IndexError):
        first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    # a system may be set up to take nearly all of them
    return first - 1 if first - _FIRST >= _FEWEST else _LAST


def _is_free(port: int) -> bool:
    # bound, never listened on; without SO_REUSEADDR, as a service may bind it
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104  # taken on any address is taken
        except OSError:
            return False
    return True
