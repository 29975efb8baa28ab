"""Benchmarks that are proved to be the same on both sides, why the others are not, and whether layouts were alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from gate.config.types import Config
from gate.evidence.lines import Located
from gate.evidence.runs import EvidenceError
from gate.model import SIDES, Build, Execution, Failure, HostState, Layouts, Record, Run, Same, Side, Unproved
from gate.model.case import canonical
from gate.model.warnings.base import Said
from gate.model.warnings.measured import SAME_COMMIT
from gate.model.warnings.setup import NothingToCompare


def identical(records: Sequence[Located], run: Run | None) -> list[Same]:
    """Return the proofs that hold, one for each benchmark.

    What was measured or failed in any session goes by that. In an A/A run there is no proof: a job that takes one
    commit for both sides would be green for ever.

    Raises: EvidenceError: one session has both a proof and executions of a benchmark.
    """
    proofs = [located for located in records if isinstance(located.record, Same)]
    if not proofs:
        return []
    places = {(r.record.benchmark, r.record.session): r for r in records if isinstance(r.record, Same)}
    executed = [(r, r.record) for r in records if isinstance(r.record, Execution)]
    for located, name, session in ((r, name, e.session) for r, e in executed for name in (e.benchmark, e.suite)):
        if proof := places.get((name or "", session)):
            raise EvidenceError(
                f"{proof.path}:{proof.line} and {located.path}:{located.line}: {name} is said to be the same "
                "on both sides, and was measured in the same session"
            )
    everything = [located.record for located in records]
    tried = tried_names(everything)
    if is_one_commit(run):
        return []
    found: dict[str, Same] = {}
    for record in everything:
        if isinstance(record, Same) and record.benchmark not in tried:
            found.setdefault(record.benchmark, record)
    return list(found.values())


def tried_names(records: Iterable[Record]) -> set[str]:
    """Return the benchmarks and suites that were measured or failed."""
    names: set[str | None] = set()
    for record in records:
        if isinstance(record, Execution):
            names |= {record.benchmark, record.suite}
        elif isinstance(record, Failure):
            names.add(record.benchmark)
    return {name for name in names if name is not None}


def is_one_commit(run: Run | None) -> bool:
    """Return whether both sides are one commit without changes: an A/A run."""
    if run is None or run.base is None or run.head is None:
        return False
    changed = any(side.dirty or side.tree for side in (run.base, run.head))
    return run.base.sha is not None and run.base.sha == run.head.sha and not changed


def sameness_warnings(run: Run | None) -> list[Said]:
    """Warn of an A/A run."""
    meant = run is not None and any(isinstance(each, NothingToCompare) for each in run.warnings)
    return [SAME_COMMIT] if is_one_commit(run) and not meant else []


def unproved(records: Iterable[Record]) -> dict[str, Unproved]:
    """Give why each measured benchmark may differ, as the first session says that has a reason."""
    found: dict[str, Unproved] = {}
    for record in records:
        for name, why in record.unproved.items() if isinstance(record, HostState) else ():
            found.setdefault(name, why)
    return found


def layouts_of(measured: Config | None, builds: Sequence[Build]) -> Layouts | None:
    """Return whether both sides of a round were laid out alike; None: the measurements do not say."""
    if measured is None:
        return None
    return "independent" if "independent" in (measured.build.layouts, shuffled(builds)) else "common"


def shuffled(builds: Sequence[Build]) -> Layouts | None:
    """Return whether Go's linker shuffled the functions of both sides of a round alike; None: nothing was shuffled.

    It draws another order for all of them where one side has a function more, whatever the seed.
    """
    orders: dict[tuple[Side, str], set[str]] = defaultdict(set)
    for build in builds:
        if build.layout is not None:
            orders[build.side, canonical(build.factors)].add(build.layout)
    pairs = both(builds)
    if not pairs or max(map(len, orders.values())) < 2:
        return None
    return "common" if all(base.layout == head.layout for base, head in pairs) else "independent"


def are_two_programs(run: Run, records: Iterable[Record]) -> bool:
    """Return whether base and head are two programs, as far as the measurements say.

    One commit is one program, and so are two whose artifacts were the same bytes in every round. Laid out alike, one
    program against itself holds nothing of what layouts do to a comparison.
    """
    if is_one_commit(run):
        return False
    made: dict[tuple[int, int, str], list[dict[str, str]]] = defaultdict(list)
    for record in records:
        if isinstance(record, Build) and record.artifacts:
            made[record.session, record.build, canonical(record.factors)].append(record.artifacts)
    pairs = [found for found in made.values() if len(found) == len(SIDES)]
    return not pairs or any(one != other for one, other in pairs)


def both(builds: Sequence[Build]) -> list[tuple[Build, Build]]:
    """Return base's and head's build of each round, with the same settings, of those whose functions are known."""
    rounds: dict[tuple[int, int, str], dict[Side, Build]] = defaultdict(dict)
    for build in builds:
        if build.layout is not None:
            rounds[build.session, build.build, canonical(build.factors)][build.side] = build
    return [(each["base"], each["head"]) for each in rounds.values() if len(each) == len(SIDES)]
