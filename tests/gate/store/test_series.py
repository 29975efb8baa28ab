"""The chain of a history, and which view of a benchmark the trend follows."""

import random
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.cli.groups import RulesOptions
from gate.decide.report import Decided, decide
from gate.evidence.records import read_inputs
from gate.model.case import CaseId
from gate.model.history import Change, HistoryRecord
from gate.planning.deciding import decide_inputs
from gate.store.history_records import decode, encode
from gate.store.recording import record_of
from gate.store.series import CaseSeries, chained, followed, series, trend
from tests.support import runs
from tests.support.histories import change, record, sha
from tests.support.runs import Shape

# --- chain ------------------------------------------------------------------------------------------------------------


def rec(number: int, parent: int | None = None, run: str = "") -> HistoryRecord:
    return record(number, [change("a", 0.0, 0.0, 1e-4, 5)], parent=parent, run=run)


def steps(records: list[HistoryRecord]) -> list[tuple[str, str, int]]:
    return [(link.parent[:4], link.commit[:4], len(link.records)) for link in chained(records).links]


def test_commits_follow_their_parents_whatever_the_order_of_records_and_the_clock() -> None:
    records = [rec(n) for n in range(1, 8)]
    records[3] = msgspec.structs.replace(rec(4), committed="2029-01-01T00:00:00Z")
    random.Random(1).shuffle(records)
    assert steps(records) == [(f"{n - 1:04d}", f"{n:04d}", 1) for n in range(1, 8)]


