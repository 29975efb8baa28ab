"""perfgate init: a perfgate.toml of few lines that was tried, and mended where a trial failed."""

from __future__ import annotations

import io
import json
import math
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from threading import Timer
from typing import Any, TextIO

from gate.checkout import top_of
from gate.cli.command import command_of
from gate.codes import Exit
from gate.commands.init import c_sources, cargo, cmake, go, jmh, make, npm, python, scripts
from gate.commands.init.ask import PATIENCE, Asked, asked
from gate.commands.init.c_sources import LEFT_OUT, SOURCES
from gate.commands.init.command import Options
from gate.commands.init.fit import BUILD_LIMIT, Shorter, by_cpu_time, fitted, representatives
from gate.commands.init.former import read_former, same
from gate.commands.init.found import Found, Rank, Row
from gate.commands.init.mend import comparable, lesson, mended, reason
from gate.commands.init.tree import Tree, read_tree, write_new
from gate.config.config_text import project_source, read_source
from gate.config.parse import parse
from gate.config.schema import ADDRESS
from gate.document.html import render_template
from gate.model import UserError
from gate.run.interruption import orderly
from gate.writing.plain import visible
from harness.errors import SourceError
from harness.sandbox.home import defaults, named
from harness.source.git import checkout_of, git_of

FILE = "perfgate.toml"
_ATTEMPTS, _CHOICES = 3, 3
_ROWS = 10
"""Of the table of what was seen."""


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Write perfgate.toml, try it and say what came of it.

    Returns:
        0 where every benchmark gave values, or was not to be tried; 4 where something is missing; 2 where nothing can
        be written.
    """
    return _Init(options, out, err).run()


class _Init:
    """One call of init: where its file lies, and how that is written, tried and told of."""

    def __init__(self, options: Options, out: TextIO, err: TextIO) -> None:
        self._options = options
        self._out = out
        self._err = err
        self._place = Path.cwd() / (options.project or "")
        self._file = str(options.file or FILE)

    def run(self) -> int:
        options = self._options
        try:
            self._refuse()
            former = read_former(options.former) if options.former is not None else None
            with self._looking(), orderly():
                tree = read_tree(self._place)
                with asked(tree, self._tell) as ask:
                    found = choose(tree, ask, options.kind or (former.kind if former else None))
            if former is not None:
                found = same(found, former)
            self._write(tree, found, force=options.force)
        except UserError as error:
            self._err.write(f"perfgate: {error}\n")
            return Exit.USAGE
        self._say(*_summary(found, self._file))
        why = _untried(tree, found, self._file) if options.tries or not found.measures_something else ""
        if not options.tries or why:
            self._say(*([f"not tried: {why}"] if why else []), "next:", *self._next(why))
            return Exit.ERROR if why else Exit.PASS
        self._say("trying it (--no-try skips this, and so does Ctrl-C):")
        missing = self._tried(tree, found)
        last = [f"missing: {name or 'the build'}: {reason(text)}" for name, text in missing.items()]
        self._say(*last, "", "next:" if missing else "also:", *self._next("", failed=bool(missing)))
        return Exit.ERROR if missing else Exit.PASS

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Say where it looks, if that takes longer than somebody waits who called it in the wrong place."""

        def say() -> None:
            if top_of(self._place) is None:
                told = "is in no git repository: looking at all files below it; `--project DIR` names another folder"
                self._tell(f"{self._place} {told}")

        timer = Timer(PATIENCE, say)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _tell(self, text: str) -> None:
        self._err.write(f"perfgate: {visible(text)}\n")
        self._err.flush()

    def _say(self, *lines: str) -> None:
        # a hostile file name must not reach the terminal as it is
        self._out.write("".join(f"{visible(line)}\n" for line in lines))
        self._out.flush()

    def _refuse(self) -> None:
        if not self._place.is_dir():
            raise UserError(f"{self._place} is not a directory")
        file = self._place / self._file
        if file.name == "pyproject.toml":
            own = "names pyproject.toml, which has the project's own tables: name another file"
            raise UserError(own, option="file")
        if os.path.lexists(file) and not self._options.force:
            raise UserError(f"{self._file} already exists: edit it, or overwrite it with --force")
        text = Tree(self._place, (), (), git=False).text("pyproject.toml") if self._file == FILE else ""
        if text and project_source(None, text) is not None:
            raise UserError(
                "pyproject.toml already has [tool.perfgate], and only one of the two is allowed: edit that table"
            )

    def _write(self, tree: Tree, found: Found, *, force: bool = True) -> None:
        text = render(tree, found)
        # a project that the escaping did not foresee must not get a file that cannot be read
        parse(read_source(text, self._file), checked=found.measures_something)
        write_new(self._place / self._file, self._file, text, force=force)

    def _tried(self, tree: Tree, found: Found) -> Mapping[str, str]:
        """Try what was written, and write it again as a trial teaches; return what gave no values."""
        choices, attempt, written = _CHOICES, 0, found
        shorter = Shorter(tree)
        before: tuple[Found, Mapping[str, Any] | None, io.StringIO] | None = None
        while True:
            trial, screen = self._trial_of(found, before, shorter.patience(found) if choices else math.inf)
            if trial is None:
                self._out.write(screen.getvalue())
                return {"": "the trial could not be made"}
            if (step := shorter.next(found, trial, compares=bool(comparable(found, trial)[1]))) is not None:
                ended = any(each["longer_than"] is not None for each in trial["benchmarks"])
                before = before if before or ended else (found, trial, screen)
                found, said = step
                self._say(said)
                self._write(tree, written := found)
                continue
            before = None
            found, left = comparable(found, trial)
            failed = lesson(trial, found)
            self._say(*(f"left out: {each}" for each in left))
            few = representatives(found, trial) if choices else None
            if few is not None and not (failed and any(each["failures"] for each in trial["benchmarks"])):
                # what took too long has told no times, by which to choose once more
                choices = choices - 1 if failed else 0
                found = few[0]
                reached = (
                    " that it came to" if failed and not any(each["names"] for each in trial["benchmarks"]) else ""
                )
                self._say(f"{few[2]} cases{reached}; chosen: {few[1]}, by the suite's own filter")
                self._write(tree, written := found)
                continue
            if not failed and any(each["hurried"] for each in trial["benchmarks"]):
                choices = 0
                self._say("its starts take long, and stay so: tried again for how they vary")
                continue
            sharper, named = by_cpu_time(found, trial)
            if named and not failed:
                found = sharper
                self._say(f"CPU time decides, as time varies more than twice as much here: {', '.join(named[:3])}")
                self._write(tree, written := found)
                continue
            attempt += 1
            cure = mended(found, tree, failed) if failed and attempt < _ATTEMPTS else None
            if cure is not None:
                found, what = cure
                told = "; ".join(f"{name or 'the build'}: {reason(text)}" for name, text in failed.items())
                self._say(f"attempt {attempt}: {told[:300]}", f"  mended: {what}")
                self._write(tree, written := found)
                continue
            self._out.write(screen.getvalue())
            better = found if failed else fitted(found, trial)
            if better != written:
                self._write_again(tree, better)
            elif not failed:
                self._say("", f"next: {trial['next']}")
            return failed

    def _trial_of(
        self, found: Found, before: tuple[Found, Mapping[str, Any] | None, io.StringIO] | None, patience: float
    ) -> tuple[Mapping[str, Any] | None, io.StringIO]:
        """Return the trial of what is written, and what it says; that from before where another one was only tried."""
        if before is not None and before[0] == found:
            return before[1:]
        screen = io.StringIO()
        return self._trial(screen, patience), screen

    def _write_again(self, tree: Tree, better: Found) -> None:
        """Write the file with the counts that its trial asks for."""
        self._write(tree, better)
        plan = better.plan
        counts = f"executions = {plan.executions}, iterations = {plan.iterations}"
        counts = f"warmup = {plan.warmup}" if better.timed else counts
        longest = f"; a build may take {better.timeout}" if better.timeout else ""
        again = f"wrote {self._file} again, as its trial asks: {counts}, budget = {plan.budget}m{longest}"
        self._say("", again)

    def _trial(self, out: TextIO, patience: float) -> Mapping[str, Any] | None:
        """Try what was written, as `perfgate try` does; None where that cannot be done."""
        trying = command_of("try")
        given = trying.options()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "trial.json")
            named = Path(self._file) if self._is_named() else None
            rules = replace(given.rules, sets=(f"build.timeout={BUILD_LIMIT}",), config=named)
            given = replace(given, json=str(file), advises=False, patience=patience, rules=rules)
            try:
                with chdir(self._place):
                    trying.run(given, out, self._err)
                found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            except UserError as error:
                self._err.writelines(f"perfgate try: {visible(str(each))}\n" for each in error.errors)
                return None
        return found

    def _is_named(self) -> bool:
        """Return whether a command finds the file by `--config` alone."""
        return self._file != FILE or self._is_ignored()

    def _is_ignored(self) -> bool:
        """Return whether git does not track the file by itself, as where all is ignored but what is listed."""
        try:
            listed = git_of(self._place).maybe(
                "ls-files", "--others", "--ignored", "--exclude-standard", "--", self._file
            )
        except SourceError:
            return False
        return listed is not None

    def _next(self, why: str, *, failed: bool = False) -> list[str]:
        file, force = shlex.quote(self._file), "--force " if self._is_ignored() else ""
        config = f" --config {file}" if self._is_named() else ""
        if failed or why:
            first = f"edit {self._file}" if failed or "command" in why else "commit the project"
            return [f"  {first}, then `perfgate try{config}`: every benchmark must give values"]
        tried = [
            (f"perfgate try{config}", "builds once and runs every benchmark once"),
            (f"perfgate check{config}", "measures your changes against the default branch"),
        ]
        inside = os.path.relpath(self._place)
        steps = [
            *([(f"cd {shlex.quote(inside)}", "the project's folder")] if inside != "." else []),
            *([] if self._options.tries else tried),
            (f"git add {force}{file} && git commit", "pull requests are judged by the copy at base"),
            ("perfgate init --workflow pull-request", "gates pull requests on GitHub (public repository: forks)"),
        ]
        width = max(len(command) for command, _ in steps)
        return [f"  {command:<{width}}   {what}" for command, what in steps]


