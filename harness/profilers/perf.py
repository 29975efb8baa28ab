"""Native programs and those of Go under `perf record`: samples of CPU time with full stacks."""

import math
import re
import shlex
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from harness.host.facts import install
from harness.instruments.declaration import ask
from harness.instruments.protocol import Context
from harness.instruments.values import read_regular
from harness.process.execute import Command, find_program
from harness.profilers import profiler
from harness.profilers.profiler import is_go, is_native, plain_name

_DATA, _STACKS = "perf.data", "perf.stacks"
_EVENT = "cpu-clock:u"
"""The kernel's clock, which virtual machines have too, and in the unit of what regressed: seconds."""
_RATE = 499
_SECONDS = 6.0
_MOST = 40
_NO_COUNTERS = "the kernel lets it sample nothing (kernel.perf_event_paranoid is above 2?)"
_SAMPLE = re.compile(r"\s*(\d+)\s+([\w:-]+):\s*")
_FRAME = re.compile(r"\s+[0-9a-f]+ (.*) \((.*)\)")
_INLINED = "inlined"
_PACKAGES = {"apt": "linux-perf", "dnf": "perf", "pacman": "perf", "zypper": "perf", "apk": "perf"}


class Perf(profiler.Profiler):
    """Samples user time: for programs of Go by frame pointers, for others by what DWARF tells of their stacks."""

    name = "perf"
    nothing = "perf sampled nothing: too short, or not allowed to"
    rank = 30

    def fits(self, subject: profiler.Workload) -> bool:
        """Return whether the command is a native program, Go's included."""
        return is_native(subject, go=True) and not subject.benchmark.measured.suite

    def find(self, caller: Mapping[str, str]) -> profiler.Tool | profiler.Absent:
        """Look for perf, and for an event that it can sample here."""
        path = find_program("perf", caller)
        if path is None:
            return profiler.Absent(install(caller, _PACKAGES))
        try:
            version = ask((path, "--version"), caller).stdout.decode("utf-8", "replace").split() or [""]
            with tempfile.TemporaryDirectory() as folder:
                call = (path, "record", "-q", "-e", _EVENT, "-o", str(Path(folder) / _DATA), "--", "true")
                if ask(call, caller).returncode == 0:
                    return profiler.Tool(path, f"perf {version[-1]}"[:80])
        except (OSError, subprocess.TimeoutExpired) as error:
            return profiler.Absent("", str(error))
        return profiler.Absent("", _NO_COUNTERS)

    def effort(self, subject: profiler.Workload) -> profiler.Effort:
        """Execute for six seconds."""
        executions = max(1, min(_MOST, math.ceil(_SECONDS / max(subject.once, 1e-3))))
        return profiler.Effort(executions, 3 * executions * subject.once, 1)

    def wrap(self, found: profiler.Tool, subject: profiler.Workload, context: Context, command: Command) -> Command:
        """Record, and read what was recorded in the same sandbox: what a program can change is not read outside."""
        data, stacks = context.scratch / _DATA, context.scratch / _STACKS
        program = subject.program
        graph = "fp" if program is not None and is_go(program) else "dwarf,8192"
        perf = shlex.quote(found.path)
        record = f"{perf} record -q -F {_RATE} --call-graph {graph} -e {_EVENT} -o {shlex.quote(str(data))}"
        script = f"{perf} script -F period,event,ip,sym,dso -i {shlex.quote(str(data))}"
        text = f'{record} -- "$@"; code=$?; {script} > {shlex.quote(str(stacks))} 2> /dev/null; exit $code'
        return replace(command, argv=("sh", "-c", text, "perfgate", *command.argv))

    def read(self, subject: profiler.Workload, context: Context) -> profiler.Costs:  # noqa: ARG002
        """Read the stacks. Raises OutputError: it is not what perf script writes."""
        periods = parse(read_regular(context.scratch / _STACKS, profiler.MOST_OUTPUT) or b"")
        return {stack: period / 1e9 for stack, period in periods.items()}


def parse(data: bytes) -> profiler.Costs:
    """Read what `perf script -F period,event,ip,sym,dso` writes: the sum of the periods by stack.

    Raises: OutputError: it is something else.
    """
    found: dict[tuple[Frame, ...], float] = defaultdict(float)
    for block in data.decode("utf-8", "replace").split("\n\n"):
        first, *rest = block.strip("\n").split("\n")
        if not first.strip():
            continue
        sample = _SAMPLE.fullmatch(first)
        if sample is None or len(sample[1]) > 18:
            raise OutputError(f"perf script wrote what cannot be read: {first[:80]!r}")
        stack: list[Frame] = []
        file = ""
        # from the innermost function on; what is inlined is of its caller's file
        for line in reversed(rest):
            frame = _FRAME.fullmatch(line)
            if frame is None:
                raise OutputError(f"perf script wrote what cannot be read: {line[:80]!r}")
            if frame[2] != _INLINED:
                # what the kernel calls a mapping without a file is in brackets
                file = "" if frame[2].startswith("[") else PurePath(frame[2]).name
            stack.append(Frame(plain_name(re.sub(r"\+0x[0-9a-f]+$", "", frame[1])), file))
        if stack:
            found[tuple(stack)] += float(sample[1])
    return found


PROFILER = Perf()
