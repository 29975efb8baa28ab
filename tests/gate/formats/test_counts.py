"""What callgrind, cachegrind and perf stat count."""

from pathlib import Path

import pytest

from gate.formats.callgrind import instructions
from gate.formats.parts.output import OutputError
from gate.formats.parts.reading import Reading
from gate.formats.perf_stat import Counted, parse
from tests.support.foreign import DATA, failed, of_text

CAPTURED = Path(__file__).parents[2] / "data"

# --- callgrind and cachegrind -----------------------------------------------------------------------------------------

PLAIN = (DATA / "callgrind/plain.out").read_bytes()


def one(reading: Reading) -> dict[str, float]:
    return {name: metric.values[0] for name, metric in reading.measured[0].metrics.items()}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # parts are summed
        (PLAIN + PLAIN, 12004),
        # a profile that is cut off still has its summary
        (PLAIN[: PLAIN.index(b"fn=")], 6002),
        (PLAIN[: PLAIN.index(b"summary:")], None),
        # of a number that is cut off the beginning is one, too
        ("pid: 1\ncmd: ./tiny\nevents: Ir\nfn=main\n1 1234\ntotals: 123", None),
        ("pid: 1\ncmd: ./tiny\nevents: Ir\nfn=main\n1 1234\ntotals: 1234\n", 1234),
    ],
)
def test_sums_and_what_is_cut_off(text: str | bytes, count: int | None) -> None:
    found = of_text(text)
    if count is None:
        assert failed(found) == [("tiny", "no totals: the file is cut off")]
    else:
        assert one(found) == {"instructions": count}


HEAD = b"# callgrind format\nversion: 1\nevents: Ir\n"


def test_the_profiles_of_one_execution() -> None:
    # of a process that forks
    profiles = [(CAPTURED / f"callgrind/{name}.txt").read_bytes() for name in ("parent-1", "parent-2", "child")]
    assert instructions(profiles) == 821618 + 1994 + 350780
    # among other events
    assert instructions([b"events: Dr Ir Dw\ntotals: 5 70 1\n", HEAD + b"totals: 2\n"]) == 72
    assert instructions([b"events: Dr Ir\ntotals: 5\n"]) == 0


@pytest.mark.parametrize(
    ("profiles", "why"),
    [
        ([], "callgrind wrote no profile"),
        ([HEAD + b"summary: 5\n1 2\n"], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: 5\n", b""], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: 82161"], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: " + b"1" * 5000 + b"\n"], "line 4: '1+…"),
        ([HEAD + b"totals: x\n"], "line 4: 'x' are no counts of events"),
        ([b"events: Dr\ntotals: 5\n"], r"a profile of callgrind holds no count of instructions \(Ir\)"),
    ],
)
def test_profiles_that_cannot_be_used(profiles: list[bytes], why: str) -> None:
    with pytest.raises(OutputError, match=rf"\A{why}\Z"):
        instructions(profiles)


# --- perf stat --------------------------------------------------------------------------------------------------------


def test_counters_that_ran_part_of_the_time_and_a_clock_whose_run_time_is_something_else() -> None:
    found = parse("1000;;cycles;5;62.50;;\n<not counted>;;instructions;0;0.00;;\n7;;branches;5;100.00;;\n")
    assert found == Counted({"cycles": 1000.0}, {"instructions": "not counted"}, frozenset(), {"cycles": 0.625})
    assert parse("100.00;msec;task-clock;5;100.00;;\n").values == {"task-clock": pytest.approx(0.1)}


ROWS = (
    "garbage 1;;cycles x;;cycles;5;100.00;; 1;;cycles;5;x;; inf;;cycles;5;100.00;; nan;;cycles;5;100.00;; "
    "-1;;cycles;5;100.00;; 1;;cycles;-5;100.00;; 1;;cycles;5;inf;;"
)


@pytest.mark.parametrize("line", [*ROWS.split(), "1;;a b;5;100.00;;"])
def test_rows_of_perf_that_are_not_as_expected(line: str) -> None:
    with pytest.raises(OutputError, match=r"\Aperf stat's output is not as expected: '[^\n]*\Z"):
        parse(line)


def test_a_row_of_perf_that_is_cut_off() -> None:
    whole = (CAPTURED / "perf/virtual.txt").read_text()
    for length in range(whole.rindex("\n", 0, -1) + 2, len(whole)):
        with pytest.raises(OutputError):
            parse(whole[:length])
