"""A run that was decided -> its record: each case's change, with the variance that its estimate came with."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gate.checkout import is_sha
from gate.config.types import Config
from gate.decide.design import Estimated, design_of
from gate.decide.details import variances
from gate.decide.estimates import estimates, side_summary, subjects_of
from gate.decide.report import Decided
from gate.evidence.lines import Located
from gate.evidence.records import file_bytes
from gate.model import HostState, Run, SideSummary, UserError, Variance
from gate.model.case import case_id
from gate.model.history import Change, HistoryRecord, Machine, PastSide, Spread
from gate.model.profile import Profile, Unprofiled
from gate.stats.fixed_sessions import effect
from gate.stats.ratio import LogPair, MeanPair, RoundedRatio
from gate.store.ref import Git
from gate.writing.units import nominal_gib

_FACTS = ("os", "kernel", "machine", "cpu", "cores", "affinity")
"""Of a run line's host. Its name and boot are left out, and any other key, which may hold a name too."""
_SETTINGS = ("governor", "turbo")
"""Of the state when measuring began."""
_DIGITS = 12


def machine_of(records: Collection[Located], config: Config) -> Machine:
    """Return the class of the machine that measured, of several with every one's facts."""
    tools = sorted({benchmark.instrument for benchmark in config.benchmark})
    every: list[dict[str, Any]] = []
    # those of hosts come first
    for record in sorted((each.record for each in records), key=lambda each: isinstance(each, HostState)):
        own: dict[str, Any] = {}
        if isinstance(record, Run) and record.host:
            own = {name: record.host.get(name) for name in (*_FACTS, *tools)}
            memory = record.host.get("memory")
            if isinstance(memory, int) and memory > 0:
                own |= {"memory": int(nominal_gib(memory) * 2**30)}
        elif isinstance(record, HostState) and record.when == "begin":
            own = {name: record.state.get(name) for name in _SETTINGS}
        every.append({n: v for n, v in own.items() if isinstance(v, (str, int, float)) and v not in ("", "unknown")})
    facts = {}
    for name in dict.fromkeys(name for own in every for name in own):
        # a fact that all machines share, otherwise each one's
        values = list(dict.fromkeys(own[name] for own in every if name in own))
        facts[name] = values[0] if len(values) == 1 else " and ".join(sorted(map(str, values)))
    text = msgspec.json.encode(facts, order="sorted")
    return Machine(id=hashlib.sha256(text).hexdigest()[:_DIGITS], facts=facts)


def describe(git: Git, commit: str) -> tuple[str | None, str]:
    """Return when a commit was made, ISO 8601 in UTC, and its subject; None, "" where this repository has it not."""
    answer = git.attempt("show", "--no-patch", "--no-show-signature", "--format=%ct%n%s", f"{commit}^{{commit}}")
    seconds, _, subject = answer.stdout.decode(errors="replace").partition("\n")
    if answer.status or not seconds.strip().isdigit():
        return None, ""
    try:
        when = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None, subject.strip()
    return when.isoformat(timespec="seconds").replace("+00:00", "Z"), subject.strip()


def descends(git: Git, commit: str, parent: str) -> bool:
    """Return whether a commit descends from another, as far as this repository knows."""
    if git.attempt("rev-parse", "--is-shallow-repository").stdout.strip() == b"true":
        return True
    # 1 is no; anything else is "not known"
    return git.attempt("merge-base", "--is-ancestor", parent, commit).status != 1


def commits_of(decided: Decided) -> tuple[str, str]:
    """Return the commits that a run compared, base and head.

    Raises: UserError: it cannot be recorded: it knows none, measured uncommitted changes, or was interrupted.
    """
    run, report, found = decided.evidence.run or Run(), decided.report, list[str]()
    for side, commit in (("base", run.base), ("head", run.head)):
        if commit is None or commit.sha is None or not is_sha(commit.sha):
            why = "imported results know no commits" if report.run.imported else "its run line names no whole sha"
            raise _unfit(decided, f"has no commit of {side} ({why}): only a run of two commits can be recorded")
        if commit.dirty:
            raise _unfit(decided, f"measured uncommitted changes of {side}: commit them, and check again")
        found.append(commit.sha)
    last = {state.session: state for state in report.run.states}.values()
    if any(state.when == "begin" for state in last):
        raise _unfit(decided, "was interrupted: `perfgate check --resume` measures the rest")
    return found[0], found[1]


