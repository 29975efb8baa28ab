"""perfgate simulate: how often the gate is wrong and how often it sees a change, on given variances."""

from __future__ import annotations

from typing import TextIO

from gate.commands.simulate.chapters import chapters
from gate.commands.simulate.command import Options
from gate.commands.simulate.components import TABLE_VII, of_runs
from gate.commands.simulate.pool import run_all
from gate.commands.simulate.sections import Setting, as_text, asked

WIDTH = 100
"""Columns of the text: a terminal has as many, and no table needs more."""


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Simulate, and print the tables.

    Raises:
        UserError: files without a case that has two builds a side.
    """
    components = of_runs(options.runs, err) if options.runs else TABLE_VII
    setting = Setting(
        components=components, paper=components == TABLE_VII, builds=tuple(sorted(set(options.builds))),
        thresholds=tuple(sorted(set(options.threshold))), effects=tuple(sorted(set(options.effect))),
        cases=options.cases,
    )  # fmt: skip
    sections = chapters(setting)
    results = run_all(asked(sections), options.reports, seed=options.seed, cores=options.cores, progress=err)
    out.write(as_text(sections, results, WIDTH))
    return 0
