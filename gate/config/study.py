"""The typed form of [study]: factors, their settings, and how much of the design is measured.

Above it the parts that all tables of perfgate.toml share: the base class, commands, services and loads.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from gate.writing.units import Duration

T = TypeVar("T")

Command = str | list[str]


def default(value: T) -> T:
    """Give a field a default of a type of gate.writing.units."""
    # a factory, because msgspec cannot write a custom type's default into a schema; schema.py adds it
    return msgspec.field(default_factory=lambda: value)


class TomlTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of perfgate.toml."""


OF_RUNS = ("traits",)
"""Keys that only the config of a run line has."""


Cpus = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$",
        extra={"else": "not a list of processors: write 0, 2-3 or 0,2"},
    ),
]


class Service(TomlTable, frozen=True, kw_only=True):
    """A server that a benchmark talks to: started before an execution, stopped after it with all its children."""

    command: Annotated[Command, Meta(examples=["./build/server --port {port}"])]
    """A list is executed, a string goes to sh -c. {seed} and {port} are replaced."""
    ready: str | None = None
    """When it is ready: "tcp:{port}" accepts connections, "http://127.0.0.1:{port}/health" answers with 2xx or 3xx,
    "log:TEXT" has written TEXT. Default: "tcp:{port}" if the command contains {port}."""
    per: Literal["execution", "build"] = "execution"
    """How long it runs: for one start, or for all starts of this benchmark in one build."""
    timeout: Duration = default(Duration(30))
    """Time limit until it is ready."""
    cpus: Cpus | None = None
    """Processors it may use: "0", "2-3", "0,2"."""


class Load(TomlTable, frozen=True, kw_only=True):
    """A background program that runs exactly as long as the execution."""

    command: Annotated[Command, Meta(examples=["./build/load --port {port}"])]
    """A list is executed, a string goes to sh -c. {seed} and {port} are replaced."""
    cpus: Cpus | None = None
    """Processors it may use: "0", "2-3", "0,2"."""


Setting = str | int | float
"""The same as in gate.model.study: a factor's setting in the measurements."""
Label = Annotated[str, Meta(extra_json_schema={"minLength": 1})]


class SettingTable(TomlTable, frozen=True, kw_only=True, omit_defaults=True):
    """One setting of a factor: its name, and what it changes for its executions and builds."""

    value: Setting | None = None
    """The value of {NAME} in commands and of PERFGATE_FACTOR_NAME. Default: its own name."""
    prefix: list[str] = []
    """Prepended to the benchmark's command."""
    args: list[str] = []
    """Appended to the benchmark's command."""
    env: dict[str, str] = {}
    """Environment of starts; overrides [env]."""
    build_env: dict[str, str] = {}
    """Environment of builds; overrides [env]."""
    service: Service | None = None
    """A server, instead of the benchmark's own."""
    load: Load | None = None
    """A background program, instead of the benchmark's own."""
    cpus: Cpus | None = None
    """Processors that it may use: "1", "2-3", "0,2"."""
    runner: Label | list[Label] | None = None
    """Label of the runner whose job measures it, or several labels of one runner."""
    session: Annotated[int, Meta(ge=0)] | list[Annotated[int, Meta(ge=0)]] | None = None
    """Number of the session that measures it, or several; the first is 0."""


FactorName = Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_-]*$")]
FactorTable = (
    Annotated[list[Setting], Meta(extra_json_schema={"minItems": 2, "uniqueItems": True})]
    | Annotated[dict[str, SettingTable], Meta(extra_json_schema={"minProperties": 2})]
)
"""The settings of a factor, from low to high: plain values, or a table of names and keys."""


class Study(TomlTable, frozen=True, kw_only=True):
    """A designed experiment: what is varied, what is measured, and how often."""

    factor: dict[FactorName, FactorTable] = {}
    """The factors, each a list of settings or a table of them. At least one factor."""
    benchmarks: list[str] = msgspec.field(default_factory=lambda: ["*"])
    """Globs of the [[benchmark]] to measure."""
    responses: list[str] | None = None
    """Globs of the metrics to analyse. Default: those that the gate decides on."""
    replicates: Annotated[int, Meta(ge=1, le=1000)] = 5
    """Iterations of the design; each runs every treatment once, in random order."""
    builds: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """Rounds over which the replicates are spread. Default: replicates, at most 5."""
    iterations: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    """Measured values of each start. Default: plan.iterations."""
    budget: Duration = default(Duration(3600))
    """Time for all of measuring, from the first checkout and set-up on."""
    block: Literal["replicate", "build", "session"] | None = None
    """Within what starts are compared: an iteration of the design, a round of builds, or a session. Default: the lowest
    that has every treatment, an iteration of the design."""
    order: Annotated[int, Meta(ge=1, le=16)] = 2
    """The linear model has interactions of up to this many factors."""
    scale: Literal["auto", "plain", "log"] = "auto"
    """Scale of the analysis: plain values, or logarithms, where effects are percentages. auto: log if the spread of
    treatments grows with their mean."""
    exclude: list[dict[str, Setting]] = []
    """Combinations to leave out: every treatment that has all settings of an entry."""
    treatments: list[dict[str, Setting]] | None = None
    """The treatments, each with a setting of every factor. Default: all combinations."""
    fraction: str | None = None
    """Measure this part of the combinations of two-setting factors: "1/2", "1/4", ..."""
    generators: list[str] = []
    """The same by its generators: "D=AB". A is the first factor with two settings, B the second."""
    design: Literal["plackett-burman"] | None = None
    """Screen up to 47 two-setting factors in the next multiple of 4 runs (not 28, 36), without interactions."""
    foldover: bool | str = False
    """Measure a second block with all two-setting factors, or the one named, the other way round."""
