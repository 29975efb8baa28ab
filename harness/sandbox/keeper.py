"""Makes namespaces, as root or as an ordinary user, and keeps them: a network of its own, and files of its own.

Started by itself (`python -I -S keeper.py`) it reads a marshalled tuple (directories that are covered by empty ones,
paths in them that stay, files that are covered, [(directory, what it shows, a directory for what is changed), ...]). It
answers with a line: which of "network", "files" and the numbers of the directories there are, and "! " before what the
system said where it refused some. It stays until its
standard input ends: whoever enters its namespaces (harness/sandbox/enter.py) names it. It imports nothing of perfgate,
so that the small programs that stand before commands can use it. namespaces(7), user_namespaces(7) and the kernel's
Documentation/filesystems/overlayfs.rst are the sources.
"""

import contextlib
import ctypes
import errno
import fcntl
import marshal
import os
import socket
import stat
import struct
import sys

NEW_MOUNTS, NEW_NETWORK, NEW_USER = 0x00020000, 0x40000000, 0x10000000  # linux/sched.h
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1  # linux/sockios.h, linux/if.h
_BIND, _REC, _SLAVE = 4096, 16384, 1 << 19  # linux/mount.h


def unshare(flags: int) -> None:
    """Give this process namespaces of its own: where it may not have them so, in a user namespace.

    Raises: OSError: the system refuses it.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", flags)
    except PermissionError:
        _call("unshare", flags | NEW_USER)
        # without privileges one id can be mapped, and the group only when groups are given up
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123  # no pathlib: it costs
                file.write(text)
    if flags & NEW_MOUNTS:
        # nobody else sees what is mounted here; what others mount is seen
        _call("mount", b"none", b"/", None, _REC | _SLAVE, None)


def stand(directory: str, path: str) -> None:
    """Let a directory or file stand at a path, too, for this process and its children.

    Raises: OSError: the system refuses it.
    """
    _call("mount", os.fsencode(directory), os.fsencode(path), None, _BIND | _REC, None)


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _furnish(covered: list[str], visible: list[str], files: list[str]) -> None:
    """Cover directories and files; what stays visible in them is opened before."""
    opened = {}
    for each in visible:
        with contextlib.suppress(OSError):  # it is not there, or commands may not get there either
            opened[each] = os.open(each, os.O_PATH)
    for directory in covered:
        _call("mount", b"none", os.fsencode(directory), b"tmpfs", 0, b"mode=1777")
    for path, descriptor in opened.items():
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.makedirs(path, exist_ok=True)  # noqa: PTH103
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        stand(f"/proc/self/fd/{descriptor}", path)
        os.close(descriptor)
    for path in files:
        stand(os.devnull, path)


def _lay_over(directory: str, shown: str, changes: str) -> None:
    """Let a directory show what another one holds, and keep what is changed elsewhere."""
    for name in ("upper", "work"):
        os.makedirs(f"{changes}/{name}")  # noqa: PTH103
    of = os.stat(shown)  # noqa: PTH116
    os.chown(f"{changes}/upper", of.st_uid, -1)
    os.chmod(f"{changes}/upper", of.st_mode)  # noqa: PTH101
    # what marks removed files: in a user namespace only attributes that everybody may set (Linux 5.11)
    for more in (",userxattr", ""):
        try:
            options = f"lowerdir={shown},upperdir={changes}/upper,workdir={changes}/work{more}"
            _call("mount", b"none", os.fsencode(directory), b"overlay", 0, os.fsencode(options))
        except OSError:
            if not more:
                raise
        else:
            return


def _hold() -> None:
    *room, overlays = marshal.load(sys.stdin.buffer)  # noqa: S302  # perfgate's own words
    had, why = ["network", "files"], ""
    try:
        unshare(NEW_NETWORK | NEW_MOUNTS)
        _furnish(*room)
    except OSError as error:
        had.remove("files")
        why = f" ! {error.strerror}"
        overlays = []
        unshare(NEW_NETWORK)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14x", b"lo", 0)
        name, flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _GET_FLAGS, asked))
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", name, flags | _UP))
    for number, overlay in enumerate(overlays):
        try:
            _lay_over(*overlay)
            had.append(str(number))
        except OSError:
            continue
    os.write(1, f"{' '.join(had)}{why}\n".encode())
    os.read(0, 1)


if __name__ == "__main__":
    try:
        _hold()
    except OSError as error:
        limited = "a limit in /proc/sys/user is reached"  # as namespaces(7) calls it: "No space left on device"
        os.write(1, f"! {limited if error.errno == errno.ENOSPC else error.strerror}\n".encode())
