"""Stands before a traced command: has the kernel tell perfgate what the command does, and becomes the command.

Started by itself (`python -I -S child.py SOCKET NUMBER COMMAND ARGUMENT...`), so it imports nothing of perfgate but the
files beside it that import nothing either. seccomp(2) and seccomp_unotify(2) are the sources.
"""

import os
import socket
import sys
import threading

if __name__ == "__main__":
    sys.path.insert(0, os.path.normpath(f"{__file__}/../../.."))

from harness.trace import filters, ptracing, start, syscalls


class _Passing:
    """A thread older than the filter: what it sends need not be answered by who is to receive it."""

    def __init__(self, channel: socket.socket, number: int) -> None:
        self._arguments = (channel, start.SECCOMP, number)
        self._fd: int | None = None
        self._found, self._sent = threading.Lock(), threading.Lock()
        self._found.acquire()
        self._sent.acquire()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with self._found:
            if self._fd is not None:
                start.greet(*self._arguments, self._fd)
        self._sent.release()

    def send(self, fd: int | None) -> None:
        """Send the descriptor, or nothing; return when it has been taken."""
        self._fd = fd
        self._found.release()
        with self._sent:
            pass


def main(place: str, number: int, how: str, command: list[str]) -> None:
    """Have it told, and become the command; where it cannot be told the command runs all the same.

    how: "ptrace" leaves seccomp aside.
    """
    machine = os.uname().machine
    with socket.socket(socket.AF_UNIX) as channel:
        # an address has no room for a long path
        folder, name = os.path.split(place)
        fd = os.open(folder, os.O_RDONLY)
        channel.connect(f"/proc/self/fd/{fd}/{name}")
        os.close(fd)
        watched = syscalls.numbers(machine)
        passing = _Passing(channel, number)
        try:
            if how == "ptrace":
                raise OSError(how)
            flags = (filters.NEW_LISTENER | filters.WAIT_KILLABLE, filters.NEW_LISTENER)
            # a signal would have the call told of again and again; kernels before 5.19 do not know the first ones
            listener = filters.installed(machine, filters.program(watched, syscalls.ARCHITECTURES[machine]), flags)
        except OSError:
            passing.send(None)
            ptracing.main(machine, channel, number, command)
        else:
            passing.send(listener)
            os.close(listener)
            start.execute(command, channel)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])
