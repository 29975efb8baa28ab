"""The reference of the command line from the types of its options: docs/commands.md and man/perfgate.1.

Both are written by `make docs` and say what --help says: the commands, their options and exit codes are in
gate/commands/*/command.py. Only what no command says of itself stands here: files and the environment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from gate.cli.catalogue import CatalogueEntry, Heading, Parameter, entries
from gate.cli.command import meanings
from gate.codes import MEANINGS, Exit

PURPOSE = "fails a pull request only on a slowdown beyond the threshold that noise cannot explain"
_INTRODUCTION = (
    "Every command with its options, as `perfgate COMMAND --help` prints them. An installed perfgate has the same as "
    "`man perfgate`. `perfgate completion` prints a script with which bash, zsh or fish completes commands, options, "
    "benchmarks and git refs.\n"
)
ENVIRONMENT: Mapping[str, str] = {
    "CI": "Where it is set, the rules come from base, and progress is written in plain lines.",
    "NO_COLOR": "No colour, whatever its value.",
    "FORCE_COLOR": "Colour also where the output is no terminal.",
    "PERFGATE_HISTORY": "Folder or git ref of the history, where neither --history nor gate.history names one.",
    "PERFGATE_LOCK": "Lock file of all perfgate runs on a machine; set it where containers have a /tmp of their own.",
    "PERFGATE_TRACEBACK": "Where it is set, an internal error shows its traceback.",
}
FILES: Mapping[str, str] = {
    "perfgate.toml": "The benchmarks and the rules; or the same keys under [tool.perfgate] in pyproject.toml.",
    ".perfgate/": "The last run: measurements.jsonl, report.json, report.html, comment.md.",
    ".perfgate/runs/": "The ten runs before it.",
}
_ROFF = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", '"': "\\(dq"})
_SIGNALS = "A command that a signal ends exits with 128 plus the signal's number."


_COMMON = 2
"""Commands that have the same option, from which on it is described once."""


def commands_page() -> str:
    """Return docs/commands.md."""
    found = entries()
    counts = Counter((each.shown, each.help) for entry in found for each in entry.parameters if each.flag)
    # where two texts of one option are common, the second stays with its commands
    common: dict[str, Parameter] = {}
    for entry in found:
        for each in entry.parameters:
            if counts[each.shown, each.help] >= _COMMON:
                common.setdefault(each.shown, each)
    # what a subcommand has of the command that it is of, or of the first subcommand
    families: dict[str, list[Parameter]] = {}
    parts = [
        "# Command line\n",
        _INTRODUCTION,
        f"{_SIGNALS} Each command lists its [exit codes](exit-codes.md).\n",
        "## Common options\n",
        "Options that several commands have, each with the same meaning. `--help` of a command shows all of its own.\n",
        _rows([Heading("", "", tuple(common.values()))]),
        *(_section(each, common, families) for each in found),
        "## Environment\n",
        "".join(f"- `{name}`: {_cell(text)}\n" for name, text in ENVIRONMENT.items()),
        "## Files\n",
        "".join(f"- `{name}`: {_cell(text)}\n" for name, text in FILES.items()),
        "[configuration.md](configuration.md) describes every key of perfgate.toml.\n",
    ]
    return "\n".join(parts)


def _section(entry: CatalogueEntry, common: Mapping[str, Parameter], families: dict[str, list[Parameter]]) -> str:
    command = entry.command
    leader = entry.name.partition(" ")[0]
    known = families.setdefault(leader, [])
    shared = [each for each in entry.parameters if common.get(each.shown) == each]
    told = [each for each in entry.parameters if each in known and each not in shared]
    own = [
        Heading(heading.title, heading.about, tuple(e for e in heading.parameters if e not in (*shared, *told)))
        for heading in entry.headings
    ]
    known += [each for each in entry.parameters if each.flag and each not in known]
    named, above = (", ".join(_code(each.flag) for each in some) for some in (shared, told))
    return "\n".join(
        (
            f"## perfgate {entry.name}\n",
            f"{_sentence(command.help)}\n",
            f"```text\n{entry.usage}\n\n{command.example}\n```\n",
            *([_rows(own)] if any(each.parameters for each in own) else []),
            *([f"As `perfgate {leader}` above: {above}.\n"] if above else []),
            *([f"[Common options](#common-options): {named}.\n"] if named else []),
            *([] if entry.parameters else ["No options but `--help`.\n"]),
            *([_ends(meanings(command.codes, command))] if command.codes else []),
        )
    )


def _rows(headings: Sequence[Heading]) -> str:
    items: list[str] = []
    for heading in headings:
        if heading.title and heading.parameters:
            about = f": {_cell(heading.about)}" if heading.about else ""
            items.append(f"\n**{_cell(heading.title)}**{about}\n\n")
        items += (f"- `{each.shown}`: {_cell(each.help)}\n" for each in heading.parameters)
    return "".join(items).lstrip("\n")


def _ends(codes: Mapping[Exit, str]) -> str:
    """Say what a command can end with, where that is not what the code always means with its meaning."""
    texts = [f"{code:d}" + ("" if text == MEANINGS[code] else f" ({_cell(text)})") for code, text in codes.items()]
    return f"Exit codes: {', '.join(texts)}.\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _cell(text: str) -> str:
    # what stands between backticks is no Markdown, and a bracket elsewhere no link
    pieces = re.split(r"(`[^`]*`)", text)
    plain = (re.sub(r"([\[\]<>*_])", r"\\\1", each) if not each.startswith("`") else each for each in pieces)
    return "".join(plain)


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def man_page() -> str:
    """Return man/perfgate.1: one page with every command."""
    return "".join(f"{line}\n" for line in _man(entries()))


def _man(found: Sequence[CatalogueEntry]) -> Iterator[str]:
    yield '.\\" written by make docs from the options of the commands'
    yield '.TH PERFGATE 1 "" perfgate "User Commands"'
    # words that cannot be broken leave holes in lines that are filled to the margin
    yield ".ad l"
    yield from (".SH NAME", f"perfgate \\- {_roff(PURPOSE)}")
    yield ".SH SYNOPSIS"
    yield from (".B perfgate", ".I COMMAND", "[OPTIONS]")
    yield from (".SH DESCRIPTION",)
    yield _roff(
        "perfgate builds base and head several times, runs their benchmarks interleaved, estimates the variance of "
        "builds, executions and iterations, and compares the confidence interval of head/base with a threshold."
    )
    yield ".SH COMMANDS"
    for each in found:
        yield from (".TP", f".B {_roff(each.name)}", _roff(_sentence(each.command.help)))
    yield ".SH EXIT STATUS"
    for code, text in MEANINGS.items():
        yield from (".TP", f".B {code:d}", _roff(text))
    yield from (".PP", _roff(_SIGNALS))
    for each in found:
        yield from _man_command(each)
    for title, named in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        yield f".SH {title}"
        for name, text in named.items():
            yield from (".TP", f".B {_roff(name)}", _roff(text))


def _man_command(entry: CatalogueEntry) -> Iterator[str]:
    command = entry.command
    yield f'.SH "PERFGATE {_roff(entry.name.upper())}"'
    yield from (_roff(_sentence(command.help)), ".PP", f".B {_roff(entry.usage)}")
    for heading in entry.headings:
        if heading.title:
            yield f'.SS "{_roff(heading.title.capitalize())}"'
        if heading.about:
            yield _roff(heading.about)
        for each in heading.parameters:
            yield from (".TP", f".B {_roff(each.shown)}", _roff(each.help))
    yield '.SS "Examples"'
    yield from (".nf", *map(_roff, command.example.splitlines()), ".fi")
    if command.codes:
        yield '.SS "Exit status"'
        for code, text in meanings(command.codes, command).items():
            yield from (".TP", f".B {code:d}", _roff(text))


def _roff(text: str) -> str:
    made = text.translate(_ROFF)
    return f"\\&{made}" if made.startswith(".") else made
