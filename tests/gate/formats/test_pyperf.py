import json
from pathlib import Path
from typing import Any

import pytest

from gate.formats import pyperf
from gate.formats.parts.live import suite as live
from gate.formats.parts.output import Series
from gate.formats.parts.reading import Reading, read
from gate.formats.parts.source import Source
from gate.model import UserError

DATA = Path(__file__).parents[2] / "data" / "results" / "pyperf"


def read_json(benchmarks: list[dict[str, Any]], **others: Any) -> Reading:
    document = {"version": "1.0", "benchmarks": benchmarks, **others}
    return read(Source("x", None, json.dumps(document).encode()))


def test_workers_are_executions_and_calibration_is_left_out() -> None:
    reading = read(Source("x", DATA / "suite.json"))
    upper = [m for m in reading.measured if m.benchmark == "upper a b/'c'\"d\"\\t🐢"]
    assert [m.execution for m in upper] == [0, 1, 2]
    assert upper[0].metrics["time"].values == [5.304952988005596e-08, 1.6927529911114902e-07]
    # not the 18 warm-ups of the calibration
    assert upper[0].metrics["time"].dropped == [5.514306633536137e-08]
    assert list(dict.fromkeys(m.benchmark for m in reading.measured)) == [
        upper[0].benchmark,
        "sum",
        "seed",
        "size",
        "answer",
    ]


def test_units() -> None:
    reading = read(Source("x", DATA / "packed.json.gz"))
    units = {m.benchmark: [(name, each.unit) for name, each in m.metrics.items()] for m in reading.measured}
    assert units["seed"] == [("time", "s")]
    assert units["size"] == [("memory", "B")]
    assert units["answer"] == [("count", "")]
    assert next(m for m in reading.measured if m.benchmark == "size").metrics["memory"].values == [4096.0, 4096.0]
    # a unit that stands once, in the metadata of the file
    memory = read(Source("x", DATA / "memory.json")).measured
    assert memory[0].metrics["memory"].values == [12181504]


def test_metadata_go_to_the_host() -> None:
    about = read(Source("x", DATA / "suite.json")).about
    assert about.tool == "pyperf 2.11.0"
    assert about.created == "2026-11-25T17:51:10.674284"
    assert about.host["hostname"] == "host"
    assert about.host["cpu"] == "AMD EPYC"
    assert about.host["python_version"] == "3.11.7 (64-bit)"
    own = {"python_cflags": "-O0", "python_config_args": "--with-pydebug"}
    text = json.dumps(
        {"version": "1.0", "metadata": own, "benchmarks": [{"metadata": {"name": "a"}, "runs": [{"values": [1.0]}]}]}
    )
    assert read(Source("x", None, text.encode())).about.host == own


def test_bad_benchmarks_leave_the_others() -> None:
    reading = read_json(
        [
            {"metadata": {"name": "calibrated"}, "runs": [{"warmups": [[1, 0.5]]}]},
            {"metadata": {"name": "negative"}, "runs": [{"values": [1.0]}, {"values": [-1.0]}]},
            {"metadata": {"name": "watts", "unit": "watt"}, "runs": [{"values": [1.0]}]},
            {"runs": [{"metadata": {"name": "old"}, "values": [2]}]},
        ]
    )
    assert [(f.benchmark, f.execution, f.status) for f in reading.failed] == [
        ("calibrated", 0, "only calibration runs: no worker gave values"),
        ("negative", 1, "-1 in 'time' is below 0"),
        ("watts", 0, "its unit is 'watt', which this perfgate does not know"),
    ]
    assert [(m.benchmark, m.execution) for m in reading.measured] == [("negative", 0), ("old", 0)]


def test_another_version() -> None:
    with pytest.raises(UserError, match=r"version '6'; this perfgate reads 1\.0$"):
        read_json([{"runs": [{"values": [1.0]}]}], version=6)


def test_tags_are_a_label() -> None:
    reading = read_json([{"metadata": {"name": "a", "tags": ["apps", "io"]}, "runs": [{"values": [1.0]}]}])
    assert reading.measured[0].labels == {"tags": "apps io"}


CAPTURED = Path(__file__).parents[2] / "data/pyperf"
UPPER = "upper a b/'c'\"d\"\\t🐢"


@pytest.mark.parametrize("version", ["2.3.0", "2.10.0"])
def test_calibration_gives_no_values_and_units_name_the_metric(version: str) -> None:
    suite = live(pyperf, (CAPTURED / f"{version}.json").read_bytes())
    assert suite.errors == {}
    assert list(suite.benchmarks) == [UPPER, "sum", "seed", "size", "answer"]
    assert [len(suite.benchmarks[name]["time"].values) for name in (UPPER, "sum")] == [3, 3]
    assert suite.benchmarks["seed"] == {"time": Series("s", [0.001] * 3)}
    assert suite.benchmarks["size"] == {"memory": Series("B", [4096.0] * 3)}
    assert suite.benchmarks["answer"] == {"count": Series("", [42.0] * 3)}


def test_values_of_several_workers_follow_each_other_without_warm_ups() -> None:
    suite = live(pyperf, (CAPTURED / "2.10.0.processes.json").read_bytes())
    values = [7.0597228951641e-08, 6.91778565542478e-08, 7.459753437188965e-08, 6.605896007982892e-08]
    assert suite.benchmarks[UPPER] == {"time": Series("s", values)}