def _unfit(decided: Decided, why: str) -> UserError:
    where = ", ".join(map(str, decided.inputs.files)) or "the run"
    return UserError(f"{where}: {why}")


def record_of(decided: Decided, committed: str | None, subject: str) -> tuple[HistoryRecord, list[str]]:
    """Make the record of a run whose commits are fit, see commits_of.

    committed: when its head was made. subject: of its head.

    Returns:
        The record, and the benchmarks without a ratio: a value is 0 or negative, or base and head share no session.

    Raises:
        UserError: nothing of it can be recorded, or its measurements cannot be read again.
    """
    base, head = commits_of(decided)
    report, raw = decided.report, [_hash_of(file, decided.inputs.records) for file in decided.inputs.files]
    if not raw:
        raise UserError("standard input: a record names its measurements by their hash: give their file")
    # estimate what was decided, over all of its rounds
    evidence, policy = decided.evidence, decided.policy
    subjects = subjects_of(evidence, policy)
    design = design_of(evidence, policy, subjects)
    plain = msgspec.structs.replace(design, interval="fieller", moderate=False)
    found, _ = estimates(subjects, plain, None)
    usable = [
        each
        for each in found
        if each.reduced.trouble not in ("negative", "apart") and each.reduced.x > 0 and each.reduced.y > 0
    ]
    changes = [
        *_changes(usable, decided),
        *(
            Change(
                benchmark=each.benchmark, metric=each.metric, unit=each.unit, better=each.better or "lower",
                statistic=each.statistic, factors=each.factors, log_ratio=0.0, variance=0.0, df=None,
                method="identical", base=None, head=None, verdict="identical", accepted=None,
            )
            for each in report.identical
        ),
    ]  # fmt: skip
    if not changes:
        raise _unfit(decided, "has nothing to record: no benchmark gave a ratio")
    left_out = {each.subject.case.benchmark for each in found} - {each.subject.case.benchmark for each in usable}
    record = HistoryRecord(
        commit=head,
        parent=base,
        subject=subject,
        committed=committed,
        measured=report.run.created,
        # values from elsewhere may have no id of their own
        run=report.run.id or raw[0].removeprefix("sha256:")[:16],
        perfgate=report.run.perfgate,
        machine=machine_of(decided.inputs.records, decided.policy.measured or decided.policy.config),
        controls=report.controls,
        raw=raw,
        changes=sorted(changes, key=lambda change: case_id(change, change.statistic)),
    )
    return record, sorted(left_out)


def _hash_of(file: Path, records: Iterable[Located]) -> str:
    """Return the hash of a file's lines without the profiles: `explain` may append them to a run that is recorded."""
    own = (each for each in records if isinstance(each.record, (Profile, Unprofiled)) and each.path == str(file))
    explaining = {each.line for each in own}
    _, data = file_bytes(str(file))
    kept = (line for number, line in enumerate(io.BytesIO(data), 1) if number not in explaining)
    return f"sha256:{hashlib.sha256(b''.join(kept)).hexdigest()}"


def _changes(found: Sequence[Estimated], decided: Decided) -> Iterable[Change]:
    # every view is recorded, so that each has a series however often another one decides
    findings = {case_id(v, v.statistic): (v, f) for f in decided.report.findings for v in f.views}
    for each in found:
        spreads = variances(each)
        case, statistic = each.subject.case, each.subject.statistic
        finding, decisive = findings[case_id(case, statistic)]
        if not isinstance(each.ratio, (MeanPair, LogPair, RoundedRatio)):
            raise TypeError(type(each.ratio).__name__)
        change = effect(each.ratio.logs)
        known = change.df is not None and not each.reduced.trouble
        base, head = (side_summary(each, side, 0.05) for side in ("base", "head"))
        yield Change(
            benchmark=case.benchmark, metric=case.metric, unit=case.unit, better=each.subject.better,
            statistic=statistic, factors=case.factors, log_ratio=change.value,
            variance=0.0 if each.exact else change.variance if known else None,
            df=change.df if known and not each.exact else None, method=each.method, base=_measured(base, spreads.base),
            head=_measured(head, spreads.head), verdict=finding.verdict, accepted=finding.accepted,
            decided_by=None if finding is decisive else (decisive.metric, decisive.statistic),
        )  # fmt: skip


def _measured(side: SideSummary, levels: Sequence[Variance]) -> PastSide:
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
    return PastSide(
        value=side.value, builds=counts.build, executions=counts.execution, iterations=counts.iteration, spread=spread
    )
