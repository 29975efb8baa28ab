"""Checks of a [[benchmark]] that need more than one value, and of the commands that [study] changes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from gate.config.commands import PLACEHOLDERS, is_simple, mentions
from gate.config.config_text import Fault, Path
from gate.config.instruments import KNOWN
from gate.config.rules import is_studied
from gate.config.study import Command, Load, Service, SettingTable, Study
from gate.config.treatments import SIDE, variable
from gate.config.types import Benchmark, Config
from gate.model.case import quantile_of
from gate.writing.units import meant

OUTPUT = "{output}"
"""As same_output: the file that {output} names."""
_READY = ("tcp:", "http://", "log:")


def check_benchmark(benchmark: Benchmark, path: Path) -> Iterator[Fault]:
    """Find what makes a benchmark one that cannot be meant."""
    for key in ("command", "against"):
        yield from _check_command(getattr(benchmark, key), (*path, key))
    if not benchmark.name.strip():
        yield Fault((*path, "name"), "is blank; write a name that is unique in the file")
    if any(ord(char) < 32 or ord(char) == 127 for char in benchmark.name):
        yield Fault((*path, "name"), "holds a control character")
    for name, rules in benchmark.metric.items():
        known = meant(rules.unit or "")
        if known is not None:
            yield Fault((*path, "metric", name, "unit"), f'"{rules.unit}" is not a known unit: did you mean "{known}"?')
        for statistic in rules.compared:
            tau = quantile_of(statistic)
            if tau is not None and not 0 < tau < 1:
                yield Fault(
                    (*path, "metric", name, "statistics"), f'"{statistic}" is not a quantile: write p50, p99 or p99.9'
                )
    if benchmark.max_output.unit != "B":
        yield Fault((*path, "max_output"), f'"{benchmark.max_output}" is not a size: write "256MB"')
    yield from _check_instrument(benchmark, path)
    if benchmark.same_output is not False:
        yield from _check_same_output(benchmark, benchmark.same_output, (*path, "same_output"))
    yield from _check_companions(benchmark, path)


def _check_command(command: str | list[str] | None, path: Path) -> Iterator[Fault]:
    if command is None:
        return
    if not command or not "".join(command).strip():
        # what `perfgate init` writes where it finds nothing to measure
        yield Fault(path, f'is empty; write e.g. {path[-1]} = "./program"')


def _check_instrument(benchmark: Benchmark, path: Path) -> Iterator[Fault]:
    instrument = benchmark.instrument
    if instrument in ("hyperfine", "spawn") and any(rules.exact for rules in benchmark.metric.values()):
        why = f"{instrument} measures nothing exact; exact is for counts and sizes of the other instruments"
        yield Fault((*path, "metric"), why)
    if benchmark.columns is not None and benchmark.columns.value == "":
        yield Fault((*path, "column"), "is empty: name a column of the header line")
    elif benchmark.column is not None and instrument != "values":
        yield Fault((*path, "column"), f"is for the values instrument, not for {instrument}")
    if benchmark.format is not None and instrument != "values":
        yield Fault((*path, "format"), f"is for the values instrument, not for {instrument}")
    elif benchmark.format is not None and benchmark.column is not None:
        yield Fault((*path, "format"), "cannot be used with column, which reads a CSV file")
    if not (benchmark.measured.suite or instrument == "values") and (benchmark.include != ["*"] or benchmark.exclude):
        key = "exclude" if benchmark.exclude else "include"
        suites = ", ".join(name for name, traits in KNOWN.items() if traits.suite)
        yield Fault((*path, key), f"is for suites ({suites}, and values), not for {instrument}")


def _check_same_output(benchmark: Benchmark, same: bool | str, path: Path) -> Iterator[Fault]:
    named = mentions(benchmark.command, "output")
    if benchmark.measured.suite:
        yield Fault(path, f"is for single commands, not for the suite {benchmark.instrument}: its output has times")
    if same == OUTPUT and not named:
        yield Fault(path, "command has no {output}")
    elif benchmark.instrument == "values" and same == OUTPUT:
        yield Fault(path, "{output} holds the values: use true, or name another file")
    elif benchmark.instrument == "values" and same is True and not named:
        yield Fault(path, "standard output may hold the values: write {output} in command, or name a file")
    if isinstance(same, str) and (same.startswith("/") or ".." in same.split("/") or not same.strip("./")):
        yield Fault(path, f'"{same}" is not a path inside the project')


def _check_companions(benchmark: Benchmark, path: Path) -> Iterator[Fault]:
    for key, command in (("prepare", benchmark.prepare), ("cleanup", benchmark.cleanup)):
        if command is not None:
            yield from _check_command(command, (*path, key))
            if benchmark.instrument != "spawn":
                yield Fault(
                    (*path, key), f"is for spawn, which starts the command itself, not for {benchmark.instrument}"
                )
    for key, each in (("service", benchmark.service), ("load", benchmark.load)):
        if each is not None:
            yield from _check_command(each.command, (*path, key, "command"))
    companions = (("service", benchmark.service), ("load", benchmark.load))
    placed: list[tuple[Path, str | None]] = [((), benchmark.cpus)]
    placed += [((key,), each.cpus) for key, each in companions if each is not None]
    for keys, cpus in placed:
        for part in cpus.split(",") if cpus else ():
            first, _, last = part.partition("-")
            if last and int(last) < int(first):
                yield Fault((*path, *keys, "cpus"), f'"{cpus}": {part} ends before it starts')
    if benchmark.service is not None:
        yield from _check_ready(benchmark.service, (*path, "service"))


def _check_ready(service: Service, path: Path) -> Iterator[Fault]:
    ready = service.ready
    if ready is None:
        if "{port}" not in "".join(service.command):
            why = 'needs ready = "tcp:PORT", "http://..." or "log:TEXT", which shows that it is up'
            yield Fault(path, why)
        return
    place, port = (*path, "ready"), ready.rpartition(":")[2]
    if not ready.startswith(_READY):
        yield Fault(place, f'"{ready}" begins with none of {", ".join(_READY)}')
    elif ready in _READY:
        yield Fault(place, f'"{ready}" has nothing after the colon')
    elif ready.startswith("tcp:") and port != "{port}" and not (port.isdigit() and 0 < int(port) < 65536):
        yield Fault(place, f'"{ready}": write tcp:{{port}}, tcp:8080 or tcp:HOST:8080')


# --- commands that [study] changes ------------------------------------------------------------------------------------


_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_QUOTED = re.compile(
    r"""\\.|(?<![^\s;&|()])\#[^\n]*|("(?:\\.|[^"\\])*\$\(.*"|"(?:\\.|[^"\\])*"?|'[^']*'?)""", re.DOTALL
)
"""What is quoted, beside what is escaped or a comment; of quotes with a "$(...)" in them all up to the last one."""


