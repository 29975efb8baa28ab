"""perfgate drill: the gate of a project, tried by changes whose verdict is known."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TextIO

import msgspec

from gate.cli.groups import MeasureOptions, OutputOptions, RulesOptions
from gate.codes import Exit
from gate.commands.drill.command import Options
from gate.commands.drill.workflows import swallowed
from gate.config.commands import as_text, paths_named
from gate.config.types import Config
from gate.decide.design import design_of
from gate.decide.estimates import subjects_of
from gate.decide.futility import at_look, detectable
from gate.decide.policy import policy_at
from gate.decide.report import Decided, decide_by, judge_looks
from gate.decide.stopping import interim_check
from gate.document import document as doc
from gate.document import terminal
from gate.evidence.records import DEFAULT_FOLDER, read_inputs
from gate.model import SCHEMA, Report, UserError
from gate.planning.deciding import next_plan
from gate.report.outputs import deliver, require_writable
from gate.run.job import prepare
from gate.run.measuring import open_run
from gate.run.project import Project, open_itself, with_head
from gate.run.refusal import refuse_unsafe
from gate.words.failures import title
from gate.writing.phrases import listed
from gate.writing.units import format_share, plural
from harness.source.base_and_head import SideSource, changed, default_tips, patched
from harness.source.repository import Repository, TreeEntry, files_at

SLOWDOWN = 0.25
_FOLDER = Path(DEFAULT_FOLDER) / "drill"
_ONCE = ("plan.builds=1", "plan.executions=1", "plan.iterations=1", "gate.sameness=off")
"""Of an exercise that asks only whether a benchmark fails."""

Name = Literal["slower", "harmless", "sources", "broken", "artifacts"]
_ELSEWHERE = "the benchmark runs something that the build does not make: look at its command, and at PATH"
_UNREACHED = (
    "that slowdown passes here: either the benchmark does not run what the patch changes (look at its arguments, at "
    "outputs that it keeps, at PATH), or the slowdown is too small for this gate (raise plan.budget, or lower "
    "gate.threshold)"
)
_NO_ARTIFACTS = "[build] makes nothing that a benchmark runs: whether they run this code, --patch shows"


class _Kind(NamedTuple):
    """An exercise: its title, what the gate must say, what it says otherwise, and what that means."""

    title: str
    wanted: str
    missed: str
    means: str


_KINDS: Mapping[Name, _Kind] = {
    "slower": _Kind(
        "slower", "red", "not red",
        "a slowdown of that size passes here: raise plan.budget, or lower gate.threshold",
    ),
    "harmless": _Kind("harmless edit", "green", "not green", "an edit that changes nothing does not pass here"),
    "sources": _Kind(
        "broken source", "error", "no error",
        "it runs though no source of the project is left that could be: either it runs a copy that is installed or "
        "tracked, or the build ends with 0 where it fails (`|| true`, `a; b`), or it runs nothing of this project",
    ),
    "broken": _Kind(
        "broken build", "error", "no error",
        "it runs though what the build made was replaced: either its command ends with 0 where the program fails "
        f"(`a | b`, `a; b`), or {_ELSEWHERE}",
    ),
    "artifacts": _Kind("base's build", "not red", "red", f"it is slower though its build is base's: {_ELSEWHERE}"),
}  # fmt: skip


class UnmeasuredError(UserError):
    """Head gives no values, so that nothing can be told of its gate."""

    exit_code = Exit.ERROR


class Exercise(msgspec.Struct, frozen=True):
    """One change whose verdict is known, and what the gate said.

    what: was done, in words. held: by benchmark, whether the gate said what it had to. why: it was not tried; None: it
    was. folder: of its report. same: the benchmarks that the change cannot reach, since they read nothing of it.
    patched: it is the user's own change.
    """

    name: Name
    what: str
    held: dict[str, bool] = {}
    why: str | None = None
    folder: str | None = None
    same: list[str] = []
    patched: bool = False

    @property
    def failed(self) -> list[str]:
        """The benchmarks for which it did not hold."""
        return [name for name, held in self.held.items() if not held]


@dataclass(frozen=True, slots=True)
class _Drill:
    """What all exercises have in common."""

    options: Options
    folder: Path
    config: Config
    """Of head."""
    err: TextIO

    def tried(
        self, name: Name, what: str, change: Callable[[Project], Project], *, slowdown: float = 0.0
    ) -> tuple[Exercise, Decided]:
        """Run the gate on head with a change, as a check would, in a folder of its own; what: says the change."""
        self.err.write(f"perfgate: drill: {_KINDS[name].title}\n")
        wanted = _KINDS[name].wanted
        rules = replace(self.options.rules, sets=(*self.options.rules.sets, *(_ONCE if wanted == "error" else ())))
        asked = MeasureOptions(head=self.options.head, wait=self.options.wait, out=self.folder / name)
        with open_run(asked, _FOLDER / name, self.err, quiet=self.options.quiet) as run:
            project = change(run.enter(open_itself(self.options.head, rules, run.outputs([]))))
            job = replace(prepare(project, asked, run.folder_for(project), remembers=not slowdown), slowdown=slowdown)
            run.begin(job, [])
            job, _ = run.measure(job, interim_check)
        config = job.project.settings.rules
        decided = decide_by(read_inputs([str(job.out)]), policy_at(job.run, config), RulesOptions(), next_plan)
        held = _held(wanted, decided.report, [each.name for each in self.config.benchmark])
        same = [each.benchmark for each in decided.report.identical] if name == "slower" else []
        patched = name == "slower" and self.options.patch is not None
        return Exercise(name, what, held, folder=str(job.out), same=same, patched=patched), decided

    def edited(
        self, name: Name, edit: Callable[[Repository, str, Config], tuple[str, str] | None], what: str, why: str
    ) -> Exercise:
        """Try an edit of head's sources, which names what it edits; why: it is not tried where there is nothing."""

        def made(project: Project) -> tuple[str, str] | None:
            return edit(project.repository, project.sources.head.revision, project.settings.sides["head"])

        def change(project: Project) -> Project:
            found = made(project)
            return project if found is None else self.with_sources(project, found[0])

        with open_itself(self.options.head, self.options.rules) as project:
            found = made(project)
        if found is None:
            return Exercise(name, _KINDS[name].title, why=why)
        return self.tried(name, what.format(found[1]), change)[0]

    def planted(self, project: Project, patch: bytes) -> Project:
        """Apply the user's patch to head."""
        return self.with_sources(project, patched(project.repository, project.sources.head.revision, patch))

    def with_sources(self, project: Project, revision: str) -> Project:
        """Take other sources as head, which are not committed."""
        dirty = msgspec.structs.replace(project.sources.head.commit, dirty=True)
        return with_head(project, SideSource(dirty, revision), self.options.rules, self.options.rules.benchmarks)


