"""Native programs: whose functions a profiler sees without knowing a language's own run time."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from pathlib import Path

from gate.walking import beginning
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
    first = beginning(program, 256).split(b"\n", 1)[0]
    if first.startswith(_SCRIPT):
        return b"sh" in first
    return go or not is_go(program)


@lru_cache
def is_go(program: Path) -> bool:
    """Return whether a program was compiled by Go."""
    return beginning(program, len(_ELF)) == _ELF and _GO in beginning(program, 1 << 26)


# what stands behind it says enough of a library: of Python, Go's modules, Go itself, Rust's crates
_LIBRARY = re.compile(
    r".*/(?:(?:site|dist)-packages|lib(?:64)?/python[\d.]+t?|pkg/mod|go[\d.]*/src|registry/src/[^/]+|rustc/[0-9a-f]+)/"
)


class Places:
    """Names files relative to the directory of a project; a "/" before what lies elsewhere, such as in a library.

    root: of its tree. directory: of the project in it.
    """

    def __init__(self, directory: Path, root: Path | None = None) -> None:
        self._roots = [str(each) for each in (directory, root) if each is not None]
        self._directory = directory
        self.of = lru_cache(maxsize=None)(self._of)

    def _of(self, path: str) -> str:
        path = posixpath.normpath(path) if path else ""
        if not path.startswith("/"):
            path = re.sub(r"^(?:\.\./)+", "", path)
            return path if not path or any((Path(root) / path).is_file() for root in self._roots) else f"/{path}"
        for root in self._roots:
            if path.startswith(f"{root}/"):
                return path[len(root) + 1 :]
        library = _LIBRARY.match(path)
        if library is not None:
            return f"/{path[library.end() :]}"
        # compiled where the tree stood then
        parts = path.split("/")[1:]
        for start in range(1, len(parts)):
            rest = "/".join(parts[start:])
            if (self._directory / rest).is_file():
                return rest
        return f"/{'/'.join(parts[-2:])}"
