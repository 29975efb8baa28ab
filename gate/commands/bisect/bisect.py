"""perfgate bisect: the gate over both ends, the search between them, and the report in every format."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TextIO

import msgspec

from gate.checkout import refuse_tracked
from gate.cli.groups import MeasureOptions, OutputOptions
from gate.codes import Exit
from gate.commands.bisect import words
from gate.commands.bisect.against_good import ENDS, Gated, MeasuringError, gated, read_journal
from gate.commands.bisect.command import Options
from gate.commands.bisect.result import Member, Result, concluded
from gate.commands.bisect.search import Search, Stand, commits_between
from gate.document import document as doc
from gate.document import html, markdown, terminal
from gate.evidence.records import DEFAULT_FOLDER, MEASUREMENTS
from gate.model import Execution, UserError
from gate.model.case import case_id
from gate.report.json import text_of
from gate.report.outputs import deliver, make_folder, require_writable, targets, write
from gate.run.interruption import Folder, kept_in
from gate.run.job import Job, now
from gate.run.live_lines import Live
from gate.run.locked import not_free
from gate.run.measuring import Measuring, open_run
from gate.run.preview import write_preview
from gate.run.project import Project, open_project
from gate.run.refusal import refuse_unsafe
from gate.run.run_folder import PAST, interrupted, records_of
from gate.writing.phrases import more_are
from gate.writing.plain import visible
from gate.writing.units import format_duration
from harness.host.lock import NotFreeError

_FOLDER = Path(DEFAULT_FOLDER) / "bisect"
BUDGETS = 4
"""Times plan.budget that a search may take, unless --budget says."""
_NAMES = {"base": "good", "head": "bad"}


class SearchFolder(Folder):
    """The folder of a search, with one of each commit that was measured."""

    def kept(self) -> str:
        """Say what is kept of all commits."""
        where = self.known or _FOLDER
        count = 0
        for file in where.glob(f"*/{MEASUREMENTS}"):
            try:
                count += sum(isinstance(record, Execution) for record in records_of(file.parent))
            except (OSError, UserError):
                continue
        return kept_in(count, where)


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Search, fill the folder, print what was found and return its exit code.

    Raises:
        UserError: a range that is none, nothing to measure, or another search in the folder.
        EndedError: a signal, or the measurements cannot be written; what was written stays.
    """
    refuse_unsafe()
    if not options.good:
        raise UserError("bisect needs --good REF: a commit that was still fast, such as the last release")
    outputs, rules = OutputOptions(options.files, options.quiet), options.rules
    require_writable(outputs)
    measuring = MeasureOptions(
        base=options.good, head=options.bad or "HEAD", out=None, seed=options.seed, resume=True, strict=options.strict,
        wait=options.wait,
    )  # fmt: skip
    folder = SearchFolder(options.out, _FOLDER, resume=True)
    with open_run(measuring, _FOLDER, err, quiet=outputs.quiet, folder=folder) as run:
        try:
            project = run.enter(
                open_project(options.good, options.bad or "HEAD", rules, run.outputs(targets(outputs)))
            )  # fmt: skip
        except UserError as error:
            if error.option in _NAMES:
                raise UserError(error.why, option=_NAMES[error.option]) from None
            raise
        search = _begun(run, project, measuring, options)
        job = search.ends()
        if options.dry_run:
            out.write(words.preview(search.commits, project.settings.rules, search.budget))
            write_preview(job, out)
            return Exit.PASS
        say = Live(err, quiet=outputs.quiet).line
        say(words.begin(search.commits, search.budget))
        ends, stand = _searched(search, run, job, say)
    benchmarks = [word for each in rules.benchmarks for word in ("--benchmark", each)]
    given = [("--config", rules.config), ("--rules", rules.rules), *(("--set", each) for each in rules.sets)]
    of_rules = [word for flag, value in given if value is not None for word in (flag, str(value))]
    place = ["--out", str(options.out)] if options.out is not None else []
    result = concluded(search, ends, stand, [*benchmarks, *of_rules, *place], of_rules)
    show(result, search.folder, outputs, out)
    if not outputs.quiet:
        err.write(f"perfgate: report in {search.folder / 'bisect.html'}\n")
    return result.exit_code


def _begun(run: Measuring, project: Project, measuring: MeasureOptions, options: Options) -> Search:
    """Lay a search out, or take up the one of the folder; another one there moves below runs/."""
    commits = commits_between(project.repository, project.sources.base.commit, project.sources.head.commit)
    folder = run.folder_for(project)
    begun = folder / ENDS / MEASUREMENTS
    # another search is refused by the run over both ends, as any run that is gone on with
    before = interrupted(begun.parent) if options.resume else None
    if before is None and not options.dry_run:
        if options.out is None:
            make_folder(folder.parent, own=True)
        make_folder(folder, own=options.out is None)
        if begun.is_file():
            moved = folder / PAST / f"{now().replace(':', '')}-{secrets.token_hex(2)}"
            refuse_tracked(moved)
            moved.mkdir(parents=True)
            for file in folder.iterdir():
                if file.name not in (PAST, ".gitignore"):
                    file.rename(moved / file.name)
    seed = options.seed
    if seed is None:
        seed = secrets.randbits(31) if before is None or before.seed is None else before.seed
    budget = BUDGETS * float(project.settings.rules.plan.budget) if options.budget is None else float(options.budget)
    past = read_journal(folder) if before is not None else []
    return Search(run, project, options.rules, measuring, commits, folder, past, seed, budget)


