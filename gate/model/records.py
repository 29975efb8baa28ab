"""The lines of measurements.jsonl: what passes from harness to gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec

from gate.model.case import OfCase
from gate.model.history import CreepRun
from gate.model.names import SCHEMA, Better, FailureKind, Layouts, Side
from gate.model.profile import Profile, Unprofiled
from gate.model.sameness import Proof, Unproved
from gate.model.sandbox import Sandboxed
from gate.model.warnings import AnyWarning
from gate.writing.units import plural

# whole numbers that every reader of JSON keeps, and that arrays of 64 bits hold
_LARGEST = 2**53
Index = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]


class RelativeVariance(msgspec.Struct, frozen=True, kw_only=True):
    """An estimated variance."""

    value: float
    """The variance over the squared mean, no unit; of logarithms the variance itself."""
    df: float
    """Its degrees of freedom."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What one session shows about the variance of one finding.

    Where layouts are independent, the contrast is of base against itself; where they are common, of two programs: at
    one seed base against itself holds no layout.
    """

    session: str
    """Id of the run."""
    created: str
    """When, as ISO 8601 in UTC."""
    rounds: int
    """How many the session had."""
    executions: float
    """Per build."""
    iterations: float
    """Per execution."""
    iteration: RelativeVariance | None
    """S2 of iterations, pooled over the sides that were used; None: not known."""
    execution: RelativeVariance | None
    """S2 of executions; None: not known."""
    build: RelativeVariance | None
    """S2 of builds; None: not known."""
    contrast: RelativeVariance | None
    """The variance over rounds of head_r/y - base_r/x; None: only one side could be used."""
    layouts: Layouts = "independent"
    """Of both sides of a round."""
    correlation: float | None = None
    """Of base and head over rounds; None: not known."""
    view_of: str | None = None
    """The metric that the finding's is a view of."""


class FindingMemory(OfCase, frozen=True, kw_only=True):
    """The sessions in which one finding's variance was measured on this machine."""

    sessions: list[Remembered]
    """What each shows."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Everything remembered that matches a run: chosen before it measures, and kept in its run line."""

    findings: list[FindingMemory]
    """By benchmark, metric, factors and statistic."""
    contrast_nu: float | None
    """Degrees that say how far variances of round contrasts move from session to session here; None: infinitely
    many."""
    build_nu: float | None
    """The same of variances of builds; None: infinitely many."""
    unused: list[AnyWarning]
    """What was remembered and does not match, and why."""


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One side of the comparison as git names it."""

    ref: str | None = None
    """The name as it was given, such as main; None: not known."""
    sha: str | None = None
    """Hash of the commit; None: not known."""
    dirty: bool = False
    """Whether there were changes that are not committed."""
    tree: str | None = None
    """Tree object of the uncommitted changes, which --resume compares; None: there are none, or it is not known."""


class Metric(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The values of one metric in one execution, in base units (s, B or a count)."""

    unit: str = ""
    better: Better | None = None
    """Which direction is better; None: as its name and unit tell."""
    values: Sequence[float]
    """Measured iterations in order, warm-up excluded; a list, or an array("d") where a result file has millions."""
    dropped: list[float] = []
    """The warm-up iterations before them."""
    exact: bool = False
    """Of a result file: a count or share that needs no clock. Without spread over builds it is compared as a number."""
    step: Annotated[float, msgspec.Meta(ge=0)] | None = None
    """The coarsest step of the last digits that the tool wrote of the values, in their unit. None: that of the digits
    that the values have here."""
    steady: bool | None = None
    """Whether a steady state was found, with warmup = "auto"; None: not looked for."""
    view_of: str | None = None
    """The metric that this one shows by another clock or statistic, and beside which it is no verdict of its own."""
    sharp: bool = False
    """Of such a view: what else runs on the host disturbs it less."""


