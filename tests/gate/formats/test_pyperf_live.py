from pathlib import Path

import pytest

from gate.formats import pyperf
from gate.formats.parts.live import suite as live
from gate.formats.parts.output import Series

DATA = Path(__file__).parents[2] / "data/pyperf"
UPPER = "upper a b/'c'\"d\"\\t🐢"


@pytest.mark.parametrize("version", ["2.3.0", "2.10.0"])
def test_calibration_gives_no_values_and_units_name_the_metric(version: str) -> None:
    suite = live(pyperf, (DATA / f"{version}.json").read_bytes())
    assert suite.errors == {}
    assert list(suite.benchmarks) == [UPPER, "sum", "seed", "size", "answer"]
    assert [len(suite.benchmarks[name]["time"].values) for name in (UPPER, "sum")] == [3, 3]
    assert suite.benchmarks["seed"] == {"time": Series("s", [0.001] * 3)}
    assert suite.benchmarks["size"] == {"memory": Series("B", [4096.0] * 3)}
    assert suite.benchmarks["answer"] == {"count": Series("", [42.0] * 3)}


def test_values_of_several_workers_follow_each_other_without_warm_ups() -> None:
    suite = live(pyperf, (DATA / "2.10.0.processes.json").read_bytes())
    values = [7.0597228951641e-08, 6.91778565542478e-08, 7.459753437188965e-08, 6.605896007982892e-08]
    assert suite.benchmarks[UPPER] == {"time": Series("s", values)}
