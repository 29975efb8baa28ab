"""perfgate simulate: how often the gate is wrong and how often it sees a change, on given variances."""

from __future__ import annotations

from typing import TextIO

from gate.checkout import refuse_tracked
from gate.commands.simulate import alarms, cost, coverage, layouts, other_tools, power, promises, stopping, views
from gate.commands.simulate.components import TABLE_VII, Components
from gate.commands.simulate.measured_components import of_history, of_runs
from gate.commands.simulate.options import Options, SizeOptions
from gate.commands.simulate.page import LINE, as_markdown, as_text
from gate.commands.simulate.pool import run_all
from gate.commands.simulate.sections import Section, Setting, Table, asked, percent, plain, row
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
        components=components,
        paper=components == TABLE_VII,
        builds=tuple(sorted(set(sizes.builds))),
        thresholds=tuple(sorted(set(sizes.threshold))),
        effects=tuple(sorted(set(sizes.effect))),
        cases=sizes.cases,
    )
    sections = _sections(setting, sizes.reports)
    results = run_all(asked(sections), sizes.reports, seed=sizes.seed, cores=sizes.cores, progress=err)
    out.write(as_text(sections, results, WIDTH))
    if sizes.markdown is not None:
        refuse_tracked(sizes.markdown, "--markdown")
        sizes.markdown.write_text(as_markdown(_before(options), sections, results), encoding="utf-8")
    return 0


def _sections(setting: Setting, reports: int) -> list[Section]:
    chapters = [coverage.draft(setting), alarms.draft(setting), power.draft(setting), stopping.draft(setting)]
    if not setting.paper:
        return [_simulated(setting), *chapters, other_tools.draft(setting)]
    designs = cost.designs()
    promised = [
        *views.promises(),
        *coverage.promises(setting),
        *alarms.promises(setting),
        *layouts.promises(setting),
        *power.promises(setting),
        *stopping.promises(setting),
        *cost.promises(designs),
        *other_tools.promises(),
    ]
    return [
        promises.draft(promised, reports),
        views.draft(),
        _simulated(setting),
        *chapters,
        layouts.draft(setting),
        other_tools.draft(setting),
        cost.draft(designs),
    ]


def _simulated(setting: Setting) -> Section:
    whence = (
        "The variance components of Kalibera and Jones 2012, Table VII, as 10 executions x 10 iterations in each build."
        if setting.paper
        else "The variance components of these cases, a negative T2 as 0, measured as often as they were."
    )
    in_common = any(c.drift for c in setting.components)
    lines = tuple(
        row(
            c.name,
            *(percent(share, 2) for share in (c.build, c.execution, c.iteration)),
            f"{c.executions} x {c.iterations}",
            percent(c.of_build_mean**0.5, 2),
            *([percent(c.drift, 2)] if in_common else []),
        )
        for c in setting.components
    )
    titles = ("case", "build", "execution", "iteration", "in a build", "mean of a build")
    more = " In common: of a round, which both sides share; the levels are without it." if in_common else ""
    return Section(
        "Simulated cases",
        (
            (
                f"{whence} Standard deviation of each level alone, as a share of the mean, and of the mean of a "
                f"build.{more}"
            ),
            Table((*titles, "in common") if in_common else titles, lines),
        ),
    )


# --- what is asked for ------------------------------------------------------------------------------------------------


def _check(sizes: SizeOptions) -> None:
    """Refuse numbers that make no sense.

    Raises:
        UserError: naming the option.
    """
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


# --- the document ----------------------------------------------------------------------------------------------------


def _before(options: Options) -> tuple[str, ...]:
    words = (
        f"How often perfgate is wrong and how often it sees a change, by simulation: {options.sizes.reports} reports "
        f"behind each number, or {COMPARED:g} times as many single comparisons, or fewer if the text says so. Every "
        "verdict is that of the code that decides a check. This command generates the whole page:"
    )
    return (
        "# Evidence",
        "\n".join(wrap(words, LINE)),
        f"    {_command(options)}",
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
