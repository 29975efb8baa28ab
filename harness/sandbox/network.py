"""A network without a way out: a namespace with nothing but its own loopback (network_namespaces(7))."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
import threading

_NEW_NETWORK = 0x40000000  # linux/sched.h
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1  # linux/sockios.h, linux/if.h


def network() -> int | None:
    """Make a namespace and return its descriptor; None where this user may not, which only root may.

    It ends with its descriptor, and with what is inside.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        return None
    made: list[int] = []

    def inside() -> None:
        # a namespace belongs to a thread, and this one ends
        if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
            return
        try:
            _begin_loopback()
            made.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    return made[0] if made else None


def _begin_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14x", b"lo", 0)
        name, flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _GET_FLAGS, asked))
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", name, flags | _UP))
