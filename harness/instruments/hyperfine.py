"""The hyperfine instrument: one call of hyperfine times warm-up and measured process starts."""

import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from gate.config.types import Benchmark
from gate.formats import hyperfine
from gate.formats.parts.output import OutputError
from gate.model import Metric
from harness.instruments.declaration import Declared, FoundInstrument, ask
from harness.instruments.protocol import Context, Unusable, cannot_start, environment, failed, wanted_values, words
from harness.instruments.values import metrics, read_regular, refuse_other_count
from harness.process.execute import Command, ProcessEnd, find_own, find_program
from harness.process.process_groups import NOT_STARTED

OLDEST = (1, 14)
"""The first with both -N and --output."""
_MEMORY_BY_RUN = (1, 21)
_MAX_EXPORT = 1 << 30
# in the scratch directory, beside what {output} names
_RESULT = "result.json"


@dataclass(frozen=True, slots=True)
class Hyperfine:
    """Times a command by the hyperfine at an absolute path."""

    path: str
    version: tuple[int, ...]

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        """Return a call of hyperfine without a shell of its own."""
        argv = words(benchmark, context)
        runs = str(wanted_values(benchmark, context.iterations))
        # Warm-up runs are measured and dropped here, so that they are recorded. inherit: standard error reaches
        # perfgate, standard output is discarded by the executor; hyperfine would swallow both.
        options = ("-N", "--runs", runs, "--warmup", "0", "--style", "none", "--output", "inherit")
        export = ("--export-json", str(context.scratch / _RESULT))
        return Command(
            argv=(self.path, *options, *export, "--", shlex.join(argv)),
            directory=context.directory,
            environment=environment(context),
            timeout=benchmark.timeout,
        )

    def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> dict[str, Metric] | Unusable:
        """Read hyperfine's JSON, or the reason from its message."""
        if outcome.status:
            found = hyperfine.complaint(outcome.stderr) if outcome.code == 1 else None
            if found and found.missing:
                program = words(benchmark, context)[0]
                return cannot_start(FileNotFoundError(), program, context.directory, found.stderr)
            if found:
                return Unusable(found.status, found.stderr, not found.begun or found.code in NOT_STARTED)
            return failed("hyperfine", outcome)
        try:
            data = read_regular(context.scratch / _RESULT, _MAX_EXPORT)
            if data is None:
                raise OutputError("hyperfine wrote no result")
            series = hyperfine.runs(data, memory_by_run=self.version >= _MEMORY_BY_RUN)
            refuse_other_count(len(series["time"].values), wanted_values(benchmark, context.iterations), "hyperfine")
            shown = ".".join(map(str, self.version))
            return metrics(benchmark, series, f"hyperfine {shown} gives {', '.join(series)} for each run")
        except OutputError as error:
            return Unusable(str(error), outcome.stderr)


def find_hyperfine(caller: Mapping[str, str]) -> FoundInstrument | str:
    """Look for the hyperfine that came with perfgate, then on the caller's PATH; or say why none can be used."""
    path = find_own("hyperfine") or find_program("hyperfine", caller)
    if path is None:
        return "hyperfine is not installed"
    try:
        asked = ask((path, "--version"), caller)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the version of {path} cannot be read ({error})"
    version = hyperfine.version(asked.stdout.decode("utf-8", "replace"))
    if version is None:
        return f"{path} is not the benchmarking tool hyperfine"
    shown, oldest = (".".join(map(str, each)) for each in (version, OLDEST))
    return (
        FoundInstrument(Hyperfine(path, version), shown)
        if version >= OLDEST
        else f"hyperfine {shown} is older than {oldest}"
    )


INSTRUMENT = Declared(find_hyperfine, instead="spawn", any_command=True)
