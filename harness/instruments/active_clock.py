"""A clock for programs that measure themselves: it stands still while they wait for a processor (active_clock.c)."""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gate.formats.parts.output import OutputError
from harness.instruments.values import read_regular

_SOURCE = Path(__file__).with_suffix(".c")
_LIBRARY = "active_clock.so"
_PRELOAD = "LD_PRELOAD"
_TOLD = "PERFGATE_CLOCK"
WORKER = "PERFGATE_WORKER"
"""Says that it is not the first thread that measures, but the one that JMH makes for it."""
LINES = "PERFGATE_LINES"
"""Names the file into which what is printed goes line by line."""
_FILE = "clock"
"""In the scratch directory of an execution: for how long the clocks of its processes stood still."""
_LONGEST = 1 << 16
"""Bytes of it; more is not what the clocks wrote."""
_SECONDS = 60


def build(directory: Path, environment: Mapping[str, str]) -> None:
    """Put it into a directory if programs of this machine take it and the kernel counts waits; compiled once for all.

    environment: of the caller. Raises: OSError: the directory cannot be written.
    """
    library = directory / _LIBRARY
    # what separates libraries there
    if sys.platform != "linux" or re.search(r"[\s:]", str(library)):
        return
    digest = hashlib.sha256(_SOURCE.read_bytes() + platform.machine().encode()).hexdigest()[:16]
    cache = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME") or "", ".cache")  # noqa: PTH118
    kept = Path(cache, "perfgate", f"active-clock-{digest}.so")
    if kept.is_absolute() and kept.is_file():
        with suppress(OSError):
            shutil.copyfile(kept, library)
        # a home may be shared by machines with other C libraries, and its disk may have been full
        if _works(library, environment):
            return
    if not _compiled(library, environment) or not kept.is_absolute():
        return
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        # other runs do the same
        new = kept.with_name(f".{kept.name}-{os.getpid()}")
        shutil.copyfile(library, new)
        new.replace(kept)


def _compiled(library: Path, environment: Mapping[str, str]) -> bool:
    """Compile it, and return whether it works."""
    path = environment.get("PATH", os.defpath)
    compiler = next(filter(None, (shutil.which(name, path=path) for name in ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return False
    # without the C library by name, and what only one of them has: a program that has another one finds the functions
    # in its own; before glibc 2.34 not every program has dlsym, and atomic operations of ARM are functions of libgcc
    plain = ("-O2", "-U_FORTIFY_SOURCE", "-fno-stack-protector", "-shared", "-fPIC", "-nodefaultlibs", "-Wl,-z,now")
    options = (*plain, "-o", str(library), str(_SOURCE), "-ldl", "-lgcc")
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run([compiler, *options], capture_output=True, timeout=_SECONDS, env=environment)
    return _works(library, environment)


def _works(library: Path, environment: Mapping[str, str]) -> bool:
    """Return whether a program that was given it told something, and nothing else; if not, it is removed."""
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        own, said = _variables(library, Path(scratch), {}), b""
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(["true"], capture_output=True, timeout=_SECONDS, env={**environment, **own})
            said = done.stderr
        works = stood_still(Path(scratch)) is not None and not said
    if not works:
        library.unlink(missing_ok=True)
    return works


def variables(directory: Path | None, scratch: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what is to be set for an execution, whose environment is given otherwise; nothing: there is no clock."""
    if directory is None or not (directory / _LIBRARY).is_file():
        return {}
    return _variables(directory / _LIBRARY, scratch, environment)


def _variables(library: Path, scratch: Path, environment: Mapping[str, str]) -> dict[str, str]:
    before = environment.get(_PRELOAD)
    return {_PRELOAD: f"{library}{f':{before}' if before else ''}", _TOLD: str(scratch / _FILE)}


def without(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what `variables` sets."""
    result = {name: value for name, value in environment.items() if name not in (_TOLD, WORKER)}
    if _TOLD in environment:
        _, _, rest = result.pop(_PRELOAD, "").partition(":")
        result |= {_PRELOAD: rest} if rest else {}
    return result


def silent(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with the system's clock; what is to print line by line, to be ended early, still does."""
    result = {name: value for name, value in environment.items() if name != _TOLD}
    return result if LINES in environment else without(environment)


def stood_still(scratch: Path) -> float | None:
    """Return for how many seconds the clock of an execution stood still, of its processes the longest; None: no clock.

    Its programs could have written anything there.
    """
    try:
        told = [int(line) * 1e-9 for line in (read_regular(scratch / _FILE, _LONGEST) or b"").split()]
    except (OutputError, ValueError, OverflowError):
        return None
    return max(0.0, *told) if told else None
