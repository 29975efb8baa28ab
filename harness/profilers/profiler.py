"""The Profiler: which commands one fits, how it is put around them, and what it gives, within bounds.

Of native programs it is known whose functions a profiler sees without a language's own run time.
"""

import posixpath
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

from gate.config.types import Benchmark
from gate.formats.parts.output import OutputError
from gate.model.profile import DEEPEST, LONGEST, MOST_FRAMES, MOST_STACKS, Frame, Stack
from gate.walking import beginning
from gate.writing.plain import visible
from harness.instruments.protocol import SHELL, Context
from harness.process.execute import Command, find_program

Costs = Mapping[tuple[Frame, ...], float]
"""What was spent in the innermost function itself, by stack, the outermost function first."""

MOST_OUTPUT = 1 << 29
"""Bytes that are read of what a profiler wrote."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A benchmark on one side, to be profiled."""

    benchmark: Benchmark
    line: str
    """Of a suite: the benchmark's own name, as the tool gives it; "" where the benchmark is a single one."""
    seconds: float
    """What one iteration of it takes on the slower side, by the values measured."""
    once: float
    """What its command takes there when it is executed once, without what measures it."""
    directory: Path
    environment: Mapping[str, str]
    """Of its commands."""

    @property
    def words(self) -> tuple[str, ...]:
        """Return the command as words, of a string as a shell would split it."""
        command = self.benchmark.command
        if not isinstance(command, str):
            return tuple(command)
        try:
            return tuple(shlex.split(command))
        except ValueError:
            return tuple(command.split())

    @property
    def program(self) -> Path | None:
        """Return the file that the command starts, behind variables and `env`; None: it is not found."""
        for word in self.words:
            if word == "env" or re.match(r"\w+=", word):
                continue
            if "/" in word:
                return self.directory / word
            found = find_program(word, self.environment)
            return Path(found) if found else None
        return None

    def names(self, pattern: str) -> bool:
        """Return whether a word of the command, without its directory, is of a pattern."""
        words = [part for word in self.words for part in (word.split() if " " in word else [word])]
        return any(re.fullmatch(pattern, PurePath(word).name) for word in words)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much work is profiled on each side: so many executions with so many iterations."""

    executions: int
    seconds: float
    """What they take together, about."""
    iterations: int | None = None
    """None: as planned."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A profiler's tool on this host."""

    path: str
    """"" where none is needed."""
    version: str
    """With its name: "valgrind 3.22.0"."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A profiler's tool that cannot be used."""

    install: str
    """The command that installs it; "" where that would not help."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a profiler saw of all executions of one side."""

    costs: Costs
    unit: str
    operations: float | None = None
    approximate: bool = False
    calls: Mapping[Frame, float] | None = None
    """How often each function was called; None: it does not count."""


class Profiler:
    """Puts a profiler around a command, and reads what it wrote. A file of harness/profilers makes one: PROFILER."""

    name: str
    rank: int
    """Of those that fit, the one with the lowest is used."""
    nothing = "nothing was sampled"
    """Why that may be, in words."""

    def fits(self, subject: Workload) -> bool:
        """Return whether it sees the functions of a benchmark's program."""
        raise NotImplementedError

    def find(self, caller: Mapping[str, str]) -> Tool | Absent:  # noqa: ARG002  # of those that look
        """Look for its tool with the caller's environment; one that needs none is always there."""
        return Tool("", "")

    def effort(self, subject: Workload) -> Effort:
        """Return how much work is enough, the same for both sides."""
        raise NotImplementedError

    def wrap(self, found: Tool, subject: Workload, context: Context, command: Command) -> Command:
        """Put it around a command; it writes below context.scratch, and returns None of what the program prints."""
        raise NotImplementedError

    def afterwards(self, subject: Workload, context: Context, command: Command) -> Iterator[Command]:  # noqa: ARG002
        """Return what is run behind an execution, in the sandbox of its command, to read what it left.

        Raises: OutputError: that is not what it writes.
        """
        yield from ()

    def read(self, subject: Workload, context: Context) -> Costs:
        """Read what it wrote of one execution. Raises OutputError: it is not what it writes, or there is none."""
        raise NotImplementedError

    def sampled(self, subject: Workload, executions: list[Costs]) -> Sampled:  # noqa: ARG002  # of those that count
        """Make one profile of the executions of a side: their mean, stack by stack.

        Raises: OutputError: there is nothing in them.
        """
        if not any(executions):
            raise OutputError(self.nothing)
        found: dict[tuple[Frame, ...], float] = defaultdict(float)
        for costs in executions:
            for stack, cost in costs.items():
                found[stack] += cost / len(executions)
        return Sampled(found, "s")


