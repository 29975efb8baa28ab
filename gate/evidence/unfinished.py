"""What does not count: a round that the budget left unfinished, and what was measured in trees that were changed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from gate.evidence.records import Located
from gate.evidence.runs import File, files_of
from gate.model import Build, Cut, Execution, Failure, HostState, Record, Same, Turn, Unfinished
from gate.model.profile import Profile, Unprofiled


def counted(records: Sequence[Located]) -> list[Located]:
    """Leave out what does not count, of each job as its own lines say.

    - Executions of a round that the budget ended: one that is half there would weigh the benchmarks and the sides by
      where the time ran out.
    - What was measured from a round on in which a tree was changed, on both sides: which executions came after the
      change is not known. In an experiment others than those of its settings stay. What was proved the same in the
      first round was proved in these trees, too.
    - That the machine was not free, of a job that measured or waited afterwards: a run that was resumed.
    - What explains a run: it decides nothing.
    """
    dropped: set[int] = set()
    for file in files_of(records):
        cuts, every = _cuts(file), list(enumerate(file.records))
        changed = [record for record in file.records if isinstance(record, Failure) and record.kind == "tree"]
        begun = max((n for n, record in every if isinstance(record, HostState)), default=-1)
        held = [n for n, record in every if isinstance(record, Failure) and record.kind == "lock"]
        dropped.update(id(file.records[n]) for n in held if n < begun or n != held[-1])
        dropped.update(
            id(record)
            for record in file.records
            if isinstance(record, (Profile, Unprofiled))
            or (cuts and _is_cut(record, cuts))
            or (changed and any(_is_of(record, failure) for failure in changed))
        )
    return [located for located in records if id(located.record) not in dropped]


def _is_cut(record: Record, cuts: dict[int, tuple[HostState, Cut]]) -> bool:
    if not isinstance(record, Execution) or record.session not in cuts:
        return False
    complete = cuts[record.session][0].rounds
    return complete is not None and record.build >= complete


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
    ended = [(file, _cuts(file)) for file in files_of(records)]
    cuts = [(file, *found) for file, own in ended for found in own.values()]
    whole = (isinstance(each, Execution) and not _is_cut(each, own) for file, own in ended for each in file.records)
    if budget is None or not cuts or any(whole):
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


def _cuts(file: File) -> dict[int, tuple[HostState, Cut]]:
    """Give how each session of a job ended, where the budget ended it within a round."""
    last = {record.session: record for record in file.records if isinstance(record, HostState)}
    return {session: (end, end.cut) for session, end in last.items() if end.stop == "budget" and end.cut is not None}
