"""Landlock, the kernel's sandbox for everybody: rulesets of what may be done below which paths (landlock(7)).

With them what is in sight: all but secrets, and of directories for temporary files, which the sandbox covers, what
commands are told of: by words and variables, and by what a search path leads to (links, the interpreters of scripts,
what environments of Python name).
"""

import ctypes
import errno
import os
import re
import stat
import struct
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from glob import escape, glob
from pathlib import Path

from gate.walking import beginning

Rule = tuple[Path | str, int]
"""A path, and what may be done with it and all below it."""

_CREATE, _ADD = 444, 445
_VERSION, _BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR = 1 << 4, 1 << 5, 1 << 6, 1 << 7
_MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_LATER = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
"""Rights, and the versions that brought them."""
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
_SIGNALS_SINCE, _NET_SINCE = 6, 4
_SCOPES = 1 | 2  # abstract Unix sockets, signals
READ = EXECUTE | READ_FILE | READ_DIR
REOPEN = READ | WRITE_FILE | _TRUNCATE
"""All that one does with files that are there: nothing is made, removed or renamed."""
DEVICE = READ_FILE | WRITE_FILE | _IOCTL_DEV
WRITE = (
    READ | WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM
    | _REFER | _TRUNCATE
)  # fmt: skip
"""All that one does in a directory of one's own; no devices."""
LEAST = 2
"""Without the second version (Linux 5.19) nothing can be moved between directories, which compilers do."""


@cache
def version() -> int:
    """Return the version that this system has; 0: none, or it is switched off."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION)))


def stops_signals() -> bool:
    """Return whether it keeps signals inside (Linux 6.12)."""
    return version() >= _SIGNALS_SINCE


def ruleset(rules: Iterable[Rule]) -> int:
    """Make a ruleset and return its file descriptor: whoever enters it has these rights on files, and no others.

    Paths that do not exist are left out. Where the kernel knows it, no signal goes outside.

    Raises: OSError: the system refuses it.
    """
    known = version()
    handled = WRITE | _MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV
    for since, right in _LATER:
        handled &= ~right if known < since else -1
    fields = [handled, *([0] if known >= _NET_SINCE else []), *([_SCOPES] if stops_signals() else [])]
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    made = libc.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    if made < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    try:
        for path, wanted in rules:
            try:
                # CLOEXEC, and of links what they lead to
                beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                directory = stat.S_ISDIR(os.fstat(beneath).st_mode)
                access = wanted & handled & (-1 if directory else _OF_FILES)
                packed = struct.pack("=Qi", access, beneath)
                if access and libc.syscall(_ADD, made, _BENEATH, packed, 0) != 0:
                    number = ctypes.get_errno()
                    # a file system that the kernel keeps to itself
                    if errno.errorcode.get(number) not in ("EBADFD", "EBADF"):
                        raise OSError(number, os.strerror(number), str(path))
            finally:
                os.close(beneath)
    except BaseException:
        os.close(made)
        raise
    return int(made)


_REGISTRATION = (
    ".credentials",
    ".credentials_rsaparams",
    ".credentials_migrated",
    ".runner",
    ".runner_migrated",
    ".env",
    "_diag",
)
_OF_RUNNER = ("GITHUB_WORKSPACE", "RUNNER_WORKSPACE", "RUNNER_TEMP", "RUNNER_TOOL_CACHE")
_OF_STEPS = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
_IN_TEMP = "git-credentials-*.config"
"""Where actions/checkout keeps the job's token."""
_OF_GIT = ("config", "config.worktree", "FETCH_HEAD", "modules/**/config", "worktrees/*/config.worktree")
"""What may have a token in it: earlier versions of actions/checkout write it there, and URLs have it."""
_OF_CONTAINER = ("/run/secrets", "/var/run/secrets")
_OF_ROOT = ("etc/shadow*", "etc/gshadow*", "etc/ssh/ssh_host_*_key", "etc/ssl/private")
_HOMES = ("root", "home/*")


def runner_secrets(environment: Mapping[str, str]) -> list[Path]:
    """Return what a self-hosted runner keeps of its registration and its jobs, beside its program.

    Args:
        environment: of perfgate itself, in a step of a workflow.
    """
    found = []
    for variable in _OF_RUNNER:
        value = environment.get(variable, "")
        for above in Path(value).parents if os.path.isabs(value) else ():  # noqa: PTH117
            if (above / ".runner").is_file() or (above / ".credentials").is_file():
                found += [above / name for name in _REGISTRATION]
    temp = environment.get("RUNNER_TEMP", "")
    if os.path.isabs(temp):  # noqa: PTH117
        found += Path(temp).glob(_IN_TEMP)
    for variable in _OF_STEPS:
        value = environment.get(variable, "")
        if os.path.isabs(value):  # noqa: PTH117
            found.append(Path(value))
    return list(dict.fromkeys(found))


def git_secrets(common: Path) -> list[Path]:
    """Return what may hold a token in the git directory of a checkout."""
    return [each for pattern in _OF_GIT for each in common.glob(pattern)]


