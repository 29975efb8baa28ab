from pathlib import Path

import pytest

from gate.model import UserError
from gate.results.reading import Reading, read
from gate.results.source import Source

DATA = Path(__file__).parents[3] / "data" / "results" / "rebench"
HEADER = (
    "invocation\titeration\tvalue\tunit\tcriterion\tbenchmark\texecutor\tsuite\textraArgs\tcores\tinputSize\tvarValue\n"
)


def read_text(text: str) -> Reading:
    return read(Source("x", None, text.encode()))


def row(
    invocation: int, iteration: int, value: str, unit: str = "ms", criterion: str = "total", name: str = "B"
) -> str:
    return f"{invocation}\t{iteration}\t{value}\t{unit}\t{criterion}\t{name}\tVM\tS\t\t1\t\t\n"


def times(reading: Reading, name: str, **labels: str) -> list[tuple[int, list[float]]]:
    return [
        (m.execution, [float(f"{v:.12g}") for v in m.metrics["time"].values])
        for m in reading.measured
        if m.benchmark == name and labels.items() <= m.labels.items()
    ]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("1.4.0.data", [(0, [14e-6, 7e-6]), (1, [13e-6, 7e-6]), (2, [13e-6, 7e-6])]),
        ("1.2.0.data", [(0, [13e-6, 7e-6]), (1, [12e-6, 7e-6]), (2, [12e-6, 7e-6])]),
    ],
)
def test_invocations_are_executions(file: str, expected: list[tuple[int, list[float]]]) -> None:
    reading = read(Source("x", DATA / file))
    assert times(reading, "Sum", inputSize="1000") == expected
    other = next(m for m in reading.measured if m.benchmark == "Other")
    assert other.labels == {"executor": "Python", "suite": "Suite", "extraArgs": "7", "cores": "1", "inputSize": "2000"}
    assert {name: (each.unit, list(each.values)) for name, each in other.metrics.items() if name != "time"} == {
        "allocated": ("B", [16000.0, 16000.0])
    }
    # "Broken" failed and left no rows
    assert {m.benchmark for m in reading.measured} == {"Sum", "Other", "Whole"}
    assert reading.about.commit == "5baf45ead0174e82bee376a9bcc5b31cd2692302"
    assert reading.about.host["hostname"] == "host"
    assert "userName" not in reading.about.host


def test_memory_of_gnu_time_is_in_kib() -> None:
    reading = read(Source("x", DATA / "1.4.0.data"))
    whole = next(m for m in reading.measured if m.benchmark == "Whole")
    assert list(whole.metrics["MaxRSS"].values) == [8520 * 1024]


def test_before_1_0_there_are_no_invocations() -> None:
    reading = read(Source("x", DATA / "0.10.1.data"))
    assert times(reading, "Sum", inputSize="1000") == [(0, [14e-6, 13e-6, 18e-6, 18e-6])]
    assert reading.measured[-1].labels == {"executor": "Python", "suite": "Suite", "cores": "1", "inputSize": "2000"}


def test_before_1_0_rows_of_one_process_were_written_at_once() -> None:
    times_of = ("09:00:00", "09:00:00", "09:00:01", "09:01:27", "09:02:54", "09:02:54")
    rows = [f"[2014-04-29T{t}]\t{i}.0\tms\ttotal\tB\tVM\tS\t1 0\t40\t1\t\t\n" for i, t in enumerate(times_of)]
    reading = read_text("#!/usr/local/bin/rebench -d x.conf all\n" * 2 + "".join(rows))
    assert times(reading, "B") == [(0, [0.0, 0.001, 0.002]), (1, [0.003]), (2, [0.004, 0.005])]
    assert reading.measured[0].labels == {"executor": "VM", "suite": "S", "extraArgs": "1 0", "cores": "1"}


def test_a_file_to_which_a_second_session_appended() -> None:
    session = "#!rebench x\n# Execution Start: 2026-01-01T00:00:00\n"
    reading = read_text(session + HEADER + row(1, 1, "5") + session + row(1, 1, "7") + row(2, 1, "9"))
    assert times(reading, "B") == [(0, [0.005]), (1, [0.007]), (2, [0.009])]


def test_warm_up_is_kept_apart() -> None:
    head = '# Execution Start: 2026-01-01\n# benchmark: 0={"runDetails":{"warmup":1}}\n# run_id: 0={"benchmark_id":0}\n'
    rows = "".join(row(1, i, f"{i}")[:-1] + "\t\t\t0\n" for i in (1, 2, 3))
    metric = read_text(head + rows).measured[0].metrics["time"]
    assert (list(metric.values), metric.dropped) == ([0.002, 0.003], [0.001])


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("s", ("time", "s", "lower", 2.0)),
        ("us", ("time", "s", "lower", 2e-6)),
        ("ms/op", ("time", "s", "lower", 2e-3)),
        ("ops/ms", ("throughput", "1/s", "higher", 2000.0)),
        ("things", ("total", "things", "lower", 2.0)),
    ],
)
def test_units(unit: str, expected: tuple[str, str, str, float]) -> None:
    ((name, metric),) = read_text(HEADER + row(1, 1, "2", unit)).measured[0].metrics.items()
    assert (name, metric.unit, metric.better, metric.values[0]) == expected


def test_failures() -> None:
    bad = row(1, 1, "False", "bool", "Success", "Invalid") + row(1, 1, "3", name="Invalid")
    reading = read_text(HEADER + bad + row(1, 1, "-3", name="Negative") + row(1, 1, "3"))
    assert [(f.benchmark, f.status) for f in reading.failed] == [
        ("Invalid", "Success is false in an iteration"),
        ("Negative", "-0.003 in 'time' is below 0"),
    ]
    assert times(reading, "B") == [(0, [0.003])]


def test_a_row_that_is_cut_off_and_one_that_is_no_number() -> None:
    assert times(read_text(HEADER + row(1, 1, "3") + "2\t1\t4.0"), "B") == [(0, [0.003])]
    with pytest.raises(UserError, match=r"line 3: 'x3' is not a number$"):
        read_text(HEADER + row(1, 1, "3") + row(1, 2, "x3"))
