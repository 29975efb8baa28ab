"""The Instrument protocol, and what instruments share: command lines, and metrics from series of values."""

from __future__ import annotations

import errno
import math
import os
import shlex
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from gate.config.commands import filled, is_simple
from gate.config.types import Benchmark
from gate.directions import told_or_known
from gate.formats.parts.output import OutputError, Series
from gate.model import Metric, Side
from gate.model.digits import step_of
from gate.units import plural
from gate.walking import open_beneath
from harness.process.execute import PADDING, Command, Outcome, start_error
from harness.sandbox.sandbox import Confinement

SHELL = ("sh", "-c")


@dataclass(frozen=True, slots=True)
class Context:
    """Where and how one execution happens.

    directory: of its side. environment: of its side and treatment, without what the instrument adds. scratch: an empty
    directory for this execution alone. port: a free one, for {port}; 0 where the benchmark has no use for one.
    treatment: tells treatments apart; "" where there are none. apart: an empty directory for what perfgate's own
    programs tell, where the command cannot write; None: there is none but scratch. confined: its sandbox. longer: the
    share by which it is made to take longer, in a drill.
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
    longer: float = 0.0

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


def failed(tool: str, outcome: Outcome) -> Unusable:
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
        self, benchmark: Benchmark, context: Context, outcome: Outcome
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


def refuse_other_count(found: int, wanted: int, tool: str) -> None:
    """Refuse the result of a tool that gives as many values as it is asked for, and gave another number.

    Raises:
        OutputError: naming both numbers.
    """
    if found != wanted:
        raise OutputError(f"{tool} gave {found} of {wanted} values: its result is cut off")


def metrics(benchmark: Benchmark, series: Mapping[str, Series], missing: str) -> dict[str, Metric]:
    """Make metrics of series, and refuse those that are not complete.

    missing: why a declared metric may be missing, for the message; may be empty.

    Raises:
        OutputError: nothing is left of a metric, or a declared one is not there.
    """
    if not series:
        raise OutputError("no values")
    refuse_absent(benchmark, series, missing)
    return without_warmup(benchmark, series)


def refuse_absent(benchmark: Benchmark, present: Collection[str], missing: str = "") -> None:
    """Refuse output without a metric that is declared.

    Raises:
        OutputError: naming the declared metrics that are not there.
    """
    absent = [name for name in benchmark.metric if name not in present]
    if absent:
        raise OutputError(f"no values of {', '.join(map(repr, absent))}{missing and f' ({missing})'}")


def without_warmup(benchmark: Benchmark, series: Mapping[str, Series]) -> dict[str, Metric]:
    """Make metrics of series: the first `warmup` values are dropped, or those before the steady state.

    Raises:
        OutputError: nothing is left of a metric.
    """
    return {name: _metric(benchmark, name, each) for name, each in series.items()}


def _metric(benchmark: Benchmark, name: str, series: Series) -> Metric:
    rules = benchmark.metric.get(name)
    better = (rules.better if rules else None) or told_or_known(series.better, name, series.unit)
    steady = None
    if series.whole:
        warmup = 0
    elif benchmark.warmup == "auto":
        # late: it needs numpy, which nothing else here does
        from harness.instruments.steady import steady_from

        found = steady_from(series.values)
        steady, warmup = found is not None, found or 0
    else:
        warmup = benchmark.warmup
    if len(series.values) <= warmup:
        raise OutputError(f"{plural(len(series.values), 'value')} of {name!r}, and warmup takes {warmup}")
    kept, dropped = series.values[warmup:], series.values[:warmup]
    step = step_of(kept)
    if step is None:
        step = series.step
    else:
        kept, dropped = ([float(value) for value in part] for part in (kept, dropped))
    return Metric(
        unit=series.unit, better=better, values=kept, dropped=dropped, step=step, steady=steady,
        view_of=series.view_of, sharp=series.sharp,
    )  # fmt: skip


def read_regular(path: Path, limit: float) -> bytes | None:
    """Read a file that a benchmark made; None when there is none.

    Raises:
        OutputError: it is a link, no regular file, or longer than the limit in bytes.
    """
    opened = regular(path, limit)
    if opened is None:
        return None
    with opened as file:
        # one more, should it have grown; not up to the limit, which would be reserved at once
        data = file.read(os.fstat(file.fileno()).st_size + 1)
    if len(data) > limit:
        raise _too_long(limit)
    return data


MOST_VALUES = 10_000_000
"""Of a run: each of them is kept and compared."""
TOO_MANY = f"more than {MOST_VALUES:,} values in one run: have the program print fewer, such as one for each thousand"


def read_values(path: Path, limit: float) -> bytes | None:
    """Read a file of values that a benchmark made, as read_regular does.

    Raises:
        OutputError: also where there are more lines or items than values that a run may have.
    """
    data = read_regular(path, limit)
    if data is not None and max(data.count(b"\n"), data.count(b",")) > MOST_VALUES:
        raise OutputError(TOO_MANY)
    return data


def regular(path: Path, limit: float, root: Path | None = None) -> BufferedReader | None:
    """Open a file that a benchmark made; None when there is none.

    Args:
        path: what is behind it.
        limit: of its length.
        root: the directory that it is in, through no link out of it; None: its own.

    Raises:
        OutputError: it is a link, no regular file, or longer than the limit in bytes.
    """
    try:
        if path.is_symlink():
            raise OutputError("the output is a link, not a file")
        above = root or path.parent
        fd = open_beneath(above, os.path.relpath(path, above))
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise OutputError("the output lies outside the project, by way of a link") from None
        if error.errno == errno.EINVAL:
            raise OutputError("the output is not a regular file") from None
        raise OutputError(f"the output cannot be read: {(error.strerror or str(error)).lower()}") from None
    found = os.fstat(fd)
    if stat.S_ISREG(found.st_mode) and found.st_size <= limit:
        return os.fdopen(fd, "rb")
    os.close(fd)
    raise _too_long(limit) if stat.S_ISREG(found.st_mode) else OutputError("the output is not a regular file")


def _too_long(limit: float) -> OutputError:
    return OutputError(f"the output is longer than max_output ({limit:.0f} bytes)")


TAIL = 16 * 1024
"""Bytes of standard output that are kept of what failed."""


def tail(path: Path) -> str:
    """Return the end of what a program wrote into a file, "" where there is none."""
    try:
        # a link or a pipe is the program's, and not what it wrote
        opened = regular(path, math.inf)
        if opened is None:
            return ""
        with opened as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            return file.read().decode("utf-8", "replace").strip("\n")
    except (OSError, OutputError):
        return ""


def both_outputs(stdout: str, stderr: str) -> str:
    """Join what a program wrote, standard error last: the end is what a report shows, and there stands what went wrong.

    Where standard error is empty, standard output tells: test runners write there.
    """
    if not stdout or not stderr.strip():
        return stderr if stderr.strip() else stdout
    return f"--- standard output ---\n{stdout}\n--- standard error ---\n{stderr}"
