"""What this process may not have enough of: memory, files, processes; said in a line that names the limit."""

from __future__ import annotations

import errno
import os

_FILES = "too many open files: raise the limit (`ulimit -n`)"
_PROCESSES = "no more processes or threads can be started: end some, or raise the limit (`ulimit -u`)"
_MEMORY = "not enough memory: free some, or raise the limit (`ulimit -v`)"
_BY_NUMBER = {
    errno.EMFILE: _FILES,
    errno.ENFILE: "too many files are open on this machine: close some",
    errno.EAGAIN: _PROCESSES,
    errno.ENOMEM: _MEMORY,
}
# BLAS reserves memory for each processor when it is loaded, and hangs or exits with 1 where it gets none
_LEAST = 512 * 2**20
_LEAST_PER_PROCESSOR = 32 * 2**20


def lack_of(error: BaseException) -> str | None:
    """Say what was lacking when an error was raised; None: nothing that is known."""
    if isinstance(error, OSError):
        return _BY_NUMBER.get(error.errno or 0)
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, ImportError) and _address_space() is not None:
        return _MEMORY
    # what threading raises has no type and no number of its own
    if type(error) is RuntimeError and "start new thread" in str(error):
        return _PROCESSES
    return None


def too_little_memory() -> str | None:
    """Say that the limit on memory is below what the numeric libraries need to be loaded; None: it is not."""
    limit = _address_space()
    least = _LEAST + _LEAST_PER_PROCESSOR * (os.cpu_count() or 1)
    if limit is None or limit >= least:
        return None
    return f"the limit on memory (`ulimit -v`) is {limit // 1024} KiB, and perfgate needs {least // 1024}: raise it"


def _address_space() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit
