"""Python programs: perfgate's own sampler, which their interpreters import at their start."""

import math
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from gate.walking import beginning
from harness.instruments.protocol import Context
from harness.instruments.suite import with_modules
from harness.instruments.values import read_regular
from harness.process.execute import Command
from harness.profilers import profiler
from harness.profilers.profiler import Places

_SAMPLER = Path(__file__).with_name("python_sampler.py")
_SAMPLES = "perfgate-samples"
_SECONDS = 10.0
"""CPU time that is enough for 2,500 samples where the kernel's clock ticks at 250 Hz."""
_MOST = 40
"""Executions."""
_SUITES = ("pytest-benchmark", "pyperf")
_INTERPRETER = r"python[\d.]*t?|pypy[\d.]*|pytest|py\.test|pyperf"
_LOOP = ("BenchmarkFixture._make_runner.<locals>.runner", "runner")
_CALIBRATION = frozenset(["_calibrate_timer", "BenchmarkFixture._calibrate_timer"])
_MOST_DEPTH = 2000


class Python(profiler.Profiler):
    """Samples the stacks of Python functions, each with the CPU seconds of its thread.

    What a C function takes counts for the Python function that calls it.
    """

    name = "python"
    nothing = "nothing was sampled: too short, or an interpreter that ignores PYTHONPATH (-I, -E)"
    rank = 10

    def fits(self, subject: profiler.Workload) -> bool:
        """Return whether the command starts Python, by its name or its first line."""
        if subject.benchmark.measured.suite:
            return subject.benchmark.instrument in _SUITES
        first = beginning(subject.program, 200).split(b"\n", 1)[0] if subject.program is not None else b""
        return subject.names(_INTERPRETER) or bool(re.match(rb"#!.*\b(?:python|pypy)", first))

    def effort(self, subject: profiler.Workload) -> profiler.Effort:
        """Execute for ten seconds, a suite once."""
        if subject.benchmark.measured.suite:
            return profiler.Effort(1, 2 * (subject.once + _SECONDS))
        executions = max(1, min(_MOST, math.ceil(_SECONDS / max(subject.once, 1e-3))))
        return profiler.Effort(executions, 2 * executions * subject.once)

    def wrap(self, found: profiler.Tool, subject: profiler.Workload, context: Context, command: Command) -> Command:  # noqa: ARG002
        """Put the sampler before everything that the interpreter finds."""
        samples = context.scratch / _SAMPLES
        samples.mkdir()
        samples.chmod(0o777)
        added = with_modules(context.scratch, command.environment, (_SAMPLER, "sitecustomize"))
        return replace(
            command,
            argv=profiler.with_options(subject, command, _options(subject)),
            environment={**command.environment, **added, "PERFGATE_SAMPLES": str(samples)},
        )

    def read(self, subject: profiler.Workload, context: Context) -> profiler.Costs:
        """Add up what all processes wrote. Raises OutputError: a file is not the sampler's."""
        places = Places(context.directory)
        found: dict[tuple[Frame, ...], float] = defaultdict(float)
        for file in sorted((context.scratch / _SAMPLES).glob("*")):
            data = read_regular(file, profiler.MOST_OUTPUT) or b""
            for stack, seconds in parse(data, places).items():
                found[stack] += seconds
        if subject.benchmark.instrument != "pytest-benchmark":
            return found
        # what its loop calls, without pytest itself
        inner: dict[tuple[Frame, ...], float] = defaultdict(float)
        for stack, cost in found.items():
            names = [frame.function for frame in stack]
            start = next((n for n, name in enumerate(names) if name in _LOOP), None)
            if start is not None and _CALIBRATION.isdisjoint(names):
                inner[stack[start:]] += cost
        return inner or found


def parse(data: bytes, places: Places) -> dict[tuple[Frame, ...], float]:
    """Read a file of the sampler; a last line that is cut off is left out. Raises OutputError: it is not one."""
    frames: list[Frame] = []
    found: dict[tuple[Frame, ...], float] = defaultdict(float)
    for line in data.decode("utf-8", "replace").split("\n")[:-1]:
        kind, _, rest = line.partition(" ")
        if kind == "f":
            name, path, line = [*rest.split("\t"), "", ""][:3]
            # <frozen importlib._bootstrap> and <string> are no paths, though they were made absolute
            frozen = re.search(r"<[^/]*>$", path)
            number = int(line) if re.fullmatch(r"\d{1,7}", line) else None
            frames.append(Frame(name, frozen[0] if frozen else places.of(path), number))
            continue
        try:
            seconds, *indices = rest.split(" ")
            cost, stack = float(seconds), tuple(frames[int(i)] for i in indices[:_MOST_DEPTH] if int(i) >= 0)
        except (ValueError, IndexError):
            raise OutputError(f"the sampler wrote what cannot be read: {line[:80]!r}") from None
        if kind != "s" or not 0 <= cost < 1e9 or not stack:
            raise OutputError(f"the sampler wrote what cannot be read: {line[:80]!r}")
        found[stack] += cost
    return found


def _options(subject: profiler.Workload) -> tuple[str, ...]:
    """Return what makes a suite run one benchmark, the same number of times on both sides."""
    benchmark = subject.benchmark
    if benchmark.instrument == "pytest-benchmark":
        rounds = max(1, min(100_000, math.ceil(_SECONDS / max(subject.seconds, 1e-6))))
        test = re.split(r"::", subject.line)[-1]
        # what a word of -k may hold; the brackets of parameters are among it
        words = [word for word in re.split(r"[^\w:+.\[\]\\/-]+", test) if word and word not in ("and", "or", "not")]
        # one call a round: rounds of many would be as many as the calibration finds, on each side
        return (
            "-k", " and ".join(words), f"--benchmark-min-rounds={rounds}", "--benchmark-min-time=0",
            "--benchmark-calibration-precision=1", "--benchmark-disable-gc",
        )  # fmt: skip
    if benchmark.instrument == "pyperf":
        return (f"--loops={max(1, math.ceil(_SECONDS / 3 / max(subject.seconds, 1e-6)))}", "--values=3")
    return ()


PROFILER = Python()
