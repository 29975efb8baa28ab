"""The values instrument: the program measures and writes its values to {output} or standard output."""

from __future__ import annotations

from importlib import import_module

from gate.config.commands import mentions
from gate.config.types import Benchmark
from gate.formats import csv_column, values
from gate.formats.parts.output import EmptyError, Live, OutputError, Series
from gate.model import Metric
from harness.instruments.declaration import built_in
from harness.instruments.protocol import (
    OUTPUT,
    Context,
    Unusable,
    both_outputs,
    environment,
    metrics,
    read_values,
    tail,
    words,
)
from harness.instruments.suite import at_least, taken, with_options
from harness.process.execute import Command, Outcome

_STDOUT = "stdout"
_ONLY = {"divan": "^[^:]+::{}($|::)"}
"""Of formats, the argument with which what writes them does only what a pattern names: it takes the time of that."""
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
        named = mentions(benchmark.command, "output")
        argv = words(benchmark, context)
        if "*" not in benchmark.include and benchmark.format in _ONLY:
            argv = with_options(benchmark, argv, [_ONLY[benchmark.format].format(at_least(benchmark.include))])
        return Command(
            argv=argv,
            directory=context.directory,
            environment=environment(context) | added,
            timeout=benchmark.timeout,
            stdout=context.scratch / _STDOUT,
            max_stdout=max(_MAX_CHATTER, benchmark.max_output.value) if named else benchmark.max_output.value,
        )

    def collect(self, benchmark: Benchmark, context: Context, outcome: Outcome) -> dict[str, Metric] | Unusable:
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


def _parsed(benchmark: Benchmark, data: bytes) -> dict[str, Series]:
    units = {name: rules.unit for name, rules in benchmark.metric.items()}
    if benchmark.format is not None:
        # parsing the config has found it among gate.cli.listing.value_formats
        read: Live = import_module(f"gate.formats.{benchmark.format}").LIVE
        return read(data, units)
    if (columns := benchmark.columns) is not None:
        return csv_column.parse(data, columns, units)
    return values.parse(data, units)


INSTRUMENT = built_in(Values())
