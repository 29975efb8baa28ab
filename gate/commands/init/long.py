"""Starts made shorter: by a few test cases, or by times that a program prints: the first, or its own among others'."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from gate.commands.init.found import MOST, Amount, Found, Proposed, Rank, Row, fixed_plan, like, of_parts
from gate.commands.init.tree import Tree
from gate.config.commands import as_text

_ROOM = 15.0
"""Seconds of a start of which five minutes hold the twelve that a regression and the proof take, with a third more."""
_START = 10.0
"""Seconds of a start of chosen test cases: five minutes hold twelve rounds of both sides."""
PRINTED = "printed"
_COMMENT = ["The times that it prints. Once it has printed all that include names, a start is ended."]
_AMOUNT = Amount(1, 1, budget=5)
_TIMES = re.compile(
    r"performance|hrtime|console\.time|Date\.now|clock|perf_counter|monotonic|time\.time|timeit|pyperf|chrono|Instant|"
    r"gettimeofday|microtime|nanoTime"
)


class Shorter:
    """Looks for shorter starts of a project whose benchmarks take long, trial by trial."""

    def __init__(self, tree: Tree) -> None:
        """Begin."""
        self._tree = tree
        self._whole: Found | None = None
        """What was written before the printed times were asked for, whose whole run is timed."""
        self._apart: Found | None = None
        """What was written before its test cases were tried one by one."""
        self._long = False

    def next(self, found: Found, trial: Mapping[str, Any], *, compares: bool = False) -> tuple[Found, str] | None:
        """Return what is tried next, by the trial of what is written, and that in words; None: it may stay.

        compares: whether the trial gave results of other packages beside those of the project.
        """
        if self._apart is not None and len(found.benchmarks) > len(self._apart.benchmarks):
            return _joined(self._apart, found, trial)
        if self._apart is None and (apart := _parted(found, trial)) is not None:
            self._apart = found
            return apart, "a start takes too long: its test cases are tried one by one"
        if any(each.form == PRINTED for each in found.benchmarks):
            gave = trial["failure"] is None and not any(each["failures"] for each in trial["benchmarks"])
            if gave and (self._long or compares):
                return _first_printed(found, trial)
            said = f"it prints no times {'of its own' if gave else 'that can be read'}: its whole run is timed"
            return (self._whole, said) if self._whole is not None and found != self._whole else None
        self._long = _long(found, trial)
        if self._whole is not None or not (self._long or _mixed(found, self._tree)):
            return None
        times = _by_printed_times(found, self._tree)
        if times is None:
            return None
        self._whole = found
        why = "a start takes too long to be timed ten times" if self._long else "it runs other packages, too"
        return times, f"{why}: the times that it prints are read"


def _parted(found: Found, trial: Mapping[str, Any]) -> Found | None:
    """Return what tries the test cases of a program that took too long one by one, spread over it; None: none did."""
    late = {each["benchmark"] for each in trial["benchmarks"] if each["longer_than"] is not None}
    benchmarks = list[Proposed]()
    for each in found.benchmarks:
        step = max(1.0, len(each.parts) / MOST)
        some = [each.parts[int(at * step)] for at in range(min(MOST, len(each.parts)))] if each.name in late else []
        # under a number, as names of test cases are sentences
        own = [replace(of_parts(each, [part]), name=f"{each.name}-{at}") for at, part in enumerate(some, 1)]
        benchmarks += own if len(own) > 1 else [each]
    return replace(found, benchmarks=benchmarks, amount=_AMOUNT) if len(benchmarks) > len(found.benchmarks) else None


def _joined(whole: Found, apart: Found, trial: Mapping[str, Any]) -> tuple[Found, str] | None:
    """Put the quickest test cases together that a trial had values of, as many as a start has room for; None: none."""
    told = {each["benchmark"]: each for each in trial["benchmarks"]}
    ended = [
        (each["execution"], part.name, part.parts[0])
        for part in apart.benchmarks
        if (each := told.get(part.name)) and each["longer_than"] is None and each["cases"] and not each["failures"]
    ]
    benchmarks, rows, said = list[Proposed](), [*apart.rows], list[str]()
    for each in whole.benchmarks:
        own, spent = list[str](), 0.0
        for seconds, name, part in sorted(ended):
            if name.rpartition("-")[0] == each.name and (not own or spent + seconds <= _START / len(whole.benchmarks)):
                own.append(part)
                spent += seconds
        if any(part.name == each.name for part in apart.benchmarks):
            benchmarks.append(each)
        elif own:
            benchmarks.append(of_parts(each, own))
            rows.append(
                Row(f"{len(each.parts) - len(own)} of {len(each.parts)} test cases", "left out: they take long")
            )
            said.append(f"{each.name} runs {', '.join(own)}")
    if not said:
        return None
    return replace(whole, benchmarks=benchmarks, rows=rows, amount=fixed_plan(1, 0.0, _START)), "; ".join(said)


def _long(found: Found, trial: Mapping[str, Any]) -> bool:
    """Return whether a benchmark that is timed as a whole takes longer than its share of the room."""
    timed = {each.name for each in found.benchmarks if each.instrument == "spawn"}
    return any(
        each["longer_than"] is not None or each["iteration"] > _ROOM / len(found.benchmarks)
        for each in trial["benchmarks"]
        if each["benchmark"] in timed and not each["failures"]
    )


def _mixed(found: Found, tree: Tree) -> bool:
    """Return whether what is timed as a whole loads packages that it may compare the project with."""
    timed = [each for each in found.benchmarks if each.instrument == "spawn" and each.rank == Rank.BENCHMARK]
    texts = [tree.text(path) for each in timed for path in _files(tree, shlex.split(as_text(each.command)))]
    loads = r"""\b(?:import|from|require)\b[\s("']*(?:{})\b"""
    named = "|".join(re.escape(name) for name in found.others if len(name) > 3)
    return bool(named and found.name) and any(re.search(loads.format(named), text) for text in texts)


def _files(tree: Tree, words: list[str]) -> Iterator[str]:
    """Yield the files of the project that a command names, as a path or a module, and what a module loads."""
    for word in words:
        path = word.removeprefix("./")
        for each in (path, f"{path.replace('.', '/')}.py"):
            if each in tree.names:
                yield each
                beside = re.findall(r"^from \.(\w+) import", tree.text(each), re.MULTILINE)
                yield from (str(PurePosixPath(each).with_name(f"{name}.py")) for name in beside)


def as_printed(measured: Proposed) -> Proposed:
    """Return what reads the times that a program prints."""
    command = like(measured.command, as_text(measured.command).removesuffix(" >{output}"))
    return replace(measured, command=command, instrument="values", form=PRINTED, comment=_COMMENT, metrics=[])


def _by_printed_times(found: Found, tree: Tree) -> Found | None:
    """Return what is written to read the times that programs print; None: none takes times."""
    benchmarks = [as_printed(each) if _times(tree, each) else each for each in found.benchmarks]
    return replace(found, benchmarks=benchmarks, amount=_AMOUNT) if benchmarks != found.benchmarks else None


def _times(tree: Tree, measured: Proposed) -> bool:
    texts = [tree.text(path) for path in _files(tree, shlex.split(as_text(measured.command)))]
    able = measured.instrument == "spawn" and measured.rank <= Rank.BENCHMARK
    return able and (not texts or any(map(_TIMES.search, texts)))


def _first_printed(found: Found, trial: Mapping[str, Any]) -> tuple[Found, str] | None:
    """Name the results that a trial saw before it ended a start, with that in words; None: it ended none."""
    cut = {each["benchmark"]: each["cases"] for each in trial["benchmarks"] if each["longer_than"] is not None}
    benchmarks, said = list[Proposed](), list[str]()
    for each in found.benchmarks:
        names = [one["metric"] for one in cut.get(each.name, ()) if one["decided"]]
        if each.form == PRINTED and not each.include and names:
            more = ", ..." if len(names) > 3 else ""
            said.append(f"{each.name} is ended once it has printed {', '.join(names[:3])}{more}")
            each = replace(each, include=names)
        benchmarks.append(each)
    row = Row("what it prints later", "left out: ten starts that come so far take more than five minutes")
    return (replace(found, benchmarks=benchmarks, rows=[row, *found.rows]), "; ".join(said)) if said else None
