"""Commands: {name} in them replaced, and what a treatment puts before and behind them."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from gate.config.study import Command

PLACEHOLDERS = ("seed", "output", "port")
"""Names in braces that are replaced when a command is started."""
_LATER = re.compile(rf"(\{{(?:{'|'.join(PLACEHOLDERS)})\}})")
_COMPOUND = re.compile(r"[;|()`\n#]|(?<![<>])&")
_PROGRAM = re.compile(r"\s*([^\s'\"$\\=]+)(?:\s|$)")
_OF_SHELL = re.compile(
    r"[!.:{}\[]|\[\[|alias|bg|break|builtin|case|cd|command|continue|declare|do|done|echo|elif|else|esac|eval|exec|exit|"
    r"export|false|fc|fg|fi|for|getopts|hash|if|in|jobs|kill|let|local|printf|pwd|read|readonly|return|set|shift|source|"
    r"test|then|time|times|trap|true|type|typeset|ulimit|umask|unalias|unset|until|wait|while"
)
"""Reserved words and what a shell does itself: no program to put a prefix before."""


def as_text(command: Command) -> str:
    """Write a command as one types it."""
    return command if isinstance(command, str) else shlex.join(command)


def filled(command: Command, values: Mapping[str, str]) -> Command:
    """Replace {name} in a command, in one pass; in a string the value is quoted for the shell."""
    if isinstance(command, str):
        return replaced(command, {name: shlex.quote(value) for name, value in values.items()})
    return [replaced(argument, values) for argument in command]


def by_hand(command: Command, values: Mapping[str, str]) -> str:
    """Return a command as one would type it into a shell; a script in brackets, lest its `set -e` end the session."""
    text = as_text(filled(command, values)).strip("\n")
    return f"(\n{text}\n)" if isinstance(command, str) and "\n" in text else text


def replaced(text: str, values: Mapping[str, str]) -> str:
    """Replace each {name} of values by its value as it is; every other brace stays."""
    if not values or "{" not in text:
        return text
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda match: values[match[1]], text)


def paths_named(commands: Iterable[Command]) -> tuple[str, ...]:
    """List the words of commands that may be files of the project, as paths relative to it."""
    found: dict[str, None] = {}
    for command in commands:
        try:
            words = shlex.split(command) if isinstance(command, str) else command
        except ValueError:  # quotes that only the shell understands
            continue
        found |= dict.fromkeys(posixpath.normpath(word) for word in words if word and "{" not in word)
    return tuple(path for path in found if path != "." and not path.startswith(("/", "../", "-")))


def mentions(command: Command | None, name: str) -> bool:
    """Return whether a command holds {name}."""
    parts = [command] if isinstance(command, str) else command or []
    return any("{" + name + "}" in part for part in parts)


def extended(command: Command, prefix: Sequence[str], args: Sequence[str]) -> Command:
    """Put words before and behind a command; benchmark_checks has seen that a string is simple."""
    if not isinstance(command, str):
        return [*prefix, *command, *args]
    # behind a last newline they would be a command of their own
    text = f"{command.rstrip()} {_quoted(args)}" if args else command
    return f"{_quoted(prefix)} {text.lstrip()}" if prefix else text


def is_simple(command: str) -> bool:
    """Return whether a string is surely one command that starts a program: words can stand before and behind it."""
    program = _PROGRAM.match(command)
    return program is not None and not _OF_SHELL.fullmatch(program[1]) and not _COMPOUND.search(command)


def _quoted(words: Sequence[str]) -> str:
    """Quote words for the shell, but for {seed}, {output} and {port}, which are quoted when they are replaced."""
    pieces = ([piece for piece in _LATER.split(word) if piece] for word in words)
    return " ".join(
        "".join(piece if _LATER.fullmatch(piece) else shlex.quote(piece) for piece in word) or "''" for word in pieces
    )
