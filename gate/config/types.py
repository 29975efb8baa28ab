"""The typed form of perfgate.toml: one frozen struct per table, every key with its description.

The descriptions are the configuration reference (docs/configuration.md) and the JSON Schema: both are generated
from here and tested for drift.
"""

# ruff: noqa: RUF012  # msgspec makes a new list for each struct that lacks one

from __future__ import annotations

import datetime
import typing
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gate.config.instruments import KNOWN, Traits
from gate.config.study import Study
from gate.config.tables import Command, Cpus, Load, Service, Table, default
from gate.model import Better
from gate.model.case import MEAN
from gate.units import Duration, Quantity, Share

__all__ = [
    "PERTURBATIONS",
    "Accept",
    "Benchmark",
    "BuildTable",
    "Builds",
    "Command",
    "Config",
    "Cpus",
    "Creep",
    "Env",
    "Gate",
    "Interval",
    "Load",
    "MetricRules",
    "Override",
    "Perturbation",
    "Plan",
    "Service",
    "Show",
    "Statistic",
    "Study",
    "Table",
]

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
Perturbation = Literal["environment", "path", "hash-seed", "link-order", "go-randlayout"]
PERTURBATIONS: tuple[Perturbation, ...] = typing.get_args(Perturbation)


class Gate(Table, frozen=True, kw_only=True):
    """The rules of the verdict."""

    threshold: Annotated[Share, Meta(description="The smallest change worth failing for.")] = default(Share(0.02))
    warn: Annotated[
        Share | None,
        Meta(
            description="A change for the worse that is shown to be beyond this, and not beyond the threshold, is "
            "marked in the report; it never fails. Default: none."
        ),
    ] = None
    limit: Annotated[
        Quantity | None,
        Meta(
            examples=["50ms"],
            description="An absolute bound of head, whatever base is: a case whose value is shown to be beyond it "
            "(where higher is better: below it) is a regression. Applies to metrics of its dimension. Default: none.",
        ),
    ] = None
    floor: Annotated[
        Quantity | None,
        Meta(
            description="A regression also needs this absolute change; applies to metrics of its dimension. Default: "
            "1us for single starts of commands (hyperfine, spawn and perf_stat), none for the rest; 0: none."
        ),
    ] = None
    confidence: Annotated[
        float, Meta(gt=0.5, lt=1, description="Confidence of the intervals; the report's error is 1 - confidence.")
    ] = 0.95
    interval: Annotated[
        Interval,
        Meta(
            description='The method for the interval of the ratio (docs/method.md). "auto" chooses before '
            'measuring: "fieller-moderated" if enough is remembered of this host, otherwise "paired-shared" (5 cases '
            'or more), "paired" or "fieller". Bootstraps resample all levels; with RRN and RNN the lower ones stay, '
            "FLAT ignores the levels."
        ),
    ] = "auto"
    family: Annotated[
        Literal["holm", "bh", "none"],
        Meta(
            description='Correction for multiple comparisons over the report. "holm" bounds the chance of any false '
            'alarm, "bh" the share of false alarms among the alarms; "none": no correction.'
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
            le=1000,
            description="Fewest builds per side for a regression or an improvement; at most 4 where cases share their "
            "variance, 3 where the interval uses the memory of a calibrated host.",
        ),
    ] = 5
    show: Annotated[
        Show | None,
        Meta(
            description='What a green finding must have shown. "no-sign": that no slowdown is in sight, where one of '
            'gate.detectable would have been; measuring stops as soon as none can be expected to show. "not-worse": '
            'that it is below the threshold. Default: "no-sign", with inconclusive = "fail" "not-worse".'
        ),
    ] = None
    detectable: Annotated[
        Share | None,
        Meta(
            description="No sign of a slowdown passes only if one of this size would have shown in 80 of 100 such "
            "runs. Default: twice the threshold where `active` or `cpu_time` decides, elsewhere 10% if that is more."
        ),
    ] = None
    sameness: Annotated[
        Literal["auto", "off"],
        Meta(
            description='"auto": a benchmark that provably runs the same program on the same data on both sides is not '
            'measured; its verdict is "identical". "off": everything is measured.'
        ),
    ] = "auto"
    explain: Annotated[
        bool,
        Meta(
            description="Whether the measuring job profiles what regressed, one execution a side under the profiler "
            "that fits (docs/explain.md): at most 5 minutes beside plan.budget, and nothing where nothing regressed."
        ),
    ] = False
    implausible: Annotated[
        Share,
        Meta(
            description="The headline questions an improvement beyond this, because a head that does nothing is fast "
            'too; the verdict stays. "50%": head takes less than half the time, or has more than twice the rate. '
            "0: never."
        ),
    ] = default(Share(0.5))
    sessions: Annotated[
        Literal["random", "fixed"],
        Meta(
            description='Which question several sessions (machines) answer. "random": would another machine show the '
            'change? "fixed": do these machines show it, by the builds of each (docs/many-runners.md)?'
        ),
    ] = "random"
    history: Annotated[
        str | None,
        Meta(
            description="Folder of the history: what machines remember, and records of commits. A git ref, refs/..., "
            "holds records alone. Default: $PERFGATE_HISTORY, or perfgate/history in $XDG_STATE_HOME or "
            "~/.local/state, and refs/perfgate/history for records."
        ),
    ] = None
    accept_label: Annotated[
        str,
        Meta(
            max_length=50,
            description="The GitHub label that accepts what regressed or is missing in a pull request "
            '(docs/github.md); "": no label does.',
        ),
    ] = "perf-accepted"


