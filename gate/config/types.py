"""The typed form of perfgate.toml: one frozen struct a table, every key with its description.

The descriptions are the configuration reference (docs/configuration.md) and the JSON Schema: both are generated
from here and tested for drift.
"""

from __future__ import annotations

import datetime
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from gate.model import Better
from gate.units import Duration, Quantity, Share

T = TypeVar("T")

Command = str | list[str]
Statistic = Annotated[str, Meta(pattern=r"^(mean|p[0-9]{1,2}(\.[0-9]+)?)$")]
Interval = Literal["auto", "fieller", "fieller-kj", "fieller-paired", "fieller-moderated", "bootstrap", "bootstrap-bca"]
Instrument = Literal["hyperfine", "spawn", "values"]


def _default(value: T) -> T:
    # a factory, since msgspec cannot write a custom type's default into a schema; schema.py adds it
    return msgspec.field(default_factory=lambda: value)


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of perfgate.toml."""


class Gate(Table, frozen=True, kw_only=True):
    """The rules of the verdict."""

    threshold: Annotated[Share, Meta(description="The smallest change worth failing for.")] = _default(Share(0.03))
    floor: Annotated[
        Quantity, Meta(description="A regression also needs this absolute change; applies to metrics of its dimension.")
    ] = _default(Quantity.parse("1us"))
    confidence: Annotated[
        float, Meta(gt=0.5, lt=1, description="Confidence of the intervals; the report's error is 1 - confidence.")
    ] = 0.95
    interval: Annotated[
        Interval,
        Meta(
            description='How the interval of the ratio is made (docs/method.md). "auto", before measuring: '
            '"fieller-moderated" where this host is calibrated, else "fieller-paired" or "fieller".'
        ),
    ] = "auto"
    resampling: Annotated[
        Literal["RRR", "RRN", "RNN", "FLAT"],
        Meta(
            description="What the bootstrap intervals draw again: R with replacement, N not, from the highest level "
            'down; "FLAT" ignores the levels.'
        ),
    ] = "RRR"
    family: Annotated[
        Literal["holm", "bh", "none"],
        Meta(
            description='How the error is shared over all findings of the report. "holm": over the chance of any false '
            'alarm; "bh": over the share of false alarms among the alarms; "none": not at all.'
        ),
    ] = "holm"
    inconclusive: Annotated[
        Literal["pass", "fail"], Meta(description="Whether an inconclusive report fails (exit 3) or passes (exit 0).")
    ] = "pass"
    missing: Annotated[
        Literal["fail", "pass"],
        Meta(description="Whether a benchmark that base has and head lacks, or that gave no values, is an error."),
    ] = "fail"
    min_builds: Annotated[
        int,
        Meta(
            ge=2,
            description="Builds a side below which neither a regression nor an improvement is called, unless the "
            "interval is moderated by calibration.",
        ),
    ] = 5
    history: Annotated[
        str | None,
        Meta(
            description="File of what is remembered between runs. Default: $PERFGATE_HISTORY, else "
            "perfgate/history.sqlite in $XDG_STATE_HOME or ~/.local/state."
        ),
    ] = None


class Override(Table, frozen=True, kw_only=True):
    """Another threshold or floor for some cases; globs, the later entry wins."""

    benchmark: Annotated[str, Meta(description="Glob of benchmark names.")] = "*"
    metric: Annotated[str, Meta(description="Glob of metric names.")] = "*"
    statistic: Annotated[str, Meta(description="Glob of statistics.")] = "*"
    threshold: Annotated[Share | None, Meta(description="Replaces gate.threshold.")] = None
    floor: Annotated[Quantity | None, Meta(description="Replaces gate.floor.")] = None


class Accept(Table, frozen=True, kw_only=True):
    """A known regression that does not fail: up to a size, until a date, with a reason."""

    benchmark: Annotated[str, Meta(description="Glob of benchmark names.")]
    metric: Annotated[str, Meta(description="Glob of metric names.")] = "*"
    statistic: Annotated[str, Meta(description="Glob of statistics.")] = "*"
    up_to: Annotated[
        Share, Meta(description="The size up to which it is accepted: it fails when its interval lies beyond that.")
    ]
    until: Annotated[datetime.date, Meta(description="The last day on which it is accepted.")]
    reason: Annotated[str, Meta(min_length=1, description="Why; shown in the report.")]


BuildCount = Annotated[int, Meta(ge=1, le=1000)]


class Builds(Table, frozen=True, kw_only=True):
    """A range of builds: the first look for a verdict comes after `min` rounds, the last after `max`."""

    min: Annotated[int, Meta(ge=2, le=1000, description="Rounds before the first look.")]
    max: Annotated[int, Meta(ge=2, le=1000, description="Rounds at most.")]


class Plan(Table, frozen=True, kw_only=True):
    """How much is measured."""

    builds: Annotated[
        BuildCount | Builds,
        Meta(
            description="Builds of each side, one a round. A number is a fixed design; {min = 4, max = 12} stops early "
            "what is settled, at up to four looks fixed beforehand."
        ),
    ] = msgspec.field(default_factory=lambda: Builds(min=4, max=12))
    auto: Annotated[
        bool,
        Meta(
            description="Take builds, executions and iterations from what is remembered of this host: the cheapest "
            "that `perfgate plan` finds within the budget."
        ),
    ] = False
    executions: Annotated[int, Meta(ge=1, le=1000, description="Executions of each benchmark in each build.")] = 5
    iterations: Annotated[int, Meta(ge=1, le=10_000_000, description="Measured iterations in each execution.")] = 10
    budget: Annotated[
        Duration, Meta(description="Time for builds and executions, set-up excluded; checked before each round.")
    ] = _default(Duration(900))
    metrics: Annotated[
        list[str] | None,
        Meta(
            description="Metrics that are decided; the rest is recorded and shown. "
            'Default: "time" of hyperfine and spawn, all metrics of values.',
        ),
    ] = None


class BuildTable(Table, frozen=True, kw_only=True):
    """How one side is built; read from each side's own file."""

    setup: Annotated[Command | None, Meta(description="Run once a side, before its first build.")] = None
    share: Annotated[
        list[str], Meta(description="Ignored paths of the checkout (data, caches) linked into both sides.")
    ] = []
    overlay: Annotated[list[str], Meta(description="Paths taken from head for both sides.")] = []
    command: Annotated[
        Command | None,
        Meta(
            description="One build, from scratch; sees PERFGATE_SEED and {seed}. None: a fresh checkout is the build."
        ),
    ] = None
    artifacts: Annotated[list[str], Meta(description="Built files whose hashes are recorded.")] = []
    timeout: Annotated[Duration, Meta(description="Time limit of setup and of each build.")] = _default(Duration(600))


