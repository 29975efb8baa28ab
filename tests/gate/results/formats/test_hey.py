import pytest

from gate.model import UserError
from tests.support.load import DATA, failed, of, of_file, of_text, told


def test_rows() -> None:
    reading = of_file("hey/rows.csv")
    assert of(reading, "requests", "time")[:3] == [0.0304, 0.0099, 0.0152]
    assert of(reading, "requests", "connect")[:3] == [0.0006, 0.0007, 0.0001]
    assert of(reading, "requests", "latency")[:3] == [0.0064, 0.0087, 0.0138]
    # 6 of 30 have status 503; from 0.0105 to 0.5643 s
    assert of(reading, "requests", "error_rate") == [0.2]
    assert of(reading, "requests", "throughput") == [pytest.approx(24 / 0.5538)]


def test_summary() -> None:
    reading = of_file("hey/summary.txt")
    assert told(reading, "requests") == {
        "max": 0.1151, "min": 0.0025, "mean": 0.0529, "p10": 0.0452, "p25": 0.048, "p50": 0.0523, "p75": 0.0561,
        "p90": 0.0629, "p95": 0.11,
    }  # fmt: skip
    assert told(reading, "requests", "error_rate") == {"value": 0.2}
    assert told(reading, "requests", "throughput") == {"value": 56.5438}
    assert not reading.measured


def test_summaries_behind_each_other_are_executions() -> None:
    text = (DATA / "hey" / "summary.txt").read_text()
    assert {a.execution for a in of_text(text + text).aggregates} == {0, 1}


def test_a_server_that_is_down() -> None:
    assert failed(of_file("hey/down.txt")) == [("requests", "all 6 requests failed")]


def test_requests_without_a_response_count_as_failed() -> None:
    text = (DATA / "hey" / "summary.txt").read_text().rstrip() + "\n\nError distribution:\n  [20]\tGet: timeout\n"
    assert told(of_text(text), "requests", "error_rate") == {"value": 0.4}


def test_a_row_that_is_none() -> None:
    with pytest.raises(UserError, match="line 2: 2 cells instead of 3"):
        of_text("response-time,DNS+dialup,status-code\n0.1,0\n0.1,0,200\n")


def test_old_and_indented_summaries() -> None:
    text = "$ hey URL\n  Summary:\n    Total:\t1.0 secs\n    Requests/sec:\t10\n\n  Latency distribution:\n    50% in 0.02 secs.\n"
    assert told(of_text(text), "requests") == {"p50": 0.02}


def test_rows_of_old_versions_tell_no_failures() -> None:
    reading = of_text("response-time,DNS+dialup,DNS\n0.1,0.01,0\n0.2,0,0\n")
    assert of(reading, "requests", "time") == [0.1, 0.2]
    assert "error_rate" not in reading.measured[0].metrics
