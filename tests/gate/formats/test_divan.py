"""divan's trees."""

from pathlib import Path

import pytest

from gate.formats.parts.reading import read
from gate.formats.parts.source import Source

FILE = Path(__file__).parents[2] / "data/results/divan/tree.txt"


def test_three_statistics_of_each_benchmark() -> None:
    found = read(Source("x", FILE)).aggregates
    assert [(each.benchmark, each.count) for each in found[::3]] == [
        ("plain", 100), ("inner::sized::10", 10), ("inner::sized::1000", 10)
    ]  # fmt: skip
    assert [each.statistic for each in found[:3]] == ["mean", "median", "min"]
    assert [each.value for each in found] == pytest.approx(
        [141.2e-9, 141.1e-9, 140.6e-9, 6.401e-9, 6.397e-9, 6.397e-9, 1.619e-6, 1.619e-6, 1.617e-6]
    )
    assert {(each.metric, each.unit, each.execution) for each in found} == {("time", "s", 0)}
