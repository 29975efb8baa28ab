"""What was found in a project: what is measured and how it is built, what else was seen, how much is measured."""

from __future__ import annotations

import math
import posixpath
import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import PurePosixPath
from typing import NamedTuple

from gate.config.commands import as_text

MOST = 12
"""Programs or packages of benchmarks that are written."""
MINUTES = 4
"""In which a check gives its verdict beside the first builds, so that with `init` itself it is there in five."""
_WANTED = 60.0 * MINUTES
"""Seconds that a whole plan may take: of both sides, by its builds."""
_QUICK = 120.0
"""The same where values are as short as wanted."""
_SIDES_AND_BUILDS = 24
MOST_EXECUTIONS, VALUES = 10, 5
"""Of a build, and of an execution, of a suite whose start takes long."""
COMPILED = 0.02
"""Seconds that a compiled program takes to start."""
_OF_TIME = 0.1
"""The share of an execution that its start may take (docs/turns.md)."""
BENCH = re.compile(r"bench|perf|speed", re.IGNORECASE)
PRINTED = "printed"
_COMMENT = ["The times that it prints. Once it has printed all that include names, a start is ended."]
_LENGTH = 0.01
"""Seconds of a value: what disturbs lasts longer, so that many short ones by turns tell more than a few long ones."""


class Rank(IntEnum):
    """How much a benchmark says about the project, the most first."""

    RESULTS = 0
    """The project's own benchmarks, whose results are read."""
    BENCHMARK = 1
    """A script or target that is called a benchmark, timed as a whole."""
    PROGRAM = 2
    TESTS = 3
    PLACEHOLDER = 4


@dataclass(frozen=True, slots=True)
class Proposed:
    """One benchmark of the file. command: a list is executed, a string goes to sh -c."""

    name: str
    command: list[str] | str
    comment: list[str] = field(default_factory=list)
    instrument: str = "spawn"
    form: str | None = None
    """That the values instrument reads."""
    rank: Rank = Rank.RESULTS
    include: list[str] = field(default_factory=list)
    """The cases to measure; empty: all."""
    exclude: list[str] = field(default_factory=list)
    """The cases that are not judged."""
    metrics: list[str] = field(default_factory=list)
    """What is decided; empty: what the instrument decides."""
    parts: tuple[str, ...] = ()
    """Test cases of its program, of which a word of the command names those that run."""
    built: tuple[str, ...] = ()
    """What stands in the build command for it alone, its artifact too, and leaves with it."""


class Row(NamedTuple):
    """A line of the table of what was seen: what it is, and what became of it with the reason."""

    what: str
    became: str


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is measured in each build. warmup: values that are dropped.

    Of what is timed start by start, executions and iterations count nothing: a check counts the starts itself.
    """

    executions: int
    iterations: int
    warmup: int = 0
    budget: int = MINUTES
    """Minutes."""


@dataclass(frozen=True, slots=True)
class Found:
    """A project that can be measured. build, setup, artifacts, changes, share, environment: as in the file."""

    kind: str
    evidence: str
    """Where it was seen, in words."""
    benchmarks: list[Proposed]
    build: str | None = None
    """None: a fresh checkout."""
    comment: str = ""
    """What the build does, in a line."""
    setup: str | None = None
    timeout: str | None = None
    """Of a build that takes long."""
    artifacts: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    products: list[str] = field(default_factory=list)
    """What else the build makes."""
    share: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    """What else was seen, and why it is left out."""
    notes: list[str] = field(default_factory=list)
    """What the user must know or do."""
    amount: Amount | None = None
    """None: what suits programs that are timed as a whole."""
    threshold: str = "2%"
    """The smallest change worth failing for."""
    instead: tuple[Proposed, ...] = ()
    """What else may be measured, where that fails."""
    place: str = ""
    """The folder of the project that it is of, "" for the top."""
    name: str = ""
    """Of the project, where its benchmarks compare it with others."""
    others: tuple[str, ...] = ()
    """Names of those; before a slash their owners'."""

    @property
    def benchmark(self) -> Proposed:
        """The first one."""
        return self.benchmarks[0]

    @property
    def rank(self) -> Rank:
        """How much the benchmarks say about the project."""
        return self.benchmark.rank

    def without(self, names: Collection[str]) -> Found:
        """Leave benchmarks out, and what builds them alone."""
        build, gone = self.build or "", [each for each in self.benchmarks if each.name in names]
        for text in (text for each in gone for text in each.built):
            build = re.sub(rf";?\s{re.escape(text)}(?![^\s;)])", "", build)
        return replace(
            self, benchmarks=[each for each in self.benchmarks if each not in gone], build=build or self.build,
            artifacts=[path for path in self.artifacts if not any(path in each.built for each in gone)],
        )  # fmt: skip

    @property
    def timed(self) -> bool:
        """Whether starts of commands are timed as a whole."""
        return all(each.instrument == "spawn" for each in self.benchmarks)

    @property
    def measures_something(self) -> bool:
        """Whether it is more than a placeholder."""
        return bool(self.benchmark.command)

    @property
    def plan(self) -> Amount:
        """How much is measured in each build."""
        if self.amount is not None:
            return self.amount
        if any(each.form == PRINTED for each in self.benchmarks):
            return Amount(1, 1)
        # a fresh checkout costs little, and builds narrow the interval most
        return Amount(5, 10, 1) if self.build else Amount(2, 5, 1)