def _untried(tree: Tree, found: Found, file: str) -> str:
    """Say why what was written cannot be tried; empty where it can."""
    if not found.measures_something:
        return f"{file} has no command yet"
    if not tree.git:
        return "this is not a git repository yet: `git init` and commit first, as perfgate compares two of its states"
    try:
        if not checkout_of(tree.directory).begun:
            return "nothing is committed yet: commit first, as perfgate compares two states of a repository"
    except SourceError as error:
        return str(error)
    return ""


def _summary(found: Found, file: str) -> list[str]:
    """Return what was found and what was left out, with why, in a table of few lines, and what the user must know."""
    names = [each.name for each in found.benchmarks]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    what, became = "nothing yet", "write the command of [[benchmark]]"
    if found.measures_something:
        what, became = f"benchmark{'s' if len(names) > 1 else ''} {', '.join(names[:4])}{more}", "measured"
    rows, alike = [(what, became)], dict[str, list[str]]()
    for each in found.rows:
        alike.setdefault(each.became, []).append(each.what)
    # what has one reason is one line
    for became, whats in alike.items():
        more = ", ..." if len(whats) > 2 else ""
        rows.append((whats[0] if len(whats) == 1 else f"{len(whats)}: {', '.join(whats[:2])}{more}", became))
    if len(rows) > _ROWS:
        rest = ", ".join(what for what, _ in rows[_ROWS - 1 :])
        rows = [*rows[: _ROWS - 1], (f"{len(rows) - _ROWS + 1} more", f"left out: {rest}"[:400])]
    width = min(40, max(len(what) for what, _ in rows))
    lines = [f"  {what:<{width}}  {became}" for what, became in rows]
    notes = [f"note: {note}" for note in found.notes]
    return [f"detected: {found.kind} ({found.evidence})", *lines, f"wrote {file}", *notes]


