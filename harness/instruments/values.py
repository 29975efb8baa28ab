"""What a benchmark wrote -> metrics; and the values instrument, whose program writes values to {output} or prints them.

Whatever a program wrote is read here alone: never through a link or a pipe, and never more than it may be.
"""

from __future__ import annotations

import errno
import math
import os
import re
import shlex
import stat
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib import import_module
from io import BufferedReader
from pathlib import Path, PurePath

from gate.config.commands import is_simple, mentions
from gate.config.rules import matches
from gate.config.types import Benchmark
from gate.formats import csv_column, values
from gate.formats.parts.output import EmptyError, Live, OutputError, Series
from gate.model import Metric
from gate.model.bounds import step_of
from gate.model.directions import told_or_known
from gate.walking import open_beneath
from gate.writing.units import plural
from harness.instruments.declaration import built_in
from harness.instruments.protocol import (
    OUTPUT,
    SHELL,
    Context,
    Unusable,
    at_least,
    environment,
    with_options,
    words,
)
from harness.process.execute import Command, ProcessEnd

_STDOUT = "stdout"
_PRINTED = "printed"
"""The format of programs that may be ended once they have printed what is wanted."""
_FEW = 3
"""Results that such a program prints at least before it is ended for its time."""
_MAX_CHATTER = 1 << 30
"""Bytes of standard output that is not read for numbers, beyond which a program is stopped."""


class Values:
    """Reads what a program writes: numbers, JSON lines, the column of a CSV file, or `format`."""

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        """Return the benchmark's command; standard output is kept: it has the numbers, or the reason of a failure."""
        output = context.scratch / OUTPUT
        added = {
            "PERFGATE_ITERATIONS": str(context.iterations),
            "PERFGATE_WARMUP": str(0 if benchmark.warmup == "auto" else benchmark.warmup),
            "PERFGATE_OUTPUT": str(output),
        }
        if "*" not in benchmark.include:
            added["PERFGATE_INCLUDE"] = "\n".join(benchmark.include)
        if benchmark.exclude:
            added["PERFGATE_EXCLUDE"] = "\n".join(benchmark.exclude)
        if benchmark.format == _PRINTED:
            # line by line, so that a program that has printed what is wanted can be seen to
            added |= {"PYTHONUNBUFFERED": "1", "PERFGATE_LINES": str(context.scratch / _STDOUT)}
        named = mentions(benchmark.command, "output")
        return Command(
            argv=_choosing(benchmark, words(benchmark, context)),
            directory=context.directory,
            environment=environment(context) | added,
            timeout=benchmark.timeout,
            stdout=context.scratch / _STDOUT,
            max_stdout=max(_MAX_CHATTER, benchmark.max_output.value) if named else benchmark.max_output.value,
        )

    def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> dict[str, Metric] | Unusable:
        """Read {output}, else PERFGATE_OUTPUT, else standard output."""
        # without {output} it is the numbers: they tell something only of a program that failed without a word
        named = mentions(benchmark.command, "output")
        shown = named or (outcome.status and not outcome.stderr.strip())
        told = both_outputs(tail(context.scratch / _STDOUT) if shown else "", outcome.stderr)
        if outcome.status:
            return Unusable(outcome.status, told, outcome.unstarted)
        try:
            limit, scratch = benchmark.max_output.value, context.scratch
            data = read_values(scratch / OUTPUT, limit)
            if named and data is None:
                raise OutputError("no values: the program did not write {output}")
            if not named and not data:
                data = read_values(scratch / _STDOUT, limit)
            found = _parsed(benchmark, data or b"")
            # a view goes with what it is of
            wanted = {name for name, each in found.items() if taken(benchmark, each.view_of or name)}
            return metrics(benchmark, {name: each for name, each in found.items() if name in wanted}, "")
        except OutputError as error:
            return Unusable(str(error), told, empty=isinstance(error, EmptyError))


