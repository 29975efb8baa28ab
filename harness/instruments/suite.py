"""Instruments whose one command runs a suite: its tool's own options, its own output, many benchmarks."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gate.config.commands import mentions
from gate.config.types import Benchmark
from gate.formats.parts.live import suite
from gate.formats.parts.output import EmptyError, OutputError, Suite
from gate.formats.parts.result import Adapter
from gate.writing.plain import visible
from harness.instruments.protocol import (
    OUTPUT,
    Collected,
    Context,
    Unusable,
    environment,
    wanted_values,
    with_options,
    words,
)
from harness.instruments.values import both_outputs, read_values, refuse_absent, tail, taken, without_warmup
from harness.process.execute import Command, ProcessEnd

STDOUT = "stdout"
_MAX_CHATTER = 1 << 30
_SHOWN = 120
"""Characters of a reason."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a suite's tool."""

    words: tuple[str, ...]
    """The user's command as words, of a string as a shell would split it; to be looked at, not to be executed."""
    values: int
    """How many values of each benchmark are wanted, the warm-up included."""
    output: Path
    """The path that {output} stands for, in an empty directory."""
    stdout: Path
    """The file that holds standard output, once the tool has ended."""
    limit: float
    """Bytes that are read at most."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The environment that it gets, but for those that the tool adds."""
    stderr: str = ""
    """The end of standard error, then."""
    include: Sequence[str] = ("*",)
    """Globs of what is wanted of its benchmarks."""


class SuiteInstrument:
    """Runs a suite's command with the options of its tool, unless the command holds {output}, and reads its output.

    A tool says which options make it write what is read, and how that is read; the rest where it has something to say.
    """

    tool: Adapter
    """Reads the file {output}, where it is one."""
    nothing: str
    """What to say where there is none."""
    reason = re.compile(r"(?!)")
    """What a line of its output that tells why it failed looks like."""

    def options(self, call: Call) -> tuple[str, ...]:
        """Return what is added at the end of the user's command."""
        raise NotImplementedError

    def read(self, call: Call) -> Suite:
        """Read what the tool wrote. Raises: OutputError: it gives no usable values."""
        data = read_values(call.output, call.limit)
        if not data:
            raise EmptyError(self.nothing)
        return suite(self.tool, data)

    def only(self, call: Call, globs: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002
        """Return the options that choose what globs name: it takes the time of what is chosen. None: it has none."""
        return ()

    def environment(self, call: Call) -> dict[str, str]:  # noqa: ARG002
        """Return the variables that are set for the tool."""
        return {}

    def rest(self, call: Call) -> Suite:
        """Read what did not fail where the tool ended with an error.

        Raises: OutputError: as of `read`; also where it does not tell that from what failed.
        """
        raise OutputError(f"{call.words} failed")

    def found_none(self, outcome: ProcessEnd, said: str) -> bool:  # noqa: ARG002
        """Return whether it ended with an error because it found no benchmark."""
        return False

    def explain(self, outcome: ProcessEnd, said: str) -> str:
        """Put a failed exit into words that say more; its status as it is where there is nothing to add."""
        found = self.reason.search(said)
        why = " ".join(next(filter(None, (*found.groups(), found[0]))).split()) if found else ""
        return f"{outcome.status}: {visible(why)[:_SHOWN]}" if why else outcome.status

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        """Return the command with the tool's options; standard output is kept."""
        call = _call(benchmark, context)
        argv = words(benchmark, context)
        # what it runs besides is left out of what is read
        chosen = () if "*" in benchmark.include else self.only(call, benchmark.include)
        options = (*self.options(call), *chosen)
        if not mentions(benchmark.command, "output"):
            argv = with_options(benchmark, argv, options)
        return Command(
            argv=argv,
            directory=context.directory,
            environment=environment(context) | self.environment(call),
            timeout=benchmark.timeout,
            stdout=call.stdout,
            max_stdout=max(_MAX_CHATTER, call.limit),
        )

    def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> Collected | Unusable:
        """Read the benchmarks that include and exclude leave, which may be none on one side."""
        call = replace(_call(benchmark, context), stderr=outcome.stderr)
        whole = None
        if outcome.status:
            said = both_outputs(tail(call.stdout), outcome.stderr)
            empty = outcome.code is not None and self.found_none(outcome, said)
            whole = Unusable(self.explain(outcome, said), said, outcome.unstarted, empty)
            if outcome.code is None:
                return whole
        try:
            found = self.read(call) if whole is None else self.rest(call)
            benchmarks = {name: each for name, each in found.benchmarks.items() if taken(benchmark, name)}
            errors = {name: each for name, each in found.errors.items() if taken(benchmark, name)}
            if whole is not None and not (benchmarks and errors):
                return whole
            if not found.benchmarks and not found.errors:
                raise EmptyError("no benchmarks")
            if benchmarks:
                refuse_absent(benchmark, {metric for each in benchmarks.values() for metric in each})
        except OutputError as error:
            said = both_outputs(tail(call.stdout), outcome.stderr)
            return whole or Unusable(str(error), said, empty=isinstance(error, EmptyError))
        stderr = whole.stderr if whole is not None else ""
        collected = Collected({}, {name: Unusable(why, stderr) for name, why in errors.items()})
        for name, series in benchmarks.items():
            try:
                collected.benchmarks[name] = without_warmup(benchmark, series)
            except OutputError as error:
                collected.failures[name] = Unusable(str(error), "")
        return collected


def with_modules(folder: Path, variables: Mapping[str, str], *modules: tuple[Path, str]) -> dict[str, str]:
    """Put modules before everything that the interpreter finds; return the variable that does.

    Args:
        folder: where they are put.
        variables: the environment of the interpreter.
        modules: the file of each, and its name there; each has a folder of its own, as some leave theirs.
    """
    before = variables.get("PYTHONPATH")
    folders = []
    for source, name in modules:
        module = folder / f"perfgate-{name}" / f"{name}.py"
        module.parent.mkdir(exist_ok=True)
        module.parent.chmod(0o755)
        module.write_bytes(source.read_bytes())
        module.chmod(0o644)
        folders.append(str(module.parent))
    return {"PYTHONPATH": os.pathsep.join([*folders, *([before] if before else [])])}


def _call(benchmark: Benchmark, context: Context) -> Call:
    argv = words(benchmark, context)
    if isinstance(benchmark.command, str):
        try:
            argv = tuple(shlex.split(argv[-1]))
        except ValueError:
            argv = tuple(argv[-1].split())
    return Call(
        words=argv,
        values=wanted_values(benchmark, context.iterations),
        output=context.scratch / OUTPUT,
        stdout=context.scratch / STDOUT,
        limit=benchmark.max_output.value,
        variables=context.environment,
        include=benchmark.include,
    )
