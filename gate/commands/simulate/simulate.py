"""perfgate simulate: how often the gate is wrong and how often it sees a change, on given variances."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from gate.cli.groups import OutputOptions
from gate.commands.simulate.chapters import chapters
from gate.commands.simulate.command import Options
from gate.commands.simulate.components import TABLE_VII, of_runs
from gate.commands.simulate.pool import run_all
from gate.commands.simulate.sections import LINE, Setting, as_markdown, as_text, asked, plain
from gate.commands.simulate.studies import COMPARED
from gate.report.outputs import deliver, require_writable
from gate.writing.plain import wrap

WIDTH = 100
"""Columns of the text: a terminal has as many, and no table needs more."""


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Simulate, print the tables and write the document if one is asked for.

    Raises:
        UserError: files without a case that has two builds a side, or a page that cannot be written.
    """
    files = {"markdown": options.markdown} if options.markdown is not None else {}
    require_writable(OutputOptions(files))
    components = of_runs(options.runs, err) if options.runs else TABLE_VII
    setting = Setting(
        components=components, paper=components == TABLE_VII, builds=tuple(sorted(set(options.builds))),
        thresholds=tuple(sorted(set(options.threshold))), effects=tuple(sorted(set(options.effect))),
        cases=options.cases,
    )  # fmt: skip
    sections = chapters(setting)
    results = run_all(asked(sections), options.reports, seed=options.seed, cores=options.cores, progress=err)
    parts, usual = ["perfgate simulate", *options.runs], Options(())
    # the command that makes the page, without the defaults, and without a path of this machine
    if options.builds != usual.builds:
        parts.append(f"--builds {','.join(map(str, options.builds))}")
    for name in ("threshold", "effect"):
        shares = getattr(options, name)
        if shares != getattr(usual, name):
            parts.append(f"--{name} {','.join(map(plain, shares))}")
    parts += [f"--cases {options.cases}"] if options.cases != usual.cases else []
    page = Path(options.markdown or "-")
    shown = page.name if page.is_absolute() else page.as_posix()
    parts.append(f"--reports {options.reports} --seed {options.seed} --markdown {shown}")
    before = introduction(options.reports, " ".join(parts))
    formats = {"markdown": lambda: as_markdown(before, sections, results)}
    deliver(files, formats, lambda: as_text(sections, results, WIDTH), out)
    return 0


def introduction(reports: int, command: str) -> tuple[str, ...]:
    """Write what stands above the sections of a document: what it shows, and the command that makes it."""
    words = (
        f"How often perfgate is wrong and how often it sees a change, by simulation: {reports} reports "
        f"behind each number, or {COMPARED:g} times as many single comparisons, or fewer if the text says so. Every "
        "verdict is that of the code that decides a check. This command generates the whole page:"
    )
    return (
        "# Evidence",
        "\n".join(wrap(words, LINE)),
        f"    {command}",
        "The numbers depend only on the seed, not on the machine, so the same command writes the same page.",
    )
