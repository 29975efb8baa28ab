"""Enters the sandbox: from then on the calling thread, and all that it starts, has the rights of a ruleset and no more.

It imports nothing of perfgate, so that the small programs that stand before commands can use it, and not ctypes, whose
start-up they would measure. landlock(7), seccomp(2), capabilities(7) and setresuid(2) are the sources. The C library
changes the user of all threads of a process, the system calls only that of the calling one.
"""

from __future__ import annotations

import _ctypes
import posix
import sys
from array import array

TYPE_CHECKING = False  # that of typing would double the start-up
if TYPE_CHECKING:
    from collections.abc import Callable

RESTRICT_SELF = 446
_PRCTL = {"x86_64": 157, "aarch64": 167}
_SETGROUPS = {"x86_64": 116, "aarch64": 159}
_SETRESUID = {"x86_64": 117, "aarch64": 147}
_SETRESGID = {"x86_64": 119, "aarch64": 149}
_SETNS = {"x86_64": 308, "aarch64": 268}
_UNSHARE = {"x86_64": 272, "aarch64": 97}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_KEYCTL = {"x86_64": 250, "aarch64": 219}
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_IOPRIO_GET = {"x86_64": 252, "aarch64": 31}
_SET_SCHEDULING = {"x86_64": 314, "aarch64": 274}
_GET_SCHEDULING = {"x86_64": 315, "aarch64": 275}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_FILTERED = {
    "x86_64": (
        (0xC000003E, 302, 304, 16, 41), (0xC000003E, 302, 304, 514, 41), (0x40000003, 340, 342, 54, 359),
    ),
    "aarch64": ((0xC00000B7, 261, 265, 29, 198), (0x40000028, 369, 371, 54, 281)),
}  # fmt: skip
"""AUDIT_ARCH of linux/audit.h, prlimit64, open_by_handle_at, ioctl, socket: of 64 bits, x32, and 32 bits."""
_SET_ATTRIBUTES = 469  # file_setattr
_SET_FLAGS = (0x40086602, 0x40046602, 0x401C5820)  # FS_IOC_SETFLAGS, that of 32 bits, FS_IOC_FSSETXATTR
_AF_VSOCK = 40
MACHINES = frozenset(_PRCTL)
"""Whose system calls are known."""
_DUMPABLE, _KEEPCAPS, _SECUREBITS, _NO_NEW_PRIVS, _AMBIENT, _RAISE = 4, 8, 28, 38, 47, 2  # linux/prctl.h
_CHILD_SUBREAPER = 36  # linux/prctl.h
_NO_SETUID_FIXUP = 1 << 2  # linux/securebits.h
_NOW = 2  # RTLD_NOW
_NEW_MOUNTS, _OWN_DIRECTORIES = 0x00020000, 0x00000200  # CLONE_NEWNS, CLONE_FS
_READ_SEARCH = 2  # CAP_DAC_READ_SEARCH
_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3
_JOIN_SESSION_KEYRING = 1  # linux/keyctl.h
_OF_PROCESS = 1  # IOPRIO_WHO_PROCESS
_SCHEDULING = 56  # bytes of struct sched_attr
_LIMITS = 16  # of resource.h
_FILTER, _NO_MITIGATIONS = 1, 4  # SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW
_LOAD, _AND, _IF, _RETURN = 0x20, 0x54, 0x15, 0x06  # linux/bpf_common.h
_ALLOW, _EPERM = 0x7FFF0000, 0x00050001  # linux/seccomp.h


def enter(ruleset: int, user: int = -1, room: int = -1, kinds: int = 0) -> None:
    """Give up all rights but those of a Landlock ruleset, and those of the caller's user.

    Args:
        ruleset: its file descriptor.
        user: for root, the user and group to become; it keeps the right to read and search everything where that can
            be kept, since toolchains lie below /root, and the ruleset decides what is read. -1: the user stays.
        room, kinds: the descriptor of a process whose namespaces it gets, and which, as `join` says. -1: none; they
            lead to another working directory.

    Raises:
        OSError: the system refuses it.
    """
    call, machine = _call(), posix.uname().machine
    prctl = _PRCTL.get(machine)
    if prctl is None:
        raise OSError(f"system calls of {machine} are not known")
    # tickets and keys of whoever started perfgate; where there are no keyrings there is nothing to hide
    call(_KEYCTL[machine], _JOIN_SESSION_KEYRING, None)
    if room >= 0:
        join(room, kinds)
    if user >= 0:
        _become(call, machine, user)
    _do("no_new_privs", call(prctl, _NO_NEW_PRIVS, 1, 0, 0, 0))
    _filter(call, machine)
    _do("landlock_restrict_self", call(RESTRICT_SELF, ruleset, 0))
    # a program that has the ruleset could add to it, for whatever enters it next
    for descriptor in (ruleset, room):
        if descriptor >= 0:
            posix.set_inheritable(descriptor, False)


def join(room: int, kinds: int) -> None:
    """Enter namespaces of a process, as setns(2) names their kinds; a user namespace only a single thread can enter.

    With namespaces of mounts the working directory becomes the root directory.

    Raises: OSError: the system refuses it.
    """
    call, machine = _call(), posix.uname().machine
    if kinds & _NEW_MOUNTS:
        # a thread shares its directories with the others
        _do("unshare", call(_UNSHARE[machine], _OWN_DIRECTORIES))
    _do("setns", call(_SETNS[machine], room, kinds))


def hide() -> None:
    """Let nobody who is not root read or change the memory of this process. Raises: OSError: the system refuses it."""
    prctl = _PRCTL.get(posix.uname().machine)
    if prctl is not None:
        _do("dumpable", _call()(prctl, _DUMPABLE, 0, 0, 0, 0))


