"""What load tests write: JMeter and k6 by request, and what wrk prints."""

import pytest

from gate.model import UserError
from tests.support.foreign import failed, mean, of, of_file, of_text, told

# --- JMeter -----------------------------------------------------------------------------------------------------------

HEADER = "timeStamp,elapsed,label,responseCode,success\n"
REFUSED = ("refused", "all 10 requests failed")


def test_a_label_of_jmeter_is_a_benchmark_and_a_failed_request_no_time() -> None:
    found = of_file("jmeter/plain.csv")
    # the fifth and the tenth of ten requests were answered with 503; read off with awk
    assert (mean(found, "flaky"), mean(found, "flaky", "latency")) == (0.05425, 0.053625)
    assert of(found, "flaky", "error_rate") == [0.2]
    assert of(found, "flaky", "bytes") == [117.0] * 8
    # of those that succeeded: 8 from 1795629384249 to 1795629384541 + 43
    assert of(found, "flaky", "throughput") == [pytest.approx(8 / 0.335)]
    (flaky,) = [m for m in found.measured if m.benchmark == "flaky"]
    assert (flaky.metrics["throughput"].unit, flaky.metrics["throughput"].better) == ("1/s", "higher")
    # a transaction is told from its samplers
    assert (mean(found, "visit, whole", kind="transaction"), flaky.labels) == (0.074375, {})
    assert failed(found) == [REFUSED]


def test_a_file_of_jmeter_with_other_columns() -> None:
    other = of_file("jmeter/semicolons.csv")
    # only codes tell what failed, and of a transaction its message; times of day give no throughput
    assert of(other, "flaky", "error_rate") == of(other, "visit, whole", "error_rate") == [0.2]
    assert "throughput" not in other.measured[0].metrics
    assert failed(other) == [REFUSED]


def test_what_jmeter_leaves_out_or_cuts_off() -> None:
    again = of_text(HEADER + "1,10,a,200,true\n" + HEADER + "1,30,a,200,true\n")
    assert [(m.execution, list(m.metrics["time"].values)) for m in again.measured] == [(0, [0.01]), (1, [0.03])]
    # without success and code nothing is said of errors
    assert list(of_text("elapsed,label\n10,a\n20,a\n").measured[0].metrics) == ["time"]
    assert failed(of_text(HEADER + "1,-5,a,200,true\n1,5,b,200,true\n")) == [("a", "-0.005 in 'time' is below 0")]


# --- k6 ---------------------------------------------------------------------------------------------------------------


def point(metric: str, second: int, value: float, **tags: str) -> str:
    own = ",".join(f'"{name}":"{tag}"' for name, tag in ({"name": "n"} | tags).items())
    data = f'{{"time":"2026-01-01T00:00:0{second}.5Z","value":{value},"tags":{{{own}}}}}'
    return f'{{"type":"Point","metric":"{metric}","data":{data}}}\n'


def test_requests_of_k6_by_method_and_name() -> None:
    found = of_file("k6/points.jsonl")
    # read off the file with jq; the first was answered with 503
    assert of(found, "GET /flaky") == [0.058095599, 0.051382257, 0.047681892]
    assert of(found, "POST order", group="shop") == [0.046281096, 0.045350877, 0.047985833, 0.043728862]
    assert of(found, "GET /flaky", "error_rate") == [0.25]
    assert of(found, "POST order", "error_rate") == [0.0]
    assert len(of(found, "GET /flaky", "waiting")) == 3
    # from the first start to the last end
    span = 3.536434537 - 3.237933738 + 0.005974942
    assert of(found, "GET /flaky", "throughput") == [pytest.approx(3 / span, rel=1e-5)]


def test_what_a_script_of_k6_measures_of_its_own() -> None:
    found = of_file("k6/points.jsonl")
    assert of(found, "queue_wait") == [0.0125, 0.0135, 0.0145, 0.0155]
    assert of(found, "basket", "value") == [3, 3, 3, 3]
    assert [
        of(found, name, metric) for name, metric in (("orders", "count"), ("hits", "rate"), ("depth", "value"))
    ] == [
        [8],
        [0.5],
        [7],
    ]
    assert of(found, "checks", "error_rate", name="is up") == [0.25]
    better = {m.benchmark: next(iter(m.metrics.values())).better for m in found.measured}
    # its threshold is rate>0.1
    assert (better["hits"], better["orders"], "vus" in better) == ("higher", None, False)


