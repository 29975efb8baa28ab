"""Who follows a next step to the letter: projects that nobody measured for real, and what is typed is carried out."""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

from gate.cli.main import main
from gate.config.config_text import dotted, from_tables
from gate.config.parse import parse
from gate.config.resolve import over, tables_of
from gate.config.rules import Policy, most_builds
from gate.config.types import Config
from gate.decide.report import decide
from gate.evidence.gather import gather
from gate.model import Report
from gate.report.json import read as read_report
from gate.writing.sentences import Lines, Options, Way
from tests.support import lines

TODAY = datetime.date(2026, 11, 20)
Place = tuple[str, int, int, int, int]
"""Side, session, build, execution, value."""


def normal(*place: int) -> float:
    """Draw from a standard normal distribution; for the same place the same."""
    digest = hashlib.blake2b(repr([int(each) for each in place]).encode(), digest_size=6).digest()
    return NormalDist().inv_cdf((int.from_bytes(digest) + 0.5) / 2**48)


def noisy(
    change: float = 1.0, *, build: float = 0.0, value: float = 0.001, session: float = 0.0, seed: int = 0
) -> Callable[[Place], float]:
    """Return values around 1, of head around `change`, with so much noise of each level.

    session: of the ratio, as machines differ in it.
    """

    def of(place: Place) -> float:
        side, machine, number, *_ = place
        level = change + session * normal(seed, machine, 5) if side == "head" else 1.0
        return level * (1 + build * normal(seed, side == "head", machine, number) + value * drawn(place, seed))

    return of


def drawn(place: Place, seed: int = 0) -> float:
    """Draw the noise of one value."""
    side, *numbers = place
    return normal(seed, side == "head", *numbers, 7)


def with_lines(toml: str, way: Lines) -> str:
    """Write lines into a perfgate.toml: into the table that it has, otherwise into a new one at its end."""
    written = "".join(f"{key} = {value}\n" for key, value in way.keys.items())
    header = f"[[{dotted(way.table)}]]" if way.table in (("override",), ("accept",)) else f"[{dotted(way.table)}]"
    if header.startswith("[[") or f"{header}\n" not in toml:
        return f"{toml}{header}\n{written}"
    before, _, after = toml.partition(f"{header}\n")
    own, separator, rest = after.partition("\n[")
    kept = "".join(f"{line}\n" for line in own.splitlines() if line.split("=")[0].strip() not in way.keys)
    return f"{before}{header}\n{kept}{written}{'[' if separator else ''}{rest}"


