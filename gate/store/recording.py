"""A run that was decided -> its record: each case's change, with the variance that its estimate came with."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gate.config.types import Config
from gate.decide.design import design_of, subjects_of
from gate.decide.estimates import Estimated, estimates
from gate.decide.findings import variances
from gate.decide.measurements import Decided
from gate.decide.sides import side_summary
from gate.evidence.records import Located
from gate.model import Commit, Finding, HostState, Identical, Run, Side, SideSummary, UserError, Variance
from gate.model.case import case_id
from gate.model.history import AcceptedChange, Change, HistoryRecord, Machine, Measured, Spread
from gate.stats.fixed_sessions import effect
from gate.stats.ratio import LogPair, MeanPair, Ratio, Rounded
from gate.store.records import is_sha
from gate.store.ref import Git
from gate.units import nominal_gib

_FACTS = ("os", "kernel", "machine", "cpu", "cores", "affinity")
"""Of a run line's host. Its name and boot are left out, and any other key, which may hold a name too."""
_SETTINGS = ("governor", "turbo")
"""Of the state when measuring began."""
_DIGITS = 12


def machine_of(records: Collection[Located], config: Config) -> Machine:
    """Return the class of the machine that measured, of several with every one's facts."""
    hosts = [each.record.host for each in records if isinstance(each.record, Run) and each.record.host]
    states = [r for each in records if isinstance(r := each.record, HostState) and r.when == "begin"]
    tools = sorted({benchmark.instrument for benchmark in config.benchmark})
    every = [
        *(_known(host, (*_FACTS, *tools)) | _memory(host) for host in hosts),
        *(_known(state.state, _SETTINGS) for state in states),
    ]
    names = dict.fromkeys(name for facts in every for name in facts)
    facts = {name: _one([each[name] for each in every if name in each]) for name in names}
    text = msgspec.json.encode(facts, order="sorted")
    return Machine(id=hashlib.sha256(text).hexdigest()[:_DIGITS], facts=facts)