def _held(wanted: str, report: Report, configured: Sequence[str]) -> dict[str, bool]:
    """Say for each benchmark whether the gate said what it had to."""
    names = {each.benchmark for each in (*report.findings, *report.identical)}
    failed = {failure.benchmark for failure in report.failures}
    shown = sorted(names | {name for name in failed if name}) or (configured if wanted == "error" else [])
    red = {finding.benchmark for finding in report.findings if finding.verdict == "regression"}
    if wanted == "error":
        # a suite, or a build, fails with all that it has
        return {name: not failed.isdisjoint({name, name.partition("/")[0], None}) for name in shown}
    if wanted != "green":
        return {name: (name in red) == (wanted == "red") for name in shown}
    held = {name: not ({name, None} & failed or name in red) for name in shown}
    return dict.fromkeys(held, False) if report.exit_code and all(held.values()) else held


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Try the gate, and print what held.

    Raises:
        UserError: nothing to measure, a patch that does not apply, or a config that is wrong.
        EndedError: a signal, or the measurements cannot be written.
    """
    require_writable(OutputOptions(options.files, options.quiet))
    if options.workflow is not None:
        return _read_workflows(options, out)
    refuse_unsafe()
    try:
        patch = options.patch.read_bytes() if options.patch is not None else None
    except OSError as error:
        raise UserError(f"{options.patch}: {error.strerror}", option="patch") from None
    with open_itself(options.head, options.rules) as project:
        folder = project.repository.project / _FOLDER
        config = project.settings.sides["head"]
        programs = paths_named([each] for each in programs_of(config) if "/" in each)
        tracked = {each.path for each in files_at(project.repository, project.sources.head.revision)}
        made = config.build.artifacts
        if made is None:
            made = [each for each in programs if project.repository.inside(each) not in tracked]
    drill = _Drill(options, folder, config, err)
    if patch is None:
        what = f"{format_share(SLOWDOWN)} were added to what each benchmark takes on head"
        slower, decided = drill.tried("slower", what, lambda project: project, slowdown=SLOWDOWN)
    else:
        what = f"{options.patch} was applied to head"
        slower, decided = drill.tried("slower", what, lambda project: drill.planted(project, patch))
    if not (decided.report.findings or decided.report.identical):
        failures = [title(each) for each in decided.report.failures]
        raise UnmeasuredError(f"head cannot be measured: {failures[0] if failures else 'it gave no values'}")
    sizes = _sizes(decided)
    why = "there is no source file of a language whose comments are known"
    harmless = drill.edited("harmless", comment_added, "a comment was added to {}", why)
    what, why = (
        "a line that no language has stood in place of {} of head",
        "no source but those that the commands name is known",
    )
    broken = drill.edited("sources", source_broken, what, why)
    tried = [slower, harmless, broken, _broken(drill, made), _of_base(drill, patch)]
    exercises = [{**msgspec.to_builtins(each), "wanted": _KINDS[each.name].wanted} for each in tried]
    held = not any(each.failed for each in tried)
    found = {"held": held, "exercises": exercises, "detectable": sizes}
    _print(options, out, found, document(tried, sizes, quiet=options.quiet))
    return Exit.PASS if held else Exit.REGRESSION


def _print(options: Options, out: TextIO, found: dict[str, Any], shown: doc.Document) -> None:
    whole = {"json": lambda: json.dumps({"schema": SCHEMA, **found}, indent=2) + "\n"}
    deliver(options.files, whole, lambda: terminal.render(shown, terminal.screen(out)), out)


def _read_workflows(options: Options, out: TextIO) -> int:
    with open_itself(options.head, options.rules) as project:
        repository, config = project.repository, project.settings.sides["head"]
        own = sorted([*(repository.top / ".github/workflows").glob("*.y*ml")])
        files = [Path(options.workflow)] if options.workflow else [Path(os.path.relpath(file)) for file in own]
        tracked = [entry.path for entry in files_at(repository, project.sources.head.revision)]
        words = [word for text in commands_of(config) for word in text.split()]
        named = {repository.inside("perfgate.toml"), *(repository.inside(word) for word in words)}
        branch = next(iter(default_tips(repository.git, {})), "")
    paths = [path for path in tracked if path in named]
    found = swallowed(files, config, paths, branch.removeprefix("origin/") or None)
    headline = f"{'✖' if found else '✔'} {plural(len(found), 'place')} could swallow a verdict"
    told = [f"{each.file}:{each.line}: {each.what}; {each.cure}" for each in found if not options.quiet]
    parts: list[doc.Part] = [doc.Statement(headline), doc.Items(told, "told")]
    shown = doc.Document("perfgate drill", headline, [parts], "in --json", "")
    _print(options, out, {"held": not found, "swallows": msgspec.to_builtins(found)}, shown)
    return Exit.REGRESSION if found else Exit.PASS


def _broken(drill: _Drill, made: Sequence[str]) -> Exercise:
    """Replace what head's build makes by a program that fails, which must be an error."""
    if drill.config.build.command is None or not made:
        return Exercise("broken", "head's artifacts fail", why=_NO_ARTIFACTS)
    what = f"head's artifacts ({listed(made)}) were replaced by a program that fails"
    return drill.tried("broken", what, lambda project: _with_head(project, partial(with_failing_artifacts, made=made)))[
        0
    ]


