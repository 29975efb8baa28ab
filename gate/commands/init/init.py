"""perfgate init: a commented perfgate.toml that runs as it is."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from gate.checkout import refuse_tracked, text_of
from gate.cli.command import command_of
from gate.codes import Exit
from gate.commands.init.detect.choose import choose
from gate.commands.init.detect.result import Found
from gate.commands.init.detect.tree import Tree, read_tree
from gate.config.parse import parse, parse_types
from gate.config.source import project_source, read_source, tables_of_namesake, why_namesake
from gate.evidence.inputs import DEFAULT_FOLDER
from gate.model import UserError
from gate.report.templates import render_template
from gate.run.trial import TrialTimes, tried
from gate.writing.plain import visible
from harness.errors import SourceError
from harness.sandbox.caches import defaults, named
from harness.source.git import git_of

FILE = "perfgate.toml"
_TRY = "--no-try"
_MOST_OFFERED = 8
_LONG = 5.0
"""Seconds of a whole run beyond which few fit into a budget."""
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Where the file goes."""

    directory: Path
    kind: str | None
    """None detects it."""
    force: bool
    """Write over one that exists, unless it is another tool's."""
    file: str = FILE
    """Its name, from that directory."""
    tries: bool = False
    """Run `perfgate try` on what was written."""


def run(options: InitOptions, out: TextIO, err: TextIO) -> int:
    """Write perfgate.toml and say what was detected, what was written and what comes next; 2 when it cannot be."""
    try:
        _refuse(options)
        tree = read_tree(options.directory)
        found = choose(tree, options.kind)
        text = render(tree, found[0])
        # a project that the escaping did not foresee must not get a file that cannot be read
        (parse if found[0].measures_something else parse_types)(read_source(text, options.file))
        _write(options, text)
    except UserError as error:
        err.write(f"perfgate: {error}\n")
        return Exit.USAGE
    git_notes = _git_notes(tree, options.file)
    # what git does not hold yet cannot be tried, and the notes say what to do first
    tries = options.tries and found[0].measures_something and not git_notes
    out.write(_printable(_summary(options.file, found, [*found[0].notes, *git_notes])))
    if tries:
        out.write(f"\ntrying it ({_TRY} skips this, and so does Ctrl-C):\n")
        out.flush()
        folder = options.directory / DEFAULT_FOLDER
        before = tried(folder)
        _try(options, out, err)
        now = tried(folder)
        if now is not None and now != before:
            _use_budget(options, tree, found[0], now, out)
        out.write(_printable(long_notes(found[0], now if now != before else None, options.file)))
    steps = _next(options, tried=tries, complete=found[0].measures_something)
    out.write(_printable([*(["", "also:"] if tries else ["next:"]), *steps]))
    return 0


def _try(options: InitOptions, out: TextIO, err: TextIO) -> None:
    """Try what was written, as `perfgate try` does; whatever it finds, the file is written and stays."""
    trying = command_of("try")
    asked = trying.options()
    if options.file != FILE:
        asked = replace(asked, rules=replace(asked.rules, config=options.directory / options.file))
    try:
        trying.run(asked, out, err)
    except UserError as error:
        err.writelines(f"perfgate try: {visible(str(each))}\n" for each in error.errors)


def long_notes(found: Found, times: TrialTimes | None, file: str) -> list[str]:
    """Say which runs that are timed as a whole take long, and what to do."""
    seconds = times.each if times is not None else {}
    names = [each.name for each in found.benchmarks if each.instrument == "spawn"]
    notes = [
        f"note: {name} takes {seconds[name]:.1f} s a run: choose a part of it, or let it write its own times; "
        f"{file} has the lines above [[benchmark]]"
        for name in names
        if seconds.get(name, 0.0) > _LONG
    ]
    return ["", *notes] if notes else []


def _use_budget(options: InitOptions, tree: Tree, found: Found, times: TrialTimes, out: TextIO) -> None:
    """Write the file again where a trial found counts that use the budget better; nothing where it found none."""
    if times.leaner is None:
        return
    executions, iterations = times.leaner
    amount = replace(found.plan, executions=executions, iterations=iterations, comment=[])
    what = f"the leaner plan: executions = {executions}, iterations = {iterations}"
    _write(replace(options, force=True), render(tree, replace(found, amount=amount)))
    out.write(f"\nwrote {options.file} again, with {what}; the next step is `perfgate check`\n")


def render(tree: Tree, found: Found) -> str:
    """Return the text of perfgate.toml for a project."""
    made = [*found.artifacts, *found.products]
    # what a build makes is never shared: one side would measure the other's
    share = list(dict.fromkeys([*found.share, *(path for path in tree.needed if not _holds(path, made))]))
    doubtful = [path for path in tree.doubtful if path not in share and not _holds(path, made)][:_MOST_OFFERED]
    texts = [found.build, found.setup, *(measured.command for measured in found.benchmarks)]
    commands = [each if isinstance(each, str) else " ".join(each) for each in texts if each]
    write = defaults(named((), commands))
    values = {"found": found, "share": share, "doubtful": doubtful, "write": write}
    return render_template("init.toml.j2", {**values, "toml": toml_value, "command": _command}, html=False)


