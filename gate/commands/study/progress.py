"""How far a study has come, by the lines of its sessions: what was planned, begun and completed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gate.config.replicates import shares_of
from gate.config.rules import is_single
from gate.config.treatments import Planned, labels_of, measured_by, treatments
from gate.config.types import Config
from gate.evidence.records import Located
from gate.evidence.runs import File, config_of, files_of
from gate.model import Build, Execution, Failure, HostState, Record, Side
from gate.model.case import canonical
from gate.model.warnings import AnyWarning, typed
from gate.model.warnings.study import BuiltOnce, OneReplicate, ReplicatesAdded

Cell = tuple[str, Side, str]
"""Benchmark, side and settings: what is executed once a replicate."""


def shares_in(records: Iterable[Record], config: Config | None, session: int) -> tuple[int, ...]:
    """Return the replicates of each round as last planned; () where no study is known."""
    planned: tuple[int, ...] = shares_of(config.study) if config is not None and config.study is not None else ()
    for record in records:
        if isinstance(record, HostState) and record.session == session and record.replicates:
            planned = tuple(record.replicates)
    return planned


def still_true(warnings: Iterable[AnyWarning], shares: Sequence[int]) -> list[AnyWarning]:
    """Leave out what a run line warned of and more replicates or builds make untrue."""
    gone: tuple[type, ...] = (*([OneReplicate] if sum(shares) > 1 else []), *([BuiltOnce] if len(shares) > 1 else []))
    return [each for each in warnings if not isinstance(each, gone)]


def begun_in(records: Iterable[Record], session: int) -> tuple[int, ...]:
    """Return of each round that has begun how many of its replicates have; 0: only its builds."""
    found: dict[int, int] = {}
    for record in records:
        if isinstance(record, (Build, Execution, Failure)) and record.session == session and record.build is not None:
            number = None if isinstance(record, Build) else record.execution
            found[record.build] = max(found.get(record.build, 0), 0 if number is None else number + 1)
    return tuple(found.get(build, 0) for build in range(max(found, default=-1) + 1))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one session of a study has come."""

    session: int
    shares: tuple[int, ...]
    """The replicates of each round, by the last plan."""
    first_planned: int
    """Replicates, when it began."""
    complete: int
    """Replicates of which everything was executed that did not fail."""
    partial: int
    """Executions of the replicates that are not complete."""
    each: int
    """Executions of a replicate."""

    @property
    def planned(self) -> int:
        """Replicates, by the last plan."""
        return sum(self.shares)

    @property
    def finished(self) -> bool:
        """Whether all of the plan was measured."""
        return self.complete >= self.planned


def progress_of(records: Sequence[Located]) -> list[Progress]:
    """Return how far each session has come whose run line says how it was planned, in the order of the files."""
    found = map(_progress, files_of(records))
    return [each for each in found if each is not None]


def warnings_of_runs(records: Sequence[Located]) -> list[AnyWarning]:
    """Return what the run lines warn of as far as it is still true, and of replicates that were added."""
    found: list[AnyWarning] = []
    for file in files_of(records):
        progress = _progress(file)
        found += still_true(typed(file.run.warnings), progress.shares if progress else ())
        if progress is not None and progress.planned > progress.first_planned:
            found.append(ReplicatesAdded(progress.first_planned, progress.planned))
    return list(dict.fromkeys(found))


def _progress(file: File) -> Progress | None:
    run = file.run
    config = config_of(run)
    if config is None or config.study is None or run.benchmarks is None:
        return None
    session = run.session or 0
    shares = shares_in(file.records, config, session)
    runner = (run.host or {}).get("runner")
    every = treatments(config.study, config.build)
    planned = measured_by(config.study, every, session, ",".join(labels_of(runner)) if runner else None)
    failures = [record for record in file.records if isinstance(record, Failure) and record.session == session]
    cells = {
        (name, each.side, canonical(each.settings)): is_single(config, name)
        for each in planned
        for name in run.benchmarks.get(each.side, ())
        if not any(_is_out(name, each, failure) for failure in failures)
    }
    made: dict[tuple[int, int], set[Cell]] = {}
    for record in file.records:
        if isinstance(record, Execution) and record.session == session:
            cell = (record.suite or record.benchmark, record.side, canonical(record.factors))
            made.setdefault((record.build, record.execution), set()).add(cell)
    places = [(build, number) for build, share in enumerate(shares) for number in range(share)]
    done = {place for place in places if _wanted(cells, place) <= made.get(place, set())}
    return Progress(
        session=session,
        shares=shares,
        first_planned=config.study.replicates,
        complete=len(done),
        partial=sum(len(each & cells.keys()) for place, each in made.items() if place not in done),
        each=len(cells),
    )


def _wanted(cells: dict[Cell, bool], place: tuple[int, int]) -> set[Cell]:
    return {cell for cell, single in cells.items() if place[1] == 0 or not single}


def _is_out(name: str, planned: Planned, failure: Failure) -> bool:
    """Return whether a failure ended a benchmark at a treatment, or what it needs was not built."""
    if failure.side not in (None, planned.side):
        return False
    if failure.kind in ("build", "tree"):
        return all(planned.settings.get(factor) == setting for factor, setting in failure.factors.items())
    own = failure.benchmark is not None and f"{failure.benchmark}/".startswith(f"{name}/")
    return own and canonical(failure.factors) == canonical(planned.settings)
