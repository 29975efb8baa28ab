"""How a traced command starts: what stands before it tells perfgate, and becomes the command."""

import array
import os
import signal
import socket
import struct
from typing import NoReturn

SECCOMP, PTRACE, NONE = b"s", b"p", b"n"
"""The first byte to perfgate: how the command is traced."""
HELLO = struct.Struct("=ci")
"""It, and the number of the command."""
FAILED = struct.Struct("=i")
"""Why the command cannot be started."""


def execute(command: list[str], channel: socket.socket) -> NoReturn:
    """Become the command, as if nothing stood before it; perfgate hears on the channel if that fails."""
    # Python has changed both, and may have added to the environment (PEP 538)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
        pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if b"=" in pair]
    try:
        os.execvpe(command[0], command, {name: value for name, _, value in pairs})  # noqa: S606
    except OSError as error:
        channel.sendall(FAILED.pack(error.errno or 0))
        channel.recv(1)
        os._exit(126 if isinstance(error, PermissionError) else 127)


def greet(channel: socket.socket, how: bytes, number: int, fd: int = -1) -> None:
    """Tell perfgate how the command is traced, and wait until it listens."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd >= 0 else []
    channel.sendmsg([HELLO.pack(how, number)], rights)
    channel.recv(1)  # from now on somebody answers
