from pathlib import Path

import pytest

from gate.formats.parts.output import OutputError
from gate.formats.perf_stat import Counted, parse

DATA = Path(__file__).parents[2] / "data" / "perf"


def read(name: str) -> Counted:
    return parse((DATA / f"{name}.txt").read_text())


def test_a_machine_without_hardware_counters() -> None:
    found = read("virtual")
    assert found.values == {
        "time": pytest.approx(0.029916487),
        # shown as 4.25 msec
        "task-clock": pytest.approx(0.004249879),
        "page-faults": 211,
        "context-switches": 8,
    }
    assert found.absent == {"cycles": "not supported", "instructions": "not supported"}
    assert not found.user_only
    assert not found.shared


def test_a_user_who_may_not_count_the_kernel() -> None:
    found = read("user")
    assert found.user_only == {"time", "task-clock", "page-faults", "context-switches"}
    assert found.values["page-faults"] == 203
    assert found.absent.keys() == {"cycles", "instructions"}


def test_numbers_with_a_decimal_comma() -> None:
    found = read("german")
    assert found.values["task-clock"] == pytest.approx(0.004863987)
    assert found.values["context-switches"] == 7


def test_two_kinds_of_cores_are_added_up_without_perfs_scaling() -> None:
    found = read("hybrid")
    assert found.values["cycles"] == pytest.approx(3_500_000_000)
    assert found.values["instructions"] == 8_000_000_000
    assert not found.absent
    assert not found.shared
    assert found.user_only == {"instructions"}


def test_a_counter_that_ran_part_of_the_time() -> None:
    found = parse("1000;;cycles;5;62.50;;\n<not counted>;;instructions;0;0.00;;\n7;;branches;5;100.00;;\n")
    assert found == Counted({"cycles": 1000.0}, {"instructions": "not counted"}, frozenset(), {"cycles": 0.625})


def test_a_clock_whose_run_time_is_something_else() -> None:
    assert parse("100.00;msec;task-clock;5;100.00;;\n").values == {"task-clock": pytest.approx(0.1)}


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        "1;;cycles",
        "x;;cycles;5;100.00;;",
        "1;;cycles;5;x;;",
        "1;;a b;5;100.00;;",
        "inf;;cycles;5;100.00;;",
        "nan;;cycles;5;100.00;;",
        "-1;;cycles;5;100.00;;",
        "1;;cycles;-5;100.00;;",
        "1;;cycles;5;inf;;",
    ],
)
def test_rows_that_are_not_as_expected(line: str) -> None:
    with pytest.raises(OutputError, match=r"\Aperf stat's output is not as expected: '") as caught:
        parse(line)
    assert "\n" not in str(caught.value)


def test_a_row_that_is_cut_off() -> None:
    whole = (DATA / "virtual.txt").read_text()
    for length in range(whole.rindex("\n", 0, -1) + 2, len(whole)):
        with pytest.raises(OutputError):
            parse(whole[:length])
