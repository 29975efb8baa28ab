"""Checks of commands that [study] changes: words behind several shell commands, {factor} inside quotes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from gate.config.commands import PLACEHOLDERS, is_simple
from gate.config.config_text import Fault, Path
from gate.config.rules import is_studied
from gate.config.shared_tables import Command, Load, Service
from gate.config.study import SettingTable, Study
from gate.config.treatments import SIDE, variable
from gate.config.types import Benchmark, Config

_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_PLAIN = re.compile(
    r"""\\. | (?<![^\s;&|()])\#[^\n]* | '[^']*'? | " | \$?\( | \) | [<>]& | [;&|\n] | \{[A-Za-z_][A-Za-z0-9_-]*\}""",
    re.DOTALL | re.VERBOSE,
)
_DOUBLE = re.compile(r"""\\. | " | \$\( | \{[A-Za-z_][A-Za-z0-9_-]*\}""", re.DOTALL | re.VERBOSE)
_ENDING = ("#", ";", "&", "|", "\n", "(")
"""What ends a command or begins another, or a comment, where nothing is quoted."""


def in_quotes(command: str) -> list[str]:
    """Return the names of the braces that stand inside quotes; a "$(...)" in quotes begins anew."""
    return [name for mark, inside in _marks(command) if inside in ("'", '"') for name in _NAME.findall(mark)]


def takes_words(command: str) -> bool:
    """Return whether words behind a string surely go to what it runs: it is one command, without a comment."""
    return not any(not inside and mark.startswith(_ENDING) for mark, inside in _marks(command.strip()))


def _marks(command: str) -> Iterator[tuple[str, str]]:
    """Yield what means something to a shell, and inside what it stands: "'", '"', ")" for $(...), "" for nothing."""
    open_: list[str] = []
    place = 0
    while True:
        inside = open_[-1] if open_ else ""
        match = (_DOUBLE if inside == '"' else _PLAIN).search(command, place)
        if match is None:
            return
        mark, place = match[0], match.end()
        yield mark, "'" if mark.startswith("'") else inside
        if mark == inside:
            open_.pop()
        elif mark in ('"', "$(", "("):
            open_.append('"' if mark == '"' else ")")


_READY = "command:"


def check_commands(study: Study, config: Config) -> Iterator[Fault]:
    """Find commands that would not do what the factors say."""
    lacking = unused(study, config)
    for path, command in _commands(study, config):
        quoted = in_quotes(command) if isinstance(command, str) else []
        name = next((name for name in quoted if name in study.factor and name != SIDE), None)
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
    command = benchmark.command
    if not isinstance(command, str):
        return
    giving = _giving(study, "args")
    if giving and not takes_words(command):
        where = f"write the command as a list, or put {{{giving[0]}}} where it belongs"
        yield Fault(path, f"args of {giving[0]} cannot follow several shell commands or a comment: {where}")
    if _giving(study, "prefix") and not is_simple(command):
        yield Fault(path, "a prefix of [study.factor] cannot precede several shell commands: write a list")


def _giving(study: Study, key: str) -> Sequence[str]:
    """Name the factors that give words before or behind the command."""
    return [name for name, table in _tables(study) if any(getattr(each, key) for each in table.values())]


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
        if service.ready is not None and service.ready.startswith(_READY):
            yield (*path, "service", "ready"), service.ready.removeprefix(_READY)
    if load is not None:
        yield (*path, "load", "command"), load.command
