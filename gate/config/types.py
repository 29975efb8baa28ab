"""The typed form of perfgate.toml: one frozen struct per table, every key with its description.

The descriptions are the configuration reference (docs/configuration.md) and the JSON Schema: both are generated
from here and tested for drift.
"""

# ruff: noqa: RUF012  # msgspec makes a new list for each struct that lacks one

from __future__ import annotations

import datetime
import typing
from typing import Annotated, Literal, Self

import msgspec
from msgspec import Meta

from gate.config.instruments import KNOWN, Traits
from gate.config.study import Command as Command
from gate.config.study import Cpus as Cpus
from gate.config.study import Load as Load
from gate.config.study import Service as Service
from gate.config.study import Study as Study
from gate.config.study import TomlTable as TomlTable
from gate.config.study import default
from gate.model import Better
from gate.model.case import MEAN
from gate.writing.units import Duration, Quantity, Share

Statistic = Annotated[
    str,
    Meta(
        pattern=r"^(mean|typical|p[0-9]{1,2}(\.[0-9]+)?)$",
        extra={"else": "not a statistic: write mean, typical, p50, p99 or p99.9"},
    ),
]
Interval = Literal[
    "auto",
    "fieller",
    "fieller-kj",
    "fieller-paired",
    "fieller-moderated",
    "paired",
    "paired-shared",
    "bootstrap",
    "bootstrap:RRN",
    "bootstrap:RNN",
    "bootstrap:FLAT",
    "bootstrap-bca",
    "bootstrap-bca:RRN",
    "bootstrap-bca:RNN",
    "bootstrap-bca:FLAT",
]
Show = Literal["no-sign", "not-worse"]


class Detectable(Share):
    """The slowdown that a pass excludes: a share, or "threshold", which is 0 here: any that is worth failing for."""

    @classmethod
    def parse(cls, raw: object) -> Self:
        """Read "threshold" or a share.

        Raises: ValueError: neither, or 0.
        """
        found = cls(0) if raw == "threshold" else super().parse(raw)
        if not found and raw != "threshold":
            raise ValueError('write a size above 0, or "threshold"')
        return found

    def __str__(self) -> str:
        """Write it as it is read."""
        return super().__str__() if self else "threshold"


Perturbation = Literal["environment", "path", "hash-seed", "link-order", "go-randlayout"]
PERTURBATIONS: tuple[Perturbation, ...] = typing.get_args(Perturbation)


class Gate(TomlTable, frozen=True, kw_only=True):
    """The rules of the verdict."""

    threshold: Share = default(Share(0.02))
    """The smallest change worth failing for."""
    warn: Share | None = None
    """A change for the worse that is shown to be beyond this, and not beyond the threshold, is marked in the report; it
    never fails. Default: none."""
    limit: Annotated[Quantity | None, Meta(examples=["50ms"])] = None
    """An absolute bound of head, whatever base is: a case whose value is shown to be beyond it (where higher is better:
    below it) is a regression. Applies to metrics of its dimension. Default: none."""
    floor: Quantity | None = None
    """A regression also needs this absolute change, of metrics of its dimension. Default: 1us for single starts of
    commands, otherwise none."""
    confidence: Annotated[float, Meta(gt=0.5, lt=1)] = 0.95
    """Confidence of the intervals. Half of what it lacks is the false-alarm limit: 2.5% of reports."""
    interval: Interval = "auto"
    """The method for the interval of the ratio (docs/method.md). "auto" chooses by the plan, before measuring.
    Bootstraps resample all levels; with RRN and RNN the lower ones stay, FLAT ignores them."""
    family: Literal["holm", "bh", "none"] = "holm"
    """Correction for multiple comparisons: "holm" bounds the chance of any false alarm in a report; "bh": the share of
    false ones among the alarms; "none": the chance of one in each result."""
    inconclusive: Literal["pass", "fail"] = "pass"
    """Whether a report that is too noisy fails (exit 3) or passes (exit 0)."""
    missing: Literal["fail", "pass"] = "fail"
    """Whether a benchmark that base has and head lacks, or that gave no values, is an error."""
    min_builds: Annotated[int, Meta(ge=2, le=1000)] = 5
    """Fewest builds per side for a regression or an improvement; fewer where cases share their variance (4) or this
    host is remembered (3)."""
    detectable: Detectable | None = None
    """A benchmark passes only if a slowdown of this size would have shown in 80 of 100 such runs; "threshold": only if
    it is shown not to be slower than the threshold. Default: twice the threshold where `active` or `cpu_time` decides,
    elsewhere at least 10%; with inconclusive = "fail" "threshold"."""
    sameness: Literal["auto", "off"] = "auto"
    """"auto": what provably runs the same program on the same data on both sides is not measured. "off": everything is
    measured."""
    explain: bool = False
    """Whether the measuring job profiles what regressed (docs/explain.md), in at most 5 minutes beside plan.budget."""
    implausible: Share = default(Share(0.5))
    """The headline questions an improvement beyond this, because a head that does nothing is fast too. 0: never."""
    sessions: Literal["random", "fixed"] = "random"
    """Of several machines, "random": would another machine show the change? "fixed": do these (docs/many-runners.md)?
    """
    history: str | None = None
    """Where the history is: a folder, or a git ref for records alone. Default: $PERFGATE_HISTORY,
    ~/.local/state/perfgate/history, and refs/perfgate/history for records."""
    accept_label: Annotated[str, Meta(max_length=50)] = "perf-accepted"
    """The GitHub label that accepts what regressed or is missing in a pull request (docs/github.md); "": none."""