@dataclass(frozen=True)
class Measured:
    """A project as `perfgate check` measures it: a round takes its seconds, and the budget ends it."""

    toml: str
    value: Callable[[Place], float]
    """Of a metric; the same place gives the same value however often it is measured."""
    metric: str = "n"
    unit: str = ""
    round: float = 60.0
    """Seconds of a round, of both sides."""
    options: tuple[str, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    """More of the run line."""
    apart: bool = False
    """Whether each side is measured in a session of its own."""
    timed: bool = True
    cheap: bool = False
    """Whether executions take next to no time, and builds all of it."""
    stop: str = ""
    """How the run ended; empty: by the plan or its budget."""
    beside: Mapping[str, Callable[[Place], float]] = field(default_factory=dict)
    """Other metrics of the benchmark."""
    others: int = 0
    """Other benchmarks, which did not change."""
    lost: Callable[[dict[str, Any]], bool] = lambda line: False
    """Which lines the first run lost."""

    def config(self) -> dict[str, Any]:
        """Return the tables in force: the file's, and those of the options."""
        sets = [word for option, word in zip(self.options, self.options[1:], strict=False) if option == "--set"]
        source = over(from_tables(tomllib.loads(self.toml), "test"), from_tables(tables_of(sets), "test"))
        return source.tables

    def check(self, _: Path) -> Report:
        """Measure and decide."""
        tables = self.config()
        config = parse(from_tables(tables, "test"))
        found = [line for line in self._measured(tables, config) if not self.lost(line)]
        evidence = gather(lines.located(*found), config)
        return decide(evidence, Policy(config, "test", TODAY, measured=config))

    def lines(self) -> list[dict[str, Any]]:
        """Measure: what the file of the run has."""
        tables = self.config()
        return self._measured(tables, parse(from_tables(tables, "test")))

    def _measured(self, tables: dict[str, Any], config: Config) -> list[dict[str, Any]]:
        plan, budget, rounds = config.plan, float(config.plan.budget), 0
        names = {side: self._names() for side in ("base", "head")}
        # a date is a text there
        written = json.loads(json.dumps(tables, default=str))
        found: list[dict[str, Any]] = [{"type": "run", "benchmarks": names, "config": written, **self.run}]
        while rounds < most_builds(plan) and (rounds + 1) * self.round <= budget:
            for session in range(plan.sessions):
                found += self._round(session, rounds, config)
            rounds += 1
        stop = self.stop or ("finished" if rounds == most_builds(plan) else "budget")
        end: dict[str, Any] = {"type": "host", "when": "end", "state": {}, "stop": stop, "rounds": rounds}
        if not rounds:
            found.append({"type": "build", "side": "base", "build": 0, "seconds": self.round / 4, "artifacts": {}})
            cut = {"phase": "build", "side": "head", "build": 0, "seconds": max(0.0, budget - self.round / 4)}
            end["cut"] = cut
        return [*found, {"type": "host", "when": "begin", "state": {}} if self.stop == "interrupted" else end]

    def _round(self, session: int, build: int, config: Config) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        seconds = self.round / 4 if self.timed else None
        for number, side in enumerate(("base", "head")):
            own = session + number if self.apart else session
            first = {"type": "build", "side": side, "session": own, "build": build, "seconds": seconds, "artifacts": {}}
            made.append({key: value for key, value in first.items() if value is not None})
            for other, execution in product(range(1 + self.others), range(config.plan.executions)):
                places = ((side, session, build, execution, n) for n in range(config.plan.iterations))
                values = [float((noisy(value=0.01 * other) if other else self.value)(place)) for place in places]
                made.append(
                    lines.execution(
                        side, values, session=own, build=build, execution=execution, metric=self.metric, unit=self.unit,
                        benchmark=self._names()[other],
                        **({} if seconds is None else {"seconds": 0.1 if self.cheap else seconds / config.plan.executions}),
                    )
                )  # fmt: skip
                for name, value in self.beside.items():
                    places = ((side, session, build, execution, n) for n in range(config.plan.iterations))
                    made[-1]["metrics"][name] = {"unit": self.unit, "values": [value(place) for place in places]}
        return made

    def _names(self) -> list[str]:
        return ["bench", *(f"other{n}" for n in range(self.others))]

    def follow(self, way: Way) -> Measured:
        """Type what a step says."""
        if isinstance(way, Options):
            # another run, or the rest of this one, which ends as its plan says
            return replace(self, options=(*self.options, *way.argv), lost=lambda line: False, stop="")
        assert isinstance(way, Lines), way
        return replace(self, toml=with_lines(self.toml, way))


@dataclass(frozen=True)
class Decided:
    """Result files as `perfgate decide` reads them."""

    files: Mapping[str, str]
    argv: tuple[str, ...]
    toml: str = ""

    def check(self, folder: Path) -> Report:
        """Decide, in a folder that has the files and the rules."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "perfgate.toml").write_text(self.toml, encoding="utf-8")
        named = [folder_of(word, folder) for word in self.argv]
        out, err = io.StringIO(), io.StringIO()
        main(["decide", *named, "--config", str(folder / "perfgate.toml"), "--json", "-"], out, err)
        assert not err.getvalue(), err.getvalue()
        return read_report(out.getvalue())

    def follow(self, way: Way) -> Decided:
        """Type what a step says."""
        if isinstance(way, Options):
            return replace(self, argv=(*self.argv, *way.argv))
        assert isinstance(way, Lines), way
        return replace(self, toml=with_lines(self.toml, way))


def folder_of(word: str, folder: Path) -> str:
    """Name a file by its whole path: "base=a.txt"."""
    side, equals, name = word.rpartition("=")
    return f"{side}{equals}{folder / name}" if (folder / name).is_file() else word


def go(values: Sequence[float], metric: str = "ns/op", name: str = "BenchmarkA") -> str:
    """Write what `go test -bench` prints, a line a value."""
    return "pkg: x\n" + "".join(f"{name}-2 1000 {value:.4f} {metric}\n" for value in values) + "PASS\n"


def hyperfine(values: Sequence[float], command: str = "x") -> str:
    """Write what `hyperfine --export-json` writes of one command."""
    mean = sum(values) / len(values)
    sizes = dict.fromkeys(("mean", "median", "min", "max", "user", "system"), mean)
    result = {"command": command, **sizes, "stddev": 0.1, "times": list(values), "exit_codes": [0] * len(values)}
    return json.dumps({"results": [result]})