def with_options(subject: Workload, command: Command, options: tuple[str, ...]) -> tuple[str, ...]:
    """Add options at the end of a command, within the shell's text where it has one."""
    if isinstance(subject.benchmark.command, str) and command.argv[:2] == SHELL:
        return (*SHELL, f"{command.argv[-1].rstrip()} {shlex.join(options)}")
    return (*command.argv, *options)


_Path = tuple[Frame, ...]
UNKNOWN = Frame("[unknown]")


def counted(frames: Sequence[Frame], calls: Mapping[Frame, float]) -> list[float]:
    """Return how often each of a profile's functions was called; one that nobody calls was once."""
    found: dict[Frame, float] = defaultdict(float)
    for frame, count in calls.items():
        found[_plain(frame)] += count
    return [found.get(frame, 1.0) for frame in frames]


def fold(costs: Costs) -> tuple[list[Frame], list[Stack]]:
    """Bound what a profiler gave: its frames, and stacks of their indices; the costs add up to the same total.

    The largest stacks stay. What is left of a function goes to its largest stack, of a function without one to its
    nearest caller that has one.

    Raises: OutputError: there is nothing.
    """
    shortened: dict[_Path, float] = defaultdict(float)
    for path, cost in costs.items():
        # in its middle, lest the innermost function lose what was spent there
        half = DEEPEST // 2
        ends = path if len(path) <= DEEPEST else (*path[:half], *path[half - DEEPEST :])
        if cost > 0:
            shortened[tuple(map(_plain, ends)) or (UNKNOWN,)] += cost
    if not shortened:
        raise OutputError("no function took any time")
    # as many of the largest as may stay and have few enough functions
    kept: dict[_Path, float] = {}
    frames: set[Frame] = set()
    for path, cost in sorted(shortened.items(), key=lambda item: -item[1])[:MOST_STACKS]:
        if len(frames.union(path)) <= MOST_FRAMES:
            frames.update(path)
            kept[path] = cost
    home: dict[Frame, _Path] = {}
    for path in kept:  # the largest first
        home.setdefault(path[-1], path)
    found = dict(kept)
    for path, cost in shortened.items():
        if path not in kept:
            place = next((home[frame] for frame in reversed(path) if frame in home), next(iter(kept)))
            found[place] += cost
    index: dict[Frame, int] = {}
    stacks = [Stack([index.setdefault(frame, len(index)) for frame in path], cost) for path, cost in found.items()]
    return list(index), stacks


def _plain(frame: Frame) -> Frame:
    function, file = visible(frame.function), visible(frame.file)
    if len(function) > LONGEST:
        # the name of a C++ method stands behind the template arguments of its class
        half = (LONGEST - 1) // 2
        function = f"{function[:half]}…{function[-half:]}"
    return Frame(function or UNKNOWN.function, file[-LONGEST:], frame.line)


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


def is_native(subject: Workload, *, go: bool) -> bool:
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
    """Names files relative to the directory of a project; a "/" before what lies elsewhere, such as in a library."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.of = lru_cache(maxsize=None)(self._of)

    def _of(self, path: str) -> str:
        path = posixpath.normpath(path) if path else ""
        if not path.startswith("/"):
            path = re.sub(r"^(?:\.\./)+", "", path)
            return path if not path or (self._directory / path).is_file() else f"/{path}"
        if path.startswith(f"{self._directory}/"):
            return path[len(str(self._directory)) + 1 :]
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