class Override(TomlTable, frozen=True, kw_only=True):
    """Other rules for some cases; globs, the later entry wins."""

    benchmark: str = "*"
    """Glob of benchmark names."""
    metric: str = "*"
    """Glob of metric names."""
    statistic: str = "*"
    """Glob of statistics."""
    threshold: Share | None = None
    """Replaces gate.threshold."""
    warn: Share | None = None
    """Replaces gate.warn."""
    limit: Quantity | None = None
    """Replaces gate.limit."""
    floor: Quantity | None = None
    """Replaces gate.floor."""
    implausible: Share | None = None
    """Replaces gate.implausible."""
    detectable: Detectable | None = None
    """Replaces gate.detectable."""
    better: Better | None = None
    """Which direction is better, where the metric has none of its own."""
    exact: bool | None = None
    """Whether it is a count or a size without noise, where the metric has none of its own."""
    missing: Literal["fail", "pass"] | None = None
    """Replaces gate.missing, for benchmarks as a whole."""


class Accept(TomlTable, frozen=True, kw_only=True):
    """A known regression that does not fail: up to a size, until a date, with a reason."""

    benchmark: Annotated[str, Meta(examples=["encode"])]
    """Glob of benchmark names."""
    metric: str = "*"
    """Glob of metric names."""
    statistic: str = "*"
    """Glob of statistics."""
    up_to: Share
    """The largest accepted slowdown; beyond it the gate fails."""
    until: datetime.date
    """The last day on which it is accepted."""
    reason: Annotated[str, Meta(min_length=1, examples=["new checksum, see #123"])]
    """Why; shown in the report."""


BuildCount = Annotated[int, Meta(ge=1, le=1000)]


class Builds(TomlTable, frozen=True, kw_only=True):
    """A range of builds: the first look for a verdict comes after `min` rounds, the last when the budget ends."""

    min: Annotated[int, Meta(ge=2, le=1000, examples=[4])]
    """Rounds before the first interim check."""
    max: Annotated[int, Meta(ge=2, le=1000, examples=[12])] | None = None
    """Rounds at most. Default: as many as the budget holds, up to 56; 12 where nothing ends early."""


class Plan(TomlTable, frozen=True, kw_only=True):
    """How much is measured."""

    builds: BuildCount | Builds = msgspec.field(default_factory=lambda: Builds(min=4))
    """Builds of each side, one per round. A number is a fixed design; {min = 4} stops early, at interim checks after
    rounds 4, 6, 8, 12, 18, 28 and 56 as far as the budget reaches."""
    executions: Annotated[int, Meta(ge=1, le=1000)] = 5
    """Starts of each benchmark in each build."""
    iterations: Annotated[int, Meta(ge=1, le=10_000_000)] = 10
    """Measured values of each start (docs/suites.md)."""
    starts: Annotated[int, Meta(ge=1, le=1_000_000)] | Literal["auto"] = "auto"
    """Starts of each side in each round, of commands that take turns. "auto": 1 to 200, by the cost of the first and
    the noise of the first 10. Default: executions x iterations where the file names either."""
    budget: Duration = default(Duration(900))
    """Time for all of measuring, from the first checkout and set-up on."""
    sandbox: Literal["auto", "require", "off"] = "auto"
    """Whether what is measured is confined (docs/security.md). "auto": where the kernel can; "require": exit 2 where it
    cannot; "off": never."""
    metrics: Annotated[list[str] | None, Meta(examples=[["time"]])] = None
    """Metrics that the gate decides on; the rest is recorded. Builds have "size" (of each of `artifacts`) and
    "build-time"; a list of these alone leaves benchmarks their default: "time" and "active" of commands, all metrics of
    values. "time" means both views of it, as by default."""
    shards: Annotated[int, Meta(ge=1, le=256)] = 1
    """Parts into which `perfgate plan --matrix` divides the benchmarks."""
    sessions: Annotated[int, Meta(ge=1, le=64)] = 1
    """How often the jobs of `perfgate plan --matrix` measure everything."""