class Override(Table, frozen=True, kw_only=True):
    """Other rules for some cases; globs, the later entry wins."""

    benchmark: Annotated[str, Meta(description="Glob of benchmark names.")] = "*"
    metric: Annotated[str, Meta(description="Glob of metric names.")] = "*"
    statistic: Annotated[str, Meta(description="Glob of statistics.")] = "*"
    threshold: Annotated[Share | None, Meta(description="Replaces gate.threshold.")] = None
    warn: Annotated[Share | None, Meta(description="Replaces gate.warn.")] = None
    limit: Annotated[Quantity | None, Meta(description="Replaces gate.limit.")] = None
    floor: Annotated[Quantity | None, Meta(description="Replaces gate.floor.")] = None
    implausible: Annotated[Share | None, Meta(description="Replaces gate.implausible.")] = None
    show: Annotated[Show | None, Meta(description="Replaces gate.show.")] = None
    detectable: Annotated[Share | None, Meta(description="Replaces gate.detectable.")] = None
    better: Annotated[
        Better | None,
        Meta(description="Which direction is better, whatever the statistic, where the metric has no own."),
    ] = None
    exact: Annotated[
        bool | None,
        Meta(description="Whether it is a count or a size without noise, as of a metric, where the metric has no own."),
    ] = None
    missing: Annotated[
        Literal["fail", "pass"] | None,
        Meta(description="Replaces gate.missing, for benchmarks as a whole: metric and statistic do not matter."),
    ] = None


class Accept(Table, frozen=True, kw_only=True):
    """A known regression that does not fail: up to a size, until a date, with a reason."""

    benchmark: Annotated[str, Meta(examples=["encode"], description="Glob of benchmark names.")]
    metric: Annotated[str, Meta(description="Glob of metric names.")] = "*"
    statistic: Annotated[str, Meta(description="Glob of statistics.")] = "*"
    up_to: Annotated[Share, Meta(description="The largest accepted slowdown: it fails if its interval is beyond that.")]
    until: Annotated[datetime.date, Meta(description="The last day on which it is accepted.")]
    reason: Annotated[
        str, Meta(min_length=1, examples=["new checksum, see #123"], description="Why; shown in the report.")
    ]


BuildCount = Annotated[int, Meta(ge=1, le=1000)]


class Builds(Table, frozen=True, kw_only=True):
    """A range of builds: the first look for a verdict comes after `min` rounds, the last when the budget ends."""

    min: Annotated[int, Meta(ge=2, le=1000, examples=[4], description="Rounds before the first look.")]
    max: Annotated[
        Annotated[int, Meta(ge=2, le=1000, examples=[12])] | None,
        Meta(
            description="Rounds at most. Default: as many as the budget holds, up to 56; 12 where nothing ends early.",
        ),
    ] = None


