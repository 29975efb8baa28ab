"""The system calls that tell what a program reads, by architecture, and where their arguments name it.

Numbers: Linux, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. Nothing of perfgate is
imported, since the program that stands before a traced command loads this too.
"""

Numbers = tuple[int | None, int | None]
"""Of a call on each architecture, None: it has none such."""
X86_64, AARCH64 = 0xC000003E, 0xC00000B7
ARCHITECTURES = {"x86_64": X86_64, "aarch64": AARCH64}

AT = "at"
"""A path relative to the directory that the argument before it is open on."""
CWD = "cwd"
"""A path relative to the working directory."""

# name: (number on x86-64, on aarch64; None: not there), then for each path in the arguments: (kind, its position)
PATHS: dict[str, tuple[Numbers, *tuple[tuple[str, int], ...]]] = {
    "open": ((2, None), (CWD, 0)),
    "stat": ((4, None), (CWD, 0)),
    "lstat": ((6, None), (CWD, 0)),
    "access": ((21, None), (CWD, 0)),
    "truncate": ((76, 45), (CWD, 0)),
    "chdir": ((80, 49), (CWD, 0)),
    "rename": ((82, None), (CWD, 0), (CWD, 1)),
    "mkdir": ((83, None), (CWD, 0)),
    "rmdir": ((84, None), (CWD, 0)),
    "creat": ((85, None), (CWD, 0)),
    "link": ((86, None), (CWD, 0), (CWD, 1)),
    "unlink": ((87, None), (CWD, 0)),
    "symlink": ((88, None), (CWD, 1)),
    "readlink": ((89, None), (CWD, 0)),
    "chmod": ((90, None), (CWD, 0)),
    "chown": ((92, None), (CWD, 0)),
    "lchown": ((94, None), (CWD, 0)),
    "utime": ((132, None), (CWD, 0)),
    "mknod": ((133, None), (CWD, 0)),
    "uselib": ((134, None), (CWD, 0)),
    "statfs": ((137, 43), (CWD, 0)),
    "setxattr": ((188, 5), (CWD, 0)),
    "lsetxattr": ((189, 6), (CWD, 0)),
    "getxattr": ((191, 8), (CWD, 0)),
    "lgetxattr": ((192, 9), (CWD, 0)),
    "listxattr": ((194, 11), (CWD, 0)),
    "llistxattr": ((195, 12), (CWD, 0)),
    "removexattr": ((197, 14), (CWD, 0)),
    "lremovexattr": ((198, 15), (CWD, 0)),
    "utimes": ((235, None), (CWD, 0)),
    "inotify_add_watch": ((254, 27), (CWD, 1)),
    "openat": ((257, 56), (AT, 1)),
    "mkdirat": ((258, 34), (AT, 1)),
    "mknodat": ((259, 33), (AT, 1)),
    "fchownat": ((260, 54), (AT, 1)),
    "futimesat": ((261, None), (AT, 1)),
    "newfstatat": ((262, 79), (AT, 1)),
    "unlinkat": ((263, 35), (AT, 1)),
    "renameat": ((264, 38), (AT, 1), (AT, 3)),
    "linkat": ((265, 37), (AT, 1), (AT, 3)),
    "symlinkat": ((266, 36), (AT, 2)),
    "readlinkat": ((267, 78), (AT, 1)),
    "fchmodat": ((268, 53), (AT, 1)),
    "faccessat": ((269, 48), (AT, 1)),
    "utimensat": ((280, 88), (AT, 1)),
    "name_to_handle_at": ((303, 264), (AT, 1)),
    "renameat2": ((316, 276), (AT, 1), (AT, 3)),
    "statx": ((332, 291), (AT, 1)),
    "openat2": ((437, 437), (AT, 1)),
    "faccessat2": ((439, 439), (AT, 1)),
    "fchmodat2": ((452, 452), (AT, 1)),
    "setxattrat": ((463, 463), (AT, 1)),
    "getxattrat": ((464, 464), (AT, 1)),
    "listxattrat": ((465, 465), (AT, 1)),
    "removexattrat": ((466, 466), (AT, 1)),
    "file_getattr": ((468, 468), (AT, 1)),
    "file_setattr": ((469, 469), (AT, 1)),
    "execve": ((59, 221), (CWD, 0)),
    "execveat": ((322, 281), (AT, 1)),
}
LISTED: dict[str, Numbers] = {"getdents": (78, None), "getdents64": (217, 61)}
"""What lists the directory that its first argument is open on."""
EXECUTED = frozenset({"execve", "execveat"})
RENAMED = frozenset({"rename", "renameat", "renameat2"})
FLAGS = {"open": 1, "openat": 2}
"""Where the flags of opening are; creat has none, and openat2 has them in memory, at its third argument."""
SOCKETS: dict[str, Numbers] = {
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
}
NEEDED = {"sendto": 4}
"""Arguments without which a call need not be told: to send to nobody in particular is no new connection."""
SHARED: dict[str, Numbers] = {
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "shmat": (30, 196),
    "semctl": (66, 191),
    "msgrcv": (70, 188),
}
"""What finds memory or messages of other processes by a key, name or number."""
NUMBERED = {"shmat": "shm", "semctl": "sem", "msgrcv": "msg"}
"""By number: the table of it in /proc/sysvipc."""
CLONES: dict[str, Numbers] = {"clone": (56, 220), "clone3": (435, 435), "unshare": (272, 97)}
DOUBTFUL: dict[str, tuple[Numbers, str]] = {
    "ptrace": ((101, 117), "process"),
    "process_vm_readv": ((310, 270), "process"),
    "process_vm_writev": ((311, 271), "process"),
    "pidfd_getfd": ((438, 438), "process"),
    "bpf": ((321, 280), "process"),
    "io_uring_setup": ((425, 425), "io-uring"),
    "pivot_root": ((155, 41), "namespace"),
    "chroot": ((161, 51), "namespace"),
    "mount": ((165, 40), "namespace"),
    "umount2": ((166, 39), "namespace"),
    "setns": ((308, 268), "namespace"),
    "open_tree": ((428, 428), "namespace"),
    "move_mount": ((429, 429), "namespace"),
    "fsmount": ((432, 432), "namespace"),
    "mount_setattr": ((442, 442), "namespace"),
    "open_tree_attr": ((467, 467), "namespace"),
    "open_by_handle_at": ((304, 265), "handle"),
    "fanotify_mark": ((301, 263), "handle"),
    "add_key": ((248, 217), "keyring"),
    "request_key": ((249, 218), "keyring"),
    "keyctl": ((250, 219), "keyring"),
}
"""After these nobody knows what is read: why, by name."""
CLONE_NEW = 0x7E020080
"""Flags of clone and unshare that make a namespace."""


def numbers(machine: str) -> dict[int, str]:
    """Return the names of what is watched by their numbers on a machine, as uname names it."""
    column = list(ARCHITECTURES).index(machine)
    tables: list[dict[str, tuple[int | None, int | None]]] = [
        {name: found[0] for name, found in PATHS.items()},
        {name: found[0] for name, found in DOUBTFUL.items()},
        LISTED,
        SOCKETS,
        SHARED,
        CLONES,
    ]
    return {number: name for table in tables for name, pair in table.items() if (number := pair[column]) is not None}