def test_what_nothing_links_is_a_gap_and_several_runs_of_one_commit_are_one_step() -> None:
    assert steps([rec(1), rec(2), rec(2, run="again"), rec(7), rec(8)]) == [
        ("0000", "0001", 1), ("0001", "0002", 2), ("0002", "0006", 0), ("0006", "0007", 1), ("0007", "0008", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("records", "kind"),
    [
        ([rec(3, parent=1, run="x"), rec(3), rec(4)], "pinned"),
        ([rec(3, parent=1, run="x"), rec(4, parent=2)], "aside"),
        ([rec(1, parent=1, run="x")], "controls"),
    ],
)
def test_pinned_bases_other_branches_and_controls_are_no_steps(records: list[HistoryRecord], kind: str) -> None:
    found = chained([rec(1), rec(2), *records])
    commits = [each.commit for each in sorted(records, key=lambda each: each.commit) if each.run != "x"]
    assert [link.commit for link in found.links] == [sha(1), sha(2), *commits]
    assert {name: [each.run for each in getattr(found, name)] for name in ("pinned", "aside", "controls")} == {
        **{name: [] for name in ("pinned", "aside", "controls")},
        kind: ["x"],
    }


# --- views ------------------------------------------------------------------------------------------------------------


ACTIVE, WALL = CaseId("parse", "active", "", "typical"), CaseId("parse", "time", "", "mean")
SIZES = (0.0, 0.04, 0.0, -0.01, 0.0, 0.02, 0.0, 0.0)


def of_view(case: CaseId, ratio: float, decided: CaseId) -> Change:
    """A change of a view, of wall time with a noise 20 times that of active time."""
    noise = 1e-7 if case is ACTIVE else 4e-5
    instead: dict[str, Any] = {} if case == decided else {"decided_by": (decided.metric, decided.statistic)}
    return change("parse", ratio, -3.0, noise, 5, metric=case.metric, statistic=case.statistic, **instead)


def measured(number: int, decided: CaseId, cases: tuple[CaseId, ...] = (ACTIVE, WALL)) -> HistoryRecord:
    return record(number, [of_view(case, SIZES[number - 1], decided) for case in cases])


def shown(records: list[HistoryRecord]) -> list[CaseSeries]:
    return followed(series(chained(records)))


def test_a_decider_that_changes_breaks_no_series() -> None:
    records = [measured(n, WALL if n in (3, 6) else ACTIVE) for n in range(1, 9)]
    [found] = shown(records)
    assert found.id == ACTIVE
    assert len(found.runs) == 8
    [case] = trend(chained(records), [found], []).cases
    assert case.unmeasured == 0
    assert case.chain.estimate == pytest.approx(sum(SIZES))


def test_the_view_that_decided_most_often_is_followed_and_of_equals_the_last_one() -> None:
    assert [each.id for each in shown([measured(n, WALL if n < 6 else ACTIVE) for n in range(1, 9)])] == [WALL]
    assert [each.id for each in shown([measured(n, WALL if n < 5 else ACTIVE) for n in range(1, 9)])] == [ACTIVE]
    assert [each.id for each in shown([measured(n, WALL if n > 4 else ACTIVE) for n in range(1, 9)])] == [WALL]


def test_where_a_view_was_not_measured_the_ratio_of_the_one_that_decided_stands_in() -> None:
    """Before an upgrade, and where several tasks did the work, there is wall time alone."""
    records = [measured(n, WALL, (WALL,)) if n in (1, 2, 6) else measured(n, ACTIVE) for n in range(1, 9)]
    [found] = shown(records)
    assert found.id == ACTIVE
    assert trend(chained(records), [found], []).cases[0].unmeasured == 0
    assert found.steps.ratio == pytest.approx(SIZES)
    # with its own noise, and without its level
    assert found.steps.variance[1] > 50 * found.steps.variance[3]
    assert [run.step for run in found.runs if run.change.head is None] == [0, 1, 5]
    assert found.steps.machines[0].count.tolist() == [0, 0, 1, 1, 1, 0, 1, 1]


def test_identical_holds_for_every_view() -> None:
    same = change("parse", 0.0, 0.0, 0.0, 5, base=None, head=None, df=None, verdict="identical", method="identical")
    # five proofs are no five verdicts of wall time
    records = [measured(n, ACTIVE) if n in (1, 4, 8) else record(n, [same]) for n in range(1, 9)]
    [found] = shown(records)
    assert found.id == ACTIVE
    assert trend(chained(records), [found], []).cases[0].unmeasured == 0


def test_another_metric_of_the_benchmark_is_no_view_of_it() -> None:
    memory = change("parse", 0.0, 16.0, 1e-6, 5, metric="memory", unit="B")
    records = [record(n, [*measured(n, ACTIVE).changes, memory]) for n in range(1, 9)]
    assert [each.id.metric for each in shown(records)] == ["active", "memory"]


def test_lists_count_a_benchmark_once() -> None:
    one = measured(1, ACTIVE)
    assert [case.metric for case in one.decided] == ["active"]
    assert [case.metric for case in decode(encode(one)).decided] == ["active"]


def decided_by_views(folder: Path) -> Decided:
    """A run of two cases whose base and head took turns, with an active time that varies less than wall time."""
    lines = list(runs.plain(Shape(cases=2, builds=6, executions=10, iterations=1, spread=(0.001, 0.03, 0.03))))
    names = lines[0]["benchmarks"]["base"]
    lines[0]["config"]["benchmark"] = [{"name": each, "command": "x", "instrument": "spawn"} for each in names]
    runs.write(folder, iter(lines))
    found = decide_inputs(read_inputs([str(folder)]), RulesOptions())

    def quiet(values: Any) -> Any:
        return np.full(values.shape, values.mean()) * (1 + 1e-4 * np.sin(np.arange(values.size)))

    timed = [msgspec.structs.replace(case, turns=True, one_task=True) for case in found.evidence.cases]
    active = [
        msgspec.structs.replace(
            case, metric="active", view_of="time", sharp=True,
            base=msgspec.structs.replace(case.base, values=quiet(case.base.values)),
            head=msgspec.structs.replace(case.head, values=quiet(case.head.values)),
        )
        for case in timed
    ]  # fmt: skip
    evidence = msgspec.structs.replace(found.evidence, cases=[*timed, *active])
    return msgspec.structs.replace(found, evidence=evidence, report=decide(evidence, found.policy))


def test_a_record_holds_every_view_and_names_the_one_that_decided(tmp_path: Path) -> None:
    found = decided_by_views(tmp_path)
    assert [(f.metric, f.statistic) for f in found.report.findings] == [("active", "typical")] * 2
    record = record_of(found, "2026-11-20T08:00:00Z", "Parse faster")[0]
    assert [(c.metric, c.statistic, c.decided_by) for c in record.changes if c.benchmark.endswith("case-000")] == [
        ("active", "typical", None),
        ("time", "mean", ("active", "typical")),
    ]
    assert len(record.decided) == 2