class Plan(Table, frozen=True, kw_only=True):
    """How much is measured."""

    builds: Annotated[
        BuildCount | Builds,
        Meta(
            description="Builds of each side, one per round. A number is a fixed design. {min = 4} stops settled "
            "benchmarks early, at looks fixed beforehand after rounds 4, 6, 8, 12, 18, 28 and 56, as far as the budget "
            "reaches; max = 12 ends it after 12."
        ),
    ] = msgspec.field(default_factory=lambda: Builds(min=4))
    executions: Annotated[int, Meta(ge=1, le=1000, description="Executions of each benchmark in each build.")] = 5
    iterations: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000_000,
            description="Measured iterations in each execution. Where starting takes little, executions are more and "
            "shorter (docs/suites.md).",
        ),
    ] = 10
    starts: Annotated[
        Annotated[int, Meta(ge=1, le=1_000_000)] | Literal["auto"],
        Meta(
            description="Starts a side in each round, of commands that base and head start by turns. "
            '"auto": 10 to 200, by the noise and the cost of the first 10 (docs/method.md). '
            "Default: executions x iterations where the file names either."
        ),
    ] = "auto"
    budget: Annotated[
        Duration,
        Meta(
            description="Time for all of measuring, from the first checkout and set-up on. Only head's first build "
            "and the proof that nothing can differ may need more."
        ),
    ] = default(Duration(900))
    pairing: Annotated[
        Literal["interleaved", "duet"],
        Meta(
            description='"interleaved": base and head by turns. "duet": both at once, compared by CPU time; for a host '
            "that others load, and for commands only (docs/duet.md)."
        ),
    ] = "interleaved"
    sandbox: Annotated[
        Literal["auto", "require", "off"],
        Meta(
            description='Whether builds, benchmarks, services and loads are confined (docs/security.md). "auto": where '
            'the kernel can; "require": exit 2 where it cannot; "off": never.'
        ),
    ] = "auto"
    metrics: Annotated[
        list[str] | None,
        Meta(
            examples=[["time"]],
            description="Metrics that the gate decides on; the rest is recorded and shown. Builds have two: "
            '"size", the bytes of each of `artifacts`, and "build-time" (docs/method.md). '
            'Default: "time" and "active" of commands ("cpu" in a duet), all metrics of values but views of another.',
        ),
    ] = None
    shards: Annotated[
        int,
        Meta(
            ge=1,
            le=256,
            description="Parts into which `perfgate plan --matrix` divides the benchmarks.",
        ),
    ] = 1
    sessions: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="How often the jobs of `perfgate plan --matrix` measure everything.",
        ),
    ] = 1


class BuildTable(Table, frozen=True, kw_only=True):
    """How one side is built; read from each side's own file."""

    setup: Annotated[Command | None, Meta(description="Run once per side, before its first build.")] = None
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
    changes: Annotated[
        list[str],
        Meta(
            examples=[["Cargo.lock", "src/generated/"]],
            description="Files that a side's own builds and benchmarks may change, of those that git tracks or that "
            "are `artifacts` (builds may write these anyway): paths, directories, or globs, with ** for any "
            "directories. Any other change of one is a failure (docs/quickstart.md).",
        ),
    ] = []
    perturb: Annotated[
        list[Perturbation],
        Meta(description="What varies the layout of builds and executions of the same source (docs/layout.md)."),
    ] = msgspec.field(default_factory=lambda: list(PERTURBATIONS))
    relink: Annotated[
        Command,
        Meta(
            examples=["make relink"],
            description='How builds after a side\'s first are made. "auto": they link again what the first one has '
            'compiled, if that gives its bytes (docs/layout.md), otherwise by `command`; "off": by `command`; or a '
            "command that links again, with {seed} and PERFGATE_SEED.",
        ),
    ] = "auto"
    layouts: Annotated[
        Literal["common", "independent"],
        Meta(
            description='Whether one seed lays out both sides of a round. "common": what a layout costs or saves '
            'cancels in the ratio; every round has a new one. "independent": each side draws its own (docs/layout.md).'
        ),
    ] = "common"
    write: Annotated[
        list[str] | None,
        Meta(
            examples=[["~/.cargo/registry", "data/"]],
            description="Caches that the sandbox lets builds and benchmarks write besides their own tree: folders "
            "below ~ or a variable such as $CARGO_HOME, or relative to this file. Both sides share them: what one "
            "side's build overwrites, the other side's benchmarks must not use (docs/quickstart.md). A cache below ~ "
            "is found where its variable or XDG_CACHE_HOME puts it. For a pull request each side gets copies of those "
            "in the home directory, and the others are read-only. Default: the caches of the project's tools; those "
            "of ccache and sccache always (docs/security.md).",
        ),
    ] = None
    cache: Annotated[
        Literal["auto", "off"],
        Meta(
            description="Whether the first build of a side is kept for runs that measure the same commit again, with "
            "the same recipe, environment and tools (docs/layout.md). auto: on Linux; in CI in a sandbox only, and "
            "never what a pull request built."
        ),
    ] = "auto"
    git: Annotated[
        Literal["auto", "on", "off"],
        Meta(
            description="Whether a side's tree has a .git. auto: only if its first build fails without one. It has the "
            "commit, its history and the tags; what is written to it is not kept."
        ),
    ] = "auto"
    timeout: Annotated[Duration, Meta(description="Time limit of setup and of each build.")] = default(Duration(600))