class RulesSource(msgspec.Struct, frozen=True):
    """Whose rules are in force, and what was set over them."""

    kind: Literal["base", "head", "target", "run", "defaults", "named"]
    """base, head: that side's file. target: the target branch's. run: those that a run was measured by. defaults: there
    is no file. named: what `name` says."""
    name: str = ""
    """Of the file or the target branch; empty: the kind says it."""
    sets: tuple[str, ...] = ()
    """KEY=VALUE of the command line that are over them."""

    def __str__(self) -> str:
        """Name them for people: "base with gate.threshold=5%"."""
        name = {"target": f"the target branch {self.name}", "run": "the run", "named": self.name}.get(self.kind)
        return " with ".join([name or self.kind, *([", ".join(self.sets)] if self.sets else [])])


class SideChoice(msgspec.Struct, frozen=True):
    """How one side was chosen."""

    text: str
    """Completes the sentence "base is ..."."""
    kind: Literal["given", "parent", "ancestor", "head", "other"] = "other"
    """given: somebody named it. parent: the first of a pull request's merge commit. ancestor: the nearest that builds
    and runs. head: head itself."""
    steps: int = 0
    """Commits between an ancestor and what it stands for."""


FIRST_PARENT = SideChoice("the first parent of the pull request's merge commit", "parent")
AS_HEAD = SideChoice("head", "head")


def given(ref: str) -> SideChoice:
    """Say that somebody named it."""
    return SideChoice(f"{ref} as given", "given")


def merge_base(branch: str) -> SideChoice:
    """Say that it is where a branch began."""
    return SideChoice(f"the merge base with {branch}")


def working_ancestor(ref: str, steps: int) -> SideChoice:
    """Say that it stands for a commit that does not build or run."""
    before = f"{plural(steps, 'commit')} before it"
    return SideChoice(f"the nearest ancestor of {ref} that builds and runs, {before}", "ancestor", steps)


class Choice(msgspec.Struct, frozen=True):
    """How both sides were chosen; None: there is no such side."""

    base: SideChoice | None
    head: SideChoice | None

    def __str__(self) -> str:
        """Say it: "base is the merge base with main; head is the last commit on feature"."""
        if self.base == AS_HEAD:
            return "head on both sides"
        sides = (("base", self.base), ("head", self.head))
        return "; ".join(f"{name} is {how.text}" for name, how in sides if how is not None)


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """One measuring under one schedule: who measured what, where, by which rules."""

    schema: Annotated[int, msgspec.Meta(ge=1)] = SCHEMA
    """Version of this format: 1."""
    id: str | None = None
    """Of the run, the same in all its files."""
    created: str | None = None
    """When measuring began, in UTC as 2026-11-20T09:00:00Z."""
    perfgate: str | None = None
    """Version of the perfgate that measured."""
    seed: int | None = None
    """From which layouts and orders are drawn."""
    looks: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """The most rounds of a plan whose looks may end it early; None: the number of rounds is fixed."""
    shard: (
        Annotated[
            str,
            msgspec.Meta(
                pattern="^[1-9][0-9]{0,3}/[1-9][0-9]{0,3}$", extra={"else": "not one part of several, such as 1/3"}
            ),
        ]
        | None
    ) = None
    """Which part of the benchmarks this is, such as 1/3; None: all."""
    sessions: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None
    """How many jobs measure; None: one."""
    session: Index | None = None
    """Which session this file holds, where several jobs measure; None: its lines say."""
    base: Commit | None = None
    """The commit of base."""
    head: Commit | None = None
    """The commit of head."""
    host: dict[str, Any] | None = None
    """The machine: processor, memory, kernel, hash of its name."""
    config: dict[str, Any] | None = None
    """The rules in force and the benchmarks, in the shape of perfgate.toml."""
    chosen: str | None = None
    """How base and head were chosen, for people alone."""
    choice: Choice | None = None
    """The same as data; None: of an older or another program."""
    typed: list[str] | None = None
    """The command line that measures, without the program's name; None: not known."""
    rules: str | None = None
    """Whose rules are in force, for people alone: "base with gate.threshold=5%"."""
    whose: RulesSource | None = None
    """The same as data; None: of an older or another program."""
    sources: dict[Side, str] = {}
    """Of a study: "sha256:..." over all files but perfgate's own configuration, of which --resume compares the keys."""
    benchmarks: dict[Side, list[str]] | None = None
    """The benchmarks each side is expected to measure."""
    commands: dict[str, str] | None = None
    """The command of each benchmark as head's file gives it."""
    warnings: list[AnyWarning | str] = []
    """What the reader of the report must know from before measuring; a text is of an older or another program."""
    memory: Memory | None = None
    """The variance remembered from earlier runs on this machine; None: there is none."""
    sandbox: Sandboxed | None = None
    """What confined builds and benchmarks; None: of an older program, which had none."""
    apart: bool = False
    """Base and head were measured at different times, so no round has both: of result files of other tools."""
    tools: list[str] = []
    """What wrote the result files, such as "pyperf 2.9.0"."""
    creep: CreepRun | None = None
    """Of a creep check: its pin, and the nights before this one; None: this is none."""
    turns: bool = False
    """Whether base and head took turns, so that executions of one number of a build are neighbours in time."""