def _of_base(drill: _Drill, patch: bytes | None) -> Exercise:
    """Give head what base's build makes: then the planted slowdown must be gone."""
    if patch is None:
        why = "it needs --patch: what is added to a benchmark is in no artifact"
        return Exercise("artifacts", "head with base's artifacts", why=why)
    if drill.config.build.command is None:
        return Exercise("artifacts", "head with base's artifacts", why="[build] names no command")

    def change(project: Project) -> Project:
        planted = drill.planted(project, patch)
        base, head = planted.sources.base, planted.sources.head
        own = planted.settings.sides["head"]
        revision, built = with_artifacts_of(project.repository, base.revision, head.revision, own)
        whole = with_head(
            project, SideSource(head.commit, revision), drill.options.rules, drill.options.rules.benchmarks
        )
        return _with_head(whole, lambda _: built)

    return drill.tried("artifacts", f"{drill.options.patch} was applied, and built without it", change)[0]


def _with_head(project: Project, change: Callable[[Config], Config]) -> Project:
    sides = project.settings.sides
    return replace(project, settings=replace(project.settings, sides={**sides, "head": change(sides["head"])}))


def _sizes(decided: Decided) -> dict[str, float]:
    """Give by benchmark the smallest slowdown that this gate would have called, as a share.

    What would not have ended this run early is measured on, to the last look; what the budget ended has no later one.
    """
    subjects = subjects_of(decided.evidence, decided.policy)
    design = design_of(decided.evidence, decided.policy, subjects)
    found = {each.benchmark: each.detectable for each in decided.report.findings if each.detectable is not None}
    for judged in judge_looks(subjects, design)[0]:
        found_at, name = judged.estimated, judged.subject.case.benchmark
        on = design.looks and decided.report.stopped is None
        size = at_look(found_at, design, len(design.looks) - 1) if on else detectable(found_at, design)
        if size is not None:
            found[name] = min(size, found.get(name, size))
    return found