class Env(Table, frozen=True, kw_only=True):
    """The environment of builds and benchmarks."""

    pass_: Annotated[
        list[str], Meta(description="Variables to keep although they look like a secret or belong to the CI system.")
    ] = msgspec.field(default_factory=list, name="pass")
    set: Annotated[dict[str, str], Meta(description="Values added; shown in reports.")] = {}


class MetricRules(Table, frozen=True, kw_only=True):
    """What one metric of a benchmark is and how it is judged."""

    unit: Annotated[str | None, Meta(description='Unit of plain numbers: "s", "ms", "B", "count", ...')] = None
    better: Annotated[
        Better | None,
        Meta(
            description="Which direction is better. Default: that of an override, otherwise as its tool, name or unit "
            "tells."
        ),
    ] = None
    statistics: Annotated[
        Annotated[list[Statistic], Meta(min_length=1)] | None,
        Meta(
            examples=[["mean", "p99"]],
            description="What to compare, each with its own verdict: mean, quantiles such as p99, or typical, the "
            "trimmed mean of neighbours' ratios. Default: mean; of times, where base and head took turns, typical and "
            "mean as two views with one verdict (docs/method.md).",
        ),
    ] = None
    threshold: Annotated[Share | None, Meta(description="Replaces gate.threshold and overrides.")] = None
    warn: Annotated[Share | None, Meta(description="Replaces gate.warn and overrides.")] = None
    limit: Annotated[Quantity | None, Meta(description="Replaces gate.limit and overrides.")] = None
    floor: Annotated[Quantity | None, Meta(description="Replaces gate.floor and overrides.")] = None
    exact: Annotated[
        bool | None,
        Meta(
            description="For counts and sizes without noise: compare as numbers. Default: true for the instructions of "
            "callgrind, otherwise false."
        ),
    ] = None

    @property
    def compared(self) -> list[str]:
        """The statistics that are compared where base and head took no turns."""
        return self.statistics or [MEAN]


