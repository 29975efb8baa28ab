"""Checks of a [[benchmark]] that need more than one value: contradictions, and values that cannot be meant."""

from __future__ import annotations

from gate.config.commands import mentions
from gate.config.instruments import KNOWN
from gate.config.source import Path, Source
from gate.config.types import Benchmark, Service
from gate.model.case import quantile_of

OUTPUT = "{output}"
"""As same_output: the file that {output} names."""
_READY = ("tcp:", "http://", "log:", "command:")


def check_benchmark(benchmark: Benchmark, path: Path, source: Source) -> None:
    """Refuse a benchmark that cannot be meant.

    Raises:
        ConfigError: naming the place in the source.
    """
    _check_command(benchmark.command, (*path, "command"), source)
    if not benchmark.name.strip():
        raise source.error((*path, "name"), "is blank")
    if any(ord(char) < 32 or ord(char) == 127 for char in benchmark.name):
        raise source.error((*path, "name"), "holds a control character")
    for name, rules in benchmark.metric.items():
        for statistic in rules.statistics:
            tau = quantile_of(statistic)
            if tau is not None and not 0 < tau < 1:
                raise source.error(
                    (*path, "metric", name, "statistics"), f'"{statistic}" is not a quantile: write p50, p99 or p99.9'
                )
    if benchmark.max_output.unit != "B":
        raise source.error((*path, "max_output"), f'"{benchmark.max_output}" is not a size: write "256MB"')
    _check_instrument(benchmark, path, source)
    if benchmark.same_output is not False:
        _check_same_output(benchmark, benchmark.same_output, (*path, "same_output"), source)
    _check_companions(benchmark, path, source)


def _check_command(command: str | list[str], path: Path, source: Source) -> None:
    if "\0" in "".join(command):
        raise source.error(path, "holds a NUL character, which no command can hold")
    if not command or not "".join(command).strip():
        # what `perfgate init` writes where it finds nothing to measure
        raise source.error(path, 'is empty: write a command, such as ["./app", "input.txt"]')


def _check_instrument(benchmark: Benchmark, path: Path, source: Source) -> None:
    instrument = benchmark.instrument
    if instrument in ("hyperfine", "spawn") and any(rules.exact for rules in benchmark.metric.values()):
        why = f"{instrument} measures nothing exact; exact is for counts and sizes of the other instruments"
        raise source.error((*path, "metric"), why)
    if benchmark.column == "":
        raise source.error((*path, "column"), "is empty: name a column of the header line")
    if benchmark.column is not None and instrument != "values":
        raise source.error((*path, "column"), f"is for the values instrument, not for {instrument}")
    if benchmark.format is not None:
        _check_format(benchmark, (*path, "format"), source)
    if not benchmark.measured.suite and (benchmark.include != ["*"] or benchmark.exclude):
        key = "exclude" if benchmark.exclude else "include"
        suites = ", ".join(name for name, traits in KNOWN.items() if traits.suite)
        raise source.error((*path, key), f"is for suites ({suites}), not for {instrument}")


def _check_same_output(benchmark: Benchmark, same: bool | str, path: Path, source: Source) -> None:
    named = mentions(benchmark.command, "output")
    if benchmark.measured.suite:
        raise source.error(
            path, f"is for single commands, not for the suite {benchmark.instrument}: its output has times"
        )
    if same == OUTPUT and not named:
        raise source.error(path, "command has no {output}")
    if benchmark.instrument == "values" and same == OUTPUT:
        raise source.error(path, "{output} holds the values: use true, or name another file")
    if benchmark.instrument == "values" and same is True and not named:
        raise source.error(path, "standard output may hold the values: write {output} in command, or name a file")
    if isinstance(same, str) and (same.startswith("/") or ".." in same.split("/") or not same.strip("./")):
        raise source.error(path, f'"{same}" is no path inside the project')


def _check_format(benchmark: Benchmark, path: Path, source: Source) -> None:
    if benchmark.instrument != "values":
        raise source.error(path, f"is for the values instrument, not for {benchmark.instrument}")
    if benchmark.column is not None:
        raise source.error(path, "cannot be used with column, which reads a CSV file")


def _check_companions(benchmark: Benchmark, path: Path, source: Source) -> None:
    for key, each in (("service", benchmark.service), ("load", benchmark.load)):
        if each is not None:
            _check_command(each.command, (*path, key, "command"), source)
    for key, cpus in _cpus(benchmark).items():
        for part in cpus.split(","):
            first, _, last = part.partition("-")
            if last and int(last) < int(first):
                raise source.error((*path, *key.split(".")), f'"{cpus}": {part} ends before it starts')
    if benchmark.service is not None:
        _check_ready(benchmark.service, (*path, "service"), source)


def _check_ready(service: Service, path: Path, source: Source) -> None:
    ready = service.ready
    if ready is None:
        if "{port}" not in "".join(service.command):
            why = 'needs ready = "tcp:PORT", "http://...", "log:TEXT" or "command:...", which shows that it is up'
            raise source.error(path, why)
        return
    place = (*path, "ready")
    if not ready.startswith(_READY):
        raise source.error(place, f'"{ready}" begins with none of {", ".join(_READY)}')
    if ready in _READY:
        raise source.error(place, f'"{ready}" has nothing after the colon')
    if ready.startswith("tcp:") and not _is_address(ready[4:]):
        raise source.error(place, f'"{ready}": write tcp:{{port}}, tcp:8080 or tcp:HOST:8080')


def _cpus(benchmark: Benchmark) -> dict[str, str]:
    found = {
        "cpus": benchmark.cpus,
        "service.cpus": benchmark.service.cpus if benchmark.service else None,
        "load.cpus": benchmark.load.cpus if benchmark.load else None,
    }
    return {key: cpus for key, cpus in found.items() if cpus is not None}


def _is_address(text: str) -> bool:
    port = text.rpartition(":")[2]
    return port == "{port}" or (port.isdigit() and 0 < int(port) < 65536)