class BuildTable(TomlTable, frozen=True, kw_only=True):
    """How one side is built; read from each side's own file."""

    setup: Command | None = None
    """Run once per side, before its first build."""
    share: list[str] = []
    """Ignored paths of the checkout (data, caches) linked into both sides."""
    overlay: list[str] = []
    """Paths taken from head for both sides."""
    command: Command | None = None
    """One build, from scratch; sees PERFGATE_SEED and {seed}. None: a fresh checkout is the build."""
    artifacts: Annotated[list[str] | None, Meta(examples=[["build/app"]])] = None
    """Built files whose hashes and sizes are recorded. Default: files that the build made and a benchmark's command
    names or is seen to read."""
    changes: Annotated[list[str], Meta(examples=[["Cargo.lock", "src/generated/"]])] = []
    """Tracked files that builds and benchmarks may change: paths, directories or globs (docs/checkouts.md)."""
    perturb: list[Perturbation] = msgspec.field(default_factory=lambda: list(PERTURBATIONS))
    """What varies the layout of builds and starts of the same source (docs/layout.md)."""
    relink: Annotated[Command, Meta(examples=["make relink"])] = "auto"
    """How later builds are made. "auto": by linking again what the first one compiled, if that gives its bytes
    (docs/layout.md); "off": by `command`; or a command."""
    layouts: Literal["common", "independent"] = "common"
    """"common": one seed lays out both sides of a round, so that what a layout costs cancels. "independent": each side
    draws its own (docs/layout.md)."""
    write: Annotated[list[str] | None, Meta(examples=[["~/.cargo/registry", "data/"]])] = None
    """Caches outside the tree that builds and benchmarks may write: folders below ~, a variable such as $CARGO_HOME, or
    relative to this file. Default: those of the project's tools (docs/security.md)."""
    cache: Literal["auto", "off"] = "auto"
    """Whether the first build of a side is kept for runs of the same commit (docs/layout.md). auto: on Linux; in CI in
    a sandbox only, and never a pull request's head."""
    git: Literal["auto", "on", "off"] = "auto"
    """Whether a side's tree has a .git, with commits and tags. auto: only if its first build fails without one."""
    timeout: Duration = default(Duration(600))
    """Time limit of setup and of each build."""


class Env(TomlTable, frozen=True, kw_only=True):
    """The environment of builds and benchmarks."""

    pass_: list[str] = msgspec.field(default_factory=list, name="pass")
    """Variables to keep although they look like a secret or belong to the CI system."""
    set: dict[str, str] = {}
    """Values added; shown in reports."""


class MetricRules(TomlTable, frozen=True, kw_only=True):
    """What one metric of a benchmark is and how it is judged."""

    unit: str | None = None
    """Unit of plain numbers: "s", "ms", "B", "count", ..."""
    better: Better | None = None
    """Which direction is better. Default: what an override, the tool, its name or its unit says."""
    statistics: Annotated[Annotated[list[Statistic], Meta(min_length=1)] | None, Meta(examples=[["mean", "p99"]])] = (
        None
    )
    """What to compare, each with its own verdict: mean, typical, quantiles such as p99. Default: mean; of times by
    turns, typical and mean with one verdict (docs/method.md)."""
    threshold: Share | None = None
    """Replaces gate.threshold and overrides."""
    warn: Share | None = None
    """Replaces gate.warn and overrides."""
    limit: Quantity | None = None
    """Replaces gate.limit and overrides."""
    floor: Quantity | None = None
    """Replaces gate.floor and overrides."""
    exact: bool | None = None
    """For counts and sizes without noise: compare as numbers. Default: true for callgrind, otherwise false."""

    @property
    def compared(self) -> list[str]:
        """The statistics that are compared where base and head took no turns."""
        return self.statistics or [MEAN]


class Columns(TomlTable, frozen=True, kw_only=True):
    """The columns of a CSV file. None: as the header line tells; "": there is none."""

    value: str
    """Holds the values."""
    success: str | None = None
    """Tells whether a request succeeded."""
    unit: str | None = None
    """Holds the unit of the row's value."""
    metric: str | None = None
    """Names the metric of the row's value."""


