"""Makes namespaces, as root or as an ordinary user, and keeps one: a network of its own for what needs none.

Started by itself (`python -I -S alone.py`) it says that it is there, and stays until its standard input ends: whoever
enters its network (harness/sandbox/enter.py) names it. It imports nothing of perfgate, so that the small programs that
stand before commands can use it. namespaces(7) and user_namespaces(7) are the sources.
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys

NEW_MOUNTS = 0x00020000  # linux/sched.h
_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000  # linux/sched.h
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1  # linux/sockios.h, linux/if.h


def done(result: int) -> None:
    """Make sure that a call of the C library was done.

    Raises:
        OSError: the system refused it.
    """
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def unshare(flags: int) -> None:
    """Give this process namespaces of its own: where it may not have them so, in a user namespace.

    Raises:
        OSError: the system refuses it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    try:
        done(libc.unshare(flags))
    except PermissionError:
        done(libc.unshare(flags | _NEW_USER))
        # without privileges one id can be mapped, and the group only when groups are given up
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123  # no pathlib: it costs
                file.write(text)


def _hold() -> None:
    unshare(_NEW_NETWORK)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14x", b"lo", 0)
        name, flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _GET_FLAGS, asked))
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", name, flags | _UP))
    os.write(1, b"\n")
    os.read(0, 1)


if __name__ == "__main__":
    try:
        _hold()
    except OSError as error:
        sys.exit(error.errno)
