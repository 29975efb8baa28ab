"""One config text: its tables, and the place of each key in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gate.model import Side, UserError
from gate.writing.phrases import dotted as dotted
from gate.writing.plain import visible


class ConfigError(UserError):
    """A config file or option that cannot be used."""

    def __init__(self, where: str, why: str, *, side: Side | None = None, option: str | None = None) -> None:
        """Say where ("perfgate.toml:12: gate.threshold") and why.

        Args:
            side: whose file it is, where each side has one.
            option: as for UserError.
        """
        super().__init__(f"{where}: {why}" if where else why, option=option)
        self.side = side

    @property
    def errors(self) -> tuple[ConfigError, ...]:
        """What is wrong, one line each."""
        return (self,)


class ManyConfigError(ConfigError):
    """Several such errors at once."""

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        """Keep them in the order given."""
        super().__init__("", "\n".join(map(str, errors)))
        self._errors = tuple(errors)

    @property
    def errors(self) -> tuple[ConfigError, ...]:
        """Each of them."""
        return self._errors


def together(errors: Sequence[ConfigError]) -> ConfigError:
    """Make one error of one or more."""
    return errors[0] if len(errors) == 1 else ManyConfigError(errors)


COMMAND_LINE = "the command line"
"""Names the config that a command line without a file means."""
_PLACE = re.compile(r" \([^()]*?(?:(?P<line>\d+)\D+\d+)?\)$")
"""Where tomllib says that a text is wrong."""
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A key that is wrong, and why."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class ConfigText:
    """A config text and what TOML makes of it."""

    name: str
    """What errors and origins call it, such as "perfgate.toml" or "base: perfgate.toml"."""
    text: str
    tables: dict[str, Any]
    prefix: tuple[str, ...] = ()
    """Where the tables stand in the text: () or ("tool", "perfgate")."""
    side: Side | None = None
    """Whose it is, where each side has one."""
    option: str | None = None
    """Of the command line that it stands in; its name is then the value."""

    def place(self, path: Path) -> str:
        """Name the file and line of a key: "perfgate.toml:12"."""
        line = line_of(self.text, (*self.prefix, *path))
        return self.name if line is None else f"{self.name}:{line}"

    def error(self, *faults: Fault) -> ConfigError:
        """Make the error of one or more keys, by line: the place of each, its name and why."""
        ordered = sorted(faults, key=lambda fault: line_of(self.text, (*self.prefix, *fault.path)) or 0)
        places = (f"{self.place(each.path)}: {dotted(each.path)}" if each.path else self.name for each in ordered)
        made = zip(places, ordered, strict=True)
        return together([ConfigError(at, each.why, side=self.side, option=self.option) for at, each in made])


def read_source(text: str, name: str, *, prefix: tuple[str, ...] = (), side: Side | None = None) -> ConfigText:
    """Parse a config text.

    Args:
        side: whose it is, where each side has one.

    Raises:
        ConfigError: not TOML, or the prefix is no table.
    """
    try:
        # an editor's byte order mark and CRLF are no errors of the user's
        tables = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        found, lines = _PLACE.search(str(error)), text.splitlines() or [""]
        # at the end of the file tomllib names no line
        line = min(int((found and found["line"]) or len(lines)), len(lines))
        named = re.match(r"\s*([^\s=][^=]{0,60}?)\s*(?:=|$)", lines[line - 1])
        why = f"not valid TOML: {_PLACE.sub('', str(error))}{f' (`{visible(named[1])}`)' if named else ''}"
        raise ConfigError(f"{name}:{line}", why, side=side) from None
    except (ValueError, RecursionError) as error:
        # such as an integer of more digits than Python reads, or brackets in a thousand brackets
        raise ConfigError(name, f"cannot be read: {str(error).partition(';')[0]}", side=side) from None
    for key in prefix:
        tables = tables.get(key, {})
        if not isinstance(tables, dict):
            raise ConfigError(name, f"{'.'.join(prefix)} is not a table", side=side)
    return ConfigText(name, text, tables, prefix, side)


def from_tables(tables: dict[str, Any], name: str, *, option: str | None = None) -> ConfigText:
    """Wrap tables that do not come from a TOML text: the config of a run line, an option."""
    return ConfigText(name, "", tables, option=option)


def project_source(
    perfgate_toml: str | None, pyproject_toml: str | None, whose: str = "", *, side: Side | None = None
) -> ConfigText | None:
    """Return the config of a project from the texts of its two possible files; None when neither holds one.

    Args:
        whose: put before the file names in messages.
        side: that they are of, where each side has its own.

    Raises:
        ConfigError: not TOML, or both hold a config.
    """
    lead = f"{whose}: " if whose else ""
    pyproject = None
    if pyproject_toml is not None and "perfgate" in pyproject_toml:
        pyproject = read_source(pyproject_toml, f"{lead}pyproject.toml", prefix=("tool", "perfgate"), side=side)
    own = None
    if perfgate_toml is not None:
        own = read_source(perfgate_toml, f"{lead}perfgate.toml", side=side)
    if own is None:
        return pyproject if pyproject and pyproject.tables else None
    if pyproject and pyproject.tables:
        raise ConfigError(f"{lead}perfgate.toml", "pyproject.toml has [tool.perfgate] too; keep one of them", side=side)
    return own


def line_of(text: str, path: Path) -> int | None:
    """Return the line (from 1) of the statement that defines a key; None when the text does not define it."""
    return next((line for line, tables in _statements(text) if has(tables, path)), None)


@lru_cache(maxsize=8)
def _statements(text: str) -> tuple[tuple[int, dict[str, Any]], ...]:
    """Return, per statement, its first line and the tables of the text up to its end.

    tomllib gives no positions, so ever longer beginnings of the text are parsed; a config is short, and this runs
    only for an error or for `perfgate config`.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    found: list[tuple[int, dict[str, Any]]] = []
    start = 0
    for end in range(1, len(lines) + 1):
        try:
            tables = tomllib.loads("".join(lines[:end]))
        except (ValueError, RecursionError):
            continue
        while start < end - 1 and lines[start].strip()[:1] in ("", "#"):
            start += 1
        found.append((start + 1, tables))
        start = end
    return tuple(found)


def has(tables: Any, path: Path) -> bool:
    """Return whether tables hold a key."""
    for key in path:
        try:
            tables = tables[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
