"""The command line as data: every command with its options, for completion, the man page and the reference."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gate.cli.command import Command, command_names, command_of
from gate.cli.options import KNOWN, add_options

_LONGEST = 60
"""Letters of a list of choices; of a longer one its name is shown."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An option, or a positional argument."""

    flag: str
    """With its dashes; empty: positional."""
    metavar: str | None
    """What its value is called; None: it has no value."""
    help: str
    choices: tuple[str, ...]
    """The only values that there are; empty: any."""
    known: tuple[str, ...]
    """Values that a shell completes."""
    repeatable: bool
    value_optional: bool
    """Whether it may stand without its value."""

    @property
    def shown(self) -> str:
        """Write it as usage has it: "--base REF", "[RUN]"."""
        listed = "{" + ",".join(self.choices) + "}"
        value = listed if self.choices and len(listed) <= _LONGEST else self.metavar or ""
        if self.flag:
            value = f"[{value}]" if value and self.value_optional else value
            return f"{self.flag} {value}".rstrip()
        several = f"{value}..." if self.repeatable else value
        return f"[{several}]" if self.value_optional else several


@dataclass(frozen=True, slots=True)
class Heading:
    """Options that stand together."""

    title: str
    about: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A command or a sub-command."""

    name: str
    """Such as "check", "study plan"."""
    command: Command
    headings: tuple[Heading, ...]

    @property
    def parameters(self) -> list[Parameter]:
        """Return all of its options and arguments."""
        return [each for heading in self.headings for each in heading.parameters]

    @property
    def usage(self) -> str:
        """Return its usage in one line."""
        return usage(f"perfgate {self.name}", self.parameters)


def usage(program: str, parameters: Iterable[Parameter]) -> str:
    """Return the usage of a command in one line: options are listed below it, and named twice would hide arguments."""
    return " ".join([program, "[OPTIONS]", *(each.shown for each in parameters if not each.flag)])


def entries() -> list[CatalogueEntry]:
    """Return all commands in the order of `perfgate --help`, each followed by its parts; imports every command."""
    loaded = sorted(((command_of(name), name) for name in command_names()), key=lambda each: (each[0].place, each[1]))
    return [
        CatalogueEntry(f"{name} {part}".rstrip(), own, headings(own))
        for command, name in loaded
        for part, own in {"": command, **command.parts}.items()
    ]


def headings(command: Command) -> tuple[Heading, ...]:
    """Return the options of a command by their headings; arguments first, those without a heading before the others."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_options(parser, command.options)
    found = []
    # argparse lists its groups nowhere else
    for group in parser._action_groups:
        made = tuple(parameter(each) for each in group._group_actions)
        own = group not in (parser._positionals, parser._optionals)
        title = group.title or "" if own else ""
        if made:
            found.append(Heading(title, group.description or "", made))
    return tuple(found)


def parameter(action: argparse.Action) -> Parameter:
    """Read an option or an argument of a parser."""
    takes = action.nargs != 0
    choices = tuple(map(str, action.choices or ()))
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.rpartition(".")[2].upper()
    return Parameter(
        flag=action.option_strings[-1] if action.option_strings else "",
        metavar=metavar if takes else None,
        help=(action.help or "").replace("%%", "%"),
        choices=choices,
        known=choices or getattr(action, KNOWN, ()),
        repeatable=isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+", argparse.REMAINDER),
        value_optional=action.nargs in ("?", "*", argparse.REMAINDER),
    )


def setting_keys() -> list[str]:
    """Return the keys that --set takes: "gate.threshold", "plan.builds"."""
    file = Path(__file__).parents[1] / "perfgate.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    found = []
    for table, about in schema["properties"].items():
        refs = [each["$ref"].rpartition("/")[2] for each in (about, *about.get("anyOf", ())) if "$ref" in each]
        found += [f"{table}.{key}" for ref in refs for key in schema["$defs"][ref]["properties"]]
    return sorted(found)


def kind(of: Parameter) -> str:
    """Name what a value is, for completion: "words" for known ones, a word of _KINDS, or empty for anything else."""
    return "words" if of.known else _KINDS.get(of.metavar or "", "")


_KINDS = {
    "REF": "ref",
    "FILE": "file",
    "DIR": "folder",
    "KEY=VALUE": "setting",
    "base|head|FILE": "rules",
    "RUN": "file",
    "[LABEL=]FILE": "file",
    "[LABEL=]RUN": "file",
}
"""By what usage calls it."""
