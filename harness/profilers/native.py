"""Native programs: whose functions a profiler sees without knowing a language's own run time."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from harness.profilers.profiler import Subject

_RUNTIMES = (
    r"java|mvnw?|gradlew?|sbt|scala|kotlin|node|nodejs|npm|npx|yarn|pnpm|deno|bun|ruby|perl|php|lua(?:jit)?|julia|"
    r"dotnet|Rscript|go|cargo|bazel|python[\d.]*t?|pypy[\d.]*"
)
_ELF = b"\x7fELF"
_GO = b"\xff Go buildinf:"
_SCRIPT = b"#!"


# what compilers and linkers make of a function's name: a clone, a level of recursion, a version
_CLONE = re.compile(r"(?:\.(?:constprop|isra|part|cold|lto_priv|llvm)(?:\.\d+)?)+$|'\d+$|@@?[A-Z]\w*[\d.]*$")


def plain_name(name: str) -> str:
    """Return a function's name as its source has it: both sides need not have the same clones of it."""
    while (shorter := _CLONE.sub("", name)) != name:
        name = shorter
    return name


def is_native(subject: Subject, *, go: bool) -> bool:
    """Return whether a command starts a native program, of a suite one of Google Benchmark; go: one of Go's counts."""
    benchmark = subject.benchmark
    if benchmark.measured.suite:
        return benchmark.instrument == "google-benchmark"
    if subject.names(_RUNTIMES):
        return False
    program = subject.program
    if program is None or not program.is_file():
        # such as a shell's own word, behind which a program comes
        return True
    head = _head(program)
    if head.startswith(_SCRIPT):
        return b"sh" in head.split(b"\n", 1)[0]
    return go or not is_go(program)


def _head(program: Path) -> bytes:
    with suppress(OSError), program.open("rb") as file:
        return file.read(256)
    return b""


@lru_cache
def is_go(program: Path) -> bool:
    """Return whether a program was compiled by Go."""
    with suppress(OSError), program.open("rb") as file:
        return file.read(4) == _ELF and _GO in file.read(1 << 26)
    return False
