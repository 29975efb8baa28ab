"""The Instrument protocol, and the command lines that instruments share; values.py reads what came of them."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gate.config.commands import filled, is_simple
from gate.config.types import Benchmark
from gate.model import Metric, Side
from harness.process.execute import PADDING, Command, ProcessEnd, start_error
from harness.sandbox.sandbox import Confinement

SHELL = ("sh", "-c")


@dataclass(frozen=True, slots=True)
class Context:
    """Where and how one execution happens.

    directory: of its side. environment: of its side and treatment, without what the instrument adds. scratch: an empty
    directory for this execution alone. port: a free one, for {port}; 0 where the benchmark has no use for one.
    treatment: tells treatments apart; "" where there are none. apart: an empty directory for what perfgate's own
    programs tell, where the command cannot write; None: there is none but scratch. confined: its sandbox.
    slowdown: in a drill, the share of work that is added (0.1: 10% more time).
    """

    directory: Path
    environment: Mapping[str, str]
    side: Side
    seed: int
    padding: int
    iterations: int
    scratch: Path
    port: int = 0
    treatment: str = ""
    apart: Path | None = None
    confined: Confinement | None = None
    slowdown: float = 0.0

    @property
    def told(self) -> Path:
        """Where perfgate's own programs tell what they measured."""
        return self.apart or self.scratch


@dataclass(frozen=True, slots=True)
class Unusable:
    """An execution that gave no usable values: why, in one line, and what the program said.

    unstarted: because a program could not be started. empty: because its tool found no benchmark.
    """

    status: str
    stderr: str
    unstarted: bool = False
    empty: bool = False


def cannot_start(error: OSError, program: str, directory: Path, stderr: str) -> Unusable:
    """Return what to say of a benchmark whose program could not be started in a directory."""
    # its launcher has been there, which may be a place that only its mount namespace has
    here = next(each for each in (directory, *directory.parents) if each.is_dir())
    return Unusable(f"cannot start: {start_error(error, program, here)}", stderr, unstarted=True)


def failed(tool: str, outcome: ProcessEnd) -> Unusable:
    """Return why a tool gave nothing: its exit is its own, while a time-out or a signal is nobody's word but ours."""
    status = outcome.status if outcome.code is None else f"{tool}: {outcome.status}"
    return Unusable(status, outcome.stderr, outcome.unstarted)


@dataclass(frozen=True, slots=True)
class Collected:
    """What came out of one execution of a suite.

    benchmarks: the metrics of each benchmark that it names. failures: those without usable values, and why.
    """

    benchmarks: dict[str, dict[str, Metric]]
    failures: dict[str, Unusable]


class Instrument(Protocol):
    """Makes the command of one execution, and reads the values that came out of it."""

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        """Return the process to start."""
        ...

    def collect(
        self, benchmark: Benchmark, context: Context, outcome: ProcessEnd
    ) -> dict[str, Metric] | Collected | Unusable:
        """Return the metrics by name, of a suite the benchmarks by name, or why there are none."""
        ...


def arguments(command: str | list[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return what to exec: a list as it is, a string through sh -c; only {name} of values are replaced, literally.

    In a string a value is quoted for the shell.
    """
    words = filled(command, values)
    return (*SHELL, words) if isinstance(words, str) else tuple(words)


OUTPUT = "output"
"""In the scratch directory: what {output} names."""


def placeholders(context: Context) -> dict[str, str]:
    """Return what {seed}, {output} and {port} stand for in an execution's command."""
    return {"seed": str(context.seed), "output": str(context.scratch / OUTPUT), "port": str(context.port)}


def words(benchmark: Benchmark, context: Context) -> tuple[str, ...]:
    """Return what to exec for a benchmark's command in an execution.

    A shell that starts one program becomes it. Some do by themselves; dash forks, and would be the task that is timed.
    """
    argv = arguments(benchmark.command, placeholders(context))
    if isinstance(benchmark.command, str) and is_simple(benchmark.command) and not benchmark.measured.suite:
        return (*SHELL, f"exec {argv[-1].lstrip()}")
    return argv


def around(benchmark: Benchmark, context: Context) -> tuple[tuple[str, ...], ...]:
    """Return what to exec before and after each start of a command; empty: nothing."""
    both = (benchmark.prepare, benchmark.cleanup)
    return tuple(() if each is None else arguments(each, placeholders(context)) for each in both)


def whole(benchmark: Benchmark, context: Context) -> tuple[str, ...]:
    """Return what to exec for one start with what stands before and after it, whose output is none of the command's."""
    argv = words(benchmark, context)
    before, after = (shlex.join(each) or ":" for each in around(benchmark, context))
    if before == after == ":":
        return argv
    return (*SHELL, f"{before} >&2 && {shlex.join(argv)}; code=$?; {after} >&2; exit $code")


def environment(context: Context) -> dict[str, str]:
    """Return the environment of an execution: of its side, with PERFGATE_SIDE, _SEED and _PORT, and the padding."""
    return {
        **context.environment,
        "PERFGATE_SIDE": context.side,
        "PERFGATE_SEED": str(context.seed),
        **({"PERFGATE_PORT": str(context.port)} if context.port else {}),
        PADDING: "x" * context.padding,
    }


def wanted_values(benchmark: Benchmark, iterations: int) -> int:
    """Count the values that one execution is asked for: the measured ones and the warm-up."""
    return iterations + (benchmark.warmup if benchmark.warmup != "auto" else 0)


def with_options(benchmark: Benchmark, argv: tuple[str, ...], options: Sequence[str]) -> tuple[str, ...]:
    """Return what to exec for a benchmark's command with options at its end."""
    if isinstance(benchmark.command, str):
        # behind a last newline they would be a command of their own
        return (*SHELL, f"{argv[-1].rstrip()} {shlex.join(options)}")
    return (*argv, *options)


_PARTS = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)
"""Of a glob: what stands in brackets, which is one of these characters or itself, and characters."""


def at_least(globs: Iterable[str]) -> str:
    """Return a regular expression, without its ends, for at least the names that globs mean; "a[1]" may be a name."""
    wild = {"*": ".*", "?": "."}

    def written(match: re.Match[str]) -> str:
        # not re.escape: not every tool takes a backslash before a space
        char = match[0]
        return ".+" if len(char) > 1 else wild.get(char) or (f"\\{char}" if char in r".^$+{}\|()[]" else char)

    return f"({'|'.join(_PARTS.sub(written, glob) for glob in globs)})"
