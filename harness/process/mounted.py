"""Stands before a command: lets directories stand at other paths too, for this command alone, and becomes the command.

Started by itself (`python -I -S mounted.py WHERE RULESET USER NETWORK COUNT DIRECTORY PATH ... COMMAND...`), so it
imports nothing of perfgate but what a sandbox needs, which it enters in the end: nobody inside can mount. RULESET,
USER and NETWORK as in harness/instruments/launcher.py. mount_namespaces(7) is the source.
"""

import ctypes
import os
import signal
import sys

if __name__ == "__main__":
    sys.path.append(os.path.normpath(f"{__file__}/../../.."))

from harness.sandbox import alone, enter

_BIND, _REC, _SLAVE = 4096, 16384, 1 << 19  # linux/mount.h


def stand(pairs: list[tuple[str, str]]) -> None:
    """Let directories stand at paths, which are directories, for this process and its children.

    Raises:
        OSError: the system refuses it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    alone.unshare(alone.NEW_MOUNTS)
    # nobody else sees what is mounted here; what others mount is seen
    alone.done(libc.mount(b"none", b"/", None, _REC | _SLAVE, None))
    for directory, path in pairs:
        alone.done(libc.mount(os.fsencode(directory), os.fsencode(path), None, _BIND | _REC, None))


def main(where: str, inside: tuple[int, int, int], count: int, rest: list[str]) -> None:
    """Let them stand, and become the command in a directory below."""
    paths, command = rest[: 2 * count], rest[2 * count :]
    pairs = list(zip(paths[::2], paths[1::2], strict=True))
    try:
        stand(pairs)
        os.chdir(where)
        if inside[0] >= 0:
            enter.enter(*inside)
    except OSError as error:
        sys.stderr.write(f"{pairs[0][0]} cannot stand at {pairs[0][1]}: {error.strerror or error}\n")
        os._exit(125)
    # as this process got it: Python may have set a locale
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
        entries = [entry.partition(b"=") for entry in file.read().split(b"\0") if entry]
    environment = {name: value for name, _, value in entries} | {b"PWD": os.fsencode(where)}
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(126 if isinstance(error, PermissionError) else 127)


if __name__ == "__main__":
    _inside = (int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    main(sys.argv[1], _inside, int(sys.argv[5]), sys.argv[6:])