def check_commands(study: Study, config: Config) -> Iterator[Fault]:
    """Find commands that would not do what the factors say."""
    lacking = unused(study, config)
    for path, command in _commands(study, config):
        quoted = " ".join(_QUOTED.findall(command)) if isinstance(command, str) else ""
        name = next((name for name in _NAME.findall(quoted) if name in study.factor and name != SIDE), None)
        if name is not None:
            yield Fault(path, f"{{{name}}} is inside quotes: remove them, perfgate quotes the value")
        # braces that probably mean a factor which no command has
        text = command if isinstance(command, str) else " ".join(command or [])
        for name in (name for name in _NAME.findall(text) if name not in (*study.factor, *PLACEHOLDERS)):
            if near := difflib.get_close_matches(name, lacking, n=1):
                yield Fault(path, f"{{{name}}} is no factor: did you mean {{{near[0]}}}?")
    for index, benchmark in enumerate(config.benchmark):
        if is_studied(config, benchmark.name):
            yield from _check_words(study, benchmark, ("benchmark", index, "command"))


def unused(study: Study, config: Config) -> list[str]:
    """Name the factors that change nothing but their own variable of the environment, which no command mentions."""
    commands = [command for _, command in _commands(study, config)]
    words = [word for command in commands for word in ([command] if isinstance(command, str) else command or [])]
    words += [word for _, table in _tables(study) for each in table.values() for word in (*each.prefix, *each.args)]

    def used(name: str) -> bool:
        table = study.factor[name]
        # whether a setting changes more than its value
        gives = isinstance(table, dict) and any(each != SettingTable(value=each.value) for each in table.values())
        return name == SIDE or gives or any(f"{{{name}}}" in w or variable(name) in w for w in words)

    return [name for name in study.factor if not used(name)]


def _check_words(study: Study, benchmark: Benchmark, path: Path) -> Iterator[Fault]:
    if not isinstance(benchmark.command, str) or is_simple(benchmark.command):
        return
    for key, where in (("prefix", "before"), ("args", "behind")):
        name = next(
            (name for name, table in _tables(study) if any(getattr(each, key) for each in table.values())), None
        )
        if name is not None:
            yield Fault(path, f"{key} of {name} cannot stand {where} more than a plain command: write it as a list")


def _tables(study: Study) -> Iterator[tuple[str, dict[str, SettingTable]]]:
    return ((name, table) for name, table in study.factor.items() if isinstance(table, dict))


def _commands(study: Study, config: Config) -> Iterator[tuple[Path, Command | None]]:
    """Yield every command in which {factor} is replaced."""
    yield ("build", "command"), config.build.command
    for index, benchmark in enumerate(config.benchmark):
        path: Path = ("benchmark", index)
        yield from (((*path, key), getattr(benchmark, key)) for key in ("command", "prepare", "cleanup"))
        yield from _background(benchmark.service, benchmark.load, path)
    for name, table in _tables(study):
        for setting, each in table.items():
            yield from _background(each.service, each.load, ("study", "factor", name, setting))


def _background(service: Service | None, load: Load | None, path: Path) -> Iterator[tuple[Path, Command | None]]:
    if service is not None:
        yield (*path, "service", "command"), service.command
    if load is not None:
        yield (*path, "load", "command"), load.command
