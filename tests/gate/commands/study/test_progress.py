"""How far a study has come, by its lines alone, and the command line that continues it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from gate.commands.study.experiment import BUILT_ONCE, ONE_REPLICATE, Progress, begun_in, progress_of, warnings_of_runs
from gate.commands.study.measure import continuing, shares_now
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.schema import to_tables
from gate.config.types import Config
from gate.evidence.records import Located
from gate.model import Build, Execution, Failure, HostState, Metric, Record, Run, UserError
from gate.model.warnings.base import Said
from gate.units import Duration
from tests.support.samples import there
from tests.support.warned import kinds


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


def test_what_is_complete_by_the_last_plan_of_each_session() -> None:
    whole = progress(run(), *made(*ALL))
    assert (whole.complete, whole.planned, whole.partial, whole.each, whole.finished) == (3, 3, 0, 2, True)
    part = progress(run(), *made(*ALL[:3]))
    assert (part.complete, part.planned, part.partial, part.finished) == (1, 3, 1, False)
    assert progress(run()).complete == 0
    # values without a run line have no plan
    assert progress_of(located(made(*ALL))) == []
    # the last plan counts
    longer = HostState(when="begin", replicates=[2, 1, 2])
    found = progress(run(), HostState(when="begin", replicates=[2, 1]), *made(*ALL), longer, *made((2, 0, 1)))
    assert (found.complete, found.planned, found.first_planned, found.partial) == (3, 5, 3, 1)
    # each session has its own
    files = [*located([run(0), *made(*ALL)], "0"), *located([run(1), *made(*ALL[:2], session=1)], "1")]
    assert [(each.session, each.complete) for each in progress_of(files)] == [(0, 3), (1, 1)]
    # what has begun
    assert begun_in([], 0) == ()
    built = Build(side="head", build=2)
    assert begun_in([*made(*ALL[:3]), built, *made((4, 4, 1), session=1)], 0) == (2, 0, 0)


def test_what_failed_lacks_nothing() -> None:
    failed = Failure(kind="execution", benchmark="a", side="head", factors={"n": 2}, build=0, execution=0)
    assert progress(run(), failed, *made(*(place for place in ALL if place[2] == 1))).finished
    # another benchmark's failure, and the other side's, change nothing
    for other in (Failure(kind="execution", benchmark="aa", side="head"), Failure(kind="build", side="base")):
        assert not progress(run(), other, *made(*(place for place in ALL if place[2] == 1))).finished
    assert progress(run(), Failure(kind="build", side="head", build=1)).finished


def test_warnings_that_more_replicates_or_builds_have_mended() -> None:
    line = run(replicates=1, builds=1)
    line.warnings.extend([Said("once", ONE_REPLICATE), Said("once", BUILT_ONCE)])
    assert kinds(warnings_of_runs(located([line]))) == [ONE_REPLICATE, BUILT_ONCE]
    more = warnings_of_runs(located([line, HostState(when="begin", replicates=[3])]))
    assert kinds(more) == [BUILT_ONCE, "replicates-added"] and "(1 planned, now 3)" in more[1].sentence()
    both = warnings_of_runs(located([line, HostState(when="begin", replicates=[1, 2])]))
    assert kinds(both) == ["replicates-added"]


@pytest.mark.parametrize(
    ("keys", "planned", "wanted"),
    [
        ({}, (2, 1), (2, 1)),
        ({"budget": "2h"}, (2, 1), (2, 1)),
        ({"replicates": 4}, (2, 1), (2, 1, 1)),
        ({"builds": 3}, (2, 1), (2, 1)),
        # what was added earlier stays, whether it is asked for again or not
        ({}, (2, 1, 2), (2, 1, 2)),
        ({"replicates": 5}, (2, 1, 2), (2, 1, 2)),
        ({"replicates": 7}, (2, 1, 2), (2, 1, 4)),
    ],
)
def test_what_is_planned_when_a_study_goes_on(
    keys: dict[str, object], planned: Sequence[int], wanted: Sequence[int]
) -> None:
    past = run()
    begun = [HostState(when="begin", replicates=list(planned)), *made(*ALL)]
    assert shares_now(past, begun, there(study(**keys).study), Path("x")) == tuple(wanted)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"replicates": 2}, "study.replicates was 5, is 2"),
        ({"replicates": 4}, "study.replicates was 5, is 4"),
        ({"builds": 1}, "study.builds was 2, is 1"),
    ],
)
def test_less_than_was_planned_is_refused(keys: dict[str, object], why: str) -> None:
    with pytest.raises(UserError, match=why):
        shares_now(run(), [HostState(when="begin", replicates=[2, 1, 2])], there(study(**keys).study), Path("x"))


@pytest.mark.parametrize(
    ("given", "budget", "wanted"),
    [
        ("study", None, "perfgate study --resume"),
        # quoted for a shell
        ("study --set study.scale='plain", None, """perfgate study --set 'study.scale='"'"'plain' --resume"""),
        ("study --resume --quiet", None, "perfgate study --quiet --resume"),
        ("study --set study.budget=5m", None, "perfgate study --set study.budget=5m --resume"),
        ("study --set study.budget=5m --out x", 3600, "perfgate study --out x --resume --set study.budget=1h"),
        ("study measure --set=study.budget=5m", 90, "perfgate study measure --resume --set study.budget=90s"),
        (
            "study --set study.replicates=8 --set study.budget=5m --session 1",
            600,
            "perfgate study --set study.replicates=8 --session 1 --resume --set study.budget=10m",
        ),
        ("action measure", 600, None),
        ("", None, None),
    ],
)
def test_the_same_command_with_resume(given: str, budget: float | None, wanted: str | None) -> None:
    assert continuing(given.split(), None if budget is None else Duration(budget)) == wanted