def _searched(search: Search, run: Measuring, job: Job, say: Callable[[str], None]) -> tuple[Gated, Stand | None]:
    try:
        search.hold(job)
    except NotFreeError as error:
        raise MeasuringError(not_free(error, run.waits(job), longer=True)) from None
    ends = gated(search.folder, search.past, run, job)
    say(f"both ends measured in {format_duration(ends.seconds)}, report in {ends.folder / 'report.html'}")
    if ends.finding is None or ends.case is None:
        return ends, None
    search.begin(ends, ends.case, case_id(ends.finding, ends.finding.statistic))
    return ends, search.run(lambda *known: say(words.stand(*known)))


_TONES: dict[str, doc.Tone] = {"culprit": "regression", "failed": "error", "no-difference": "pass"}
_MOST = 12
"""Commits that a text lists."""


def document_of(result: Result, *, page: bool = False) -> doc.Document:
    """Write a result; page: with all commits of the range."""
    searched = result.step is not None
    order = sorted(result.commits, key=lambda each: (-each.probability, -each.rounds, each.number))
    likely = [each for each in order if each.sha in result.remaining or each.rounds] if searched else []
    shown = result.commits if page else sorted(likely[:_MOST], key=lambda each: each.number)
    head = [
        doc.Column("commit"),
        *([doc.Column("probability", right=True, fixed=True)] if searched else []),
        doc.Column("change against good"), doc.Column("author, date", spare=True),
    ]  # fmt: skip
    left = len(result.commits) - len(shown)
    table = doc.Table(
        "Commits" if page or not left else "Commits: the most probable, and those that were measured",
        "Commits",
        head,
        [doc.Row(_cells(each, result, page=page)) for each in shown],
        note=f"The gate over both ends: {result.folder}/ends/report.html" if page else "",
    )
    more = [f"{more_are(left, 'commit')} in bisect.html."] if shown and left else []
    said: list[doc.Part] = [doc.Statement(words.headline(result), _TONES.get(result.outcome, "inconclusive"))]
    basis: list[doc.Part] = [doc.Items([*more, *words.details(result)], "rest")]
    steps: list[doc.Part] = [doc.Section("Next:", "next", [*words.next_steps(result)])]
    commits: list[doc.Part] = [table] if shown else []
    good, bad = (f"{visible(end.ref or '')} {words.short(end.sha)}" for end in (result.good, result.bad))
    of = f"{words.case_name(result.case)}, " if result.case is not None else ""
    return doc.Document(
        tool="perfgate bisect",
        title=f"{of}{good} to {bad}",
        sections=[said, basis, steps, commits] if page else [said, commits, basis, steps],
        elsewhere="in bisect.html",
        footer="What was measured of each commit is kept; the command beside it shows it as any run.",
    )


def _cells(member: Member, result: Result, *, page: bool) -> list[doc.Cell]:
    likely = member.sha in result.remaining
    number = f"{member.number}. " if page else ""
    kept = f"; perfgate report {member.folder}" if page and member.folder else ""
    share = [doc.Cell(words.percent(member.probability), tone="regression" if likely else "")]
    basis = words.basis(member)
    return [
        doc.Cell(f"{number}{words.named(member)}"),
        *(share if result.step is not None else []),
        doc.Cell(f"{basis}{kept}" if basis else kept.removeprefix("; ")),
        doc.Cell(f"{visible(member.author)}, {member.date[:10]}"),
    ]


def json(result: Result) -> str:
    """Write the result as JSON, with its headline and next steps as text, ending with a newline."""
    data = msgspec.to_builtins(result)
    case = result.case
    data["case"] = case._asdict() if case is not None else None
    data["text"] = words.headline(result)
    data["next"] = [{"command": each.text, "purpose": each.purpose} for each in words.next_steps(result)]
    return text_of(data)


FORMATS: Mapping[str, Callable[[Result], str]] = {
    "json": json,
    "markdown": lambda result: markdown.render(document_of(result)),
    "html": lambda result: html.render(document_of(result, page=True)),
}


def show(result: Result, folder: Path, outputs: OutputOptions, out: TextIO) -> None:
    """Write the result into the folder of the search and where it was asked for, and print it.

    Raises: UserError: a file cannot be written.
    """
    for name in ("json", "html"):
        write(folder / f"bisect.{name}", FORMATS[name](result))

    def text() -> str:
        if outputs.quiet:
            return f"{visible(words.headline(result))}\n"
        return terminal.render(document_of(result), terminal.bounded(out))

    deliver(outputs.files, {name: partial(render, result) for name, render in FORMATS.items()}, text, out)
