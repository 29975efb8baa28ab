"""Judged subjects -> findings with their verdicts, by `verdict_of`, and all of them -> the report with its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from gate.cli.groups import RulesOptions
from gate.codes import Exit
from gate.config.rules import Policy, accepts_of, matches
from gate.config.types import Accept
from gate.decide import causes
from gate.decide.creep import crept_of
from gate.decide.design import AS_REMEMBERED, Design, Subject, by_question, design_of, identical_of, needed_builds
from gate.decide.details import (
    accepted_by,
    gives_up,
    hidden,
    memory_use,
    more_builds,
    session_ratios,
    variances,
    warnings_of,
)
from gate.decide.estimates import estimates, limits_of, ratio_interval, side_summary, subjects_of
from gate.decide.futility import asks_for_no_sign, detectable, in_sight, unseen
from gate.decide.importance import curves_of, profiled
from gate.decide.looks import Judged, absolute_limits, beyond, correct_and_settle, deciding_alpha, judge
from gate.decide.overall import overall_of, without_case
from gate.decide.report_facts import (
    about_no_case,
    controls_of,
    counted,
    implausible,
    missing_allowed,
    of_rules,
    policy_facts,
    recorded_of,
    run_facts,
    stopped_by,
)
from gate.evidence.gather import gather
from gate.evidence.lines import Inputs
from gate.evidence.records import MEASUREMENTS
from gate.evidence.time_spent import fewest_rounds
from gate.model import Accepted, DecidedAt, Execution, Same, UserError, Verdict, outcomes
from gate.model.evidence import Evidence
from gate.model.names import REPORT_SCHEMA, ReportVerdict
from gate.model.report import Family, Finding, Identical, Limit, NextPlan, Report, View, failing
from gate.model.warnings.measured import SelectedOnly
from gate.model.warnings.setup import NothingToCompare
from gate.writing.phrases import none_of

_EXITS: dict[ReportVerdict, Exit] = {
    "pass": Exit.PASS,
    "regression": Exit.REGRESSION,
    "inconclusive": Exit.INCONCLUSIVE,
    "error": Exit.ERROR,
}


class Decided(msgspec.Struct, frozen=True, eq=False):
    """A report, and what it was decided over."""

    report: Report
    inputs: Inputs
    evidence: Evidence
    policy: Policy
    options: RulesOptions
    """What was asked for, beside the policy that came of it."""


Planning = Callable[[Inputs, Policy, Sequence[str]], NextPlan | None]
"""Gives the plan that would settle an inconclusive report over measurements, of benchmarks of these globs."""


def decide_by(inputs: Inputs, policy: Policy, options: RulesOptions, planning: Planning) -> Decided:
    """Decide over measurements by a policy.

    options: what was asked for, for its selection and for what a page says. planning: asked where it is inconclusive.

    Raises: UserError: files that contradict each other, or a selection of nothing.
    """
    evidence = gather(inputs.records, policy.config, options.benchmarks, policy.measured)
    found = evidence.cases or evidence.identical or evidence.failures or evidence.new
    if options.benchmarks and not found:
        names = sorted({name for r in inputs.records if (name := getattr(r.record, "benchmark", None))})
        given = " ".join(options.benchmarks)
        raise UserError(f"{given}: {none_of(given, names)}", option="benchmark")
    # picking benchmarks after measuring raises the rate of false alarms: say so
    measured = {e.benchmark for located in inputs.records if isinstance(e := located.record, (Execution, Same))}
    selected = [name for name in measured if any(matches(glob, name) for glob in options.benchmarks)]
    part = bool(options.benchmarks) and len(selected) < len(measured)
    warnings = [*evidence.warnings, *([SelectedOnly(len(selected), len(measured))] if part else []), *inputs.warnings]
    warned = replace(evidence, warnings=warnings)
    report = decide(warned, policy)
    folders = (str(file.parent if file.name == MEASUREMENTS else file) for file in inputs.files)
    # who typed no command, as in a workflow, has none of these files
    again = [*options.typed] or (["decide", *folders] if report.run.typed else None)
    plan = None
    if report.verdict == "inconclusive" and not report.run.imported:
        plan = planning(inputs, policy, options.benchmarks)
    return Decided(replace(report, run=replace(report.run, again=again, plan=plan)), inputs, evidence, policy, options)


def decide(evidence: Evidence, policy: Policy) -> Report:
    """Judge every case of the evidence and the report as a whole; pure.

    evidence: samples in base units, and the looks there were. policy: the rules, with today's date for accepts.
    """
    subjects = subjects_of(evidence, policy)
    asked = {id(subject.case) for subject in subjects}
    design = design_of(evidence, policy, subjects)
    views, noisier = judge_looks(subjects, design)
    shared = [j.subject for j in views if not j.estimated.exact]
    run = evidence.run
    answers = answers_of(views, design, len(shared), steady=run is not None and run.creep is not None)
    found, judged = [finding for finding, _ in answers], [each for _, each in answers]
    crept = crept_of(found, run, policy)
    found, creep = crept if crept is not None else (found, None)
    controls = controls_of([each.subject for each in judged], design)
    found = [msgspec.structs.replace(each, control=own) for each, own in zip(found, controls, strict=True)]
    why = causes.nothing_to_compare(evidence)
    # where there is nothing to compare, head was measured against itself: that shows its noise and judges nothing
    findings = found if why is None else []
    identical = identical_of(evidence, policy)
    verdict = _report_verdict([*findings, *identical], evidence, policy, why)
    stopped = stopped_by(evidence, judged, fewest_rounds(policy.config))
    few = None
    # nights of a creep check are judged together
    if verdict == "inconclusive" and creep is None:
        few = causes.not_enough(findings, judged, policy.config.gate, evidence, stopped)
        verdict = "inconclusive" if few is None else "error"
    new = evidence.new if why is None else causes.new_benchmarks(evidence)
    fails = policy.config.gate.inconclusive == "fail" and any(f.is_open for f in findings)
    # a finding that is shown not to be worse never fails, even where inconclusive ones do
    exit_code = Exit.PASS if verdict == "inconclusive" and not fails else _EXITS[verdict]
    if why is not None and verdict == "pass":
        summary: outcomes.Summary = causes.without_base(why, found, len(new))
    else:
        summary = few or _summary(verdict, evidence, policy, findings, identical)
    explanations, unprofiled = profiled(evidence, findings)
    return Report(
        schema=REPORT_SCHEMA,
        verdict=verdict,
        exit_code=exit_code,
        summary=summary,
        stopped=stopped,
        run=run_facts(evidence, design, views, noisier),
        policy=policy_facts(policy),
        family=Family(method=policy.config.gate.family, size=len(by_question(shared))),
        findings=findings,
        identical=identical,
        recorded=[*recorded_of(evidence, design, asked if why is None else ())],
        failures=evidence.failures,
        overall=overall_of(views, without_case(evidence), design) if why is None else [],
        curves=curves_of([each.subject for each in judged], findings) if why is None else [],
        new=new,
        warnings=[
            *implausible(findings, policy.config), *missing_allowed(evidence.failures, policy), *evidence.warnings,
            *of_rules(subjects, policy, design, noisier), *about_no_case(evidence, policy),
        ],
        explanations=explanations,
        unprofiled=unprofiled,
        creep=creep,
        controls=counted(findings),
    )  # fmt: skip


def _summary(
    verdict: ReportVerdict, evidence: Evidence, policy: Policy, findings: Sequence[Finding],
    identical: Sequence[Identical],
) -> outcomes.Summary:  # fmt: skip
    if evidence.unfinished is not None and not (findings or evidence.failures or identical):
        return causes.budget_ended(evidence.unfinished, evidence.run, policy.config)
    held = [f for f in evidence.failures if f.kind == "lock"]
    if held and len(held) == len(evidence.failures) and not findings:
        return outcomes.MachineNotFree(status=held[0].status)
    return causes.summary(verdict, findings, evidence, identical)


def _report_verdict(
    findings: Sequence[Finding | Identical], evidence: Evidence, policy: Policy, why: NothingToCompare | None
) -> ReportVerdict:
    if any(f.verdict == "regression" for f in findings):
        return "regression"
    failures = failing(evidence.failures, missing_allowed(evidence.failures, policy))
    if why is not None and not failures:
        # what was measured is head alone, with or without itself as base
        measured = evidence.cases if why.itself else evidence.new
        return "pass" if measured else "error"
    if failures or not findings:
        return "error"
    if any(f.verdict == "inconclusive" for f in findings):
        return "inconclusive"
    return "pass"


# --- the looks --------------------------------------------------------------------------------------------------------


def judge_looks(subjects: Sequence[Subject], design: Design) -> tuple[list[Judged], float]:
    """Judge every subject at every look that was reached, in order; what is settled keeps its data and its verdict.

    A fixed design is one look at everything.

    Returns:
        The end of all looks, and how much noisier than remembered the host is at the last one.
    """
    judged: list[Judged | None] = [None] * len(subjects)
    noise = AS_REMEMBERED
    for look, rounds in enumerate(design.reached or (None,)):
        # a subject that was not measured up to this look keeps its last result
        measured = [
            rounds is None
            or all(any(build + 1 >= rounds for _, build in side.builds) for side in (s.case.base, s.case.head))
            for s in subjects
        ]
        still_open = [i for i, j in enumerate(judged) if j is None or (not j.settled and measured[i])]
        if not still_open:
            break
        kept = [j.estimated for i, j in enumerate(judged) if j is not None and i not in set(still_open)]
        now, noise = estimates([subjects[i] for i in still_open], design, rounds, noise, kept)
        for i, found in zip(still_open, now, strict=True):
            judged[i] = judge(found, design, look)
        judged = [*correct_and_settle([j for j in judged if j is not None], design)]
    ended = []
    for j in (j for j in judged if j is not None):
        over = j.settled or j.look + 1 >= len(design.reached) or not asks_for_no_sign(j.estimated)
        # the run may have given it up under another `family` than is asked for now; then it was not measured to the end
        stays = over or in_sight(j.estimated, design.alpha) or j.position.promising
        ended.append(j if stays else msgspec.structs.replace(j, settled=True, futile=True))
    return ended, noise.rounds


# --- a finding --------------------------------------------------------------------------------------------------------


def findings_of(judged: Sequence[Judged], design: Design, comparisons: int) -> list[Finding]:
    """Give judged subjects their verdicts and describe them; comparisons: all views that share the error."""
    limits = absolute_limits([each.estimated for each in judged], [each.look for each in judged], design)
    return [_finding(each, limit, design, comparisons) for each, limit in zip(judged, limits, strict=True)]


_Answer = tuple[Finding, Judged]
"""The finding that stands for a question, and what was judged of it."""


def answers_of(judged: Sequence[Judged], design: Design, comparisons: int, *, steady: bool) -> list[_Answer]:
    """Give every question one finding, and what was judged of it, by the view that stands for it.

    comparisons: all views that share the error. steady: by the view that is the same in every run, whatever each shows:
    nights are judged together.
    """
    every = [*zip(findings_of(judged, design, comparisons), judged, strict=True)]
    return [_answer([every[i] for i in views], steady=steady) for views in by_question([j.subject for j in judged])]


def _answer(views: Sequence[_Answer], *, steady: bool) -> _Answer:
    """Choose the view that stands for a question: one that regressed, otherwise the one that settles it.

    steady: always the same one.
    """
    subjects = [judged.subject for _, judged in views]
    index = next(i for i, subject in enumerate(subjects) if (subject.steady if steady else subject.settles))
    if not steady:
        # the one that settles comes first where both regressed
        order = (index, *range(len(views)))
        regressed = [i for verdict in ("regression", "accepted") for i in order if views[i][0].verdict == verdict]
        index = next(iter(regressed), index)
    finding, judged = views[index]
    others = [each for i, each in enumerate(views) if i != index]
    if not others:
        return finding, judged
    subject, other = judged.subject, others[0][1].subject
    why: Literal["sharper", "regression", "tasks", "nights"] = "sharper"
    if not steady and not subject.settles:
        why = "regression"
    elif any(each.subject.case.one_task is False for _, each in views):
        why = "tasks"
    elif steady:
        why = "nights"
    times = None
    if subject.role is not None and other.role is not None and subject.role.noise and other.role.noise is not None:
        times = other.role.noise / subject.role.noise
    view = View(why=why, times=times)
    return msgspec.structs.replace(finding, view=view, beside=[each for each, _ in others]), judged


def _finding(judged: Judged, limit: Limit | None, design: Design, comparisons: int) -> Finding:
    """Give a judged subject its verdict, and describe it as reports show it."""
    found, subject, case = judged.estimated, judged.subject, judged.subject.case
    ruled = verdict_of(judged, limit, design)
    change, hidden_by_floor = ruled.change, ruled.hidden_by_floor
    # for what was given up, show the plain interval: one corrected for so early a look is too wide to be of use
    plain = change == "no-sign" or (change == "inconclusive" and (judged.futile or hidden_by_floor is not None))
    nominal_alpha = design.alpha if plain else judged.nominal_alpha
    # "unchanged" is decided at the level of its look, without the family
    shared = {"improvement": judged.improvement.alpha, "unchanged": design.alpha}
    alpha = deciding_alpha(judged, shared.get(change, judged.regression.alpha), design)
    decided = limits_of(found, alpha)
    broken = limit is not None and limit.state == "broken"
    may_call = not found.hold and judged.p is not None
    more = more_builds(judged, design) if change == "inconclusive" else None
    is_called = change in ("regression", "improvement")
    # `ratio` has one confidence for all findings, whatever their look
    shown: Literal["ratio", "decided_at"] | None = "ratio"
    if found.exact or found.reduced.trouble:
        shown = None
    elif is_called or (change == "unchanged" and alpha < design.alpha):
        shown = "decided_at"
    stopped: Literal["settled", "futility"] | None = None
    if judged.settled and judged.look + 1 < len(design.looks):
        proved = judged.regression.rejected or judged.improvement.rejected or judged.position.not_worse
        stopped = "futility" if judged.futile and not proved else "settled"
    size = None
    if not is_called:
        size = detectable(found, design) if ruled.size is None else ruled.size
    facts = causes.ReasonFacts(
        verdict=change, found=found, plain=limits_of(found, design.alpha), nominal=limits_of(found, nominal_alpha),
        nominal_confidence=1 - nominal_alpha, decided=decided, confidence=1 - alpha, corrected=alpha < nominal_alpha,
        comparisons=comparisons, position=judged.position, hidden=hidden_by_floor,
        given_up_by_floor=gives_up(judged, design), unseen=None if ruled.has_sign else ruled.size,
        min_builds=needed_builds(found, design.policy.config.gate), more_builds=more,
        accepted=ruled.accepted, exceeded=ruled.exceeded, broken=limit if broken else None,
    )  # fmt: skip
    return Finding(
        benchmark=case.benchmark, metric=case.metric, unit=case.unit, better=subject.better,
        statistic=subject.statistic, factors=case.factors, base=side_summary(found, "base", design.alpha),
        head=side_summary(found, "head", design.alpha), ratio=ratio_interval(found, design.alpha),
        sessions=session_ratios(found.machines, subject, design.alpha),
        decided_at=DecidedAt(
            confidence=1 - alpha, low=decided.low, high=decided.high, look=judged.look + 1,
            looks=max(len(design.looks), 1),
        ),
        shown=shown,
        threshold=subject.threshold, floor=subject.floor, p=judged.p,
        p_adjusted=judged.regression.p_adjusted if may_call else None, p_improvement=judged.p_improvement,
        p_improvement_adjusted=judged.improvement.p_adjusted if may_call else None,
        verdict=ruled.verdict, accepted=ruled.accepted,
        reason=causes.finding(facts), warnings=warnings_of(judged, change, design),
        not_worse=judged.position.not_worse and hidden_by_floor != "worse" and not broken, more_builds=more,
        stopped=stopped, detectable=size, variance=variances(found), memory=memory_use(found, design.alpha, design),
        warn=subject.warn, limit=limit, top=subject.top,
    )  # fmt: skip


class Ruling(NamedTuple):
    """The verdict of a finding, and what it rests on."""

    verdict: Verdict
    change: Verdict
    """The same by the change alone: whatever is accepted, and whatever limit head has."""
    accepted: Accepted | None
    exceeded: Accepted | None
    """An entry for a smaller regression than this one."""
    size: float | None
    """Of a slowdown that would have shown, where no sign of one can be told."""
    has_sign: bool
    """Whether it has a sign of a slowdown, though it is no regression."""
    hidden_by_floor: Literal["worse", "better"] | None
    """The direction of a change that the floor hides."""


def verdict_of(judged: Judged, limit: Limit | None, design: Design) -> Ruling:
    """Give a judged subject its verdict: all of the rule (docs/method.md, verdicts).

    judged: what the looks tested of the interval against threshold and floor. limit: of head, where it has one.
    """
    position, hidden_by_floor = judged.position, hidden(judged, design.alpha)
    size = unseen(judged.estimated, judged.look, futile=judged.futile, design=design)
    shown = judged.p is not None and judged.p < judged.nominal_alpha
    has_sign = shown or in_sight(judged.estimated, design.alpha, floor=False)
    change: Verdict = "inconclusive"
    if judged.regression.rejected:
        # the interval at the level of the family lies beyond the threshold, and there are builds enough to call it
        change = "regression"
    elif judged.improvement.rejected:
        change = "improvement"
    elif position.not_worse and position.not_better:
        # the nominal interval lies within; what a floor alone hides is not green: that is no proof of anything
        change = "unchanged" if hidden_by_floor is None else "inconclusive"
    elif size is not None and size <= judged.subject.must_detect and not has_sign:
        change = "no-sign"
    accepted, exceeded = _acceptance(judged, design) if change == "regression" else (None, None)
    if limit is not None and limit.state == "broken":
        # what an entry accepts is a change, not a value beyond what is allowed; a label accepts anything
        accepted = _label_of(design)
        verdict: Verdict = "accepted" if accepted else "regression"
    else:
        verdict = "accepted" if accepted else change
    return Ruling(verdict, change, accepted, exceeded, size, has_sign, hidden_by_floor)


def _acceptance(judged: Judged, design: Design) -> tuple[Accepted | None, Accepted | None]:
    """Return what covers a regression, an accept entry or else a label, and an entry that it exceeds.

    An entry covers what is not shown, at the deciding level, to exceed its size.
    """
    found, subject, policy = judged.estimated, judged.subject, design.policy
    exceeded: Accept | None = None
    case = subject.case
    for accept in accepts_of(policy.config, case.benchmark, case.metric, subject.statistic, case.view_of):
        if accept.until < policy.today or found.reduced.trouble:
            continue
        limit = 1 + float(accept.up_to) if subject.lower else 1 / (1 + float(accept.up_to))
        worse, _ = subject.tails
        if found.exact:
            exceeds = beyond(found.ratio.y / found.ratio.x, limit, worse)
        else:
            p = found.ratio.p(limit, worse)
            exceeds = p is not None and p < deciding_alpha(judged, judged.regression.alpha, design)
        if not exceeds:
            return accepted_by(accept), None
        if exceeded is None or accept.up_to > exceeded.up_to:
            exceeded = accept
    return _label_of(design), accepted_by(exceeded) if exceeded is not None else None


def _label_of(design: Design) -> Accepted | None:
    """Return what the label of a pull request accepts: everything; None: there is none."""
    label = design.policy.label
    return None if label is None else Accepted(up_to=None, until=None, reason=label)
