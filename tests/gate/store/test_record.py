"""The record of a run: each case's change with its variance, as its estimate came with them."""

import dataclasses
import hashlib
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.cli.groups import RulesOptions
from gate.evidence.records import read_inputs
from gate.model import Level, UserError
from gate.model.history import HistoryRecord
from gate.planning.deciding import decide_inputs
from gate.store.recording import record_of
from tests.support import runs
from tests.support.runs import CHANGES, Line, Shape, host_lines, measured, names, run_line
from tests.support.seeds import some

DESCRIBED = "2026-11-20T08:00:00Z", "Parse faster"


def made(folder: Path, lines: Iterable[Line], **sets: str) -> tuple[HistoryRecord, list[str]]:
    runs.write(folder, iter(lines))
    options = dataclasses.replace(RulesOptions(), sets=tuple(f"gate.{key}={value}" for key, value in sets.items()))
    return record_of(decide_inputs(read_inputs([str(folder)]), options), *DESCRIBED)


def logs(lines: Iterable[Line], benchmark: str) -> list[float]:
    """ln(head/base) of each round, from the lines themselves: means of executions, then of builds."""
    of: dict[tuple[int, str], list[float]] = defaultdict(list)
    for line in lines:
        if line["type"] == "execution" and line["benchmark"] == benchmark:
            of[line["build"], line["side"]].append(statistics.fmean(line["metrics"]["time"]["values"]))
    builds = sorted({build for build, _ in of})
    return [math.log(statistics.fmean(of[b, "head"]) / statistics.fmean(of[b, "base"])) for b in builds]


def test_has_the_mean_of_the_rounds_and_the_variance_of_that_mean(tmp_path: Path) -> None:
    shape = Shape(cases=3, builds=6)
    lines = list(runs.plain(shape))
    for change in made(tmp_path, lines, interval="paired")[0].changes:
        rounds = logs(lines, change.benchmark)
        assert change.method == "paired"
        assert change.log_ratio == pytest.approx(statistics.fmean(rounds), rel=1e-9)
        assert change.variance == pytest.approx(statistics.variance(rounds) / 6, rel=1e-9)
        assert change.df == 5


def test_has_the_logarithm_of_the_ratio_of_means_where_rounds_are_not_paired(tmp_path: Path) -> None:
    lines = list(runs.plain(Shape(cases=2, builds=5)))
    for change in made(tmp_path, lines, interval="fieller")[0].changes:
        assert change.base is not None
        assert change.head is not None
        assert change.log_ratio == pytest.approx(math.log(change.head.value / change.base.value))
        # by the delta method: the sum of both sides' squared relative standard errors
        sides = []
        for side in ("base", "head"):
            means: dict[int, list[float]] = defaultdict(list)
            for line in lines:
                if line["type"] == "execution" and (line["benchmark"], line["side"]) == (change.benchmark, side):
                    means[line["build"]].append(statistics.fmean(line["metrics"]["time"]["values"]))
            builds = [statistics.fmean(each) for each in means.values()]
            sides.append(statistics.variance(builds) / 5 / statistics.fmean(builds) ** 2)
        assert change.variance == pytest.approx(sum(sides), rel=1e-9)


@pytest.mark.parametrize("cases", some([60, 150], 1))
@pytest.mark.parametrize("interval", ["paired", "fieller", "paired-shared"])
def test_its_interval_covers_the_true_change(tmp_path: Path, interval: str, cases: int) -> None:
    shape = Shape(cases=cases, builds=5, executions=2, iterations=3)
    covered = 0
    record = made(tmp_path, runs.plain(shape), interval=interval)[0]
    truth = {name: math.log(CHANGES[number % 5]) for number, name in enumerate(names(shape))}
    for change in record.changes:
        assert change.variance is not None
        assert change.df is not None
        half = stats.t.ppf(0.975, change.df) * math.sqrt(change.variance)
        covered += abs(change.log_ratio - truth[change.benchmark]) <= half
    # 95%, less three standard errors; not all, as of intervals that are too wide
    assert 0.95 * cases - 3 * math.sqrt(0.95 * 0.05 * cases) <= covered < cases


def test_spreads_are_the_components_of_the_variance(tmp_path: Path) -> None:
    shape = Shape(cases=40, builds=6, executions=4, iterations=5, spread=(0.02, 0.01, 0.01))
    record = made(tmp_path, runs.plain(shape))[0]
    found: dict[Level, list[float]] = defaultdict(list)
    for change in record.changes:
        assert change.base is not None
        assert change.base.spread is not None
        assert (change.base.builds, change.base.executions, change.base.iterations) == (6, 24, 120)
        assert {each.level: each.df for each in change.base.spread} == {"iteration": 96, "execution": 18, "build": 5}
        for each in change.base.spread:
            found[each.level].append(each.relative)
    # gamma(2, 0.01) has the mean 0.02 and the variance 2e-4
    truth: dict[Level, float] = {"iteration": 2e-4 / 1.02**2, "execution": 1e-4 / 1.02**2, "build": 4e-4 / 1.02**2}
    for level, true in truth.items():
        error = float(np.std(found[level])) / math.sqrt(len(found[level]))
        assert np.mean(found[level]) == pytest.approx(true, abs=4 * error)


