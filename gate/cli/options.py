"""Options as dataclasses: one declaration gives the parser, its help and the typed object for the command.

A command declares its options as the fields of a frozen dataclass:

    @dataclass(frozen=True, eq=False, repr=False)  # each of eq, repr and slots costs time at every start
    class Options:
        base: str | None = option(metavar="REF", help="commit to compare with (default: the merge base)")
        quiet: bool = switch("only errors")
        rules: RulesOptions = group(RulesOptions, "rules")

Fields without such a declaration keep their default and are not on the command line.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, TypeVar

T = TypeVar("T")

_KEY, _TITLE = "option", "title"
"""In the metadata of a field: its option, or the dataclass of its options, and their heading with what it says."""
_TITLES = {"csv": "CSV", "html": "HTML", "json": "JSON", "junit": "JUnit XML", "markdown": "Markdown"}
"""How formats are written."""
_SHORT = {"--quiet": ("-q",), "--all": ("-v",)}
"""What else an option is called, in every command."""
BEHIND = "-- "
"""Begins the metavar of an argument that takes all words behind --, and none before it."""
WORDS = "words"
"""Attribute of a parsed command line: its words, as they were typed."""
KNOWN = "known"
"""Attribute of an action of argparse: values that a shell completes."""


@dataclass(frozen=True, slots=True)
class _Option:
    """What argparse needs to know about a field."""

    flag: str | None
    """None: the field's name with dashes; an empty one: a positional argument."""
    settings: dict[str, Any]
    section: str | None
    """A heading of the help that begins with it; None: it stands under that of the option before it."""
    several: bool
    """Its value is a tuple."""
    known: tuple[str, ...] = ()
    """Values that a shell completes, where parse knows the choices."""
    names: tuple[str, ...] = ()
    """It stands for an option of each of these names, whose values are kept by name."""


def option(
    help: str,  # noqa: A002  # as argparse names it
    *,
    metavar: str | None = None,
    parse: Callable[[str], Any] | None = None,
    choices: tuple[str, ...] | None = None,
    default: Any = None,
    alone: Any = MISSING,
    flag: str | None = None,
    section: str | None = None,
    known: tuple[str, ...] = (),
) -> Any:
    """Declare an option with a value.

    Args:
        help: one line; "%" is written "%%".
        metavar: how the help calls the value.
        parse: text -> value; raises argparse.ArgumentTypeError.
        choices: the only values there are.
        default: where the option is not given.
        alone: where it is given without a value; missing: that is an error.
        flag: with its dashes, where it is not the field's name.
        section: a heading of the help that begins here, for all options up to the next; empty: that of the group.
        known: values that a shell completes, where parse knows the choices.
    """
    settings: dict[str, Any] = {"help": help, "metavar": metavar, "type": parse, "choices": choices, "default": default}
    if alone is not MISSING:
        settings |= {"nargs": "?", "const": alone}
    return _field(_Option(flag, settings, section, False, known), default)


def repeated(
    help: str,  # noqa: A002
    *,
    metavar: str,
    flag: str,
    parse: Callable[[str], Any] | None = None,
    section: str | None = None,
) -> Any:
    """Declare an option that may be given several times; its value is a tuple."""
    settings: dict[str, Any] = {
        "help": f"{help} (repeatable)",
        "metavar": metavar,
        "type": parse,
        "action": "append",
        "default": [],
    }
    return _field(_Option(flag, settings, section, True), ())


def named(names: tuple[str, ...], help: str, *, metavar: str, section: str | None = None) -> Any:  # noqa: A002
    """Declare an option --NAME for each name of a list; the value is a dict of those given, in their order.

    help: one line, with {} for the name.
    """
    settings = {"help": help, "metavar": metavar, "action": _Collect}
    return field(default_factory=dict, metadata={_KEY: _Option(None, settings, section, False, names=names)})


def switch(help: str, *, off: bool = False, flag: str | None = None, section: str | None = None) -> Any:  # noqa: A002
    """Declare an option without a value; off: it turns off what is on without it."""
    settings = {"help": help, "action": "store_false" if off else "store_true", "default": off}
    return _field(_Option(flag, settings, section, False), off)


