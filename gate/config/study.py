"""The typed form of [study]: factors, their settings, and how much of the design is measured."""

# ruff: noqa: RUF012  # msgspec makes a new list for each struct that lacks one

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gate.config.shared_tables import Cpus, Load, Service, Table, default
from gate.units import Duration

Setting = str | int | float
"""The same as in gate.model.study: a factor's setting in the measurements."""
Label = Annotated[str, Meta(extra_json_schema={"minLength": 1})]


class SettingTable(Table, frozen=True, kw_only=True, omit_defaults=True):
    """One setting of a factor: its name, and what it changes for its executions and builds."""

    value: Annotated[
        Setting | None,
        Meta(description="The value of {NAME} in commands and of PERFGATE_FACTOR_NAME. Default: its own name."),
    ] = None
    prefix: Annotated[list[str], Meta(description="Prepended to the benchmark's command.")] = []
    args: Annotated[list[str], Meta(description="Appended to the benchmark's command.")] = []
    env: Annotated[dict[str, str], Meta(description="Environment of starts; overrides [env].")] = {}
    build_env: Annotated[dict[str, str], Meta(description="Environment of builds; overrides [env].")] = {}
    service: Annotated[Service | None, Meta(description="A server, instead of the benchmark's own.")] = None
    load: Annotated[Load | None, Meta(description="A background program, instead of the benchmark's own.")] = None
    cpus: Annotated[Cpus | None, Meta(description='Processors that it may use: "1", "2-3", "0,2".')] = None
    priority: Annotated[
        Annotated[int, Meta(ge=-20, le=19)] | None,
        Meta(description="Nice value of starts (without it -20 if perfgate has the right, as root has)."),
    ] = None
    runner: Annotated[
        Label | list[Label] | None,
        Meta(description="Label of the runner whose job measures it, or several labels of one runner."),
    ] = None
    session: Annotated[
        Annotated[int, Meta(ge=0)] | list[Annotated[int, Meta(ge=0)]] | None,
        Meta(description="Number of the session that measures it, or several; the first is 0."),
    ] = None


FactorName = Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_-]*$")]
FactorTable = (
    Annotated[list[Setting], Meta(extra_json_schema={"minItems": 2, "uniqueItems": True})]
    | Annotated[dict[str, SettingTable], Meta(extra_json_schema={"minProperties": 2})]
)
"""The settings of a factor, from low to high: plain values, or a table of names and keys."""


class Study(Table, frozen=True, kw_only=True):
    """A designed experiment: what is varied, what is measured, and how often."""

    factor: Annotated[
        dict[FactorName, FactorTable],
        Meta(description="The factors, each a list of settings or a table of them. At least one factor."),
    ] = {}
    benchmarks: Annotated[list[str], Meta(description="Globs of the [[benchmark]] to measure.")] = msgspec.field(
        default_factory=lambda: ["*"]
    )
    responses: Annotated[
        list[str] | None, Meta(description="Globs of the metrics to analyse. Default: those that the gate decides on.")
    ] = None
    replicates: Annotated[
        int,
        Meta(ge=1, le=1000, description="Iterations of the design; each runs every treatment once, in random order."),
    ] = 5
    builds: Annotated[
        Annotated[int, Meta(ge=1, le=1000)] | None,
        Meta(description="Rounds over which the replicates are spread. Default: replicates, at most 5."),
    ] = None
    iterations: Annotated[
        Annotated[int, Meta(ge=1, le=10_000_000)] | None,
        Meta(description="Measured values of each start. Default: plan.iterations."),
    ] = None
    budget: Annotated[
        Duration, Meta(description="Time for all of measuring, from the first checkout and set-up on.")
    ] = default(Duration(3600))
    block: Annotated[
        Literal["replicate", "build", "session"] | None,
        Meta(
            description="Within what starts are compared: an iteration of the design, a round of builds, or a "
            "session. Default: the lowest that has every treatment, an iteration of the design."
        ),
    ] = None
    order: Annotated[
        int, Meta(ge=1, le=16, description="The linear model has interactions of up to this many factors.")
    ] = 2
    scale: Annotated[
        Literal["auto", "plain", "log"],
        Meta(
            description="Scale of the analysis: plain values, or logarithms, where effects are percentages. "
            "auto: log if the spread of treatments grows with their mean."
        ),
    ] = "auto"
    exclude: Annotated[
        list[dict[str, Setting]],
        Meta(description="Combinations to leave out: every treatment that has all settings of an entry."),
    ] = []
    treatments: Annotated[
        list[dict[str, Setting]] | None,
        Meta(description="The treatments, each with a setting of every factor. Default: all combinations."),
    ] = None
    fraction: Annotated[
        str | None,
        Meta(description='Measure this part of the combinations of two-setting factors: "1/2", "1/4", ...'),
    ] = None
    generators: Annotated[
        list[str],
        Meta(description='The same by its generators: "D=AB", or "clients=load:policy". A is the first such factor.'),
    ] = []
    design: Annotated[
        Literal["plackett-burman"] | None,
        Meta(
            description="Screen up to 47 two-setting factors in the next multiple of 4 runs (not 28, 36), without "
            "interactions."
        ),
    ] = None
    foldover: Annotated[
        bool | str,
        Meta(description="Measure a second block with all two-setting factors, or the one named, the other way round."),
    ] = False
