from collections import Counter

import pytest

from gate.model import UserError
from tests.support.load import failed, of, of_file, of_text, told


def test_values_of_a_name_without_failures() -> None:
    reading = of_file("locust/run.json")
    times = of(reading, "POST order, new", "time")
    assert Counter(times) == {
        0.019: 1, 0.045: 6, 0.046: 7, 0.054: 5, 0.049: 11, 0.048: 3, 0.05: 3, 0.052: 1, 0.044: 1, 0.047: 1, 0.076: 1,
    }  # fmt: skip
    assert times not in (sorted(times), sorted(times, reverse=True))
    assert of(reading, "POST order, new", "throughput") == [pytest.approx(40 / (29.1825817 - 26.3544106))]


def test_times_among_which_failed_ones_are_are_aggregates() -> None:
    reading = of_file("locust/run.json")
    (flaky,) = [m for m in reading.measured if m.benchmark == "GET /flaky"]
    assert "time" not in flaky.metrics
    assert of(reading, "GET /flaky", "error_rate") == [pytest.approx(15 / 71)]
    assert told(reading, "GET /flaky")["mean"] == pytest.approx(3.3731581879 / 71)
    assert failed(reading) == [("GET /down", "all 33 requests failed")]


def test_stats() -> None:
    reading = of_file("locust/run_stats.csv")
    order = told(reading, "POST order, new")
    assert (order["median"], order["p90"], order["p99.99"], order["max"]) == (0.049, 0.054, 0.054, 0.05390735)
    assert told(reading, "GET /flaky", "error_rate") == {"value": 0.2}
    assert told(reading, "Aggregated", "throughput", kind="aggregated") == {"value": 50.648499}
    assert failed(reading) == [("GET /down", "all 25 requests failed")]


@pytest.mark.parametrize(
    ("header", "right"),
    [
        ("Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%", "the file of the same run"),
        ("Method,Name,Error,Occurrences,First Seen,Last Seen", "the file of the same run"),
        ("Count,Message,Traceback,Nodes", "the file of the same run"),
    ],
)
def test_other_files_of_a_run_name_the_right_one(header: str, right: str) -> None:
    with pytest.raises(UserError, match=f"holds no response times by request: read {right}"):
        of_text(f"{header}\n")
