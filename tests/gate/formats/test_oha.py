import pytest

from gate.model import UserError
from tests.support.load import DATA, of, of_file, of_text, told


def test_rows() -> None:
    reading = of_file("oha/rows.csv")
    # the first has status 503
    assert of(reading, "requests", "time")[:3] == [0.009837592, 0.051891292, 0.044760862]
    assert of(reading, "requests", "latency")[:2] == [0.009836511, 0.051888147]
    assert of(reading, "requests", "bytes") == [6.0] * 20
    assert of(reading, "requests", "error_rate") == [0.2]


def test_document() -> None:
    reading = of_file("oha/report.json")
    times = told(reading, "requests")
    assert (times["mean"], times["min"], times["max"]) == (0.0431255943, 0.004520772, 0.048538713)
    assert (times["p50"], times["p99.9"]) == (0.044020766, 0.048538713)
    # its success rate is 1, and yet 6 of 30 were answered with 503
    assert told(reading, "requests", "error_rate") == {"value": 0.2}
    assert told(reading, "requests", "throughput") == {"value": 45.1492537}


def test_requests_that_the_end_cut_off_are_no_failures() -> None:
    assert told(of_file("oha/timed.json"), "requests", "error_rate") == {"value": 0.0}


def test_summary_in_any_unit() -> None:
    reading = of_file("oha/summary.txt")
    times = told(reading, "requests")
    assert (times["mean"], times["p50"], times["p99.99"]) == (0.0440026, 0.0479426, 0.052083)
    assert told(reading, "requests", "error_rate") == {"value": 0.2}


def test_requests_without_a_response_count_as_failed() -> None:
    text = (DATA / "oha" / "summary.txt").read_text().rstrip() + "\n\nError distribution:\n  [20] timeout\n"
    assert told(of_text(text), "requests", "error_rate") == {"value": 26 / 50}


@pytest.mark.parametrize(
    ("row", "why"), [("0.1,0", "line 2: 2 cells instead of 3"), ("a,0,200", "line 2: 'a,0,200' is no row of times")]
)
def test_a_row_that_is_none(row: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        of_text(f"request-start,request-duration,status\n{row}\n0.1,0,200\n")
