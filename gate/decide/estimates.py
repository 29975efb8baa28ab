"""Cases -> subjects with their rules -> estimates over the first rounds of a run, with the interval of the design."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence

import msgspec

from gate.config.rules import Policy, detectable_of, floor_of, limit_of, metric_rules, show_of, threshold_of, warn_of
from gate.config.types import Config
from gate.decide.design import (
    AS_REMEMBERED,
    BOOTSTRAP_BUILDS,
    FIXED_SESSIONS,
    FIXED_SESSIONS_SHARED,
    PAIRED_SHARED,
    CaseStatistic,
    Design,
    Estimated,
    Hold,
    HostNoise,
    Subject,
    needed_builds,
    roles_of,
    statistics_of,
)
from gate.decide.moderation import with_memory
from gate.model import Case, Evidence, FindingMemory, LevelCounts, RatioInterval, Sample, Side, SideSummary
from gate.model.case import MEAN, TYPICAL, CaseId, Center, case_id, center_of
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.stats.centers import reduce_to
from gate.stats.fixed_sessions import (
    OneSession,
    depends,
    machine,
    of_pairs,
    over_machines,
    side_over_machines,
    sides_of,
    stacked,
)
from gate.stats.levels import (
    Reduced,
    measured_together,
    of_complete_rounds,
    of_rounds,
    of_shared_sessions,
    reduce,
    reduce_typical,
)
from gate.stats.ratio import (
    PAIRED,
    WITHHELD,
    Limits,
    LogPair,
    MeanPair,
    Ratio,
    Rounds,
    ratio_of,
    rounded,
    rounds_of,
    side_limits,
)
from gate.stats.shared_variance import shared_of
from gate.writing import phrases
from gate.writing.units import agree, plural, whole_of

FEWEST_SHARED = 5
"""Rounds of each given machine from which on cases share their variance."""
LEAST_COMPLETE = 2 / 3
"""The share of rounds that both sides must have for the others to be left out."""
_FEWEST_PAIRS = 5
"""Of a round; the trimmed mean of fewer leaves none out, and so is no other view than the mean."""


def subjects_of(evidence: Evidence, policy: Policy) -> list[Subject]:
    """List what is decided: each question, each of its views."""
    memory = evidence.run.memory if evidence.run else None
    remembered = {case_id(m, m.statistic): m for m in (memory.findings if memory else ())}
    questions = questions_of(evidence.cases, policy.config)
    return [
        msgspec.structs.replace(subject_of(case, statistic, policy, remembered), role=role)
        for views, roles in zip(questions, roles_of(questions), strict=True)
        for (case, statistic), role in zip(views, roles, strict=True)
    ]


def subject_of(case: Case, statistic: str, policy: Policy, remembered: dict[CaseId, FindingMemory]) -> Subject:
    """Bring together a case, a statistic and the rules for both."""
    names = (policy.config, case.benchmark, case.metric, statistic)
    threshold, warn = threshold_of(*names, case.view_of), warn_of(*names, case.view_of)
    whole = whole_of(case.metric, case.unit)
    return Subject(
        case=case,
        statistic=statistic,
        center=center_of(statistic),
        threshold=threshold,
        floor=floor_of(*names, case.unit, case.view_of),
        show=show_of(*names, case.view_of),
        must_detect=detectable_of(*names, case.view_of),
        memory=remembered.get(case_id(case, statistic)),
        # from the threshold on a change fails
        warn=warn if warn is not None and warn < threshold else None,
        limit=limit_of(*names, case.unit),
        top="round" if any(each.against for each in policy.config.benchmark) else "build",
        shift=0.0 if whole is None else whole - float(case.base.values.mean()),
    )


def questions_of(cases: Iterable[Case], config: Config) -> list[list[CaseStatistic]]:
    """List what is decided: the views of each question, of which there is one where no turns were taken."""
    decided = [case for case in cases if case.decided]
    known = {case_id(case) for case in decided}
    sharper: dict[CaseId, Case] = {}
    for case in decided:
        if case.sharp and case.view_of is not None and _has_views(case, config):
            sharper.setdefault(case_id(case)._replace(metric=case.view_of), case)
    found: list[list[CaseStatistic]] = []
    for case in decided:
        viewed = case.view_of is not None and case_id(case)._replace(metric=case.view_of) in known
        if not _has_views(case, config):
            found += [[(case, name)] for name in statistics_of(config, case.benchmark, case.metric)]
        elif case_id(case) in sharper:
            found.append([(sharper[case_id(case)], TYPICAL), (case, MEAN)])
        elif not viewed and min(int(side.counts[1].min()) for side in (case.base, case.head)) < _FEWEST_PAIRS:
            found.append([(case, MEAN)])
        elif not viewed:
            found.append([(case, TYPICAL), (case, MEAN)])
    return found


def asked_of(cases: Iterable[Case], config: Config) -> list[CaseStatistic]:
    """List everything that is compared: the views of all questions."""
    return [asked for views in questions_of(cases, config) for asked in views]


def _has_views(case: Case, config: Config) -> bool:
    """Return whether a case is seen by its typical value and its mean; who names statistics wants a verdict on each."""
    declared = metric_rules(config, case.benchmark, case.metric).statistics is not None
    return case.turns and case.unit == "s" and not case.exact and not declared


# --- their estimates --------------------------------------------------------------------------------------------------


def estimates(
    subjects: Sequence[Subject], design: Design, rounds: int | None, least: HostNoise = AS_REMEMBERED,
    others: Sequence[Estimated] = (),
) -> tuple[list[Estimated], HostNoise]:  # fmt: skip
    """Estimate subjects over their first rounds, and say how much noisier than remembered the host is then.

    rounds: None: all there are. least: what the host was found to be at an earlier look, by more findings than may be
    open now. others: estimates of an earlier look that stay as they are; their variances count too.
    """
    plain = [_without_memory(subject, design, rounds) for subject in subjects]
    if design.shares and design.machines:
        pooled = _pooled_by_machine(plain, others)
    elif design.shares:
        pooled = _pooled(plain, others)
    else:
        pooled = plain
    if not design.moderate:
        return [_with_hold(found, design) for found in pooled], least
    moderated, noise = with_memory(plain, pooled, design, least)
    return [_with_hold(found, design) for found in moderated], noise


def _pooled(found: Sequence[Estimated], others: Sequence[Estimated]) -> list[Estimated]:
    """Give cases whose rounds are paired the variance that they share with the others of the same statistic."""
    every = {id(each): each for each in (*found, *others) if not _lacks_variance(each)}
    rounds: dict[int, Rounds] = {}
    for key, each in every.items():
        if each.rounds is not None and each.rounds.df > 0 and each.rounds.contrast > 0:
            rounds[key] = each.rounds
    shared = shared_of(rounds, lambda key: _kind(every[key]))
    made = []
    for each in found:
        own, of = shared.get(id(each)), each.rounds
        if own is not None and of is not None and each.method == "paired":
            ratio = rounded(of.pair(own.variance, own.df), *each.reduced.rounding)
            each = msgspec.structs.replace(each, ratio=ratio, method=PAIRED_SHARED)
        made.append(each)
    return made


def _pooled_by_machine(found: Sequence[Estimated], others: Sequence[Estimated]) -> list[Estimated]:
    """Pool the variance of rounds over the cases of each machine, and combine the machines' ratios.

    A case goes by its own rounds where a machine is in trouble or has fewer than FEWEST_SHARED rounds, or nothing is
    shared on any of them.
    """
    every = {id(each): each for each in (*found, *others) if not _lacks_variance(each)}
    rounds: dict[tuple[int, int], Rounds] = {}
    for key, each in every.items():
        if any(own.trouble or own.rounds < FEWEST_SHARED for own in each.machines):
            continue
        for own in each.machines:
            reduced = own.reduced
            of_machine = None if reduced is None or reduced.exact else rounds_of(reduced.base, reduced.head)
            if of_machine is not None and of_machine.contrast > 0:
                rounds[key, own.session] = of_machine
    shared = shared_of(rounds, lambda place: (_kind(every[place[0]]), place[1]))
    made = []
    for each in found:
        pairs: list[MeanPair] = []
        for own in each.machines:
            weighed = shared.get((id(each), own.session))
            if weighed is not None:
                pairs.append(rounds[id(each), own.session].pair(weighed.variance, weighed.df).logs)
            elif own.pair is not None:
                pairs.append(own.pair.logs)
        if any((id(each), own.session) in shared for own in each.machines) and len(pairs) == len(each.machines):
            each = msgspec.structs.replace(each, ratio=LogPair(of_pairs(pairs)), method=FIXED_SESSIONS_SHARED)
        made.append(each)
    return made


def _kind(found: Estimated) -> tuple[Center, str]:
    """Return what cases must have in common to share a variance: the metric too, where there are several views."""
    subject = found.subject
    return subject.center, subject.case.metric if subject.case.turns else ""


def _lacks_variance(found: Estimated) -> bool:
    """Return whether the values gave no variance: compared as numbers, without an interval, or rounded alike."""
    reduced = found.reduced
    return bool(found.exact or reduced.trouble or any(reduced.rounding))


_NO_LOGARITHM = ("negative", "zero-base", "zero-quantile")
"""Troubles in which a side has a value that is not above 0."""


def _without_memory(subject: Subject, design: Design, rounds: int | None) -> Estimated:
    """Estimate a subject over its first rounds by itself: without memory and without other cases."""
    if design.machines:
        return _over_machines(subject, design, rounds)
    base, head, lacking = of_shared_sessions(*_first_rounds(subject, rounds))
    center, exact, several = subject.center, subject.case.exact, design.sessions > 1
    # as reduce_to chooses, but a mean or a typical value passes one file less
    if center is None:
        reduced = reduce(base, head, exact=exact, sessions=several)
    elif center == TYPICAL:
        reduced = reduce_typical(base, head, exact=exact, sessions=several)
    else:
        reduced = reduce_to(base, head, center, exact=exact, sessions=several)
    method = design.method
    gate = design.policy.config.gate
    if center == TYPICAL:
        # of both sides together: there is no other interval of it
        method = "paired"
    elif method == "paired" and gate.interval == "auto" and _too_few_complete(reduced):
        # pairing was chosen expecting complete rounds; here it would drop too many builds without a partner
        method = "fieller"
    pairs = None if reduced.exact or reduced.trouble in _NO_LOGARITHM else rounds_of(reduced.base, reduced.head)
    if method == "paired" and pairs is None:
        # a value has no logarithm
        method = "fieller-paired"
    found = Estimated(
        subject=subject, base=base, head=head, reduced=reduced, ratio=ratio_of(reduced, method, pairs),
        method="exact" if reduced.exact else method, paired=method in PAIRED, moderation=None, hold="", rounds=pairs,
        warnings=(*reduced.warnings, *([_one_sided(lacking)] if lacking else [])),
    )  # fmt: skip
    if not reduced.trouble and not reduced.exact and found.ratio.df is None:
        return msgspec.structs.replace(found, reduced=msgspec.structs.replace(reduced, trouble="no-rounds"))
    if design.interval != "fieller" and subject.center is None and not _lacks_variance(found):
        return _bootstrap(found, design)
    return found


def _one_sided(sessions: Sequence[int]) -> Said:
    named, are = agree(len(sessions), "session", "sessions"), agree(len(sessions), "is", "are")
    text = f"{named} {', '.join(map(str, sessions))} measured only one side and {are} left out"
    return Said(text, "one-sided-sessions", "first")


def _too_few_complete(reduced: Reduced) -> bool:
    """Return whether so many rounds are of one side only that pairing would leave out too much."""
    base, head = reduced.base.units, reduced.head.units
    if base == head or not all(isinstance(unit, tuple) for unit in (*base, *head)):
        return False
    return len(set(base) & set(head)) < LEAST_COMPLETE * max(len(base), len(head))


def _first_rounds(subject: Subject, rounds: int | None) -> tuple[Sample, Sample]:
    """Return base and head in the first rounds of each session (None: in all there are), shares as differences."""
    base, head = (of_rounds(side, rounds) for side in (subject.case.base, subject.case.head))
    if subject.shift:
        base, head = (msgspec.structs.replace(side, values=side.values + subject.shift) for side in (base, head))
    return base, head


def _over_machines(subject: Subject, design: Design, rounds: int | None) -> Estimated:
    """Judge a subject by each of its machines; in trouble where one of them is."""
    case, center = subject.case, subject.center
    base, head = _first_rounds(subject, rounds)
    # all must have measured it, unless a setting of it is bound to some
    some = sorted({session for session, _ in (*case.base.builds, *case.head.builds)})
    sessions = some if design.bound & case.factors.keys() else design.machines
    warnings: tuple[AnyWarning, ...] = ()
    nothing = MeanPair(0.0, 0.0, 0.0, 0.0, 0.0, None)
    ratio: Ratio = nothing
    if not measured_together(base, head):
        # no machine has a round; of machines that measured one side each, that is what is wrong
        machines = tuple(OneSession(session, 0, None, None, "few-rounds") for session in sessions)
        reduced = reduce_to(base, head, center, exact=case.exact, sessions=True)
        if reduced.trouble != "apart":
            reduced = msgspec.structs.replace(reduced, trouble="machine", exact=False)
    else:
        left_out = len(set(base.builds) ^ set(head.builds))
        base, head, lacking = of_complete_rounds(base, head)
        if lacking:
            where = f"{agree(len(lacking), 'session', 'sessions')} {phrases.joined([*map(str, lacking)])}"
            left = f"{plural(left_out, 'round')} of {where} {agree(left_out, 'is', 'are')} left out"
            text = f"{left}: only one side has values there"
            warnings = (Said(text, "rounds-left-out"),)
        machines = tuple(machine(session, base, head, center, exact=case.exact) for session in sessions)
        counted = case.exact and all(each.rounds for each in machines)
        whole = reduce(base, head, exact=True, sessions=True) if counted else None
        if whole is not None and whole.exact:
            # one value a side on every machine, and one ratio on all, 0 or not
            reduced, ratio = whole, msgspec.structs.replace(nothing, x=whole.x, y=whole.y)
            warnings = (*reduced.warnings, *warnings)
        else:
            reduced, pair = stacked(machines), over_machines(machines)
            ratio = nothing if pair is None else rounded(pair, *reduced.rounding)
            warnings = (*reduced.warnings, *warnings, *depends(machines, case))
    return Estimated(
        subject=subject, base=base, head=head, reduced=reduced, ratio=ratio,
        method="exact" if reduced.exact else FIXED_SESSIONS, paired=True, moderation=None, hold="", rounds=None,
        warnings=warnings, machines=machines,
    )  # fmt: skip


def _bootstrap(found: Estimated, design: Design) -> Estimated:
    from gate.stats.bootstrap import bootstrap_ratio

    case = found.subject.case
    name = f"{case.benchmark}\0{case.metric}\0{sorted(case.factors.items())}"
    ratio = bootstrap_ratio(
        found.base, found.head, scheme=design.scheme, bca=design.interval == "bootstrap-bca",
        seed=zlib.crc32(name.encode(), design.seed & 0xFFFFFFFF),
        alphas=tuple(dict.fromkeys((design.alpha, design.alpha / design.questions * found.subject.weight))),
        sessions=design.sessions > 1,
    )  # fmt: skip
    return msgspec.structs.replace(
        found, ratio=ratio, method=design.interval, paired=False,
        warnings=(*found.warnings, *dict.fromkeys(ratio.warnings)),
    )  # fmt: skip


def _with_hold(found: Estimated, design: Design) -> Estimated:
    """Add why neither a regression nor an improvement may be called, if so."""
    gate = design.policy.config.gate
    hold: Hold = ""
    if found.exact:
        return found
    if found.moderation is not None and found.moderation.result is None:
        hold = "memory"
    elif found.builds < needed_builds(found, gate):
        hold = "builds"
    elif found.method.startswith("bootstrap") and gate.family == "holm" and found.units < BOOTSTRAP_BUILDS:
        hold = "bootstrap"
    return msgspec.structs.replace(found, hold=hold)


# --- what a report shows of one ---------------------------------------------------------------------------------------


def limits_of(found: Estimated, alpha: float) -> Limits:
    """Return the limits of the ratio at confidence 1 - alpha: withheld in trouble, a point for exact metrics."""
    if found.reduced.trouble:
        return WITHHELD
    if found.exact:
        ratio = found.ratio.y / found.ratio.x
        return Limits("bounded", ratio, ratio)
    return found.ratio.limits(alpha)


def side_summary(found: Estimated, side: Side, alpha: float) -> SideSummary:
    """Describe one side: its value, its own interval at confidence 1 - alpha, and its counts."""
    reduced = found.reduced
    if side == "base":
        sample, tops, value, rounding = found.base, reduced.base, reduced.x, reduced.rounding[0]
    else:
        sample, tops, value, rounding = found.head, reduced.head, reduced.y, reduced.rounding[1]
    limits = WITHHELD
    # a mean stands in for a quantile that has no logarithm; its interval is not the quantile's
    if tops.log or math.isclose(tops.mean, value):
        machines = sides_of(found.machines, side)
        limits = side_over_machines(machines, alpha) if machines else side_limits(tops, alpha)
    shift = found.subject.shift
    return SideSummary(
        value=value - shift,
        low=None if limits.low is None else limits.low - rounding - shift,
        high=None if limits.high is None else limits.high + rounding - shift,
        counts=LevelCounts(
            session=len(sample.counts[2]),
            build=len(sample.builds),
            execution=len(sample.counts[0]),
            iteration=len(sample.values),
        ),
    )


_WITH_A_RATIO = ("", "one-unit", "no-spread", "apart", "few-values", "no-rounds", "machine")


def ratio_interval(found: Estimated, alpha: float) -> RatioInterval:
    """Describe the interval of the ratio at confidence 1 - alpha."""
    ratio, limits = found.ratio, limits_of(found, alpha)
    return RatioInterval(
        estimate=ratio.y / ratio.x if found.reduced.trouble in _WITH_A_RATIO and ratio.x else None, low=limits.low,
        high=limits.high, confidence=1 - alpha, method=found.method, df=ratio.df if not found.exact else None,
        kind=limits.kind,
    )  # fmt: skip
