"""Stands before a command: lets directories stand at other paths too, for this command alone, and becomes the command.

Started by itself (`python -I -S mounted.py WHERE RULESET USER ROOM KINDS COUNT DIRECTORY PATH ... COMMAND...`), so it
imports nothing of perfgate but what a sandbox needs, which it enters in the end: nobody inside can mount. RULESET to
KINDS as in harness/instruments/launcher.py. mount_namespaces(7) is the source.
"""

import os
import signal
import sys

if __name__ == "__main__":
    sys.path.append(os.path.normpath(f"{__file__}/../../.."))

from harness.sandbox import enter, keeper


def main(where: str, ruleset: int, user: int, room: int, kinds: int, count: int, *rest: str) -> None:
    """Let them stand, and become the command in a directory below."""
    paths, command = rest[: 2 * count], rest[2 * count :]
    pairs = list(zip(paths[::2], paths[1::2], strict=True))
    try:
        if room >= 0:
            enter.join(room, kinds)
        keeper.unshare(keeper.NEW_MOUNTS)
        for pair in pairs:
            keeper.stand(*pair)
        os.chdir(where)
        if ruleset >= 0:
            enter.enter(ruleset, user)
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
    main(sys.argv[1], *map(int, sys.argv[2:7]), *sys.argv[7:])  # type: ignore[arg-type]
