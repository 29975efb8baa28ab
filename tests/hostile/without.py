"""Becomes a program whose system refuses system calls, as a container's filter does (seccomp(2)).

It is given the name of what is missing, and the program.
"""

import ctypes
import os
import struct
import sys

_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_X86 = os.uname().machine == "x86_64"
_UNSHARE, _SETNS, _SECCOMP, _MOUNT = (272, 308, 317, 165) if _X86 else (97, 268, 277, 40)
REFUSED = {
    "landlock": ((444, 445, 446), 38),  # ENOSYS
    "namespaces": ((_UNSHARE, _SETNS), 1),  # EPERM
    "more namespaces": ((_UNSHARE,), 28),  # ENOSPC, as user.max_user_namespaces has it
    "entering": ((_SETNS,), 1),
    "mounts": ((_MOUNT,), 13),  # EACCES, as AppArmor has it
    "filters": ((_SECCOMP,), 22),
}
"""Numbers of system calls, and the error."""


def main() -> None:
    """Install the filter and become the program."""
    calls, error = REFUSED[sys.argv[1]]
    first = [(_LOAD, 0, 0, 0)]  # the number of the call
    for number in calls:
        first += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | error)]
    program = b"".join(struct.pack("HBBI", *each) for each in [*first, (_RETURN, 0, 0, _ALLOW)])
    buffer = ctypes.create_string_buffer(program)
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, ctypes.c_char_p(described), 0, 0) != 0:
        sys.exit("no seccomp")
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
