import pytest

from tests.support.load import DATA, failed, of, of_file, of_text, told


@pytest.mark.parametrize("file", ["encoded.jsonl", "encoded.csv"])
def test_requests_by_method_and_url(file: str) -> None:
    reading = of_file(f"vegeta/{file}")
    assert of(reading, "GET /flaky", "time", attack="a", host="127.0.0.1:18431")[:3] == [
        0.014478934, 0.052001761, 0.053741525,
    ]  # fmt: skip
    # 2 of 14 were answered with 503
    assert of(reading, "GET /flaky", "error_rate") == [pytest.approx(2 / 14)]
    assert len(of(reading, "GET /ok", "time")) == len(of(reading, "POST /ok", "time")) == 13
    assert of(reading, "GET /ok", "bytes") == [6.0] * 13
    assert of(reading, "GET /ok", "throughput") == [pytest.approx(13.827928, rel=1e-6)]


def test_report() -> None:
    reading = of_file("vegeta/report.json")
    expected = {
        "mean": 0.039472239, "p50": 0.049515675, "p90": 0.06775273, "p95": 0.070502816, "p99": 0.074425957,
        "max": 0.074425957, "min": 0.001980757,
    }  # fmt: skip
    assert told(reading, "requests") == expected
    assert told(reading, "requests", "error_rate") == {"value": 0.05}
    assert told(reading, "requests", "throughput") == {"value": 36.3963308}


def test_printed_report() -> None:
    reading = of_file("vegeta/report.txt")
    assert told(reading, "requests")["p95"] == 0.070503
    assert told(reading, "requests", "error_rate") == {"value": 0.05}
    assert told(reading, "requests", "throughput") == {"value": 36.4}


def test_histogram_is_shares_below_its_bounds() -> None:
    reading = of_file("vegeta/histogram.txt")
    assert [(a.metric, a.value, a.better) for a in reading.aggregates] == [
        ("below 2ms", 0.025, "higher"), ("below 4ms", 0.125, "higher"), ("below 6ms", 0.2, "higher"),
    ]  # fmt: skip


def test_old_reports_and_failures_only() -> None:
    old = of_text(
        "Requests      [total]                   1200\nDuration      [total, attack, wait]     10.1s, 10s, 65ms\n"
        "Latencies     [mean, 50, 95, 99, max]   113.172398ms, 108.272568ms, 140.18235ms, 247.771566ms, 1m2.5s\n"
        "Success       [ratio]                   100.00%\n"
    )
    assert told(old, "requests")["max"] == 62.5
    down = of_text('{"latencies":{"mean":5},"bytes_in":{},"requests":3,"success":0}')
    assert failed(down) == [("requests", "all 3 requests failed")]


@pytest.mark.parametrize("file", ["encoded.jsonl", "report.json"])
def test_lines_around_objects_change_nothing(file: str) -> None:
    text = (DATA / "vegeta" / file).read_text()
    alone, found = of_text(text), of_text(f'$ vegeta\n{{"level": "info"}}\n{text.rstrip()}\n{{"level": "info"}}\nbye\n')
    assert (found.measured, found.aggregates) == (alone.measured, alone.aggregates)
