"""perfgate simulate: how often the gate is wrong and how often it sees a change, on given variances."""

from __future__ import annotations

from typing import TextIO

from gate.checkout import refuse_tracked
from gate.commands.simulate.chapters import chapters
from gate.commands.simulate.components import TABLE_VII, Components, of_history, of_runs
from gate.commands.simulate.options import Options, SizeOptions
from gate.commands.simulate.pool import run_all
from gate.commands.simulate.sections import LINE, Setting, as_markdown, as_text, asked, plain
from gate.commands.simulate.studies import COMPARED
from gate.model import UserError
from gate.writing.plain import wrap

WIDTH = 100
"""Columns of the text: a terminal has as many, and no table needs more."""

_MOST = {"builds": 200, "reports": 10_000_000, "cases": 1000}


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Simulate, print the tables and write the document if one is asked for.

    The variances are those of measurement files, of what is remembered of this host and project, or K&J's.

    Raises:
        UserError: numbers that make no sense, files without a case that has two builds a side, or nothing remembered.
    """
    source, sizes = options.source, options.sizes
    _check(sizes)
    components: tuple[Components, ...] = TABLE_VII
    if source.remembered:
        components = of_history(source.history, options.rules)
    elif source.runs:
        components = of_runs(source.runs, err)
    setting = Setting(
        components=components, paper=components == TABLE_VII, builds=tuple(sorted(set(sizes.builds))),
        thresholds=tuple(sorted(set(sizes.threshold))), effects=tuple(sorted(set(sizes.effect))), cases=sizes.cases,
    )  # fmt: skip
    sections = chapters(setting)
    results = run_all(asked(sections), sizes.reports, seed=sizes.seed, cores=sizes.cores, progress=err)
    out.write(as_text(sections, results, WIDTH))
    if sizes.markdown is not None:
        refuse_tracked(sizes.markdown, "--markdown")
        before = introduction(sizes.reports, _command(options))
        sizes.markdown.write_text(as_markdown(before, sections, results), encoding="utf-8")
    return 0


def _check(sizes: SizeOptions) -> None:
    """Refuse numbers that make no sense. Raises UserError: naming the option."""
    if not (sizes.builds and sizes.threshold and sizes.effect):
        raise UserError("a simulation needs at least one number of builds, one threshold and one effect")
    for name, number, least in (
        *(("builds", count, 2) for count in sizes.builds),
        ("reports", sizes.reports, 1),
        ("cases", sizes.cases, 1),
    ):
        if not least <= number <= _MOST[name]:
            raise UserError(f"--{name} {number}: must be {least} to {_MOST[name]}")
    for name, share in (*(("threshold", d) for d in sizes.threshold), *(("effect", e) for e in sizes.effect)):
        if not 0 <= share <= 1 or (name == "effect" and share == 0):
            raise UserError(f"--{name} {plain(share)}: must be {'above 0%' if name == 'effect' else '0%'} to 100%")
    if sizes.cores is not None and sizes.cores < 1:
        raise UserError(f"--cores {sizes.cores}: must be at least 1")
    if sizes.markdown is not None and (
        str(sizes.markdown) == "-" or sizes.markdown.is_dir() or not sizes.markdown.parent.is_dir()
    ):
        raise UserError(f"--markdown {sizes.markdown}: cannot be written there")


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


def _command(options: Options) -> str:
    """Write the command line that makes the document, without the defaults."""
    sizes, usual = options.sizes, SizeOptions()
    parts = ["perfgate simulate", *(["--remembered"] if options.source.remembered else options.source.runs)]
    if sizes.builds != usual.builds:
        parts.append(f"--builds {','.join(map(str, sizes.builds))}")
    for name in ("threshold", "effect"):
        shares = getattr(sizes, name)
        if shares != getattr(usual, name):
            parts.append(f"--{name} {','.join(map(plain, shares))}")
    if sizes.cases != usual.cases:
        parts.append(f"--cases {sizes.cases}")
    parts.append(f"--reports {sizes.reports} --seed {sizes.seed}")
    if sizes.markdown is not None:
        # the path on this machine does not belong in the document
        shown = sizes.markdown.name if sizes.markdown.is_absolute() else sizes.markdown.as_posix()
        parts.append(f"--markdown {shown}")
    return " ".join(parts)
