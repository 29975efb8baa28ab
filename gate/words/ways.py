"""What a next step asks a reader to type, as data: its sentence shows it, and a test follows it to the letter."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from gate.config.source import dotted
from gate.model import outcomes
from gate.units import DIMENSIONS, Duration
from gate.words.numbers import as_configured
from gate.writing.phrases import joined, toml_text
from gate.writing.plain import benchmark_option


class Options(NamedTuple):
    """Options for the command that gave the report: `--set plan.budget=11m`."""

    argv: tuple[str, ...]

    def __str__(self) -> str:
        """Write them as they are typed."""
        return f"`{shlex.join(self.argv)}`"

    @property
    def lines(self) -> Lines | None:
        """Return the same as keys of perfgate.toml, for a reader who types no command; None: it is not of the rules."""
        given = [word for option, word in pairwise(self.argv) if option == "--set"]
        keys = {key: _value(value) for key, _, value in (word.partition("=") for word in given)}
        tables = {key.partition(".")[0] for key in keys}
        if len(tables) != 1:
            return None
        return Lines((tables.pop(),), {key.partition(".")[2]: value for key, value in keys.items()})


def _value(text: str) -> str:
    """Write the value of --set as TOML has it."""
    try:
        tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return toml_text(text)
    return text


class Command(NamedTuple):
    """A command line: `perfgate doctor`. Words in capitals stand for names that only the reader knows."""

    text: str

    def __str__(self) -> str:
        """Write it as it is typed."""
        return f"`{self.text}`"


class Lines(NamedTuple):
    """Keys of a table of perfgate.toml: of one more entry where there may be several, otherwise of the one there is."""

    table: tuple[str, ...]
    keys: Mapping[str, str]
    """Values as TOML has them."""

    def __str__(self) -> str:
        """Write them so that they can be copied."""
        keys = joined([f"`{key} = {value}`" for key, value in self.keys.items()])
        if self.table == _OVERRIDE:
            return f"an `[[override]]` entry with {keys}"
        return f"{keys} in `[{dotted(self.table)}]`"


Way = Options | Command | Lines
_OVERRIDE = ("override",)
CHECK, DOCTOR, EXPLAIN = (Command(f"perfgate {name}") for name in ("check", "doctor", "explain"))


def ways(step: outcomes.Step) -> tuple[Way, ...]:
    """Return what a step asks a reader to type, each by itself a way; empty: it says in words what to do."""
    made = _WAYS.get(type(step))
    return made(step) if made is not None else ()


def _of_plan(step: Any) -> tuple[Way, ...]:
    """Set what of [plan] the step names."""
    values = {key: getattr(step, key, None) for key in ("builds", "executions", "iterations")}
    settings = {key: str(value) for key, value in values.items() if value is not None}
    if settings and step.auto:
        # which would choose them itself
        settings = {"auto": "false", **settings}
    if step.budget is not None:
        settings["budget"] = str(Duration(step.budget))
    words = [word for key, value in settings.items() for word in ("--set", f"plan.{key}={value}")]
    return (Options(tuple(words)),) if words else ()


def _name_sides(step: outcomes.NameSides) -> tuple[Way, ...]:
    sides = Command("perfgate decide base=FILE head=FILE")
    if step.file is None:
        return (sides,)
    # several files, or standard input
    file = step.file if shlex.quote(step.file) == step.file else "FILE"
    return sides, Command(f"perfgate compare {file} --by benchmark --rows file")


def give_direction(metric: str) -> tuple[Lines, Lines]:
    """Return both ways to give a metric a direction."""
    lower, higher = (
        Lines(_OVERRIDE, {"metric": toml_text(metric), "better": toml_text(better)}) for better in ("lower", "higher")
    )
    return lower, higher


def _find_creep(step: outcomes.FindCreep) -> tuple[Way, ...]:
    ends = shlex.join(["--good", step.pin, "--bad", step.head])
    return (Command(f"perfgate bisect {ends} {benchmark_option(step.benchmark)}"),)


def _restore_benchmark(step: outcomes.RestoreBenchmark) -> tuple[Way, ...]:
    if step.others:
        return (Lines(("gate",), {"missing": '"pass"'}),)
    return (Lines(_OVERRIDE, {"benchmark": toml_text(step.benchmark), "missing": '"pass"'}),)


def _with_floor(metric: str, floor: float, unit: str, *, imported: bool) -> tuple[Way, ...]:
    """Set the floor of a metric, in its own table where it has one, which counts before any other."""
    # of a unit without dimension it is a plain number
    written = toml_text(as_configured(floor, unit)) if floor and unit in DIMENSIONS else f"{floor:.4g}"
    if imported:
        return (Lines(_OVERRIDE, {"metric": toml_text(metric), "floor": written}),)
    return (Lines(("benchmark", "metric", metric), {"floor": written}),)


def _fix_regression(step: outcomes.FixRegression) -> tuple[Way, ...]:
    if step.metric is not None and step.floor is not None:
        return _with_floor(step.metric, step.floor, step.unit, imported=step.imported)
    return () if step.explain is None else (EXPLAIN,)


def _exact(metric: str) -> tuple[Way, ...]:
    return (Lines(_OVERRIDE, {"metric": toml_text(metric), "exact": "true"}),)


def _declare_zero(step: outcomes.DeclareZero) -> tuple[Way, ...]:
    if step.floor is None:
        return _exact(step.metric)
    return _with_floor(step.metric, step.floor, step.unit, imported=step.imported)


def _reduce_noise(step: outcomes.ReduceNoise) -> tuple[Way, ...]:
    if step.metric is not None:
        setting = shlex.quote(f"plan.metrics=[{toml_text(step.metric)}]")
        return (Command(f"perfgate decide .perfgate --set {setting}"),)
    return (Lines(("plan",), {"pairing": '"duet"'}),) if step.duet else (DOCTOR,)


def _more_machines(step: outcomes.MoreMachines) -> tuple[Way, ...]:
    more: list[Way] = [] if step.wanted is None else [Lines(("plan",), {"sessions": str(step.wanted)})]
    return (*more, *([Options(("--set", "gate.sessions=fixed"))] if step.builds else []))


_WAYS: dict[type, Callable[[Any], tuple[Way, ...]]] = {
    outcomes.RestoreBenchmark: _restore_benchmark,
    outcomes.RaiseBudget: lambda step: (Options(("--set", f"plan.budget={Duration(step.budget)}")),),
    outcomes.AllowMoreBuilds: lambda step: (Options(("--resume",)),) if step.why == "interrupted" else _of_plan(step),
    outcomes.RunLater: lambda _: (Options(("--wait", "1h")),),
    outcomes.MeasureFirst: lambda _: (CHECK,),
    outcomes.NameSides: _name_sides,
    outcomes.GiveDirection: lambda step: give_direction(step.metric),
    outcomes.DecideOn: lambda step: (Options(("--set", f"plan.metrics=[{toml_text(step.metric)}]")),),
    outcomes.FixRegression: _fix_regression,
    outcomes.FindCreep: _find_creep,
    outcomes.LowerFloor: lambda step: _with_floor(step.metric, step.wanted, step.unit, imported=step.imported),
    outcomes.DeclareZero: _declare_zero,
    outcomes.DeclareExact: lambda step: _exact(step.metric),
    outcomes.MoreValues: _of_plan,
    outcomes.OtherStatistic: lambda step: (Lines(("benchmark", "metric", step.metric), {"statistics": '["mean"]'}),),
    outcomes.MeasureTogether: lambda _: (CHECK,),
    outcomes.MeasureMore: lambda step: (DOCTOR,) if step.hopeless else _of_plan(step),
    outcomes.ReduceNoise: _reduce_noise,
    outcomes.ImportMore: lambda _: (Command("perfgate decide base=B1 base=B2 ... head=H1 head=H2 ..."), CHECK),
    outcomes.ImportOthers: lambda step: (Options(("--set", "gate.missing=pass")),) if step.why == "missing" else (),
    outcomes.NameAlike: lambda step: (Command("hyperfine -n NAME COMMAND"),) if step.hyperfine else (),
    outcomes.MoreMachines: _more_machines,
    outcomes.AskOfAllMachines: lambda _: (Options(("--set", "gate.sessions=random")),),
    outcomes.MoreBuilds: _of_plan,
}
"""What each kind of step asks for; a kind without an entry says it in words."""
