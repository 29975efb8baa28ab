"""Python projects with pyperf scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init.detect.python import python
from gate.commands.init.detect.repetitions import Suite, amount, length_of_value
from gate.commands.init.detect.result import Found, Measured, left_out, names_of
from gate.commands.init.detect.tree import Tree

_IMPORTS = re.compile(r"^\s*(import|from)\s+pyperf\b", re.MULTILINE)
_RUNS = re.compile(r"^[^#\n]*\b(?:pyperf\.)?Runner\(", re.MULTILINE)
_CASE = re.compile(r"\.\s*(?:bench_func|bench_async_func|bench_time_func|timeit|bench_command)\(")
_OVERHEAD = 0.5  # one value to find the number of loops and one to warm up, for five
_START = 0.3
_MOST = 12


def look(tree: Tree) -> Found | None:
    """Find scripts that make a pyperf.Runner; None without one."""
    every = list(_scripts(tree))
    if not every:
        return None
    scripts, rest = every[:_MOST], every[_MOST:]
    own = python(tree)
    cases = sum(max(1, len(_CASE.findall(tree.text(path)))) for path in scripts)
    suite = Suite(cases, _OVERHEAD, _START * len(scripts))
    length = length_of_value(suite)
    names = names_of((str(PurePosixPath(path).with_suffix("")) for path in scripts), "pyperf")
    first, *more = [
        Measured(name, own.command([path, f"--min-time={length:g}"], []), [], instrument="pyperf")
        for name, path in zip(names, scripts, strict=True)
    ]
    where = f"{len(every)} script{'s' if len(every) != 1 else ''} with a pyperf.Runner"
    return replace(
        own.found("pyperf", where, first),
        notes=[*left_out(rest, "pyperf script", "pyperf scripts"), *own.notes(tree, "pyperf", "pyperf", scripts)],
        more=more,
        amount=amount(suite, length),
    )


def _scripts(tree: Tree) -> Iterator[str]:
    for path in tree.ending(".py"):
        text = tree.text(path)
        if not PurePosixPath(path).name.startswith(("test_", "-")) and _IMPORTS.search(text) and _RUNS.search(text):
            yield path