def system_secrets(names: Iterable[str], own: Path | None, *, root: bool, system: Path = Path("/")) -> list[Path]:
    """Return what a container is given in secret; for root, who may read all, also what is meant for root alone.

    Args:
        names: of secrets in the home directories of others.
        own: the home directory that is not looked at.
        root: whether perfgate is root.
        system: the root directory.
    """
    found = [Path(each) for each in _OF_CONTAINER]
    if root:
        homes = [home for pattern in _HOMES for home in system.glob(pattern) if home != own]
        found += [each for pattern in _OF_ROOT for each in system.glob(pattern)]
        found += [home / name for home in homes for name in names]
    return found


def sight(hidden: Iterable[Path], covered: Iterable[str] = (), visible: Iterable[str] = ()) -> Iterator[Rule]:
    """Yield what lets all be read and executed but some paths; names of files are seen everywhere.

    A rule allows, and none forbids: so the neighbours of each hidden path, and of the directories above it, are allowed
    one by one.

    Args:
        hidden: paths.
        covered: directories that others stand over: nobody gets to the files below that by their handles.
        visible: directories and files that stand there again.
    """
    real = {os.path.realpath(each) for each in hidden if os.path.lexists(each)}
    for root, out in (("/", real.union(covered)), *((each, real) for each in visible)):
        above = {str(parent) for each in out for parent in Path(each).parents}
        if root not in above and not any(f"{root}/".startswith(f"{each}/") for each in out):
            yield root, READ
            continue
        if root not in out:
            yield from _around(root, out, above)
        yield root, READ_DIR


def _around(directory: str, hidden: Collection[str], above: Collection[str]) -> Iterator[Rule]:
    with suppress(OSError):
        for entry in os.scandir(directory):
            # what a link leads to has a place of its own
            if entry.path in hidden or entry.is_symlink():
                continue
            if entry.path in above:
                yield from _around(entry.path, hidden, above)
            else:
                yield entry.path, READ


SHARED_MEMORY = "/dev/shm"  # noqa: S108  # semaphores of all programs are there
TEMPORARY = ("/tmp", "/var/tmp", SHARED_MEMORY)  # noqa: S108  # they are covered
_NAMED = re.compile(r"/(?:tmp|var/tmp|dev/shm)/[^\s:;,\"'=)`|&<>]+")
_ABSOLUTE = re.compile(r"/[^\s:;,\"'=)`|&<>]+")
_SYSTEM = frozenset(["/bin", "/sbin", "/usr/bin", "/usr/sbin"])
"""What a system's packages bring leads to nothing temporary."""
_OF_PYTHON = (
    "pyvenv.cfg",
    *(f"lib/python3*/site-packages/{each}" for each in ("*.pth", "*.egg-link", "__editable__*")),
)
_MOST_READ = 4096
_MOST_LINKS = 40
"""As many as the kernel follows."""


def in_sight(texts: Iterable[str], search_path: str, paths: Iterable[str]) -> set[str]:
    """Return the real places of what commands are told of, and of the links on the way.

    Args:
        texts: commands and values of variables.
        search_path: as PATH has it.
        paths: absolute ones that they find besides.
    """
    told = [*paths, *(found for text in texts for each in (_NAMED, _ABSOLUTE) for found in each.findall(text))]
    for each in {*search_path.split(os.pathsep)} - _SYSTEM:
        # programs there that are links, and what scripts and environments name
        folder, named = os.path.abspath(each), list[str]()  # noqa: PTH100
        with suppress(OSError), os.scandir(folder) as found:
            for entry in found:
                if entry.is_symlink():
                    named.append(entry.path)
                elif entry.is_file():
                    named += _named_by(entry.path, b"#!")
        for pattern in _OF_PYTHON:
            for path in glob(f"{escape(os.path.dirname(folder))}/{pattern}"):  # noqa: PTH120, PTH207
                named += _named_by(path)
        # what a script only speaks of needs no place, and beside a place nothing could be made
        told += filter(os.path.lexists, named)
    return {place for each in dict.fromkeys(told) for place in _places(each)}


def _named_by(path: str, begins: bytes = b"") -> Iterator[str]:
    """Yield what the beginning of a file names in directories for temporary files."""
    read = beginning(path, _MOST_READ)
    if read.startswith(begins):
        text = read.decode("utf-8", "replace")
        yield from (_ABSOLUTE.findall(text.partition("\n")[0]) if begins else ())
        yield from _NAMED.findall(text)


def _places(path: str) -> Iterator[str]:
    """Yield the real places of the links on an absolute path's way, and where it ends."""
    at, rest, links = "/", path.split("/")[::-1], 0
    while rest and links < _MOST_LINKS:
        name = rest.pop()
        if name in ("", "."):
            continue
        at = os.path.dirname(at) if name == ".." else os.path.join(at, name)  # noqa: PTH118, PTH120
        with suppress(OSError, ValueError):
            leads = os.readlink(at)  # noqa: PTH115
            yield at
            links += 1
            rest += leads.split("/")[::-1]
            at = "/" if leads.startswith("/") else os.path.dirname(at)  # noqa: PTH120
    yield at