FullKind = Literal["off", "unperturbed", "seed-used", "no-link", "not-linked", "unsound", "outside", "go", "failed"]
Ordered = Literal["objects", "functions", "objects+functions", "shuffled", "nothing"]


class WhyNotRelinked(msgspec.Struct, frozen=True, kw_only=True):
    """Why later builds of a side are full ones, and not links of what its first build has compiled."""

    kind: FullKind | str
    """off: [build] relink says so. unperturbed: perturb lacks link-order. seed-used: the build uses its seed itself.
    no-link: no link was seen. not-linked: a program or artefact is not what a link gave. unsound: a link with the same
    seed gave other bytes. outside: something was linked outside the tree. go: it links by itself. failed: a link."""
    path: str = ""
    """Of what the kind speaks; of an unknown kind, which a newer program wrote, there is nothing to be said."""


class Build(msgspec.Struct, frozen=True, kw_only=True, tag="build"):
    """One rebuild of one side."""

    side: Side
    session: Index = 0
    build: Index
    seed: int | None = None
    """That its layout is drawn from; None: not known."""
    seconds: float | None = None
    """What it took; None: not known."""
    setup: float | None = None
    """Seconds that making its tree and set-up took before it; None: the tree was there."""
    factors: dict[str, Any] = {}
    """The settings that it was built with, of those that builds depend on."""
    artifacts: dict[str, str] = {}
    """Path -> "sha256:...", of the files named by [build] artifacts."""
    sizes: dict[str, Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]] = {}
    """The bytes of each of them; of a directory those of all its files."""
    needs_git: bool = False
    """Whether its tree has a .git because the first build of its side failed without one."""
    cached: bool = False
    """Whether its tree was built by an earlier run, and is linked or built again from there."""
    relinked: bool = False
    """Whether it linked again the objects of an earlier build, or ran [build] relink, instead of the build command."""
    checked: float | None = None
    """Seconds that linking again with its own seed took after it, to see that this gives its bytes: about as long as a
    later build takes. None: not done."""
    full: WhyNotRelinked | None = None
    """Why the builds after this one are full ones; None: they are not, or it is not known."""
    ordered: Ordered | str | None = None
    """What its links were ordered by, of those whose results stand in the tree; None: unknown."""
    layout: str | None = None
    """"sha256:..." over the functions of its Go artifacts, by address; None: there are none, or they cannot be read."""

    @property
    def next_build_seconds(self) -> float | None:
        """The seconds of the next build of its side, as far as this one tells: a link takes as long as its check."""
        return self.seconds if self.checked is None or self.full is not None else self.checked


class Execution(msgspec.Struct, frozen=True, kw_only=True, tag="execution", gc=False):
    """One start of the instrument's process, with the values that came out of it."""

    benchmark: str
    side: Side
    session: Index = 0
    build: Index
    execution: Index
    order: Annotated[int, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)] | None = None
    """Position in the run's order of executions, from 0."""
    started: str | None = None
    """When, in UTC."""
    seconds: float | None = None
    """What it took, with its warm-up."""
    before: float | None = None
    """Of the first one of a run: what the run took until then beside its builds, such as proofs. None: another one."""
    warmup: Index = 0
    """Iterations that were dropped before the values."""
    factors: dict[str, Any] = {}
    metrics: dict[str, Metric]
    """By name, what was measured."""
    suite: str | None = None
    """The [[benchmark]] whose command gave this one and others."""
    lines: Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)] | None = None
    """Of a suite: how many such lines this one execution has; --resume cuts off an incomplete one."""
    labels: dict[str, str] = {}
    """What else a result file of another tool says of the values: "goos", "commit"."""
    own: float | None = None
    """Of a command: what its first task ran, as a share of all its processor time; None: not known."""
    waited: float | None = None
    """Of a program that measured itself by active time: the seconds its clock stood still; None: it had none."""
    outlived: bool = False
    """Whether something that the command started went on after it had ended."""