def suite_plan(cases: int, start: float = 0.1) -> tuple[Amount, float]:
    """Return the plan of a suite whose values have the length that it is told, and that length in seconds.

    Args:
        cases: benchmarks, as far as they are known before the trial counts them.
        start: seconds of one execution besides.
    """
    # half as many again find the number of repetitions
    each = max(cases, 1) * 1.5 * _LENGTH
    # the host changes from second to second: turns are as short as starting allows
    values = min(VALUES, max(1, math.ceil(start * (1 / _OF_TIME - 1) / each)))
    seconds = _SIDES_AND_BUILDS * (start + values * each)
    most, fewest = (many * VALUES // values for many in (MOST_EXECUTIONS, 2))
    executions = min(most, max(fewest, int(_QUICK / seconds)))
    return Amount(executions, values), _LENGTH


def fixed_plan(cases: int, start: float, each: float) -> Amount:
    """Return the plan of a suite that takes its own time for one value of each benchmark: seconds of one."""
    execution = start + each * max(cases, 1)
    executions = next((count for count in (3, 2) if _SIDES_AND_BUILDS * execution * count <= _WANTED), 1)
    return Amount(executions, 1)


def placeholder(*comment: str) -> Proposed:
    """Return a benchmark without a command, which every command that measures refuses."""
    lines = [*comment, "PLACEHOLDER: write the command here. A list is executed as it is, a string goes to sh -c."]
    return Proposed("placeholder", [], lines, rank=Rank.PLACEHOLDER)


def program(path: str, arguments: list[str] | None) -> Proposed:
    """Return the benchmark that starts a built program; arguments: None where it wants some that are not known."""
    name = PurePosixPath(path).name
    if arguments is None:
        return placeholder(f'{path} reads arguments or its input: command = ["./{path}", "its", "arguments"]')
    whole = "With arguments or a file of the project" if arguments else "Without arguments"
    what = "Its start only" if arguments == ["--help"] else whole
    comment = [f"{what}: better a command that does real work."]
    rank = Rank.BENCHMARK if BENCH.search(name) else Rank.PROGRAM
    return Proposed(name, [f"./{path}", *arguments], [] if rank == Rank.BENCHMARK else comment, rank=rank)


def tests(name: str, command: list[str] | str) -> Proposed:
    """Return the benchmark that runs a project's tests, where there is nothing better."""
    comment = ["The tests, for now: better a program that does the work that matters."]
    return Proposed(name, command, comment, rank=Rank.TESTS)


def within(folder: str, words: list[str], paths: Collection[str] = ()) -> list[str] | str:
    """Return a command that is run in a folder of the project; paths: words that are files, beside those with "./"."""
    if folder in ("", "."):
        return words
    moved = [posixpath.relpath(w, folder) if w.startswith("./") or w in paths else w for w in words]
    # a program beside it is named by its path as well
    first = f"./{moved[0]}" if moved[0] != words[0] and "/" not in moved[0] else moved[0]
    return f"cd {shlex.quote(folder)} && {shlex.join([first, *moved[1:]])}"


def like(command: list[str] | str, text: str) -> list[str] | str:
    """Return a text as a command of the other one's form."""
    return text if isinstance(command, str) else shlex.split(text)


def of_parts(measured: Proposed, parts: Sequence[str]) -> Proposed:
    """Return a benchmark that runs those test cases of its program alone: doctest's option, or Catch2's first word."""
    first, *rest = shlex.split(as_text(measured.command))
    doctest = next((word for word in rest if word.startswith("--test-case=")), None)
    rest = [word for at, word in enumerate(rest) if word != doctest and (doctest or at or word.startswith("-"))]
    chosen = f"{'--test-case=' if doctest else ''}{','.join(parts)}"
    return replace(measured, command=[first, chosen, *rest], parts=tuple(parts))


def names_of(places: Iterable[str], top: str) -> list[str]:
    """Name benchmarks after folders or files, each once, without a slash; top: for the project's own folder."""
    names: list[str] = []
    for place in places:
        name = top if place in ("", ".") else place.replace("/", "-")
        same = sum(each == name or (each.startswith(f"{name}-") and each[len(name) + 1 :].isdigit()) for each in names)
        names.append(f"{name}-{same + 1}" if name in names else name)
    return names


def kept(every: list[str], what: str) -> tuple[list[str], list[Row]]:
    """Return what is written of many, and the row that tells of the rest."""
    rest = every[MOST:]
    named = ", ".join(rest[:3]) + (", ..." if len(rest) > 3 else "")
    return every[:MOST], [Row(f"{len(rest)} more {what}", f"left out ({named}): add what matters")] if rest else []


def as_printed(measured: Proposed) -> Proposed:
    """Return what reads the times that a program prints."""
    command = like(measured.command, as_text(measured.command).removesuffix(" >{output}"))
    return replace(measured, command=command, instrument="values", form=PRINTED, comment=_COMMENT, metrics=[])