def _choosing(benchmark: Benchmark, argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return what to exec so that the tool does at least what include names, and takes the time of that alone.

    divan takes a pattern. libtest takes names, and bencher, which prints the same, takes one: of several each has a
    start of its own. Both look for a text within a name, which is what is certain of a glob.
    """
    globs = benchmark.include
    if "*" in globs or benchmark.format not in ("divan", "libtest"):
        return argv
    if benchmark.format == "divan":
        return with_options(benchmark, argv, [f"^[^:]+::{at_least(globs)}($|::)"])
    own = list(argv) if isinstance(benchmark.command, list) else argv[-1].split()
    dash = ["--"] if any(PurePath(word).name == "cargo" for word in own) and "--" not in own else []
    wild = [glob for glob in globs if re.search(r"[*?[]", glob)]
    if len(globs) == 1:
        text = max(re.split(r"\[.*|[*?]", globs[0]), key=len)
        # the name first: to bencher all else would be one, too
        return with_options(benchmark, argv, [*dash, text, *(() if wild else ("--exact",))]) if text else argv
    if wild or (isinstance(benchmark.command, str) and not is_simple(benchmark.command)):
        return argv
    one = argv[-1].rstrip() if isinstance(benchmark.command, str) else shlex.join(argv)
    each = " ".join(["(" + one, *dash, '"$each" --exact)'])
    return (*SHELL, f"for each in {shlex.join(globs)}; do {each} || exit; done")


class Enough:
    """Knows when a program whose format is "printed" has printed all that is wanted, and may be ended.

    That is each name of `include`; or after some seconds a few results, and after twice as many any. Others run to
    their end.
    """

    def __init__(self, benchmark: Benchmark, context: Context, seconds: float = math.inf) -> None:
        """Begin as the program is started; seconds: from then on what it has printed is enough."""
        self._benchmark = benchmark
        self.output = context.scratch / _STDOUT if benchmark.format == _PRINTED else None
        """What must take its standard output; None: nothing."""
        # what is named is waited for
        seconds = seconds if benchmark.include == ["*"] else math.inf
        self._seconds = seconds
        self._globs = any(re.search(r"[*?[]", glob) for glob in benchmark.include)
        self._end = time.perf_counter() + seconds
        self._read = 0
        self._names: set[str] = set()
        self.cut = False
        """It was ended for the time that it took."""

    def __call__(self) -> bool:
        """Return whether it may be ended."""
        if self.output is None or (self._globs and self._seconds == math.inf):
            return False
        with suppress(OSError, OutputError):
            # a program that prints other things, too, is not read again where it did not print more
            if (size := self.output.lstat().st_size) > self._read:
                self._read = size
                data = read_values(self.output, self._benchmark.max_output.value)
                found = _parsed(self._benchmark, data or b"").items()
                self._names = {name for name, each in found if not each.view_of and taken(self._benchmark, name)}
        whole = all(glob in self._names for glob in self._benchmark.include)
        # the first one may be a mere comparison
        least = _FEW if time.perf_counter() < self._end + self._seconds else 1
        self.cut = not whole and len(self._names) >= least and time.perf_counter() >= self._end
        return whole or self.cut


def _parsed(benchmark: Benchmark, data: bytes) -> dict[str, Series]:
    units = {name: rules.unit for name, rules in benchmark.metric.items()}
    if benchmark.format is not None:
        # parsing the config has found it among gate.cli.command.value_formats
        read: Live = import_module(f"gate.formats.{benchmark.format}").LIVE
        return read(data, units)
    if (told := benchmark.columns) is not None:
        return csv_column.parse(data, told.value, units, success=told.success, unit=told.unit, metric=told.metric)
    return values.parse(data, units)


def so_far(benchmark: Benchmark, context: Context) -> dict[str, Metric]:
    """Return the metrics of the whole lines that a program has written that was ended; empty: there are none.

    Those of what each case prints when it ends are the cases that ended.
    """
    scratch, limit = context.scratch, benchmark.max_output.value
    for path in (scratch / OUTPUT,) if mentions(benchmark.command, "output") else (scratch / OUTPUT, scratch / _STDOUT):
        try:
            whole = (read_values(path, limit) or b"").rpartition(b"\n")[0]
            if whole:
                found = _parsed(benchmark, whole + b"\n")
                wanted = {name: each for name, each in found.items() if taken(benchmark, each.view_of or name)}
                return metrics(benchmark, wanted, "")
        except OutputError:
            continue
    return {}


# --- what was written -> metrics ---


def metrics(benchmark: Benchmark, series: Mapping[str, Series], missing: str) -> dict[str, Metric]:
    """Make metrics of series, and refuse those that are not complete.

    missing: why a declared metric may be missing, for the message; may be empty.

    Raises: OutputError: nothing is left of a metric, or a declared one is not there.
    """
    if not series:
        raise OutputError("no values")
    refuse_absent(benchmark, series, missing)
    return without_warmup(benchmark, series)


def refuse_absent(benchmark: Benchmark, present: Collection[str], missing: str = "") -> None:
    """Refuse output without a metric that is declared.

    Raises: OutputError: naming the declared metrics that are not there.
    """
    absent = [name for name in benchmark.metric if name not in present]
    if absent:
        raise OutputError(f"no values of {', '.join(map(repr, absent))}{missing and f' ({missing})'}")


def without_warmup(benchmark: Benchmark, series: Mapping[str, Series]) -> dict[str, Metric]:
    """Make metrics of series: the first `warmup` values are dropped, or those before the steady state.

    Raises: OutputError: nothing is left of a metric.
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


def taken(benchmark: Benchmark, name: str) -> bool:
    """Return whether what has this name is measured, by include and exclude."""
    included = any(matches(glob, name) for glob in benchmark.include)
    return included and not any(matches(glob, name) for glob in benchmark.exclude)


def refuse_other_count(found: int, wanted: int, tool: str) -> None:
    """Refuse the result of a tool that gives as many values as it is asked for, and gave another number.

    Raises: OutputError: naming both numbers.
    """
    if found != wanted:
        raise OutputError(f"{tool} gave {found} of {wanted} values: its result is cut off")


def read_regular(path: Path, limit: float) -> bytes | None:
    """Read a file that a benchmark made; None when there is none.

    Raises: OutputError: it is a link, no regular file, or longer than the limit in bytes.
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

    Raises: OutputError: also where there are more lines or items than values that a run may have.
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


INSTRUMENT = built_in(Values())
