"""The callgrind instrument: instructions executed, counted by valgrind's virtual processor."""

import platform
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gate.config.types import Benchmark
from gate.formats import callgrind
from gate.formats.parts.output import OutputError
from gate.model import Metric
from harness.instruments.declaration import Declared, FoundInstrument, ask
from harness.instruments.protocol import Context, Unusable, cannot_start, environment, words
from harness.instruments.values import read_regular, refuse_absent
from harness.process.execute import Command, ProcessEnd, find_program

_MAX_PROFILE = 1 << 30
# in the scratch directory, beside what {output} names
PROFILE = "callgrind.out"
_LOG = "valgrind.log"
OPTIONS = (
    "--tool=callgrind",
    "--quiet",
    # the command is often a shell or a driver that starts the program
    "--trace-children=yes",
    # a forked child inherits its parent's counts: a dump sets them to 0, and what was before is counted once
    "--dump-before=fork",
)


_MOVING = (
    "addresses cannot be fixed here (setarch -R fails or is missing, as in many containers), so counts of equal runs "
    "may differ a little"
)


@dataclass(frozen=True, slots=True)
class Callgrind:
    """Counts by the valgrind at an absolute path.

    fixed: what keeps addresses the same in each execution (setarch -R), or nothing.

    An execution is one run of the command and gives one value, whatever iterations and warmup say: the count is the
    same each time. It has no padding, and PYTHONHASHSEED=0 unless the user set it. Instructions of all processes that
    the command starts are added up, but for what a process did before it replaced itself (exec).
    """

    path: str
    fixed: tuple[str, ...]

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        """Return a call of valgrind; its own messages go to files, standard error stays the program's."""
        scratch = escaped(context.scratch)
        files = (f"--callgrind-out-file={scratch}/{PROFILE}.%p", f"--log-file={scratch}/{_LOG}.%p")
        return Command(
            argv=(*self.fixed, self.path, *OPTIONS, *files, "--", *words(benchmark, context)),
            directory=context.directory,
            environment={"PYTHONHASHSEED": "0"} | environment(context),
            timeout=benchmark.timeout,
        )

    def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> dict[str, Metric] | Unusable:
        """Add up the profiles of all processes; the metric is "instructions", a count."""
        profiles = sorted(context.scratch.glob(f"{PROFILE}.*"))
        if outcome.status:
            # without a profile it is valgrind's own exit
            known = {126: PermissionError(), 127: FileNotFoundError()} if not profiles else {}
            if outcome.code in known:
                program = words(benchmark, context)[0]
                return cannot_start(known[outcome.code], program, context.directory, outcome.stderr)
            return Unusable(outcome.status, outcome.stderr, outcome.unstarted)
        try:
            count = callgrind.instructions(read_regular(profile, _MAX_PROFILE) or b"" for profile in profiles)
            refuse_absent(benchmark, {"instructions"}, "callgrind gives instructions")
        except OutputError as error:
            return Unusable(str(error), outcome.stderr)
        declared = benchmark.metric.get("instructions")
        better = (declared.better if declared else None) or "lower"
        return {"instructions": Metric(unit="", better=better, values=[float(count)])}


def escaped(path: Path) -> str:
    """Return a path as valgrind reads it, which replaces %p and %q in file names."""
    return str(path).replace("%", "%%")


def find_callgrind(caller: Mapping[str, str]) -> FoundInstrument | str:
    """Look for valgrind on the caller's PATH and try it once; else say in words why it cannot be used."""
    path = find_program("valgrind", caller)
    if path is None:
        return "valgrind is not installed (the package is called valgrind)"
    fixed: tuple[str, ...] = ()
    setarch = find_program("setarch", caller)
    if setarch is not None:
        with suppress(OSError, subprocess.TimeoutExpired):
            # older ones need the machine's name
            call = (setarch, platform.machine(), "-R")
            fixed = call if ask((*call, "true"), caller).returncode == 0 else ()
    try:
        version = ask((path, "--version"), caller).stdout.decode("utf-8", "replace").strip().removeprefix("valgrind-")
        with tempfile.TemporaryDirectory() as folder:
            out = f"--callgrind-out-file={escaped(Path(folder) / PROFILE)}"
            done = ask((*fixed, path, *OPTIONS, out, "--", "true"), caller)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} cannot be tried ({error})"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        return f"{path} fails: {(said or [f'exit {done.returncode}'])[0][:200]}"
    return FoundInstrument(Callgrind(path, fixed), version, () if fixed else (_MOVING,))


INSTRUMENT = Declared(find_callgrind, any_command=True)