class SummaryRecord(msgspec.Struct, frozen=True, kw_only=True, tag="summary", gc=False):
    """A mean, median or quantile that another tool gave without the values behind it.

    A mean or median is the value of its build where a side has several builds; the others are shown, and never decided.
    """

    benchmark: str
    side: Side
    session: Index = 0
    build: Index
    execution: Index = 0
    factors: dict[str, Any] = {}
    metric: str
    """Name of the metric."""
    statistic: str = "mean"
    """Such as "mean", "median", "min", "p99"; "value" where the tool does not say."""
    value: float
    """In the unit."""
    unit: str = ""
    better: Better | None = None
    """As of Metric."""
    low: float | None = None
    """Lower end of the tool's own interval, in the same unit; None: it gave none."""
    high: float | None = None
    """Upper end of it."""
    confidence: float | None = None
    """Of that interval, as a share."""
    sd: float | None = None
    """Standard deviation of the values, in the same unit."""
    count: Index | None = None
    """The values that it is of."""
    step: Annotated[float, msgspec.Meta(ge=0)] | None = None
    """As of Metric."""
    labels: dict[str, str] = {}
    """What else the file says of it."""


Stop = Literal["finished", "budget", "build-failure", "failed", "settled"]
"""Why measuring ended. finished: every round was run. budget: it ended, or the next round (in a study: replicate) does
not fit. build-failure: a build failed or a tree changed. failed: every benchmark failed. settled: the others need no
more."""

Phase = Literal["checkout", "setup", "build", "service", "comparison", "execution"]


Aside = Literal["start", "probe", "keep", "again", "outside", "trees"]
"""What takes time beside the steps of the plan, see HostState."""


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """The step that the budget ended."""

    phase: Phase
    """Which kind of step."""
    side: Side
    benchmark: str | None = None
    """Name of the benchmark; None: it was a build."""
    build: Index
    execution: Index | None = None
    """Number of the execution in its build, from 0; None: it was none."""
    seconds: float
    """What that phase had taken by then."""
    setup: float = 0.0
    """Seconds of checkout and set-up before it, of a build that has no line of its own."""
    beyond: float = 0.0
    """Seconds that it had beyond the budget: first builds and proofs may have as many as the budget has."""
    compared: Index = 0
    """Executions that were run and not measured before it, such as traced ones: they have no line."""
    comparing: float = 0.0
    """The seconds of those."""

    def __str__(self) -> str:
        """Say what the budget ended: "during set-up of base"."""
        build = "the first build" if self.build == 0 else f"build {self.build + 1}"
        return {
            "checkout": f"during the checkout of {self.side}",
            "setup": f"during set-up of {self.side}",
            "build": f"during {build} of {self.side}",
            "service": f"while the service of {self.benchmark} was starting on {self.side}",
            "comparison": f"while the outputs of {self.benchmark} were compared on {self.side}",
            "execution": f"while {self.benchmark} was running on {self.side}",
        }[self.phase]