def document(tried: Sequence[Exercise], sizes: Mapping[str, float], *, quiet: bool = False) -> doc.Document:
    """Say what held for which benchmark, what was done, and what it means that something did not hold."""
    done = [each for each in tried if each.why is None]
    good = sum(not each.failed for each in done)
    headline = f"{'✔' if good == len(done) else '✖'} {good} of {len(done)} exercises held"
    headline += f", {len(tried) - len(done)} not tried" if len(done) < len(tried) else ""
    names = list(dict.fromkeys(name for each in done for name in each.held))
    suites = {name.partition("/")[0] for name in names if "/" in name}
    head = [doc.Column("benchmark"), *(doc.Column(_KINDS[e.name].title) for e in done), doc.Column("finds", right=True)]
    rows = []
    for name in (each for each in names if each not in suites):
        answers = [e.held.get(name, e.held.get(name.partition("/")[0])) for e in done]
        said = [
            "-" if held is None else _KINDS[e.name].wanted if held else _KINDS[e.name].missed
            for e, held in zip(done, answers, strict=True)
        ]
        rows.append([name, *said, format_share(sizes[name]) if name in sizes else ""])
    meant = [
        (_KINDS[e.name].title, f"not tried, {e.why}" if e.why else f"{e.what}: must be {_KINDS[e.name].wanted}")
        for e in tried
    ]
    meant.append(("finds", "the smallest slowdown that this gate would have called on this host today"))
    whys = []
    for each in done:
        # what a change cannot reach has a reason of its own
        same, rest = ([name for name in each.failed if (name in each.same) is proved] for proved in (True, False))
        means = _UNREACHED if each.patched else _KINDS[each.name].means
        report = f"(`perfgate report {os.path.relpath(each.folder or '')}`)"
        whys += [f"{listed(same)}: it reads nothing that the patch changes {report}"] if same else []
        whys += [f"{listed(rest)}: {means} {report}"] if rest else []
    table = doc.Table("", "", head, [doc.Row([*map(doc.Cell, row)]) for row in rows])
    parts: list[doc.Part] = [doc.Statement(headline)]
    parts += [] if quiet else [table, doc.Facts(meant), doc.Items(whys, "rest")]
    return doc.Document("perfgate drill", headline, [[part] for part in parts], "in --json", "")


# --- edits of head ----------------------------------------------------------------------------------------------------

_HASH, _SLASHES = "#", "//"
_COMMENTS = {
    **dict.fromkeys((".py", ".rb", ".sh", ".pl", ".r", ".jl", ".ex", ".exs", ".nim", ".cr"), _HASH),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".rs", ".go", ".java", ".kt"), _SLASHES),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".cs", ".swift", ".scala", ".zig", ".d"), _SLASHES),
    **dict.fromkeys((".lua", ".hs", ".sql"), "--"),
}
"""How a line of comment begins, by the ending of a source file's name."""
_BESIDE = frozenset(
    ["doc", "docs", "example", "examples", "node_modules", "spec", "test", "tests", "third_party", "vendor"]
)
"""Folders of sources that are probably not the program's."""
_TOOLS = _BESIDE | {"bench", "benches", "benchmark", "benchmarks", "fuzz", "perf", "scripts", "tools"}
_STEERS = re.compile(
    r"(setup|conftest|noxfile|build)\.\w+|.*[._-](config|bench|benchmarks?|test|spec)\.\w+|(bench|test)[_.-].*"
)
"""Files that say how a project is built or measured."""
_BROKEN = b")( perfgate drill: no language has such a line\n"
_LINE = "perfgate drill: this line changes nothing"
_KEPT = ".perfgate-drill"
"""The folder in a tree that holds base's files and head's, by turns the ones that are built."""
_FAILS = "#!/bin/sh\necho 'perfgate drill: this artifact was replaced by a program that fails' >&2\nexit 1\n"


