"""How far a study has come, by its lines alone."""

from collections.abc import Iterable

from gate.commands.study.experiment import Progress, progress_of
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.schema import to_tables
from gate.config.types import Config
from gate.evidence.records import Located
from gate.model import Execution, Failure, Metric, Record, Run


def study(**keys: object) -> Config:
    tables = {"factor": {"n": [1, 2]}, "replicates": 3, "builds": 2, **keys}
    return parse(from_tables({"benchmark": [{"name": "a", "command": "true {n}"}], "study": tables}, "test"))


def run(session: int | None = None, **keys: object) -> Run:
    return Run(id="1", seed=7, config=to_tables(study(**keys)), benchmarks={"head": ["a"]}, session=session)


def made(*places: tuple[int, int, int], session: int = 0) -> list[Record]:
    """Executions: build, number and setting of each."""
    metrics = {"time": Metric(values=[1.0])}
    return [
        Execution(benchmark="a", side="head", session=session, build=b, execution=e, factors={"n": n}, metrics=metrics)
        for b, e, n in places
    ]


ALL = [(b, e, n) for b, e in ((0, 0), (0, 1), (1, 0)) for n in (1, 2)]


def located(records: Iterable[Record], path: str = "x") -> list[Located]:
    return [Located(record, path, line) for line, record in enumerate(records, 1)]


def progress(*records: Record) -> Progress:
    (found,) = progress_of(located(records))
    return found


def test_what_is_complete_of_each_session() -> None:
    whole = progress(run(), *made(*ALL))
    assert (whole.complete, whole.planned, whole.partial, whole.each, whole.finished) == (3, 3, 0, 2, True)
    part = progress(run(), *made(*ALL[:3]))
    assert (part.complete, part.planned, part.partial, part.finished) == (1, 3, 1, False)
    assert progress(run()).complete == 0
    # values without a run line have no plan
    assert progress_of(located(made(*ALL))) == []
    # each session has its own
    files = [*located([run(0), *made(*ALL)], "0"), *located([run(1), *made(*ALL[:2], session=1)], "1")]
    assert [(each.session, each.complete) for each in progress_of(files)] == [(0, 3), (1, 1)]


def test_what_failed_lacks_nothing() -> None:
    failed = Failure(kind="execution", benchmark="a", side="head", factors={"n": 2}, build=0, execution=0)
    assert progress(run(), failed, *made(*(place for place in ALL if place[2] == 1))).finished
    # another benchmark's failure, and the other side's, change nothing
    for other in (Failure(kind="execution", benchmark="aa", side="head"), Failure(kind="build", side="base")):
        assert not progress(run(), other, *made(*(place for place in ALL if place[2] == 1))).finished
    assert progress(run(), Failure(kind="build", side="head", build=1)).finished
