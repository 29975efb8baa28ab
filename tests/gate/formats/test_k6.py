import pytest

from tests.support.load import failed, mean, of, of_file, of_text, told

LINE = '{"type":"Point","metric":"%s","data":{"time":"2026-01-01T00:00:0%d.5Z","value":%s,"tags":{%s}}}\n'


def test_requests_by_method_and_name() -> None:
    reading = of_file("k6/points.jsonl")
    # read off the file with jq; the first was answered with 503
    assert of(reading, "GET /flaky", "time") == [0.058095599, 0.051382257, 0.047681892]
    assert of(reading, "POST order", "time", group="shop") == [0.046281096, 0.045350877, 0.047985833, 0.043728862]
    assert of(reading, "GET /flaky", "error_rate") == [0.25]
    assert of(reading, "POST order", "error_rate") == [0.0]
    assert len(of(reading, "GET /flaky", "waiting")) == 3


def test_throughput_is_from_the_first_start_to_the_last_end() -> None:
    span = 3.536434537 - 3.237933738 + 0.005974942
    assert of(of_file("k6/points.jsonl"), "GET /flaky", "throughput") == [pytest.approx(3 / span, rel=1e-5)]


def test_what_a_script_measures_of_its_own() -> None:
    reading = of_file("k6/points.jsonl")
    assert of(reading, "queue_wait", "time") == [0.0125, 0.0135, 0.0145, 0.0155]
    assert of(reading, "basket", "value") == [3, 3, 3, 3]
    assert of(reading, "orders", "count") == [8]
    assert of(reading, "hits", "rate") == [0.5]
    assert of(reading, "depth", "value") == [7]
    assert of(reading, "checks", "error_rate", name="is up") == [0.25]
    better = {m.benchmark: next(iter(m.metrics.values())).better for m in reading.measured}
    # its threshold is rate>0.1
    assert (better["hits"], better["orders"]) == ("higher", None)
    assert "vus" not in better


def test_csv_says_the_same_of_requests() -> None:
    reading = of_file("k6/points.csv")
    assert len(of(reading, "GET /flaky", "time")) == 3
    assert of(reading, "GET /flaky", "error_rate") == [0.25]
    assert "throughput" not in reading.measured[0].metrics  # its time stamps are whole seconds
    assert of(reading, "queue_wait", "value") == [12.5, 13.5, 14.5, 15.5]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("export.json", {"mean": 0.0486437737, "median": 0.047681892, "p90": 0.0540675938}),
        ("machine-readable.json", {"mean": 0.0453111954, "median": 0.047737588, "p90": 0.0583255282}),
    ],
)
def test_summaries_give_times_of_the_expected_responses(file: str, expected: dict[str, float]) -> None:
    reading = of_file(f"k6/{file}")
    assert told(reading, "http_reqs") == pytest.approx(told(reading, "http_reqs") | expected, rel=1e-6)
    assert told(reading, "http_reqs", "error_rate") == {"value": 0.125}
    assert not reading.measured


def test_handled_summary() -> None:
    reading = of_file("k6/handled.json")
    assert told(reading, "queue_wait") == pytest.approx(
        {"mean": 0.014, "min": 0.0125, "median": 0.014, "max": 0.0155, "p90": 0.0152, "p95": 0.01535, "p99.9": 0.015497}
    )
    assert told(reading, "http_reqs", "throughput") == {"value": pytest.approx(20.1006, rel=1e-4)}
    assert told(reading, "checks", "error_rate") == {"value": 0.25}
    assert [a.better for a in reading.aggregates if a.benchmark == "hits"] == ["higher"]


def test_a_summary_of_failures_only() -> None:
    text = '{"metrics":{"http_req_failed":{"value":1,"passes":9,"fails":0},"http_req_duration":{"avg":2,"med":2}}}'
    reading = of_text(text)
    assert failed(reading) == [("http_reqs", "all requests failed")]
    assert not reading.aggregates


def test_a_request_is_judged_by_its_status_without_the_tag() -> None:
    text = LINE % ("http_req_duration", 1, 5, '"name":"n","status":"500"')
    text += LINE % ("http_req_duration", 2, 7, '"name":"n","status":"200"')
    reading = of_text(text)
    assert of(reading, "n", "time") == [0.007]
    assert of(reading, "n", "error_rate") == [0.5]


def test_a_script_without_tags_has_its_failures_counted() -> None:
    text = LINE % ("http_req_duration", 1, 5, '"name":"n"') + LINE % ("http_req_failed", 1, 1, '"name":"n"')
    text += LINE % ("http_req_duration", 2, 7, '"name":"n"') + LINE % ("http_req_failed", 2, 0, '"name":"n"')
    assert failed(of_text(text)) == []


def test_scenarios_are_told_apart() -> None:
    text = LINE % ("http_req_duration", 1, 5, '"name":"n","scenario":"a"')
    text += LINE % ("http_req_duration", 2, 7, '"name":"n","scenario":"default"')
    assert [m.labels for m in of_text(text).measured] == [{"scenario": "a"}, {}]


def test_what_a_script_prints_among_its_points_is_passed_over() -> None:
    text = "hello\n" + (LINE % ("http_req_duration", 1, 5, '"name":"n"')) + "level=info\n"
    assert mean(of_text(text), "n") == 0.005