def comment_added(repository: Repository, revision: str, config: Config) -> tuple[str, str] | None:
    """Add a line of comment to a source of the project; None: it has none whose syntax is known.

    That is a file which a command names, otherwise the largest one.

    Returns:
        The new commit, and the path of the file in the repository.
    """
    named = {word for text in commands_of(config) for word in text.split()}
    sources = [each for each in files_at(repository, revision, repository.inside(".")) if _is_source(each)]
    if not sources:
        return None

    own = [each for each in sources if not _BESIDE & set(PurePosixPath(each.path).parts[:-1])] or sources
    by_name = [each for each in own if any(repository.inside(word) == each.path for word in named)]
    objects = "".join(f"{each.object}\n" for each in by_name or own).encode()
    sizes = map(int, repository.git.run("cat-file", "--batch-check=%(objectsize)", stdin=objects).split())
    _, chosen = max(zip(sizes, by_name or own, strict=True), key=lambda each: each[0])
    text = repository.git.run("cat-file", "blob", chosen.object)
    line = f"{_COMMENTS[PurePosixPath(chosen.path).suffix]} {_LINE}\n".encode()
    content = text + (b"" if text.endswith(b"\n") or not text else b"\n") + line
    return changed(repository, revision, {chosen.path: content}, "perfgate drill: a comment"), chosen.path


def source_broken(repository: Repository, revision: str, config: Config) -> tuple[str, str] | None:
    """Replace each source of the project by a line that no compiler and no interpreter takes; None: there is none.

    What a benchmark's command names, and what lies among benchmarks, tests and tools, stays as it is.

    Returns:
        The new commit, and how many files are broken.
    """
    measured = msgspec.structs.replace(config, build=msgspec.structs.replace(config.build, command=None))
    named = {repository.inside(word) for text in commands_of(measured) for word in text.split()}
    files = {}
    for entry in files_at(repository, revision, repository.inside(".")):
        place = PurePosixPath(entry.path)
        aside = {*map(str.lower, place.parts[:-1])} & _TOOLS or _STEERS.fullmatch(place.name.lower())
        if _is_source(entry) and not aside and entry.path not in named:
            files[entry.path] = _BROKEN
    if not files:
        return None
    return changed(repository, revision, files, "perfgate drill: broken sources"), plural(len(files), "source")


def _is_source(entry: TreeEntry) -> bool:
    return entry.mode.startswith("100") and PurePosixPath(entry.path).suffix in _COMMENTS


def commands_of(config: Config) -> list[str]:
    """List what builds a side and what its benchmarks run, a list of words as a text."""
    given = [config.build.command, *(benchmark.command for benchmark in config.benchmark)]
    return [each if isinstance(each, str) else " ".join(each) for each in given if each]


def programs_of(config: Config) -> list[str]:
    """List the first word of each benchmark's command."""
    lists = [b.command.split() if isinstance(b.command, str) else b.command for b in config.benchmark]
    return [words[0] for words in lists if words]


def with_failing_artifacts(config: Config, made: Sequence[str]) -> Config:
    """Let a side's build end with a program that fails in place of each file, or file of a folder, that it made."""
    paths = " ".join(shlex.quote(f"./{path}") for path in made)
    each = f'for f; do printf %s {shlex.quote(_FAILS)} > "$f" && chmod 755 "$f"; done'
    built = as_text(config.build.command or "true")
    return _built_by(
        config,
        f"({built}\n) && find -L {paths} -type f -exec sh -c {shlex.quote(each)} sh {{}} +",
    )


def with_artifacts_of(repository: Repository, base: str, head: str, config: Config) -> tuple[str, Config]:
    """Let a side be head with the artifacts that base's sources give.

    Returns:
        The commit to check out, and how it is built: the files that differ are base's while it is, and head's again
        afterwards.
    """
    prefix = repository.inside(".")
    before, after = ({each.path: each for each in files_at(repository, of)} for of in (base, head))
    names = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    if any(not path.startswith("" if prefix == "." else f"{prefix}/") for path in names):
        raise UserError("--patch: changes files outside the project's directory, which cannot be built by turns")
    files: dict[str, bytes] = {}
    scripts = []
    for which, entries in (("base", before), ("head", after)):
        lines = []
        for path in names:
            own = str(PurePosixPath(path).relative_to(prefix))
            place = f"{_KEPT}/{which}/{own}"
            if path in entries:
                files[repository.inside(place)] = repository.git.run("cat-file", "blob", entries[path].object)
                lines.append(f"cp {shlex.quote(place)} {shlex.quote(own)}")
            else:
                lines.append(f"rm -f {shlex.quote(own)}")
        scripts.append(" && ".join(lines))
    to_base, to_head = scripts
    built = as_text(config.build.command or "true")
    command = f"{to_base} && ({built}\n) && {to_head}"
    return changed(repository, head, files, "perfgate drill: base's files beside head's"), _built_by(config, command)


def _built_by(config: Config, command: str) -> Config:
    table = msgspec.structs.replace(config.build, command=command, relink="off", cache="off")
    return msgspec.structs.replace(config, build=table)
