"""The result of detection, for the templates."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum

from gate.config.instruments import KNOWN

KINDS = (
    "pytest-benchmark",
    "pyperf",
    "asv",
    "go",
    "cargo",
    "cmake",
    "jmh",
    "npm",
    "autotools",
    "make",
    "python",
    "generic",
)
"""In the order in which they are looked for: the surest sign of benchmarks first."""


_MOST_NAMED = 12


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
class Measured:
    """One benchmark of the file.

    comment: lines above it. slow: a whole test run or the like, of which fewer are measured. command: a list is
    executed, a string goes to sh -c. form: the format that the values instrument reads.
    """

    name: str
    command: list[str] | str
    comment: list[str]
    slow: bool = False
    instrument: str = "spawn"
    form: str | None = None
    rank: Rank = Rank.BENCHMARK


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is measured in each build. comment: lines above it, such as how long that takes. warmup: of suites."""

    executions: int
    iterations: int
    warmup: int = 1
    comment: list[str] = field(default_factory=list)
    budget: int = 10
    """Minutes, in which all builds fit by what is known here."""
    builds: int = 12
    """Of each side, at most."""
    counted: bool = False
    """Whether the first starts say how many there are, not executions and iterations."""


@dataclass(frozen=True, slots=True)
class Found:
    """A project that can be measured.

    evidence: where it was seen, in words. more: benchmarks beside the first one. build: the command; None for a fresh
    checkout. build_comment: lines above it. setup, artifacts, changes, share: as in [build]. products: what else the
    build makes, as far as that is known. environment: as in [env] set. notes: what the user must know or do. amount:
    None for what suits programs that are timed as a whole.
    """

    kind: str
    evidence: str
    benchmark: Measured
    build: str | None = None
    build_comment: list[str] = field(default_factory=list)
    setup: str | None = None
    artifacts: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    products: list[str] = field(default_factory=list)
    share: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    environment_comment: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    more: list[Measured] = field(default_factory=list)
    amount: Amount | None = None

    @property
    def benchmarks(self) -> list[Measured]:
        """All benchmarks of the file."""
        return [self.benchmark, *self.more]

    @property
    def plan(self) -> Amount:
        """How much is measured in each build."""
        if self.amount is not None:
            return self.amount
        if self.build and self.benchmark.slow:
            return Amount(1, 2)  # of a whole test run, as many as a budget has
        counted = all(each.instrument == "spawn" and not each.slow for each in self.benchmarks)
        # a fresh checkout costs little, and builds narrow the interval most
        return Amount(5, 10, counted=counted) if self.build else Amount(2, 5, counted=counted)

    @property
    def rank(self) -> Rank:
        """How much the benchmark says about the project."""
        reads = KNOWN[self.benchmark.instrument].suite or self.benchmark.instrument == "values"
        return Rank.RESULTS if reads else self.benchmark.rank

    @property
    def measures_something(self) -> bool:
        """Whether it is more than a placeholder."""
        return bool(self.benchmark.command)


def program(name: str, path: str, arguments: list[str], *, unsure: bool) -> tuple[Measured, list[str]]:
    """Return the benchmark that starts a built program, and the notes that go with it.

    unsure: whether it may want arguments that are not known; then it is not started at all, as a program that only
    complains about its usage cannot be separated from a broken one.
    """
    if unsure:
        return _unknown_arguments(path)
    work = "the work that matters to your users, such as a large input that takes a second."
    what = "This runs the program on a file of the project" if arguments else "This runs the program without arguments"
    if arguments == ["--help"]:
        what = "This measures the start of the program only"
    comment = [f"{what}. Replace it with a command that does", work]
    notes = [f"the benchmark runs {' '.join([path, *arguments])}: put real work in its place"]
    return Measured(name, [f"./{path}", *arguments], comment, rank=Rank.PROGRAM), notes


def _unknown_arguments(path: str) -> tuple[Measured, list[str]]:
    measured, notes = placeholder()
    comment = [
        *measured.comment,
        f"{path} is built, but reads arguments or its standard input, and what it wants is not known here. Name the",
        "benchmark after the work that matters to your users, such as a large input that takes a second:",
        f'command = [{json.dumps(f"./{path}", ensure_ascii=False)}, "its", "arguments"]',
    ]
    return replace(measured, comment=comment), [*notes, f"{path} needs arguments not known here: edit its command"]


def stand_in(
    name: str, command: list[str] | str, advice: str = "Put your own program here, one that does real work."
) -> Measured:
    """Return the benchmark that runs a project's tests, where there is nothing better."""
    return Measured(
        name, command, ["The tests, for now: they are not made to be measured.", advice], slow=True, rank=Rank.TESTS
    )


def left_out(rest: list[str], one: str, many: str) -> list[str]:
    """Return the note that names what was found and is not written, if there is any."""
    if not rest:
        return []
    shown = ", ".join(rest[:_MOST_NAMED])
    left = f"1 more {one} is" if len(rest) == 1 else f"{len(rest)} more {many} are"
    return [f"{left} left out ({shown}{', ...' if len(rest) > _MOST_NAMED else ''}): add what matters"]


def placeholder() -> tuple[Measured, list[str]]:
    """Return a benchmark without a command, which every command that measures refuses, and the note that says so."""
    comment = [
        "PLACEHOLDER: perfgate measures nothing until you write a command here.",
        "A list is executed as it is, a string goes to sh -c; it runs in each side's checkout.",
    ]
    notes = ["found nothing to measure: write the command of [[benchmark]] in perfgate.toml before `perfgate check`"]
    return Measured("placeholder", [], comment, rank=Rank.PLACEHOLDER), notes


def names_of(places: Iterable[str], top: str) -> list[str]:
    """Name benchmarks after directories or files, each once; top: for the directory of the project itself.

    Without a slash, since "a/b" could be a benchmark that a suite "a" names.
    """
    names: list[str] = []
    for place in places:
        name = top if place in ("", ".") else place.replace("/", "-")
        taken, count = name, 1
        while taken in names:
            count += 1
            taken = f"{name}-{count}"
        names.append(taken)
    return names
