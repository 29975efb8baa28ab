"""What this process may not have enough of: memory, files, processes; said in a line that names the limit."""

from __future__ import annotations

import errno
import os
import re

_FILES = "too many open files: raise the limit (`ulimit -n`)"
_PROCESSES = "no more processes or threads can be started: end some, or raise the limit (`ulimit -u`)"
_MEMORY = "not enough memory: free some, or raise the limit (`ulimit -v`)"
_OF_A_STUDY = ("pandas", "statsmodels", "patsy")
"""Packages that scripts/environment.py leaves out where a check is all there is."""
_BY_NUMBER = {
    errno.EMFILE: _FILES,
    errno.ENFILE: "too many files are open on this machine: close some",
    errno.EAGAIN: _PROCESSES,
    errno.ENOMEM: _MEMORY,
}
# how the dynamic linker says that a library found no memory
_UNMAPPED = re.compile("failed to map segment|cannot map zero-fill pages|cannot allocate memory", re.IGNORECASE)
# BLAS reserves memory for each processor when it is loaded, and hangs or exits with 1 where it gets none
_LEAST = 512 * 2**20
_LEAST_PER_PROCESSOR = 32 * 2**20


def lack_of(error: BaseException) -> str | None:
    """Say what was lacking when an error was raised; None: nothing that is known."""
    if isinstance(error, OSError):
        return _BY_NUMBER.get(error.errno or 0)
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, ModuleNotFoundError) and error.name in _OF_A_STUDY:
        return f"{error.name} is not installed; the action installs what a check needs: use an install of all packages"
    if isinstance(error, ImportError) and (_limits() or _UNMAPPED.search(str(error))):
        return _MEMORY
    # what threading raises has no type and no number of its own
    if type(error) is RuntimeError and "start new thread" in str(error):
        return _PROCESSES
    return None


def too_little_memory() -> str | None:
    """Say that the limit on memory is below what the numeric libraries need to be loaded; None: it is not."""
    least = _LEAST + _LEAST_PER_PROCESSOR * (os.cpu_count() or 1)
    for option, limit in _limits().items():
        if limit < least:
            return (
                f"the limit on memory (`ulimit {option}`) is {limit // 1024} KiB, and perfgate needs {least // 1024}: "
                "raise it"
            )
    return None


def _limits() -> dict[str, int]:
    """Return the limits on memory in bytes, by ulimit's option; those that there are."""
    try:
        import resource
    except ImportError:  # Windows
        return {}
    limits = {"-v": resource.getrlimit(resource.RLIMIT_AS)[0], "-d": resource.getrlimit(resource.RLIMIT_DATA)[0]}
    return {option: limit for option, limit in limits.items() if limit != resource.RLIM_INFINITY}