def test_tags_of_k6() -> None:
    time = "http_req_duration"
    by_status = of_text(point(time, 1, 5, status="500") + point(time, 2, 7, status="200"))
    assert (of(by_status, "n"), of(by_status, "n", "error_rate")) == ([0.007], [0.5])
    counted = [point(time, s, v) + point("http_req_failed", s, 2 - s) for s, v in ((1, 5), (2, 7))]
    assert failed(of_text("".join(counted))) == []
    scenarios = of_text(point(time, 1, 5, scenario="a") + point(time, 2, 7, scenario="default"))
    assert [m.labels for m in scenarios.measured] == [{"scenario": "a"}, {}]
    # what a script prints among its points is passed over
    assert mean(of_text(f"hello\n{point(time, 1, 5)}level=info\n"), "n") == 0.005


# --- wrk --------------------------------------------------------------------------------------------------------------

RUN = """Running 2s test @ http://h/x
  2 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.30s   7.30ms   1.05m    92.40%
    Req/Sec     1.20k     5.00     2.00M    80.49%
  {done} requests in 2.12s, 20.45KB read
  Socket errors: connect 0, read 0, write 0, timeout {timeout}
Requests/sec:     80.63
Transfer/sec:      1.50MB
"""


def test_two_runs_of_wrk_and_one_of_wrk2() -> None:
    found = of_file("wrk/two-runs.txt")
    first = {"host": "127.0.0.1:18431", "threads": "2", "connections": "4"}
    quantiles = {"p50": 0.048, "p75": 0.0518, "p90": 0.05214, "p99": 0.05797}
    assert told(found, "/flaky", execution=0, **first) == {"mean": 0.0473, "max": 0.06003, **quantiles}
    assert next(a.sd for a in found.aggregates if a.benchmark == "/flaky" and a.statistic == "mean") == 0.0073
    assert told(found, "/flaky", "throughput") == {"value": 80.63}
    # 35 of 171 responses were no 2xx or 3xx
    assert told(found, "/flaky", "error_rate") == {"value": 0.204678363}
    assert told(found, "/ok?x=1", "error_rate") == {"value": 0.0}
    assert {a.better for a in found.aggregates if a.unit == "1/s"} == {"higher"}
    # without its uncorrected latencies
    found = of_file("wrk/wrk2.txt")
    assert (told(found, "/items")["p99.9"], told(found, "/items")["max"]) == (0.0098, 0.01242)
    # 190 refused and 10 without a response of 19,990 and those 10
    assert told(found, "/items", "error_rate") == {"value": 0.01}
    assert {a.metric for a in found.aggregates} == {"time", "throughput", "error_rate"}


def test_units_of_wrk_and_a_run_in_which_nothing_was_answered() -> None:
    assert told(of_text(RUN.format(done=100, timeout=0)), "/x") == {"mean": 1.3, "max": 63.0}
    assert failed(of_text(RUN.format(done=0, timeout=0))) == [("/x", "no request was answered")]
    assert failed(of_text(RUN.format(done=0, timeout=5))) == [("/x", "all 5 requests failed")]


# --- what is cut off or garbled ---------------------------------------------------------------------------------------

WRK = "Running 2s test @ http://h/a\n  2 threads and 4 connections\n    Latency    47.30"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{WRK}ms    7.3", "line 3 cannot be read: 'Latency    47.30ms    7.3'"),
        (
            f"{WRK}xs    7.30ms  60.03ms   92.40%\n",
            "line 3 cannot be read: 'Latency    47.30xs    7.30ms  60.03ms   92.40%'",
        ),
        (f"{WRK}ms    7.30ms  60.03ms   92.40%\n", "no requests are counted: was its output cut off?"),
    ],
    ids=["wrk cut", "wrk", "wrk without requests"],
)
def test_a_run_that_is_cut_off_has_failed(text: str, why: str) -> None:
    assert why in [status for _, status in failed(of_text(text))]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (HEADER + "1,fast,a,200,true\n", "line 2: '1,fast,a,200,true' has text for a number"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        of_text(text)