class Benchmark(TomlTable, frozen=True, kw_only=True):
    """One benchmark: a command and the instrument that takes its values."""

    name: Annotated[str, Meta(min_length=1, examples=["parse-large"])]
    """Unique in the file."""
    command: Annotated[Command, Meta(examples=["./build/app data.json"])]
    """A list is executed, a string goes to sh -c. {seed}, {output} and {port} are replaced; a suite's command gets the
    tool's own options, unless it contains {output}."""
    against: Annotated[Command | None, Meta(examples=["./old data.json"])] = None
    """A program to compare `command` with: both run as they are, nothing is built (docs/two-programs.md). All
    benchmarks of a file have it, or none."""
    instrument: str = "spawn"
    """How values are taken: "spawn" and "hyperfine" time starts, "values" reads numbers that the program writes,
    "perf_stat" and "callgrind" count; the others run a suite (docs/suites.md)."""
    traits: Traits | None = None
    """Traits of an instrument that is not in KNOWN; only perfgate writes them, into the run line."""
    clock: Literal["active", "wall"] = "active"
    """What a program that measures itself reads as the time on Linux, of all instruments but Go: "active"
    stands still while it waits for a processor (docs/turns.md)."""
    warmup: Annotated[int, Meta(ge=0, le=10_000_000)] | Literal["auto"] = 0
    """Values dropped at the beginning of each start. "auto": until they are steady (docs/method.md)."""
    include: list[str] = msgspec.field(default_factory=lambda: ["*"])
    """Globs of the benchmarks of a suite to measure."""
    exclude: list[str] = []
    """Globs of those to leave out."""
    column: Annotated[str | Columns | None, Meta(examples=["latency_ms", {"value": "elapsed", "metric": "label"}])] = (
        None
    )
    """The values instrument reads this column of a CSV file with a header line. A table `{value, success, unit,
    metric}` also names the columns that say what a row is (docs/values.md)."""
    format: str | None = None
    """What the values instrument reads: "values", or what a benchmark library prints, such as "catch2"
    (docs/values.md). Default: "values"."""
    service: Service | None = None
    """A server that the benchmark talks to."""
    load: Load | None = None
    """A background program that runs exactly as long as the start."""
    cpus: Cpus | None = None
    """Processors that it may use: "1", "2-3", "0,2"."""
    network: bool = False
    """Whether the sandbox leaves it the network. Suites, and benchmarks with a service or a load, keep it."""
    prepare: Annotated[Command | None, Meta(examples=["cp input.bin work.bin"])] = None
    """Run before each start of the command, outside of its time; for spawn only."""
    cleanup: Annotated[Command | None, Meta(examples=["rm -f work.bin"])] = None
    """Run after each start, as `prepare` before it."""
    timeout: Duration = default(Duration(600))
    """Time limit of one start."""
    max_output: Quantity = default(Quantity.parse("256MB"))
    """Maximum size of {output}."""
    same_output: bool | str = False
    """Whether both sides must give the same output. true: standard output; a path or {output}: that file. Not for
    suites."""
    metrics: Annotated[list[str] | None, Meta(examples=[["time"]])] = None
    """Metrics of this benchmark that the gate decides on, and no others: ["time"] of a command is wall time alone.
    Default: those that plan.metrics names."""
    metric: dict[str, MetricRules] = {}
    """[benchmark.metric.NAME]: rules of one metric."""

    @property
    def columns(self) -> Columns | None:
        """The columns to read of a CSV file, if it is one."""
        return Columns(value=self.column) if isinstance(self.column, str) else self.column

    @property
    def measured(self) -> Traits:
        """What the rules must know about its instrument."""
        return self.traits or KNOWN.get(self.instrument, Traits())


class Creep(TomlTable, frozen=True, kw_only=True):
    """What `perfgate check --creep` compares the default branch with, night after night (docs/creep.md)."""

    against: Annotated[str, Meta(min_length=1, examples=["latest-tag"])] = "latest-tag"
    """The pin: a commit or a tag, or "latest-tag", the nearest tag before head."""
    tags: Annotated[str, Meta(min_length=1, examples=["v*"])] = "*"
    """Glob of the tags that "latest-tag" means."""
    threshold: Share | None = None
    """Replaces gate.threshold in a creep check. Default: gate.threshold."""


class Config(TomlTable, frozen=True, kw_only=True):
    """perfgate.toml, or the same keys under [tool.perfgate] in pyproject.toml."""

    gate: Gate = msgspec.field(default_factory=Gate)
    """The rules of the verdict."""
    override: list[Override] = []
    """Other thresholds for some cases."""
    accept: list[Accept] = []
    """Known regressions."""
    plan: Plan = msgspec.field(default_factory=Plan)
    """How much is measured."""
    build: BuildTable = msgspec.field(default_factory=BuildTable)
    """How one side is built."""
    env: Env = msgspec.field(default_factory=Env)
    """The environment of builds and benchmarks."""
    benchmark: list[Benchmark] = []
    """The benchmarks."""
    study: Study | None = None
    """A designed experiment."""
    creep: Creep | None = None
    """What merges add up to."""