def _holds(path: str, made: list[str]) -> bool:
    return any(product == path.rstrip("/") or (path.endswith("/") and product.startswith(path)) for product in made)


def toml_value(value: str | list[str]) -> str:
    """Write a string or a list of strings as TOML does, on one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    # JSON's escapes are TOML's, but JSON leaves DEL as it is
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _command(value: str | list[str]) -> str:
    """Write a command; one of several lines as such, which a literal string can unless it holds its own end."""
    if isinstance(value, str) and "\n" in value and "'''" not in value:
        # no line end behind it: options that are added to a suite's command would begin a command of their own
        return f"'''\n{value}'''"
    return toml_value(value)


def _refuse(options: InitOptions) -> None:
    if not options.directory.is_dir():
        raise UserError(f"{options.directory} is not a directory")
    file = options.directory / options.file
    if file.name == "pyproject.toml":
        raise UserError("names pyproject.toml, which has the project's own tables: name another file", option="file")
    if os.path.lexists(file):
        _refuse_namesake(file, options.file)
        if not options.force:
            raise UserError(f"{options.file} already exists: edit it, or overwrite it with --force")
    if options.file != FILE:
        return
    try:
        text = text_of(options.directory / "pyproject.toml")
    except OSError:
        return
    if project_source(None, text) is not None:
        raise UserError(
            "pyproject.toml already has [tool.perfgate], and only one of the two is allowed: edit that table"
        )


def _refuse_namesake(file: Path, name: str) -> None:
    try:
        tables = tomllib.loads(text_of(file))
    except (OSError, ValueError):
        return
    if tables_of_namesake(tables):
        raise UserError(f"{name} {why_namesake(tables)}")


def _config(options: InitOptions) -> str:
    """Return the option that names the file to each command, with a space before it."""
    return "" if options.file == FILE else f" --config {shlex.quote(options.file)}"


def _write(options: InitOptions, text: str) -> None:
    try:
        # without --force nothing is written over, not even what appeared a moment ago
        refuse_tracked(options.directory / options.file)
        with (options.directory / options.file).open("w" if options.force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"{options.file} cannot be written: {error.strerror}") from None


def _summary(file: str, every: list[Found], notes: list[str]) -> list[str]:
    found, *others = every
    lines = [f"detected: {found.kind} ({found.evidence})"]
    also = [f"--kind {other.kind}" for other in others if other.kind != "generic"]
    lines += [f"also possible: {', '.join(also)}"] if also else []
    lines += [
        f"wrote {file}: {_benchmarks(found)}, build {_short(found.build or ('none' if found.setup else 'by checkout'))}"
    ]
    return [*lines, *(f"note: {note}" for note in notes)]


def _next(options: InitOptions, *, tried: bool, complete: bool) -> list[str]:
    config, file = _config(options), shlex.quote(options.file)
    if not complete:
        return [f"  edit {options.file}: write the command of [[benchmark]]; nothing can be measured before that"]
    steps = [
        # a trial says itself what comes after it
        *(
            []
            if tried
            else [
                (f"perfgate try{config}", "builds once and runs every benchmark once, a minute or so beyond the build")
            ]
        ),
        (f"git add {file} && git commit", f"commits {options.file}: a check compares states of the repository"),
        (f"perfgate check{config}", "on a branch with a change: measures it against the default branch"),
        (f"perfgate check{config} --dry-run", "shows what will be measured, and after a first run how long it takes"),
        ("perfgate init --workflow pull-request", "gates pull requests on GitHub (public repository: forks)"),
    ]
    width = max(len(command) for command, _ in steps)
    return [f"  {command:<{width}}   {what}" for command, what in steps]


def _printable(lines: list[str]) -> str:
    # a hostile file name must not reach the terminal as it is
    return "".join("".join(char if char.isprintable() else "?" for char in line) + "\n" for line in lines)


def _benchmarks(found: Found) -> str:
    first = found.benchmark
    if found.more:
        names = [measured.name for measured in found.benchmarks]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return f"benchmarks {', '.join(names[:_MOST_NAMED])}{more} ({first.instrument})"
    if not found.measures_something:
        return f"benchmark {first.name} (no command yet)"
    return f"benchmark {first.name} ({_short(first.command)})"


def _short(command: str | list[str]) -> str:
    """Return a command on one line."""
    if isinstance(command, list):
        return " ".join(command)
    *before, last = command.splitlines()
    return last if not before else f"a script, {len(before) + 1} lines"


def _git_notes(tree: Tree, file: str) -> list[str]:
    if not tree.git:
        return [
            "this is not a git repository yet: run `git init` and commit first, as perfgate compares two of its states"
        ]
    try:
        git = git_of(tree.directory)
        if git.maybe("rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
            return ["nothing is committed yet: commit first; perfgate compares two states of a repository"]
        # check-ignore knows no literal pathspecs, which the harness asks for
        if git.seeing(GIT_LITERAL_PATHSPECS="0").attempt("check-ignore", "--quiet", "--", file).status == 0:
            return [f"git ignores {file}: `git add --force {shlex.quote(file)}`"]
    except SourceError:
        pass
    return []