def adopt() -> None:
    """Let orphans below this process become its children; where the system refuses it they go where they went."""
    prctl = _PRCTL.get(posix.uname().machine)
    if sys.platform == "linux" and prctl is not None:
        _call()(prctl, _CHILD_SUBREAPER, 1, 0, 0, 0)


def pace(process: int = 0) -> dict[str, object]:
    """Return what the commands that a process starts inherit, by name; process: 0: the calling thread.

    Policy, nice value and slice are one (sched_setattr(2)). There is nothing on other systems than Linux.
    """
    machine = posix.uname().machine
    if sys.platform != "linux" or machine not in MACHINES:
        return {}
    import resource

    scheduling, call = _words(*[0] * (_SCHEDULING // 4)), _call()
    call(_GET_SCHEDULING[machine], process, scheduling, _SCHEDULING, 0)
    return {
        "priority or scheduling policy": scheduling,
        "I/O priority": call(_IOPRIO_GET[machine], _OF_PROCESS, process),
        "processors": posix.sched_getaffinity(process),
        "limits": [resource.prlimit(process, number) for number in range(_LIMITS)],
    }


def put_back(process: int, known: dict[str, object]) -> None:
    """Give a process what `pace` returned of it, as far as that can be."""
    import resource

    machine = posix.uname().machine
    scheduling, io_priority, processors, limits = known.values()
    _call()(_SET_SCHEDULING[machine], process, scheduling, 0)
    _call()(_IOPRIO_SET[machine], _OF_PROCESS, process, io_priority)
    try:
        posix.sched_setaffinity(process, processors)  # type: ignore[arg-type]
        for number, limit in enumerate(limits):  # type: ignore[arg-type, var-annotated]
            resource.prlimit(process, number, limit)
    except (OSError, ValueError):
        return


def _become(call: Callable[..., int], machine: str, user: int) -> None:
    prctl = _PRCTL[machine]
    _do("setgroups", call(_SETGROUPS[machine], 0, None))
    # nothing is lost with root's name: access(2), by which compilers look for their parts, would not count what is kept
    if call(prctl, _SECUREBITS, _NO_SETUID_FIXUP, 0, 0, 0) != 0:
        _do("keepcaps", call(prctl, _KEEPCAPS, 1, 0, 0, 0))
    _do("setresgid", call(_SETRESGID[machine], user, user, user))
    _do("setresuid", call(_SETRESUID[machine], user, user, user))
    head = _words(_VERSION, 0)
    keep = 1 << _READ_SEARCH
    # effective, permitted and inheritable of the first 32 capabilities, and of the rest
    if call(_CAPSET[machine], head, _words(keep, keep, keep, 0, 0, 0)) == 0:
        call(prctl, _AMBIENT, _RAISE, _READ_SEARCH, 0, 0)
    else:
        _do("capset", call(_CAPSET[machine], head, _words(0, 0, 0, 0, 0, 0)))


def _filter(call: Callable[..., int], machine: str) -> None:
    """Refuse what Landlock does not see: limits of other processes, files by handles, flags of files, the hypervisor.

    A second of CPU time would end all processes of the user, and what is lowered only root raises again; with the right
    to read everything a handle leads to the names in what is covered; a flag makes all synchronous that base writes;
    and no network namespace has AF_VSOCK. Where there is no seccomp it stays so.
    """
    deny, allow = (_RETURN, 0, 0, _EPERM), (_RETURN, 0, 0, _ALLOW)
    steps: list[tuple[int, int, int, int]] = []
    for architecture, limits, handles, control, sockets in _FILTERED[machine]:
        steps += (
            (_LOAD, 0, 0, 4),  # seccomp_data.arch
            (_IF, 0, 22, architecture),
            (_LOAD, 0, 0, 0),  # its number
            (_AND, 0, 0, 0xBFFFFFFF),  # x32 adds a bit
            (_IF, 18, 0, handles),
            (_IF, 17, 0, _SET_ATTRIBUTES),
            (_IF, 9, 0, limits),
            (_IF, 6, 0, sockets),
            (_IF, 0, 15, control),
            (_LOAD, 0, 0, 24),  # what of a file
            *((_IF, 12 - number, 0, value) for number, value in enumerate(_SET_FLAGS)),
            allow,
            (_LOAD, 0, 0, 16),  # the family
            (_IF, 7, 6, _AF_VSOCK),
            (_LOAD, 0, 0, 16),  # whose limits: 0 is the caller
            (_IF, 4, 0, 0),
            (_LOAD, 0, 0, 32),  # the new ones: a null pointer only asks
            (_IF, 0, 3, 0),
            (_LOAD, 0, 0, 36),
            (_IF, 0, 1, 0),
            allow,
            deny,
        )
    steps.append(allow)
    packed = array("Q", (code | yes << 16 | no << 24 | value << 32 for code, yes, no, value in steps))
    program = len(packed).to_bytes(8, sys.byteorder) + packed.buffer_info()[0].to_bytes(8, sys.byteorder)
    call(_SECCOMP[machine], _FILTER, _NO_MITIGATIONS, program)


def _call() -> Callable[..., int]:
    """Return syscall(2); bytes are pointers."""
    # the program itself, and with it the C library
    address = _ctypes.dlsym(_ctypes.dlopen(None, _NOW), "syscall")  # type: ignore[arg-type]
    return lambda *arguments: _ctypes.call_function(address, arguments)


def _words(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, sys.byteorder) for value in values)


def _do(what: str, done: int) -> None:
    if done != 0:
        raise OSError(f"{what} is refused")