class Env(Table, frozen=True, kw_only=True):
    """The environment of builds and benchmarks."""

    pass_: Annotated[
        list[str], Meta(description="Names let through although they look like a secret or belong to the CI system.")
    ] = msgspec.field(default_factory=list, name="pass")
    set: Annotated[dict[str, str], Meta(description="Values added; shown in reports.")] = {}


class MetricRules(Table, frozen=True, kw_only=True):
    """What one metric of a benchmark is and how it is judged."""

    unit: Annotated[str | None, Meta(description='Unit of plain numbers: "s", "ms", "B", "count", ...')] = None
    better: Annotated[Better | None, Meta(description="Which direction is good; default lower.")] = None
    statistics: Annotated[list[Statistic], Meta(min_length=1, description="What is compared.")] = msgspec.field(
        default_factory=lambda: ["mean"]
    )
    threshold: Annotated[Share | None, Meta(description="Replaces gate.threshold and overrides.")] = None
    floor: Annotated[Quantity | None, Meta(description="Replaces gate.floor and overrides.")] = None
    exact: Annotated[bool, Meta(description="Counts and sizes without spread: compared as numbers.")] = False


class Benchmark(Table, frozen=True, kw_only=True):
    """One benchmark: a command and the instrument that takes its values."""

    name: Annotated[str, Meta(min_length=1, description="Unique in the file.")]
    command: Annotated[
        Command, Meta(description="A list is executed, a string goes to sh -c. {seed} and {output} are replaced.")
    ]
    instrument: Annotated[
        Instrument,
        Meta(
            description='"hyperfine" and "spawn" time process starts, "values" reads the numbers the program writes. '
            "Without hyperfine on the host spawn measures, with a warning."
        ),
    ] = "hyperfine"
    warmup: Annotated[int, Meta(ge=0, description="Iterations dropped at the start of each execution.")] = 0
    timeout: Annotated[Duration, Meta(description="Time limit of one execution.")] = _default(Duration(600))
    max_output: Annotated[Quantity, Meta(description="Most that {output} may hold.")] = _default(
        Quantity.parse("256MB")
    )
    metric: Annotated[dict[str, MetricRules], Meta(description="[benchmark.metric.NAME]: rules of one metric.")] = {}


class Config(Table, frozen=True, kw_only=True):
    """perfgate.toml, or the same keys under [tool.perfgate] in pyproject.toml."""

    gate: Annotated[Gate, Meta(description="The rules of the verdict.")] = msgspec.field(default_factory=Gate)
    override: Annotated[list[Override], Meta(description="Other thresholds for some cases.")] = []
    accept: Annotated[list[Accept], Meta(description="Known regressions.")] = []
    plan: Annotated[Plan, Meta(description="How much is measured.")] = msgspec.field(default_factory=Plan)
    build: Annotated[BuildTable, Meta(description="How one side is built.")] = msgspec.field(default_factory=BuildTable)
    env: Annotated[Env, Meta(description="The environment of builds and benchmarks.")] = msgspec.field(
        default_factory=Env
    )
    benchmark: Annotated[list[Benchmark], Meta(description="The benchmarks.")] = []