def test_names_commits_measurements_and_no_host(tmp_path: Path) -> None:
    host = {"os": "Linux", "kernel": "6.1", "cpu": "Example", "cores": 2, "memory": 25_276_514_304}
    named = {**host, "hostname": "secret-name", "boot_id": "secret-boot", "owner": "secret-owner"}
    record = made(tmp_path, [run_line(names(Shape()), Shape(), host=named), *measured(Shape())])[0]
    data = (tmp_path / "measurements.jsonl").read_bytes()
    assert record.raw == [f"sha256:{hashlib.sha256(data).hexdigest()}"]
    assert (record.commit, record.parent) == (
        "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
        "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
    )
    assert (record.subject, record.committed) == DESCRIBED[::-1]
    assert not record.control
    assert record.machine.facts == {**host, "memory": 24 * 2**30}
    assert "secret" not in repr(record)


def test_a_machine_is_equal_where_its_facts_are(tmp_path: Path) -> None:
    def machine(**host: Any) -> str:
        facts = {"os": "Linux", "kernel": "6.1", "cpu": "Example", "cores": 2, **host}
        lines = [run_line(names(Shape()), Shape(), host=facts), *measured(Shape())]
        return made(tmp_path, lines)[0].machine.id

    first = machine(hostname="one", memory=25_276_514_304)
    # the kernel keeps a little more of it for itself
    assert machine(hostname="other", memory=25_200_000_000) == first
    assert machine(memory=25_276_514_304, kernel="6.2") != first
    assert machine(memory=50_276_514_304) != first


def test_keeps_identical_and_accepted(tmp_path: Path) -> None:
    shape = Shape(cases=2)
    first = run_line(names(shape), shape)
    # case 1 is 10% slower
    first["config"]["accept"] = [
        {"benchmark": names(shape)[1], "up_to": "20%", "until": "2999-12-31", "reason": "new checksum"}
    ]
    hashes = dict.fromkeys(("base", "head"), f"sha256:{'a' * 64}")
    same = {"type": "same", "benchmark": "still", "differ": [], "differ_count": 0, "read_count": 3, "hash": hashes}
    found = made(tmp_path, [first, same, *measured(shape), *host_lines()])[0]
    changes = {change.benchmark: change for change in found.changes}
    accepted = changes[names(shape)[1]].accepted
    assert accepted is not None
    assert (accepted.up_to, accepted.until, accepted.reason) == (0.2, "2999-12-31", "new checksum")
    still = changes["still"]
    assert (still.log_ratio, still.variance, still.df, still.base, still.verdict) == (0, 0, None, None, "identical")


def test_one_build_has_no_variance(tmp_path: Path) -> None:
    for change in made(tmp_path, runs.plain(Shape(cases=2, builds=1)))[0].changes:
        assert (change.variance, change.df) == (None, None)
        assert change.log_ratio != 0


def test_leaves_out_what_has_no_ratio(tmp_path: Path) -> None:
    shape = Shape(cases=2)
    lines = list(runs.plain(shape))
    for line in lines:
        if line["type"] == "execution" and line["benchmark"] == names(shape)[0] and line["side"] == "head":
            line["metrics"]["time"]["values"] = [0.0] * 10
    record, left_out = made(tmp_path, lines)
    assert left_out == [names(shape)[0]]
    assert [change.benchmark for change in record.changes] == [names(shape)[1]]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"head": {"sha": "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c", "dirty": True}}, "uncommitted changes of head"),
        ({"base": {"sha": "main"}}, "no commit of base"),
        ({"head": None}, "no commit of head"),
        ({"head": {"ref": "x"}, "tools": ["pyperf 2.9.0"]}, "imported results know no commits"),
    ],
)
def test_refuses_a_run_without_two_commits(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    lines = [run_line(names(Shape()), Shape(), **changes), *measured(Shape())]
    with pytest.raises(UserError, match=why) as told:
        made(tmp_path, lines)
    assert "\n" not in str(told.value)


def test_refuses_an_interrupted_run_and_one_that_measured_nothing(tmp_path: Path) -> None:
    begin = host_lines()[0]
    with pytest.raises(UserError, match="was interrupted"):
        made(tmp_path, [run_line(names(Shape()), Shape()), begin, *measured(Shape())])
    with pytest.raises(UserError, match="nothing to record"):
        made(tmp_path, runs.only_failures())
