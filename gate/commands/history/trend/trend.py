"""perfgate history trend: the chain of ratios of each case, and its level at each commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TextIO

import msgspec

from gate.codes import Exit
from gate.commands.history.options import TrendOptions
from gate.commands.history.trend.formats import as_json, as_markdown, document
from gate.commands.history.trend.page import as_page
from gate.document import terminal
from gate.model import UserError
from gate.report.outputs import write
from gate.run.place import here, opened
from gate.store.chain import Chain, chained
from gate.store.records import when
from gate.store.series import followed, series
from gate.store.trend import Trend, trend
from gate.writing.plain import visible

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T.*)?")
_FORMATS: dict[str, Callable[[Trend], str]] = {"json": as_json, "markdown": as_markdown, "html": as_page}


def run(options: TrendOptions, out: TextIO, err: TextIO) -> int:
    """Show the trend of each case; 0 whatever changed: a trend reports, it is no gate.

    Raises:
        UserError: a history that cannot be read, or an option that names nothing in it.
    """
    asked = {name: target for name in _FORMATS if (target := getattr(options, name)) is not None}
    on_stdout = [name for name, target in asked.items() if target == "-"]
    if len(on_stdout) > 1:
        raise UserError(f"--{on_stdout[0]} - and --{on_stdout[1]} - both want standard output")
    store = opened(options.store.history)
    reading = store.read()
    if not reading.records and not reading.problems:
        raise UserError(f"{store} holds no records: `perfgate history add` records a run")
    chain = _part(chained(reading.records), options)
    every = series(chain)
    cases = followed(every)
    wanted = [of for of in cases if _matches(of.id.benchmark, options.benchmarks)]
    for glob in options.benchmarks:
        if not any(_matches(of.id.benchmark, [glob]) for of in cases):
            names = ", ".join(dict.fromkeys(of.id.benchmark for of in cases[:5]))
            raise UserError(f"--benchmark {glob}: no benchmark of the history matches; it has {names or 'none'}")
    found = trend(chain, wanted, reading.problems, views=len(every) - len(cases))
    for name, target in asked.items():
        if target != "-":
            write(Path(target), _FORMATS[name](found))
    if on_stdout:
        out.write(_FORMATS[on_stdout[0]](found))
    else:
        out.write(terminal.render(document(found), terminal.screen(out)))
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in found.problems)
    return Exit.USAGE if found.problems else Exit.PASS


def _matches(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(glob == name or fnmatchcase(name, glob) for glob in globs)


def _part(chain: Chain, options: TrendOptions) -> Chain:
    """Keep the newest part of a chain, as far as options ask for it."""
    links = chain.links
    if options.since is not None:
        links = links[_since(chain, options.since) :]
    if options.limit is not None:
        measured = [place for place, link in enumerate(links) if not link.gap]
        links = links[measured[-options.limit] :] if len(measured) > options.limit else links
    return msgspec.structs.replace(chain, links=links)


def _since(chain: Chain, since: str) -> int:
    """Find the first step after a commit or date."""
    if _DATE.fullmatch(since):
        if when(since) is None:
            raise UserError(f"--since {since}: is no date of the calendar, such as 2026-01-31")
        later = (place for place, link in enumerate(chain.links) if (link.committed or "") >= since)
        return next(later, len(chain.links))
    git = here()
    answer = git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{since}^{{commit}}") if git else None
    sha = answer.stdout.decode().strip() if answer is not None and answer.status == 0 else since
    for place, link in enumerate(chain.links):
        if sha and link.parent.startswith(sha):
            return place
    if chain.links and sha and chain.links[-1].commit.startswith(sha):
        return len(chain.links)
    raise UserError(f"--since {since}: no commit of the history, and no date such as 2026-01-31")
