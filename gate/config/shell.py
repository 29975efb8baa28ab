"""How a shell reads a string: what stands inside quotes in it, and whether words can stand behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    """Tell whether words behind a string surely go to what it runs: it is one command, without a comment."""
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