def render(tree: Tree, found: Found) -> str:
    """Return the text of perfgate.toml for a project."""
    made = [*found.artifacts, *found.products]

    def holds(path: str) -> bool:
        return any(each == path.rstrip("/") or (path.endswith("/") and each.startswith(path)) for each in made)

    # what a build makes is never shared: one side would measure the other's
    share = list(dict.fromkeys([*found.share, *(path for path in tree.needed if not holds(path))]))
    texts = [found.build, found.setup, *(measured.command for measured in found.benchmarks)]
    commands = [each if isinstance(each, str) else " ".join(each) for each in texts if each]
    # pip starts cargo for what a package has of Rust
    inner = [path for path in tree.files if path.endswith("Cargo.toml")] if "pip install" in str(found.build) else []
    values = {"schema": ADDRESS, "found": found, "share": share, "write": defaults(named(inner, commands))}
    return render_template("init.toml.j2", {**values, "toml": toml_value, "command": _command}, html=False)


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


_LOOKS: dict[str, tuple[Callable[[Tree, Asked], Found | None], str]] = {
    "pytest-benchmark": (python.look_pytest, "test that uses the benchmark fixture"),
    "pyperf": (python.look_pyperf, "script with a pyperf.Runner"),
    "asv": (python.look_asv, "asv.conf.json with benchmarks of times"),
    "go": (go.look, "go.mod"),
    "cargo": (cargo.look, "Cargo.toml"),
    "cmake": (cmake.look, "CMakeLists.txt"),
    "jmh": (jmh.look, "pom.xml or Gradle file that names JMH"),
    "java": (jmh.look_mains, "class that is called a benchmark and has a main"),
    "npm": (npm.look, "package.json with a script bench, benchmark or perf"),
    "autotools": (make.look_autotools, "configure.ac or configure with a Makefile.am or Makefile.in"),
    "make": (make.look, "Makefile that builds or runs something"),
    "c": (c_sources.look, "source of C or C++ that is called a benchmark and has a main"),
    "python": (python.look, "benchmark script or test of Python"),
    "generic": (scripts.look, "script"),
}
_COMPILED = {"go", "cargo", "cmake", "autotools", "make", "c"}
_BEGIN = {
    *("Cargo.toml", "go.mod", "go.work", "CMakeLists.txt", "Makefile", "GNUmakefile", "configure.ac", "package.json"),
    *("pyproject.toml", "setup.py", "pom.xml", "build.gradle", "build.gradle.kts", "asv.conf.json"),
}
"""Files that a project begins with."""
_ASIDE = {
    *("bench", "benches", "benchmark", "benchmarks", "perf", "docs", "doc", "examples", "example", "fuzz", "test"),
    *("tests", "vendor", "third_party"),
}
_CALLED = re.compile(
    r"(?:[^/]+/)*?(?:(?:(?:micro|j)?bench(?:es|marks?)?|performance)/|[^/]*(?:bench|speed|perf(?![a-z]))[^/]*$)",
    re.IGNORECASE,
)
_SOURCES = (*SOURCES, ".py", ".js", ".mjs", ".ts", ".java", ".kt", ".scala", ".rs", ".go", ".sh", ".rb", ".cs", ".php")
_OF_PYTHON = {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"}


def _looked(tree: Tree, ask: Asked) -> list[Found]:
    """Return what each kind of project has here, the kinds in order."""
    found: list[Found] = []
    for name, (look, _) in _LOOKS.items():
        compiles = [each for each in found if each.kind in _COMPILED and each.measures_something]
        # tests give way to what another tool has of benchmarks
        built, tests = bool(compiles), all(each.rank == Rank.TESTS for each in compiles)
        # make is asked where nothing else builds programs: it may have to build them to tell; and what the project
        # builds itself is known better than what is guessed, also where it cannot be started
        seen = any(each.rank <= Rank.BENCHMARK or LEFT_OUT in {row.became for row in each.rows} for each in found)
        needless = {"autotools": built, "make": built and not tests, "c": seen}
        if needless.get(name):
            continue
        each = look(tree, ask)
        if each is not None and not (name == "make" and built and each.rank > Rank.BENCHMARK):
            found.append(each)
    return found


def choose(tree: Tree, ask: Asked, kind: str | None) -> Found:
    """Return what is to be written, with rows for all else that was seen.

    Args:
        tree: the project.
        ask: asks its tools.
        kind: the one that is wanted; None: the one that says most.

    Raises:
        UserError: there is nothing of the kind here; several projects lie side by side, and none at the top.
    """
    if kind is not None:
        if kind not in _LOOKS:
            raise UserError(f'--kind: "{kind}" is not one of {", ".join(_LOOKS)}')
        wanted = _LOOKS[kind][0](tree, ask)
        if wanted is None:
            raise UserError(f"--kind {kind}: there is no {_LOOKS[kind][1]} here; --kind generic needs none")
        return replace(wanted, notes=[*wanted.notes, *ask.notes])
    found = _looked(tree, ask)
    modules = re.findall(r"^\s*path\s*=\s*(\S+)", tree.text(".gitmodules"), re.MULTILINE)
    if absent := [path for path in modules if not any((tree.directory / path).glob("*"))]:
        ask.notes.append(f"submodules are not checked out ({', '.join(absent[:3])}): `git submodule update --init`")
    compiled = any(each.kind in _COMPILED for each in found)
    # beside what a compiler makes, a script of Python is a tool rather than the project
    tools = [each for each in found if each.kind == "python" and compiled and not _OF_PYTHON & tree.names]
    # and beside a package of Python, tests of Rust are those of a part of it
    parts = [each for each in found if each.kind == "cargo" and {"pyproject.toml", "setup.py"} & tree.names]
    ordered = sorted(
        found,
        key=lambda each: (
            each in tools,
            each.rank,
            each in parts,
            each.build is None and each.rank == Rank.PLACEHOLDER,
        ),
    )
    first, *others = ordered
    commands = " ".join(str(each.command) for each in first.benchmarks)
    begun = (path.split("/")[0] for path in tree.files if PurePosixPath(path).name in _BEGIN and path.count("/") == 1)
    places = {*begun} - _ASIDE
    inside = first.place or any(f"{place}/" in commands for place in places)
    if inside and len(places) > 1 and not _BEGIN & tree.names:
        listed = ", ".join(f"`--project {place}`" for place in sorted(places))
        raise UserError(f"several projects lie here, and none at the top: choose with {listed}", option="project")
    others = [each for each in others if each.kind != "generic" or each.evidence.split()[-1] not in commands]
    # a placeholder and plain tests are no news beside something better
    better = [each for each in others if each.rank < Rank.TESTS]
    more = [Row(each.evidence, f"left out: --kind {each.kind} measures it") for each in better]
    # why a benchmark does not compile
    unbuilt = [row for each in others if each.kind == "c" and not each.measures_something for row in each.rows]
    rows = [*first.rows, *unbuilt, *more]
    if first.rank >= Rank.PROGRAM:
        # what is called a benchmark, though nothing here can run it
        evidence = first.evidence if first.measures_something else ""
        said = (line for each in first.benchmarks for line in each.comment)
        known = " ".join([commands, *said, str(first.build), evidence, *(each.what for each in rows)])
        called = dict.fromkeys(
            match[0]
            for path in tree.files
            if path.endswith(_SOURCES) and not {"vendor", "third_party", "node_modules"} & {*PurePosixPath(path).parts}
            for match in [_CALLED.match(path)]
            if match and match[0] not in known and PurePosixPath(path).stem not in known.split()
        )
        rows += [Row(each, "left out: init knows no way to run it") for each in called]
    return replace(first, rows=rows, notes=[*first.notes, *dict.fromkeys(ask.notes)])
