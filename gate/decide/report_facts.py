"""What a report says beside its findings: of the run and its rules, of what is recorded, of base against itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import msgspec

from gate.config.rules import Policy, benchmark_rules, default_floor, implausible_of, matches, missing_fails
from gate.config.schema import to_tables
from gate.config.types import Config
from gate.decide import causes
from gate.decide.design import Design, Subject
from gate.decide.estimates import estimates, ratio_interval, side_summary, subject_of
from gate.decide.looks import Judged
from gate.model.case import MEAN, quantity
from gate.model.evidence import Evidence
from gate.model.history import Control, Controls
from gate.model.names import AGGREGATE
from gate.model.records import Failure
from gate.model.report import Finding, LookFacts, MemoryFacts, PolicyFacts, RatioInterval, Recorded, RunFacts
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.model.warnings.estimates import Implausible
from gate.model.warnings.measured import MissingAllowed, SelectedOnly
from gate.model.warnings.setup import matches_nothing
from gate.stats.levels import EXPECTED, e_value, halves
from gate.stats.prior import FEWEST_COMMON, with_layouts
from gate.writing import amounts
from gate.writing.units import ratio_of

_NOISY_HOST = 1.5
_SETTINGS = ("plan", "build", "env")
_OF_RUN = (
    "id", "created", "perfgate", "seed", "base", "head", "chosen", "host", "commands", "sandbox", "typed",
)  # fmt: skip
"""Facts that stand in the run line."""


def stopped_by(evidence: Evidence, judged: Sequence[Judged], fewest: int) -> Literal["budget"] | None:
    """Return whether the budget ended measuring: the run says so, or left rounds out without another reason.

    Looks are laid out within the budget, so measuring that ended at the last of them may be short of the plan as well.

    fewest: the rounds that a regression needs.
    """
    last = {state.session: state for state in evidence.states}.values()
    stops = {state.stop for state in last if state.stop is not None}
    if "budget" in stops:
        return "budget"
    # an end is missing where measuring was interrupted
    if (stops and "settled" not in stops) or any(state.when == "begin" for state in last):
        return None
    done, wanted = evidence.rounds.done, causes.planned_rounds(evidence)
    if "settled" in stops and evidence.looks and fewest <= done < evidence.looks[-1]:
        # by the rules that it was measured under, if not by these
        return None
    settled = all(each.settled for each in judged) if evidence.looks else False
    return "budget" if 0 < done < wanted and not evidence.failures and not settled else None


def run_facts(evidence: Evidence, design: Design, judged: Sequence[Judged], noisier: float) -> RunFacts:
    """Bring together what a report says of its run; noisier: how much the host is so than remembered."""
    run = evidence.run
    used = sum(rounds <= evidence.rounds.done for rounds in evidence.looks)
    return RunFacts(
        **{name: getattr(run, name, None) for name in _OF_RUN},
        rounds=evidence.rounds,
        looks=LookFacts(rounds=list(evidence.looks), used=used) if design.looks else None,
        memory=_memory_facts(design, judged, noisier),
        seconds=evidence.seconds,
        settings={key: run.config[key] for key in _SETTINGS if key in run.config} if run and run.config else None,
        builds=evidence.builds,
        states=evidence.states,
        cost=evidence.cost,
        pace=evidence.pace,
        turns=evidence.turns,
        imported=run.tools if run else [],
        tables={
            case.benchmark: own.name
            for case in evidence.cases
            if (own := benchmark_rules(design.policy.config, case.benchmark)) is not None and own.metrics is not None
        },
    )


def _memory_facts(design: Design, judged: Sequence[Judged], noisier: float) -> MemoryFacts | None:
    if design.memory is None or not design.memory.findings:
        return None
    sessions = {s.session: s.created[:10] for m in design.memory.findings for s in m.sessions}
    moderations = [j.estimated.moderation for j in judged]
    used = sum(each is not None and each.used for each in moderations)
    days = sorted(sessions.values())
    checks = max(len(with_layouts(m, "common")) for m in design.memory.findings)
    waits = design.layouts == "common" and checks < FEWEST_COMMON
    return MemoryFacts(
        findings=used, sessions=len(sessions), first=days[0], last=days[-1], factor=noisier,
        checks=checks if waits else None,
    )  # fmt: skip


def of_rules(subjects: Sequence[Subject], policy: Policy, design: Design, noisier: float) -> Iterator[AnyWarning]:
    """Warn of what the rules ask for in vain, and of what is remembered and not used."""
    for a in policy.config.accept:
        if a.until < policy.today:
            expired = f"the [[accept]] entry of {a.benchmark} expired on {a.until.isoformat()}"
            yield Said(f"{expired}: remove it ({a.reason})", "expired-accept")
    # without a family this is no gate, but a comparison
    if policy.config.gate.family != "none" and any(s.threshold == 0 and not s.case.exact for s in subjects):
        unlike = (
            "if a layout slows only some builds of one side, 5% to 34% of reports fail though the means are the same"
        )
        yield Said(f"threshold 0: {unlike}; with a threshold of 2% at most 1.2%", "zero-threshold", "later")
    if policy.config.gate.interval == "fieller-moderated" and design.memory is None:
        text = f"this host is not calibrated, so intervals use {design.method}: run `perfgate calibrate`"
        yield Said(text, "nothing-remembered", "later")
    if design.memory is not None and design.moderate:
        yield from design.memory.unused
    if noisier > _NOISY_HOST:
        times = f"{noisier:.1f} times as noisy as calibrated"
        yield Said(f"the host is {times}: every interval allows for it", "noisy-host", "first")


def about_no_case(evidence: Evidence, policy: Policy) -> Iterator[Said]:
    """Warn of rules about a case that a suite does not have; what its cases are is known only now, of all of them."""
    run, config = evidence.run, policy.config
    if run is None or run.shard is not None or any(isinstance(each, SelectedOnly) for each in evidence.warnings):
        return
    whole = {name for names in (run.benchmarks or {}).values() for name in names}
    suites = tuple(f"{b.name}/" for b in config.benchmark if b.measured.suite and b.name in whole)
    measured = [*(each.benchmark for each in evidence.cases), *(each.benchmark for each in evidence.identical)]
    names = dict.fromkeys([*measured, *(f.benchmark for f in evidence.failures if f.benchmark), *evidence.new])
    for table, entries in (("override", config.override), ("accept", config.accept)):
        for glob in (each.benchmark for each in entries if each.benchmark.startswith(suites)):
            if not any(matches(glob, name) for name in names):
                yield matches_nothing(policy.source, table, "benchmark", glob, tuple(names))


def recorded_of(evidence: Evidence, design: Design, decided: Collection[int]) -> Iterator[Recorded]:
    """Give what is shown and not decided: cases, and the aggregates that both sides have, without an interval."""
    subjects = [subject_of(case, MEAN, design.policy, {}) for case in evidence.cases if id(case) not in decided]
    for found in estimates(subjects, design, design.reached[-1] if design.reached else None)[0]:
        case = found.subject.case
        yield Recorded(
            benchmark=case.benchmark, metric=case.metric, unit=case.unit, better=case.better, factors=case.factors,
            base=side_summary(found, "base", design.alpha), head=side_summary(found, "head", design.alpha),
            ratio=ratio_interval(found, design.alpha), warnings=[*case.warnings, *found.warnings],
        )  # fmt: skip
    for each in evidence.aggregates:
        if each.base is None or each.head is None:
            continue
        ratio = ratio_of(each.metric, each.unit, each.base.value, each.head.value)
        yield Recorded(
            benchmark=each.benchmark,
            metric=each.metric,
            statistic=each.statistic,
            unit=each.unit,
            better=each.better,
            factors=each.factors,
            base=each.base,
            head=each.head,
            ratio=RatioInterval(
                estimate=ratio, low=None, high=None, confidence=1 - design.alpha, method=AGGREGATE, df=None,
                kind="withheld",
            ),
            warnings=[Said("an aggregate of another tool, without the values behind it: shown, never decided")],
        )  # fmt: skip


def policy_facts(policy: Policy) -> PolicyFacts:
    """Write down the rules that decided."""
    config = policy.config
    # [gate] as it decided: with the floor in force, and without whether regressions are profiled
    gate = to_tables(config.gate) | ({"floor": default_floor(config)} if config.gate.floor is None else {})
    return PolicyFacts(
        source=policy.source,
        whose=policy.whose,
        gate={key: value for key, value in gate.items() if key != "explain"},
        override=[to_tables(item) for item in config.override],
        accept=[to_tables(item) for item in config.accept],
    )


def missing_allowed(failures: Sequence[Failure], policy: Policy) -> list[MissingAllowed]:
    """Name the missing benchmarks that do not fail: by the rules, by an accepting label."""
    names = list(dict.fromkeys(f.benchmark for f in failures if f.kind == "missing" and f.benchmark is not None))
    by_rules = tuple(name for name in names if not missing_fails(policy.config, name))
    by_label = tuple(name for name in names if name not in by_rules) if policy.label is not None else ()
    allowed = ((by_rules, None), (by_label, policy.label))
    return [MissingAllowed(benchmarks, label) for benchmarks, label in allowed if benchmarks]


def implausible(findings: Sequence[Finding], config: Config) -> list[Implausible]:
    """Warn of improvements beyond gate.implausible, the largest first.

    The size is that of the estimate, as it is read; the interval must show an improvement of any size, whether or not
    the rules let it be called one.
    """
    found: list[tuple[float, str]] = []
    for f in findings:
        ratio = f.ratio
        if ratio.kind != "bounded" or ratio.estimate is None or ratio.low is None or ratio.high is None:
            continue
        # by which share head is better: of time what is saved, of a rate what base lacks
        lower = f.better == "lower"
        shown = ratio.high < 1 if lower else ratio.low > 1
        size = 1 - (ratio.estimate if lower else 1 / ratio.estimate) if shown else 0.0
        if size > (implausible_of(config, f.benchmark, f.metric, f.statistic) or 1.0):
            what = quantity(f.metric, f.statistic)
            name = f.benchmark if what == "time" else f"{f.benchmark} {what}"
            found.append((size, f"{name} is {amounts.moved(f, ratio.estimate)}"))
    several = sorted(found, key=lambda each: -each[0])
    return [Implausible(tuple(each for _, each in several))] if several else []


def controls_of(subjects: Sequence[Subject], design: Design) -> list[Control | None]:
    """Judge the halves of each subject's base; None where one cannot be: too few starts or builds, or counts.

    By the gate's own intervals without memory, which is of builds, and without looks: what a stop goes by is head.
    """
    dealt = [halves(subject.case.base) for subject in subjects]
    asked = [
        msgspec.structs.replace(
            subject,
            case=msgspec.structs.replace(subject.case, base=half[0], head=half[1], hosts={}),
            threshold=0.0,
            memory=None,
        )
        for subject, half in zip(subjects, dealt, strict=True)
        if half is not None
    ]
    plain = msgspec.structs.replace(
        design, interval="fieller", method="paired", moderate=False, memory=None, sessions=1, machines=()
    )
    halved = iter(estimates(asked, plain, None)[0])
    controls: list[Control | None] = [None] * len(dealt)
    alpha = 2 * EXPECTED
    for number, found in ((number, next(halved)) for number, half in enumerate(dealt) if half is not None):
        ratio = found.ratio
        limits, p = ratio.limits(alpha), ratio.p(1.0, found.subject.tails[0])
        usable = not (found.exact or found.reduced.trouble or found.hold)
        if usable and limits.low is not None and limits.high is not None and p is not None:
            controls[number] = Control(
                ratio=ratio.y / ratio.x, low=limits.low, high=limits.high, rounds=found.units, alarmed=p < alpha
            )
    return controls


def counted(findings: Sequence[Finding]) -> Controls | None:
    """Count the controls of a run; None: it has none."""
    known = [each.control for each in findings if each.control is not None]
    if not known:
        return None
    alarmed = sum(each.alarmed for each in known)
    return Controls(count=len(known), alarmed=alarmed, e_value=e_value(alarmed, len(known)))