class HostState(msgspec.Struct, frozen=True, kw_only=True, tag="host"):
    """The machine's state when measuring began or ended."""

    when: Literal["begin", "end"]
    """Whether measuring began or ended."""
    session: Index = 0
    time: str | None = None
    """When, in UTC as 2026-11-20T09:00:00Z; None: not known."""
    state: dict[str, Any] = {}
    """What the system said: load, processor time, frequencies, memory; its keys depend on the system."""
    stop: Stop | None = None
    """Why measuring ended; None: it has only begun, or an older perfgate measured."""
    rounds: Index | None = None
    """At the end: the rounds that were complete. Where the budget ended a step (see cut), executions of later rounds do
    not count. None: at the beginning, or not known."""
    cut: Cut | None = None
    """What was going on when the budget ended; None: it ended between two rounds, or did not end."""
    seconds: float | None = None
    """At the end: since the machine was free, or since the run was resumed; None: at the beginning, or not known."""
    probe: float | None = None
    """At the end: what the probe took of them; None: nothing was probed."""
    aside: dict[str, float] = {}
    """At the end: what else took some of them beside the steps of the plan: "start" (the first starts on base, and
    those that tell how short turns may be), "keep" (copying builds that are kept), "again" (builds that were tried
    again), "outside" (looking for what builds leave outside their trees), "trees" (comparing trees with their
    commits)."""
    unproved: dict[str, Unproved] = {}
    """At the end: why each benchmark that was measured is not proved the same; a suite by its [[benchmark]]."""


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """A build or execution that gave no usable values, a tree that something changed, or a missing benchmark."""

    kind: FailureKind
    """What failed. setup, build, execution: that of a side. tree: its files changed. output: base's differs. outside:
    it reads what the build of another side or setting wrote. unproved: what it reads was written after the proof that
    both sides are the same. missing, repeated: a benchmark is. lock: the machine was not free."""
    benchmark: str | None = None
    """Name of the benchmark; None: it concerns all, as a build does."""
    side: Side | None = None
    """base or head; None: neither, or both."""
    session: Index = 0
    build: Index | None = None
    """Number of the build, from 0; None: it concerns no single build."""
    execution: Index | None = None
    """Number of the execution in its build, from 0; None: it concerns no single execution."""
    factors: dict[str, Any] = {}
    """The settings of the treatment that failed, of a build those that it depends on."""
    status: str = ""
    """How it ended, in words: "exit 1", "killed by SIGSEGV"."""
    stderr: str = ""
    """What was written last, to standard output too where standard error says nothing."""
    seconds: float | None = None
    """What it took until it failed; None: not known."""
    command: str | None = None
    """The exact command, for a shell; None: not known."""
    directory: str | None = None
    """Where the command ran; None: not known."""
    environment: dict[str, str] | None = None
    """What differs from the caller's environment: name -> value, "" for a name that was removed. None: not known."""
    hint: str | None = None
    """What probably went wrong and what to do; None: not known."""
    empty: bool = False
    """Whether its tool found no benchmark: what the other side has is new or missing then."""


class Same(Proof, frozen=True, kw_only=True, tag="same"):
    """A benchmark that was proved to run the same program on the same data on both sides: it has no executions."""

    benchmark: str
    """Of a suite its [[benchmark]], which stands for all its lines."""
    session: Index = 0

    @property
    def proof(self) -> Proof:
        """The proof alone, without benchmark and session, as report.json has it."""
        return Proof(**{name: getattr(self, name) for name in Proof.__struct_fields__})


class Turn(msgspec.Struct, frozen=True, kw_only=True, tag="turn"):
    """How short turns are: the executions of a benchmark, where these are more and shorter than the plan says."""

    benchmark: str
    """Of a suite its [[benchmark]], which stands for all its lines."""
    session: Index = 0
    executions: Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]
    """Executions of each side in each build."""
    iterations: Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]
    """Measured iterations in each of them."""
    starting: Annotated[float, msgspec.Meta(ge=0, le=1)]
    """The share of their time that starting takes, as it was before the first of them."""


class Look(msgspec.Struct, frozen=True, kw_only=True, tag="look"):
    """What was decided between two rounds: the benchmarks that need no more."""

    look: Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]
    """The rounds that were complete."""
    settled: list[str] = []
    """Names of the benchmarks that need no more."""
    stop: str | None = None
    """Not written any more."""
    seconds: float | None = None
    """What deciding it took."""


Record = Run | Build | Execution | SummaryRecord | Failure | Same | Turn | Look | HostState | Profile | Unprofiled
AfterRound = Callable[[Sequence[Record]], frozenset[str]]
"""Judges all records of a run after a round: which benchmarks need no more executions."""