class Benchmark(Table, frozen=True, kw_only=True):
    """One benchmark: a command and the instrument that takes its values."""

    name: Annotated[str, Meta(min_length=1, examples=["parse-large"], description="Unique in the file.")]
    command: Annotated[
        Command,
        Meta(
            examples=["./build/app data.json"],
            description="A list is executed, a string goes to sh -c. {seed}, {output} and {port} (a free port) "
            "are replaced. perfgate appends the tool's own options to a suite's command, unless it contains {output}.",
        ),
    ]
    against: Annotated[
        Command | None,
        Meta(
            examples=["./old data.json"],
            description="A program to compare `command` with: both run as they are, in the folder of this file, and "
            "nothing is built (docs/two-programs.md). All benchmarks of a file have it, or none.",
        ),
    ] = None
    instrument: Annotated[
        str,
        Meta(
            description='"spawn" times single starts of a command, base and head by turns, and "hyperfine" several at '
            'a time; "values" reads the numbers the program writes, '
            '"perf_stat" reads the counters of Linux, "callgrind" counts instructions; the others run a suite of many '
            "benchmarks and read its output (docs/suites.md). If hyperfine is not installed, spawn measures, with a "
            "warning."
        ),
    ] = "spawn"
    traits: Traits | None = None
    """Traits of an instrument that is not in KNOWN; only perfgate writes them, into the run line."""
    warmup: Annotated[
        Annotated[int, Meta(ge=0)] | Literal["auto"],
        Meta(
            description="Iterations dropped at the start of each execution; once a build where a command's executions "
            'are shortened. "auto": until its values are steady (docs/method.md).'
        ),
    ] = 0
    include: Annotated[list[str], Meta(description="Globs of the benchmarks of a suite to measure.")] = msgspec.field(
        default_factory=lambda: ["*"]
    )
    exclude: Annotated[list[str], Meta(description="Globs of those to leave out.")] = []
    column: Annotated[
        str | None, Meta(description="The values instrument reads this column of a CSV file with a header line.")
    ] = None
    success_column: Annotated[
        str | None,
        Meta(
            description="The column of that file that tells whether a request succeeded (true, false, or an HTTP "
            'status). Rows of failed requests give no value; the metric "success" is the share of the others. Default: '
            'found by the header line (docs/values.md); "": none.'
        ),
    ] = None
    unit_column: Annotated[
        str | None,
        Meta(description='The column that holds the unit of each row. Default: one called "unit"; "": none.'),
    ] = None
    metric_column: Annotated[
        str | None,
        Meta(
            description="The column that names the metric of each row; only declared metrics are read. Default: one "
            'called "metric" or "metric_name"; "": none.'
        ),
    ] = None
    format: Annotated[
        str | None,
        Meta(
            description='What the values instrument reads: "values" (numbers or JSON lines), "hlog" (an HdrHistogram '
            'log), or what a benchmark library prints: "benchmark_js", "catch2", "divan", "libtest", "nanobench", '
            '"vitest" (docs/values.md). '
            "Default: whichever of the first two the output is."
        ),
    ] = None
    service: Annotated[Service | None, Meta(description="A server that the benchmark talks to.")] = None
    load: Annotated[
        Load | None, Meta(description="A background program that runs exactly as long as the execution.")
    ] = None
    cpus: Annotated[Cpus | None, Meta(description='Processors that executions may use: "1", "2-3", "0,2".')] = None
    priority: Annotated[
        Annotated[int, Meta(ge=-20, le=19)] | None,
        Meta(description="Nice value of executions; below 0 needs the right to set it."),
    ] = None
    network: Annotated[
        bool,
        Meta(
            description="Whether the sandbox leaves it the network. Without, a command has its own loopback and no way "
            "out, where namespaces can be had; suites, and benchmarks with a service or a load, keep the network."
        ),
    ] = False
    prepare: Annotated[
        Command | None,
        Meta(
            examples=["cp input.bin work.bin"],
            description="Run before each start of the command, outside of its time; for spawn only.",
        ),
    ] = None
    cleanup: Annotated[
        Command | None, Meta(examples=["rm -f work.bin"], description="Run after each start, as `prepare` before it.")
    ] = None
    timeout: Annotated[Duration, Meta(description="Time limit of one execution.")] = default(Duration(600))
    max_output: Annotated[Quantity, Meta(description="Maximum size of {output}.")] = default(Quantity.parse("256MB"))
    same_output: Annotated[
        bool | str,
        Meta(
            description="Whether base and head must give the same output, and which. true: standard output; a path in "
            "the project, or {output}: that file, which the command must write. Compared once before measuring; a "
            "difference fails the benchmark. Taken from the rules, like [gate]. Not for suites."
        ),
    ] = False
    metric: Annotated[dict[str, MetricRules], Meta(description="[benchmark.metric.NAME]: rules of one metric.")] = {}

    @property
    def measured(self) -> Traits:
        """What the rules must know about its instrument."""
        return self.traits or KNOWN.get(self.instrument, Traits())


class Creep(Table, frozen=True, kw_only=True):
    """What `perfgate check --creep` compares the default branch with, night after night (docs/creep.md)."""

    against: Annotated[
        str,
        Meta(
            min_length=1,
            examples=["latest-tag"],
            description='The pin: a commit or a tag, or "latest-tag": the tag with the fewest commits between it and '
            "head, as git describe finds it.",
        ),
    ] = "latest-tag"
    tags: Annotated[
        str, Meta(min_length=1, examples=["v*"], description='Glob of the tags that "latest-tag" means.')
    ] = "*"
    threshold: Annotated[
        Share | None, Meta(description="Replaces gate.threshold in a creep check. Default: gate.threshold.")
    ] = None


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
    study: Annotated[Study | None, Meta(description="A designed experiment.")] = None
    creep: Annotated[Creep | None, Meta(description="What merges add up to.")] = None
