"""The perf_stat instrument: each iteration is one process start under `perf stat`, which reads counters."""

import errno
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gate.config.types import Benchmark
from gate.formats import perf_stat
from gate.formats.parts.output import OutputError, Series
from gate.model import Metric
from harness.instruments.declaration import Declared, FoundInstrument, ask
from harness.instruments.protocol import Context, Unusable, cannot_start, environment, failed, wanted_values, words
from harness.instruments.values import metrics, read_regular, refuse_other_count
from harness.process.execute import Command, ProcessEnd, find_program
from harness.process.process_groups import NOT_STARTED, exit_status

_LAUNCHER = Path(__file__).with_name("perf_launcher.py")
_MAX_RESULT = 1 << 20
# in the scratch directory, beside what {output} names
_RESULT = "perf"
_SECONDS = ("time", "task-clock")
_NOT_STARTED = re.compile(r"Workload failed: (.*)\n\Z")
_NOT_STARTED_CODE = 255


@dataclass(frozen=True, slots=True)
class PerfStat:
    """Counts by the perf at an absolute path.

    events: those that this machine counts, by perf's names.
    """

    path: str
    events: tuple[str, ...]

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        """Return a call of the launcher; `perf stat -r` would give means only, so perf starts for each iteration."""
        lc_ctype = context.environment.get("LC_CTYPE")
        head = (sys.executable, "-I", "-S", str(_LAUNCHER), str(context.scratch / _RESULT))
        runs = str(wanted_values(benchmark, context.iterations))
        return Command(
            argv=(
                *(*head, runs, "" if lc_ctype is None else f"={lc_ctype}"),
                *_call(self.path, self.events),
                *("--", *words(benchmark, context)),
            ),
            directory=context.directory,
            environment=environment(context),
            timeout=benchmark.timeout,
        )

    def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> dict[str, Metric] | Unusable:
        """Read the counters of each iteration; one that perf could not read in all of them is left out."""
        if outcome.status:
            return failed("perf_stat", outcome)
        try:
            result = msgspec.json.decode(_read(context.scratch / _RESULT), type=dict[str, int])
            runs, code = result.get("runs", 0), result.get("code", 0)
            if code:
                program, stderr = words(benchmark, context)[0], outcome.stderr
                said = _NOT_STARTED.search(stderr) if code == _NOT_STARTED_CODE else None
                if said is None:
                    return Unusable(exit_status(code), stderr, code in NOT_STARTED)
                known = (errno.ENOENT, errno.EACCES, errno.ENOEXEC)
                number = next((number for number in known if os.strerror(number) == said[1]), 0)
                return cannot_start(OSError(number, said[1]), program, context.directory, stderr[: said.start()])
            wanted = wanted_values(benchmark, context.iterations)
            names = [perf_stat.EVENTS[event] for event in self.events]
            counted: list[perf_stat.Counted] = []
            for run in range(min(runs, wanted)):
                each = perf_stat.parse(_read(context.scratch / f"{_RESULT}.{run}").decode("utf-8", "replace"))
                lacking = [name for name in names if name not in each.values and name not in each.absent]
                if lacking:
                    raise OutputError(f"perf stat's output is cut off: it has no {', '.join(lacking)}")
                counted.append(each)
            refuse_other_count(runs, wanted, "perf_stat")
            series = {
                # all that is counted is work
                name: Series("s" if name in _SECONDS else "", [each.values[name] for each in counted], "lower")
                for name in perf_stat.EVENTS.values()
                if counted and all(name in each.values for each in counted)
            }
            missing = ", ".join(sorted({f"{name} {why}" for each in counted for name, why in each.absent.items()}))
            return metrics(benchmark, series, missing or f"perf_stat counts {', '.join(names)} on this machine")
        except msgspec.DecodeError:
            return Unusable("perf_stat: no result", outcome.stderr)
        except OutputError as error:
            return Unusable(str(error), outcome.stderr)


def _call(path: str, events: Iterable[str]) -> tuple[str, ...]:
    return (path, "stat", "-x", perf_stat.SEPARATOR, "-e", ",".join(events))


def _read(path: Path) -> bytes:
    return read_regular(path, _MAX_RESULT) or b""


def find_perf(caller: Mapping[str, str]) -> FoundInstrument | str:
    """Look for perf on the caller's PATH and try its counters once; else say in words why none can be used."""
    path = find_program("perf", caller)
    if path is None:
        return "perf is not installed (Debian: linux-perf, Ubuntu: linux-tools-$(uname -r), Fedora: perf; Linux only)"
    try:
        version = ask([path, "version"], caller)
        with tempfile.TemporaryDirectory() as folder:
            # a tiny program
            file = Path(folder) / "counters"
            done = ask([*_call(path, perf_stat.EVENTS), "-o", str(file), "--", "true"], caller)
            text = file.read_text("utf-8", "replace") if file.exists() else ""
        said = done.stderr.decode("utf-8", "replace")
        if done.returncode:
            if "not found for kernel" in said:
                return f"{path} is not for the running kernel: install linux-tools-$(uname -r)"
            if "perf_event_paranoid" in said or "permission" in said.lower() or "not permitted" in said.lower():
                return (
                    "perf may not count here: `sudo sysctl kernel.perf_event_paranoid=1` allows it "
                    f"(it is {_paranoid() or 'unknown'}; containers need --cap-add PERFMON or another seccomp profile)"
                )
            last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "it says nothing")
            return f"{path} stat fails: {last[:200]}"
        match = re.search(r"\d[\w.]*", version.stdout.decode("utf-8", "replace"))
        return _usable(path, (match[0] if match else "unknown"), perf_stat.parse(text))
    except (OSError, subprocess.TimeoutExpired, OutputError) as error:
        return f"{path} cannot be asked what it counts ({error})"


def _paranoid() -> str | None:
    try:
        return Path("/proc/sys/kernel/perf_event_paranoid").read_text("ascii").strip()
    except OSError:
        return None


def _usable(path: str, version: str, counted: perf_stat.Counted) -> FoundInstrument | str:
    """Return what counts the events that this machine has, and which are left out or partial, and why."""
    absent = dict(counted.absent)
    if "context-switches" in counted.user_only:
        # a switch happens in the kernel: without it the count is always 0
        absent["context-switches"] = ""
    taken = tuple(event for event, name in perf_stat.EVENTS.items() if name in counted.values and name not in absent)
    if not set(taken) - {"duration_time"}:
        return "perf counts nothing on this machine"
    reasons: dict[str, list[str]] = {}
    for name, why in absent.items():
        reasons.setdefault(why, []).append(name)
    # time and task-clock are clocks: they run in the kernel too, whatever is asked for
    partial = sorted(counted.user_only - absent.keys() - set(_SECONDS))
    lacks = [
        f"leaves out {' and '.join(names)} ({why or 'no permission to count the kernel'} on this machine)"
        for why, names in reasons.items()
    ]
    if partial:
        outside = f"(perf_event_paranoid: {_paranoid() or 'unknown'})"
        lacks.append(f"counts {' and '.join(partial)} outside the kernel only {outside}")
    if counted.shared:
        lacks.append(f"estimates {' and '.join(sorted(counted.shared))}, whose counters are shared")
    return FoundInstrument(PerfStat(path, taken), version, tuple(lacks))


INSTRUMENT = Declared(find_perf, any_command=True)