def _known(facts: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {
        name: facts[name]
        for name in names
        if isinstance(facts.get(name), (str, int, float)) and facts[name] not in ("", "unknown")
    }


def _memory(host: Mapping[str, Any]) -> dict[str, Any]:
    memory = host.get("memory")
    return {"memory": int(nominal_gib(memory) * 2**30)} if isinstance(memory, int) and memory > 0 else {}


def _one(values: list[Any]) -> Any:
    """Return a fact that all machines share, otherwise each one's."""
    every = list(dict.fromkeys(values))
    return every[0] if len(every) == 1 else " and ".join(sorted(map(str, every)))


class Described(msgspec.Struct, frozen=True):
    """A commit as git shows it."""

    committed: str | None
    """ISO 8601 in UTC; None: not known."""
    subject: str


UNKNOWN = Described(None, "")


def describe(git: Git, commit: str) -> Described:
    """Describe a commit; UNKNOWN where this repository has it not, or there is none."""
    answer = git.attempt("show", "--no-patch", "--no-show-signature", "--format=%ct%n%s", f"{commit}^{{commit}}")
    seconds, _, subject = answer.stdout.decode(errors="replace").partition("\n")
    if answer.status or not seconds.strip().isdigit():
        return UNKNOWN
    try:
        when = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return Described(None, subject.strip())
    return Described(when.isoformat(timespec="seconds").replace("+00:00", "Z"), subject.strip())


def descends(git: Git, commit: str, parent: str) -> bool:
    """Return whether a commit descends from another, as far as this repository knows."""
    if git.attempt("rev-parse", "--is-shallow-repository").stdout.strip() == b"true":
        return True
    # 1 is no; anything else is "not known"
    return git.attempt("merge-base", "--is-ancestor", parent, commit).status != 1


_BLOCK = 1 << 20


class Commits(msgspec.Struct, frozen=True):
    """The commits that a run compared."""

    base: str
    head: str


def commits_of(decided: Decided) -> Commits:
    """Return the commits that a run compared.

    Raises:
        UserError: it cannot be recorded: it knows none, measured uncommitted changes, or was interrupted.
    """
    run, report = decided.evidence.run or Run(), decided.report
    found = Commits(_sha(decided, "base", run.base), _sha(decided, "head", run.head))
    last = {state.session: state for state in report.run.states}.values()
    if any(state.when == "begin" for state in last):
        raise _unfit(decided, "was interrupted: `perfgate check --resume` measures the rest")
    return found


def _sha(decided: Decided, side: Side, commit: Commit | None) -> str:
    if commit is None or commit.sha is None or not is_sha(commit.sha):
        imported = decided.report.run.imported
        why = "imported results know no commits" if imported else "its run line names no whole sha"
        raise _unfit(decided, f"has no commit of {side} ({why}): only a run of two commits can be recorded")
    if commit.dirty:
        raise _unfit(decided, f"measured uncommitted changes of {side}: commit them, and check again")
    return commit.sha


def _unfit(decided: Decided, why: str) -> UserError:
    where = ", ".join(map(str, decided.inputs.files)) or "the run"
    return UserError(f"{where}: {why}")


class Made(msgspec.Struct, frozen=True):
    """A record, and what of the run is not in it."""

    record: HistoryRecord
    left_out: list[str]
    """Benchmarks without a ratio: a value is 0 or negative, or base and head share no session."""


def record_of(decided: Decided, described: Described) -> Made:
    """Make the record of a run whose commits are fit, see commits_of; described: its head.

    Raises:
        UserError: nothing of it can be recorded, or its measurements cannot be read again.
    """
    commits = commits_of(decided)
    report, raw = decided.report, [_hash(file) for file in decided.inputs.files]
    if not raw:
        raise UserError("standard input: a record names its measurements by their hash: give their file")
    # estimate what was decided, over all of its rounds
    evidence, policy = decided.evidence, decided.policy
    subjects = subjects_of(evidence, policy)
    design = design_of(evidence, policy, subjects)
    plain = msgspec.structs.replace(design, interval="fieller", moderate=False)
    found = estimates(subjects, plain, None).found
    usable = [each for each in found if _has_logarithm(each)]
    changes = [*_changes(usable, decided), *map(_identical, report.identical)]
    if not changes:
        raise _unfit(decided, "has nothing to record: no benchmark gave a ratio")
    left_out = {each.subject.case.benchmark for each in found} - {each.subject.case.benchmark for each in usable}
    record = HistoryRecord(
        commit=commits.head,
        parent=commits.base,
        subject=described.subject,
        committed=described.committed,
        measured=report.run.created,
        # values from elsewhere may have no id of their own
        run=report.run.id or raw[0].removeprefix("sha256:")[:16],
        perfgate=report.run.perfgate,
        machine=machine_of(decided.inputs.records, decided.policy.measured or decided.policy.config),
        controls=report.controls,
        raw=raw,
        changes=sorted(changes, key=lambda change: case_id(change, change.statistic)),
    )
    return Made(record, sorted(left_out))


def _hash(file: Path) -> str:
    found = hashlib.sha256()
    try:
        with file.open("rb") as opened:
            while block := opened.read(_BLOCK):
                found.update(block)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    return f"sha256:{found.hexdigest()}"


def _has_logarithm(found: Estimated) -> bool:
    return found.reduced.trouble not in ("negative", "apart") and found.reduced.x > 0 and found.reduced.y > 0


def _changes(found: Sequence[Estimated], decided: Decided) -> Iterable[Change]:
    # every view is recorded, so that each has a series however often another one decides
    findings = {case_id(v, v.statistic): (v, f) for f in decided.report.findings for v in f.views}
    for each, spreads in zip(found, variances(found), strict=True):
        case, statistic = each.subject.case, each.subject.statistic
        finding, decisive = findings[case_id(case, statistic)]
        change = effect(_logs(each.ratio))
        known = change.df is not None and not each.reduced.trouble
        base, head = (side_summary(each, side, 0.05) for side in ("base", "head"))
        yield Change(
            benchmark=case.benchmark,
            metric=case.metric,
            unit=case.unit,
            better=each.subject.better,
            statistic=statistic,
            factors=case.factors,
            log_ratio=change.value,
            variance=0.0 if each.exact else change.variance if known else None,
            df=change.df if known and not each.exact else None,
            method=each.method,
            base=_measured(base, spreads.base),
            head=_measured(head, spreads.head),
            verdict=finding.verdict,
            accepted=_accepted(finding),
            decided_by=None if finding is decisive else (decisive.metric, decisive.statistic),
        )


def _logs(ratio: Ratio) -> MeanPair:
    if isinstance(ratio, (MeanPair, LogPair, Rounded)):
        return ratio.logs
    raise TypeError(type(ratio).__name__)


def _accepted(finding: Finding) -> AcceptedChange | None:
    known = finding.accepted
    return None if known is None else AcceptedChange(up_to=known.up_to, until=known.until, reason=known.reason)


def _measured(side: SideSummary, levels: Sequence[Variance]) -> Measured:
    counts = side.counts
    parents = {
        "iteration": (counts.iteration, counts.execution),
        "execution": (counts.execution, counts.build),
        "build": (counts.build, counts.session),
        "session": (counts.session, 1),
    }
    spread = []
    for each in levels:
        # of a quantile only the sum of all levels is known
        own = each.s2 if each.t2 is None else each.t2
        units, above = parents[each.level]
        if own is not None and side.value and units > above:
            spread.append(Spread(level=each.level, relative=own / side.value**2, df=units - above))
    return Measured(
        value=side.value, builds=counts.build, executions=counts.execution, iterations=counts.iteration, spread=spread
    )


def _identical(found: Identical) -> Change:
    return Change(
        benchmark=found.benchmark,
        metric=found.metric,
        unit=found.unit,
        better=found.better or "lower",
        statistic=found.statistic,
        factors=found.factors,
        log_ratio=0.0,
        variance=0.0,
        df=None,
        method="identical",
        base=None,
        head=None,
        verdict="identical",
        accepted=None,
    )
