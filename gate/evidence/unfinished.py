"""What does not count: a round that the budget left unfinished, and what was measured in trees that were changed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from gate.evidence.records import Located
from gate.evidence.runs import File, files_of
from gate.model import Build, Cut, Execution, Failure, HostState, Record, Same, Turn, Unfinished
from gate.model.profile import Profile, Unprofiled


def complete_rounds(records: Sequence[Located]) -> list[Located]:
    """Leave out the executions of rounds that the budget ended: those of each job, as its last line says.

    A round that is half there would weigh the benchmarks and the sides by where the time ran out.
    """
    dropped: set[int] = set()
    for file in files_of(records):
        for session, (end, _) in _cuts(file).items():
            dropped.update(
                id(record)
                for record in file.records
                if isinstance(record, Execution)
                and record.session == session
                and end.rounds is not None
                and record.build >= end.rounds
            )
    return [located for located in records if id(located.record) not in dropped]


def trusted(records: Sequence[Located]) -> list[Located]:
    """Leave out what was measured from a round on in which a tree was changed: each job's own, both sides of it.

    Which executions came after the change is not known. In an experiment others than those of its settings stay. What
    was proved the same in the first round was proved in these trees, too.
    """
    dropped: set[int] = set()
    for file in files_of(records):
        for failure in file.records:
            if isinstance(failure, Failure) and failure.kind == "tree":
                dropped.update(id(record) for record in file.records if _is_of(record, failure))
    return [located for located in records if id(located.record) not in dropped]


def _is_of(record: Record, failure: Failure) -> bool:
    round_ = failure.build or 0
    if isinstance(record, Same):
        return record.session == failure.session and round_ == 0
    if not isinstance(record, Execution) or record.session != failure.session or record.build < round_:
        return False
    return all(record.factors.get(name) == setting for name, setting in failure.factors.items())


def unfinished(records: Sequence[Located], budget: float | None) -> Unfinished | None:
    """Say what took the time of a budget that ended before one round was complete; None where one is.

    records: all of the run, those of the round among them. budget: of the run in seconds.
    """
    cuts = [(file, *found) for file in files_of(records) for found in _cuts(file).values()]
    if budget is None or not cuts or any(isinstance(each.record, Execution) for each in complete_rounds(records)):
        return None
    file, _, cut = cuts[0]
    builds = [record for record in file.records if isinstance(record, Build)]
    executions = [record for record in file.records if isinstance(record, Execution)]
    following = [build.following for build in builds if build.following is not None]
    return Unfinished(
        budget=budget,
        cut=cut,
        setup=sum(each.setup or 0.0 for each in builds) + cut.setup,
        builds=len(builds),
        building=sum(each.seconds or 0.0 for each in builds),
        following=fmean(following) if following else None,
        executions=len({(each.suite or each.benchmark, each.side, each.execution) for each in executions})
        + cut.compared,
        executing=sum(each.seconds or 0.0 for each in executions) + cut.comparing,
        turns={record.benchmark: record.executions for record in file.records if isinstance(record, Turn)},
    )


def without_past_waits(records: Sequence[Located]) -> list[Located]:
    """Leave out that the machine was not free, of jobs that measured or waited afterwards: a run that was resumed."""
    past: set[int] = set()
    for file in files_of(records):
        begun = max((n for n, record in enumerate(file.records) if isinstance(record, HostState)), default=-1)
        held = [n for n, record in enumerate(file.records) if isinstance(record, Failure) and record.kind == "lock"]
        past.update(id(file.records[n]) for n in held if n < begun or n != held[-1])
    return [located for located in records if id(located.record) not in past]


def without_profiles(records: Sequence[Located]) -> list[Located]:
    """Leave out what explains a run: it decides nothing."""
    return [located for located in records if not isinstance(located.record, (Profile, Unprofiled))]


def _cuts(file: File) -> dict[int, tuple[HostState, Cut]]:
    """Give how each session of a job ended, where the budget ended it within a round."""
    last = {record.session: record for record in file.records if isinstance(record, HostState)}
    return {session: (end, end.cut) for session, end in last.items() if end.stop == "budget" and end.cut is not None}
