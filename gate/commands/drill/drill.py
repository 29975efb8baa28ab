"""perfgate drill: the gate of a project, tried by changes whose verdict is known."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

import msgspec

from gate.cli.groups import MeasureOptions, OutputOptions, RulesOptions
from gate.codes import Exit
from gate.commands.drill import edits
from gate.commands.drill.command import Options
from gate.commands.drill.workflows import swallowed
from gate.config.commands import paths_named
from gate.config.types import Config
from gate.decide.decided import Decided, looking
from gate.decide.design import design_of, subjects_of
from gate.decide.futility import detectable
from gate.decide.looks import walk
from gate.decide.policy import policy_at
from gate.document import document as doc
from gate.document import terminal
from gate.evidence.inputs import DEFAULT_FOLDER, read_inputs
from gate.model import SCHEMA, Report, UserError
from gate.planning.deciding import decide_by
from gate.report.outputs import deliver, require_writable
from gate.run.job import prepare
from gate.run.measuring import opened
from gate.run.project import Project, open_itself, with_head
from gate.run.refusal import refuse_unsafe
from gate.units import format_share, plural
from gate.words.failures import title
from gate.writing.phrases import listed
from harness.errors import SourceError
from harness.source.base_and_head import Source, default_branch, patched
from harness.source.repository import Repository, files_at

LONGER = 0.25
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
        self, name: Name, what: str, change: Callable[[Project], Project], *, longer: float = 0.0
    ) -> tuple[Exercise, Decided]:
        """Run the gate on head with a change, as a check would, in a folder of its own; what: says the change."""
        self.err.write(f"perfgate: drill: {_KINDS[name].title}\n")
        wanted = _KINDS[name].wanted
        rules = replace(self.options.rules, sets=(*self.options.rules.sets, *(_ONCE if wanted == "error" else ())))
        asked = MeasureOptions(head=self.options.head, wait=self.options.wait, out=self.folder / name)
        with opened(asked, _FOLDER / name, self.err, quiet=self.options.quiet) as run:
            project = change(run.enter(open_itself(self.options.head, rules, run.outputs([]))))
            job = replace(prepare(project, asked, run.settle(project), remembers=not longer), longer=longer)
            run.begin(job, [])
            job = run.measure(job, looking).job
        gate = job.project.settings.rules
        decided = decide_by(read_inputs([str(job.out)]), policy_at(job.run, gate), RulesOptions())
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
        return with_head(project, Source(dirty, revision), self.options.rules, self.options.rules.benchmarks)


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
        programs = paths_named([each] for each in edits.programs(config) if "/" in each)
        tracked = {each.path for each in files_at(project.repository, project.sources.head.revision)}
        made = config.build.artifacts
        if made is None:
            made = [each for each in programs if project.repository.inside(each) not in tracked]
    drill = _Drill(options, folder, config, err)
    if patch is None:
        what = f"{format_share(LONGER)} were added to what each benchmark takes on head"
        slower, decided = drill.tried("slower", what, lambda project: project, longer=LONGER)
    else:
        what = f"{options.patch} was applied to head"
        slower, decided = drill.tried("slower", what, lambda project: drill.planted(project, patch))
    if not (decided.report.findings or decided.report.identical):
        failures = [title(each) for each in decided.report.failures]
        raise UnmeasuredError(f"head cannot be measured: {failures[0] if failures else 'it gave no values'}")
    sizes = _sizes(decided)
    why = "there is no source file of a language whose comments are known"
    harmless = drill.edited("harmless", edits.harmless, "a comment was added to {}", why)
    what, why = (
        "a line that no language has stood in place of {} of head",
        "no source but those that the commands name is known",
    )
    broken = drill.edited("sources", edits.broken, what, why)
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
        words = [word for text in edits.commands(config) for word in text.split()]
        named = {repository.inside("perfgate.toml"), *(repository.inside(word) for word in words)}
        try:
            (branch, *_) = default_branch(repository, {})
        except SourceError:
            branch = ""
    paths = [path for path in tracked if path in named]
    found = swallowed(files, config, paths, branch.removeprefix("origin/") or None)
    headline = f"{'✖' if found else '✔'} {plural(len(found), 'place')} could swallow a verdict"
    told = [f"{each.file}:{each.line}: {each.what}; {each.cure}" for each in found if not options.quiet]
    parts: list[doc.Part] = [doc.Said(headline), doc.Items(told, "told")]
    shown = doc.Document("perfgate drill", headline, [parts], "in --json", "")
    _print(options, out, {"held": not found, "swallows": msgspec.to_builtins(found)}, shown)
    return Exit.REGRESSION if found else Exit.PASS


def _broken(drill: _Drill, made: Sequence[str]) -> Exercise:
    """Replace what head's build makes by a program that fails, which must be an error."""
    if drill.config.build.command is None or not made:
        return Exercise("broken", "head's artifacts fail", why=_NO_ARTIFACTS)
    what = f"head's artifacts ({listed(made)}) were replaced by a program that fails"
    return drill.tried(
        "broken", what, lambda project: _with_head(project, partial(edits.with_failing_artifacts, made=made))
    )[0]


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
        revision, built = edits.with_artifacts_of(project.repository, base.revision, head.revision, own)
        whole = with_head(project, Source(head.commit, revision), drill.options.rules, drill.options.rules.benchmarks)
        return _with_head(whole, lambda _: built)

    return drill.tried("artifacts", f"{drill.options.patch} was applied, and built without it", change)[0]


def _with_head(project: Project, change: Callable[[Config], Config]) -> Project:
    sides = project.settings.sides
    return replace(project, settings=replace(project.settings, sides={**sides, "head": change(sides["head"])}))


def _sizes(decided: Decided) -> dict[str, float]:
    """Give by benchmark the smallest slowdown that this run would have called, as a share."""
    subjects = subjects_of(decided.evidence, decided.policy)
    design = design_of(decided.evidence, decided.policy, subjects)
    found = {each.benchmark: each.detectable for each in decided.report.findings if each.detectable is not None}
    for judged in walk(subjects, design).judged:
        size, name = detectable(judged.estimated, design), judged.subject.case.benchmark
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
    parts: list[doc.Part] = [doc.Said(headline)]
    parts += [] if quiet else [table, doc.Facts(meant), doc.Items(whys, "rest")]
    return doc.Document("perfgate drill", headline, [[part] for part in parts], "in --json", "")
