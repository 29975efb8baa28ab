"""Programs whose start takes long: with a smaller size that they take as an argument, or by the times they print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from gate.commands.init.found import Amount, Found, Measured, Rank, Row, like
from gate.commands.init.tree import Tree
from gate.config.commands import as_text

_SHORT = 3.0
"""Seconds of a start that is short enough, loaded as this host is."""
_ROOM = 15.0
"""Seconds of a start of which five minutes hold the twelve that a regression and the proof take, with a third more."""
_PRINTED = "printed"
_COMMENT = ["The times that it prints. Once it has printed all that include names, a start is ended."]
_AMOUNT = Amount(1, 1, budget=5)
_SIZES = (10_000, 1000, 100)
"""What is tried of a size whose default is not known."""
_SIZE = r"(?:size|count|num(?:ber)?|n|iters?|iterations?|loops?|reps?|repeats?|rounds?|runs?|times?|length|len|total)"
_OPTION = re.compile(
    rf"add_argument\(\s*(?:[\"']-\w[\"'],\s*)?[\"'](?P<option>--?{_SIZE})[\"'](?P<rest>[^)]*?type\s*=\s*int[^)]*)\)",
    re.IGNORECASE,
)
"""A whole number that argparse takes."""
_DEFAULT = re.compile(r"default\s*=\s*(\d[\d_]*)")
_VARIABLE = re.compile(
    rf"(?:environ(?:\.get\(|\[)|getenv\(|process\.env\.|ENV\[)[\"']?(?P<name>\w*{_SIZE})\b[\"']?[\])]?"
    r"(?:\s*(?:,|\|\||\?\?)\s*[\"']?(?P<default>\d[\d_]*))?",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"(?:parseInt\(|Number\(|\+\s*|atoi\(|atol\(|strtou?ll?\(|int\()\s*(?:process\.argv\[2\]|argv\[1\]|sys\.argv\[1\])"
    r"(?:[^;\n]{0,40}?(?:\|\||\?\?|:|else)\s*(?P<default>\d[\d_]*))?",
)
_TIMES = re.compile(
    r"performance|hrtime|console\.time|Date\.now|clock|perf_counter|monotonic|time\.time|timeit|pyperf|chrono|Instant|"
    r"gettimeofday|microtime|nanoTime"
)


class Shorter:
    """Looks for shorter starts of a project whose benchmarks take long, trial by trial."""

    def __init__(self, found: Found, tree: Tree) -> None:
        """Begin with what was written first."""
        self._plain = self._last = found
        self._tree = tree
        self._sized = 0
        """Sizes that were tried."""
        self._printed = False

    def next(self, found: Found, trial: Mapping[str, Any]) -> tuple[Found, str] | None:
        """Return what is tried next, by the trial of what is written, and that in words; None: it is short enough."""
        if found != self._last:
            # something else was tried meanwhile
            self._plain, self._sized, self._printed = found, 0, False
        step = self._next(found, trial)
        self._last = found if step is None else step[0]
        return step

    def _next(self, found: Found, trial: Mapping[str, Any]) -> tuple[Found, str] | None:
        lacking = trial["failure"] is not None or any(each["failures"] for each in trial["benchmarks"])
        if any(each.form == _PRINTED for each in found.benchmarks) and self._printed:
            if lacking:
                return self._plain, "it prints no times that can be read: its whole run is timed"
            return _first_printed(found, trial)
        if not self._sized and not _long(found, trial, _ROOM):
            return None
        if self._sized and not lacking and not _long(found, trial, _SHORT):
            return None
        if self._sized < len(_SIZES) and not (self._sized and lacking):
            sized = _smaller(self._plain, self._tree, self._sized)
            self._sized += 1
            if sized is not None:
                return sized
        self._sized = len(_SIZES)
        if not self._printed and (lacking or _long(found, trial, _ROOM)):
            self._printed = True
            times = _by_printed_times(self._plain, self._tree)
            if times is not None:
                return times, "a start takes too long to be timed ten times: the times that it prints are read"
        return (self._plain, "its whole run is timed") if lacking and found != self._plain else None


def _long(found: Found, trial: Mapping[str, Any], seconds: float) -> bool:
    """Return whether a benchmark that is timed as a whole takes longer than its share of so many seconds."""
    timed = {each.name for each in found.benchmarks if each.instrument == "spawn"}
    return any(
        each["longer_than"] is not None or each["iteration"] > seconds / len(found.benchmarks)
        for each in trial["benchmarks"]
        if each["benchmark"] in timed and not each["failures"]
    )


def _smaller(found: Found, tree: Tree, number: int) -> tuple[Found, str] | None:
    """Return what is written with a smaller size, by its number, and that in words; None: nothing takes a size."""
    benchmarks, said = list[Measured](), list[str]()
    for each in found.benchmarks:
        if each.instrument == "spawn" and (way := _way(tree, each)) is not None:
            before, after, default = way
            size = _SIZES[number] if default is None else max(1, default // 10 ** (number + 1))
            before, after = before.format(size), after.format(size)
            text = f"{before}{as_text(each.command)}{after}"
            said.append(f"{each.name} with {f'{before}{after}'.strip()}")
            comment = ["The whole run, start included, with a size that lets it be started often."]
            each = replace(each, command=like(each.command, text), comment=comment)
        benchmarks.append(each)
    return (replace(found, benchmarks=benchmarks), f"a start takes long: {', '.join(said)}") if said else None


def _way(tree: Tree, measured: Measured) -> tuple[str, str, int | None] | None:
    """Return what stands before and behind a command that takes a size, with {} for it, and the default of that."""
    words = shlex.split(as_text(measured.command))
    text = "\n".join(map(tree.text, _files(tree, words)))
    if "{" in as_text(measured.command) or any(re.fullmatch(r"\d+", word) for word in words):
        return None
    if (option := _OPTION.search(text)) and "required" not in option["rest"]:
        default = _DEFAULT.search(option["rest"])
        return "", f" {option['option']} {{}}", _number(default[1] if default else None)
    if variable := _VARIABLE.search(text):
        return f"env {variable['name']}={{}} ", "", _number(variable["default"])
    if first := _FIRST.search(text):
        return "", " {}", _number(first["default"])
    return None


def _number(text: str | None) -> int | None:
    return int(text.replace("_", "")) if text and len(text) < 18 else None


def _files(tree: Tree, words: list[str]) -> Iterator[str]:
    """Yield the files of the project that a command names, as a path or a module, and what a module loads."""
    for word in words:
        path = word.removeprefix("./")
        for each in (path, f"{path.replace('.', '/')}.py"):
            if each in tree.names:
                yield each
                beside = re.findall(r"^from \.(\w+) import", tree.text(each), re.MULTILINE)
                yield from (str(PurePosixPath(each).with_name(f"{name}.py")) for name in beside)


def _by_printed_times(found: Found, tree: Tree) -> Found | None:
    """Return what is written to read the times that programs print; None: none takes times."""
    benchmarks = [
        replace(each, instrument="values", form=_PRINTED, comment=_COMMENT, metrics=[]) if _times(tree, each) else each
        for each in found.benchmarks
    ]
    return replace(found, benchmarks=benchmarks, amount=_AMOUNT) if benchmarks != found.benchmarks else None


def _times(tree: Tree, measured: Measured) -> bool:
    texts = [tree.text(path) for path in _files(tree, shlex.split(as_text(measured.command)))]
    able = measured.instrument == "spawn" and measured.rank <= Rank.BENCHMARK
    return able and (not texts or any(map(_TIMES.search, texts)))


def _first_printed(found: Found, trial: Mapping[str, Any]) -> tuple[Found, str] | None:
    """Name the results that a trial saw before it ended a start, with that in words; None: it ended none."""
    cut = {each["benchmark"]: each["cases"] for each in trial["benchmarks"] if each["longer_than"] is not None}
    benchmarks, said = list[Measured](), list[str]()
    for each in found.benchmarks:
        names = [one["metric"] for one in cut.get(each.name, ()) if one["decided"]]
        if each.form == _PRINTED and not each.include and names:
            more = ", ..." if len(names) > 3 else ""
            said.append(f"{each.name} is ended once it has printed {', '.join(names[:3])}{more}")
            each = replace(each, include=names)
        benchmarks.append(each)
    row = Row("what it prints later", "left out: ten starts that come so far take more than five minutes")
    return (replace(found, benchmarks=benchmarks, rows=[row, *found.rows]), "; ".join(said)) if said else None
