from pathlib import Path

import pytest

from gate.model import UserError
from gate.results.reading import read
from gate.results.source import Source

DATA = Path(__file__).parents[3] / "data" / "results" / "hyperfine"


def test_the_csv_has_statistics_alone_and_parameters() -> None:
    reading = read(Source("x", DATA / "sleep.csv"))
    assert not reading.measured
    assert [
        (a.metric, a.statistic, a.value, a.unit, a.sd) for a in reading.aggregates if a.benchmark == "sleep 0.002"
    ] == [
        ("time", "mean", 0.00401084075, "s", 0.0010843141500740997),
        ("time", "median", 0.0036169470000000006, "s", None),
        ("time", "min", 0.003202968, "s", None),
        ("time", "max", 0.005606501000000001, "s", None),
        ("user", "mean", 0.000721, "s", None),
        ("system", "mean", 0.000248, "s", None),
    ]
    assert {a.labels["t"] for a in reading.aggregates} == {"0.001", "0.002"}


def test_a_csv_that_is_cut_off_names_the_line() -> None:
    whole = (DATA / "sleep.csv").read_bytes()
    with pytest.raises(UserError, match=r"x: hyperfine: line 3: the mean is no number: is the file cut off\?"):
        read(Source("x", None, whole[: whole.rindex(b"sleep 0.002") + 12]))
