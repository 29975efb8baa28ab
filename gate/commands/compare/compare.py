"""perfgate compare: columns of results side by side, with intervals and without a gate."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.cli.groups import RulesOptions
from gate.codes import Exit
from gate.commands.compare.columns import Columns, columns_of
from gate.commands.compare.filters import filter_of
from gate.commands.compare.formats import Screen, renderer
from gate.commands.compare.keys import keys_of
from gate.commands.compare.order import hidden_below, sorted_rows
from gate.commands.compare.pieces import pieces
from gate.commands.compare.projection import Projection
from gate.commands.compare.tabulation import Wanted, tabulated
from gate.model import UserError
from gate.report.outputs import refuse_inputs, write
from gate.results.arguments import is_plain, labelled
from gate.words.streams import colored, is_terminal

if TYPE_CHECKING:
    from gate.commands.compare.command import CompareOptions

_MOST = 140


def run(options: CompareOptions, rules: RulesOptions, out: TextIO) -> int:
    """Print a comparison and return 0, whatever changed; 4 where there is nothing to compare.

    Raises:
        UserError: a file, a key or a rule that cannot be used.
    """
    if options.html is not None:
        inputs = [Path(labelled(run)[1]) for run in options.runs if is_plain(labelled(run)[1])]
        refuse_inputs(inputs, [Path(options.html)])
    columns = _columns(options, rules)
    base = _base(columns, options.base)
    if options.listed:
        out.writelines(f"{chosen.title}  {chosen.name}\n" for chosen in columns.found)
        return Exit.PASS
    table = tabulated(columns, base, rules, Wanted(options.statistics, keys_of(options.group)))
    table = sorted_rows(hidden_below(table, options.min_change), options.sort)
    out.write(renderer(options.form)(table, _screen(out)))
    if options.html is not None:
        write(Path(options.html), renderer("html")(table, _screen(out)))
    return Exit.ERROR if table.nothing and not table.identical else Exit.PASS


def _columns(options: CompareOptions, rules: RulesOptions) -> Columns:
    projection = Projection(
        by=keys_of(options.by),
        rows=keys_of(options.rows),
        ignore=keys_of(options.ignore),
        filter=filter_of(options.filter) if options.filter else None,
        benchmarks=rules.benchmarks,
        metrics=options.metrics,
        level=options.each,
    )
    return columns_of(pieces(options.runs, options.wanted), projection, (options.side_a, options.side_b))


def _base(columns: Columns, wanted: str | None) -> int:
    titles = [chosen.title for chosen in columns.found]
    if wanted is None:
        return 0
    if wanted in titles:
        return titles.index(wanted)
    begun = [place for place, title in enumerate(titles) if wanted and wanted.startswith(title)]
    named = [place for place, chosen in enumerate(columns.found) if chosen.name == wanted]
    found = named or begun
    if len(found) != 1:
        raise UserError(f"--base {wanted}: no column has this label; there are {', '.join(titles)}")
    return found[0]


def _screen(out: TextIO) -> Screen:
    width = shutil.get_terminal_size((100, 24)).columns
    return Screen(colored(out), min(width, _MOST), width if is_terminal(out) else None)