def argument(help: str, *, metavar: str, nargs: str | None = None, choices: tuple[str, ...] | None = None) -> Any:  # noqa: A002
    """Declare a positional argument; with nargs "*", "+" or "..." its value is a tuple."""
    several = nargs in {"*", "+", "..."}
    made = _Option("", {"help": help, "metavar": metavar, "nargs": nargs, "choices": choices}, None, several)
    return _field(made, () if several else None if nargs == "?" else MISSING)


def words() -> Any:
    """Declare that a field keeps the words of the whole command line, without the program's name."""
    return field(default=(), metadata={_KEY: WORDS})


def group(type_: type[Any], title: str | None = None, about: str | None = None) -> Any:
    """Declare that the options of another dataclass belong here, under a heading of their own."""
    return field(default_factory=type_, metadata={_KEY: type_, _TITLE: (title, about)})


def add_options(parser: argparse.ArgumentParser, options: type[Any]) -> None:
    """Add every option of a dataclass, and of those in it, to a parser."""
    _add_options(parser, parser, options, "")


def _add_options(
    parser: argparse.ArgumentParser, within: argparse._ActionsContainer, options: type[Any], prefix: str
) -> None:
    """Add options to a part of a parser; sections are of the whole, since groups have no groups."""
    section = within
    for each in fields(options):
        declared = each.metadata.get(_KEY)
        if isinstance(declared, _Option) and declared.section is not None:
            section = parser.add_argument_group(declared.section) if declared.section else within
        if isinstance(declared, type):
            title, about = each.metadata[_TITLE]
            container = parser.add_argument_group(title, about) if title else within
            _add_options(parser, container, declared, f"{prefix}{each.name}.")
        elif isinstance(declared, _Option) and declared.names:
            for name in declared.names:
                settings = declared.settings | {"help": declared.settings["help"].format(_TITLES.get(name, name))}
                section.add_argument(f"--{name}", dest=prefix + each.name, **settings)
        elif isinstance(declared, _Option):
            _add(section, each, declared, prefix)


def options_of(options: type[T], parsed: argparse.Namespace, prefix: str = "") -> T:
    """Make the typed object of a parsed command line."""
    values: dict[str, Any] = {}
    for each in fields(options):  # type: ignore[arg-type]  # T is a dataclass
        declared = each.metadata.get(_KEY)
        if declared == WORDS:
            values[each.name] = getattr(parsed, WORDS, ())
        if isinstance(declared, type):
            values[each.name] = options_of(declared, parsed, f"{prefix}{each.name}.")
        elif isinstance(declared, _Option):
            value = getattr(parsed, prefix + each.name)
            values[each.name] = tuple(value) if declared.several else value or {} if declared.names else value
    return options(**values)


def given(options: Any) -> Iterator[tuple[str, str]]:
    """Give each option that differs from its default, but those of groups: its field, and what users call it."""
    for each in fields(options):
        declared = each.metadata.get(_KEY)
        value = getattr(options, each.name)
        if (
            isinstance(declared, _Option)
            and not declared.names
            and value != (None if each.default is MISSING else each.default)
        ):
            yield each.name, _flag(each, declared) or str(declared.settings["metavar"])


class _Collect(argparse.Action):
    """Keeps the values of several options under their names; the last of one name counts."""

    def __call__(self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, __: Any = None) -> None:
        found = getattr(namespace, self.dest) or {}
        setattr(namespace, self.dest, found | {self.option_strings[0].removeprefix("--"): values})


def _field(declared: _Option, default: Any) -> Any:
    if default is MISSING:
        return field(metadata={_KEY: declared})
    return field(default=default, metadata={_KEY: declared})


def _flag(each: Field[Any], declared: _Option) -> str:
    return f"--{each.name.replace('_', '-')}" if declared.flag is None else declared.flag


def _add(container: argparse._ActionsContainer, each: Field[Any], declared: _Option, prefix: str) -> None:
    settings = {name: value for name, value in declared.settings.items() if value is not None or name == "default"}
    flag = _flag(each, declared)
    if flag:
        added = container.add_argument(*_SHORT.get(flag, ()), flag, dest=prefix + each.name, **settings)
    else:
        added = container.add_argument(prefix + each.name, **settings)
        # a rest of the line may be empty, which not every Python knows
        added.required &= settings.get("nargs") != "..."
    if declared.known:
        setattr(added, KNOWN, declared.known)
