"""A check without a file: its command line -> the perfgate.toml that would do the same."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, TextIO

from gate.checkout import refuse_tracked
from gate.cli.command import command_of
from gate.cli.groups import MeasureOptions, RulesOptions
from gate.codes import MisuseError
from gate.commands.check.command import GivenOptions
from gate.config.config_text import COMMAND_LINE, read_source
from gate.config.resolve import tables_of
from gate.config.schema import ADDRESS
from gate.model import SIDES, UserError
from gate.writing.phrases import toml_text
from gate.writing.plain import clip, visible

FILE = "perfgate.toml"
_NAME = 60
"""Characters of the name of a benchmark."""
_SHELL = re.compile(r"[|&;<>()$`*?\[\]#~{}!\n]|^\s*\w+=")
"""What only a shell understands, outside quotes or in them."""


def with_given(given: GivenOptions, measured: MeasureOptions, rules: RulesOptions, err: TextIO) -> RulesOptions:
    """Return rules with the config that a command line without a file means; --save also writes it.

    measured: what of the command line a file cannot hold.

    Raises: UserError: options that do not go together, or a file that cannot be written.
    """
    programs = (given.base_command, given.head_command)
    if not given.command and programs == (None, None):
        if given.build is not None or given.save:
            raise MisuseError(f"{'--save' if given.save else '--build'}: needs a command: perfgate check -- COMMAND")
        return rules
    if rules.config is not None:
        raise MisuseError("--config: not with a command; --save writes the command's own perfgate.toml")
    if given.command and programs != (None, None):
        raise MisuseError("--base-command and --head-command compare two programs: put no command behind --")
    kept = tables_of(rules.sets) if given.save else {}
    text = _of_command(given, kept, err) if given.command else _of_programs(given, kept)
    if given.save:
        file = Path(FILE)
        try:
            refuse_tracked(file)
            with file.open("x", encoding="utf-8") as opened:
                opened.write(f"#:schema {ADDRESS}\n{text}")
        except FileExistsError:
            raise UserError(f"--save: {FILE} is there already: remove it, or leave --save out") from None
        except OSError as error:
            raise UserError(f"--save: {FILE} cannot be written: {error.strerror}") from None
        # of a file they are no part
        sides = [word for side in SIDES if (ref := getattr(measured, side)) for word in (f"--{side}", ref)]
        again = visible(shlex.join(["perfgate", "check", *sides]))
        err.write(f"perfgate: wrote {FILE}; from now on `{again}` does the same\n")
    return replace(rules, given=read_source(text, FILE if given.save else COMMAND_LINE))


def _of_command(given: GivenOptions, kept: Mapping[str, Mapping[str, Any]], err: TextIO) -> str:
    """Write the file that measures one command of this checkout; kept: the rules that it has too."""
    command = _command(given.command[0] if len(given.command) == 1 else given.command)
    if "/" not in command[0] and _is_nowhere(command):
        # any other may be one that git or the build has
        raise MisuseError(f"-- {command[0]}: there is no such program on PATH")
    built = _building(given.build, err)
    tables = {name: {**built.get(name, {}), **kept.get(name, {})} for name in dict.fromkeys([*built, *kept])}
    return _written(tables, {"command": command})


def _of_programs(given: GivenOptions, kept: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the file that compares two programs; kept: the rules that it has too."""
    if given.base_command is None or given.head_command is None:
        there, lacks = ("base", "head") if given.head_command is None else ("head", "base")
        raise MisuseError(f"--{there}-command: needs --{lacks}-command too, the program to compare it with")
    if given.build is not None:
        raise MisuseError("--build: not with two programs, which are compared as they are")
    base, head = _command(given.base_command, "--base-command"), _command(given.head_command, "--head-command")
    for option, command in (("--base-command", base), ("--head-command", head)):
        if _is_nowhere(command):
            raise MisuseError(f"{option}: there is no program {command[0]}")
    return _written(kept, {"command": head, "against": base})


def _command(words: str | Sequence[str], option: str = "--") -> str | list[str]:
    """Return a command as a file has it: its words, or a string where it needs a shell; option: that has it."""
    if isinstance(words, str) and not words.strip():
        raise MisuseError(f"{option}: the command is empty")
    if not isinstance(words, str):
        return list(words)
    try:
        return words if _SHELL.search(words) else shlex.split(words)
    except ValueError as error:
        raise UserError(f"{option} {words}: {str(error).lower()}: quote the command whole") from None


def _is_nowhere(command: str | Sequence[str]) -> bool:
    """Return whether there is no program that a command would start; of what a shell reads that is not known."""
    return not isinstance(command, str) and shutil.which(command[0]) is None


def _building(given: str | None, err: TextIO) -> Mapping[str, Mapping[str, Any]]:
    """Return what a file would have of building: --build, else what `perfgate init` would write, if anything."""
    if given is not None:
        return {"build": {"command": given}} if given else {}
    said = io.StringIO()
    init = command_of("init")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        # what it finds to measure does not matter
        init.run(init.options(file=file, force=True, tries=False), io.StringIO(), said)
        if not file.exists():
            raise UserError(f"how it is built is not known: name it with --build ({said.getvalue().strip()})")
        found = read_source(file.read_text(encoding="utf-8"), FILE).tables
    if "command" not in found.get("build", {}):
        err.write(
            "perfgate: no build command is known here, so files are measured as git has them; --build names one\n"
        )
    return {name: found[name] for name in ("build", "env") if name in found}


def _written(tables: Mapping[str, Mapping[str, Any]], benchmark: Mapping[str, str | list[str]]) -> str:
    programs = [next((word for word in _words(each) if "=" not in word), "") for each in benchmark.values()]
    # FOO=1 ./sum is sum; what others of the system run too, or base's program with other arguments, needs all its words
    own = "/" in programs[0] and len({*programs}) == len(programs)
    name = PurePath(programs[0]).name if own else clip(visible(" ".join(_words(benchmark["command"]))), _NAME)
    blocks = [*((f"[{each}]", table) for each, table in tables.items()), ("[[benchmark]]", {"name": name, **benchmark})]
    return "\n".join(
        f"{title}\n" + "".join(f"{key} = {toml_text(value)}\n" for key, value in table.items())
        for title, table in blocks
    )


def _words(command: str | list[str]) -> list[str]:
    return command.split() if isinstance(command, str) else command
