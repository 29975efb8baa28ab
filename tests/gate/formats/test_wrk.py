from tests.support.load import failed, of_file, of_text, told

RUN = """Running 2s test @ {url}
  2 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.30s   7.30ms   1.05m    92.40%
    Req/Sec     1.20k     5.00     2.00M    80.49%
  {done} requests in 2.12s, 20.45KB read
  Socket errors: connect 0, read 0, write 0, timeout {timeout}
Requests/sec:     80.63
Transfer/sec:      1.50MB
"""


def test_two_runs() -> None:
    reading = of_file("wrk/two-runs.txt")
    first = {"host": "127.0.0.1:18431", "threads": "2", "connections": "4"}
    assert told(reading, "/flaky", execution=0, **first) == {
        "mean": 0.0473, "max": 0.06003, "p50": 0.048, "p75": 0.0518, "p90": 0.05214, "p99": 0.05797,
    }  # fmt: skip
    assert next(a.sd for a in reading.aggregates if a.benchmark == "/flaky" and a.statistic == "mean") == 0.0073
    assert told(reading, "/flaky", "throughput") == {"value": 80.63}
    # 35 of 171 responses were no 2xx or 3xx
    assert told(reading, "/flaky", "error_rate") == {"value": 0.204678363}
    assert told(reading, "/ok?x=1", "error_rate") == {"value": 0.0}
    assert {a.better for a in reading.aggregates if a.unit == "1/s"} == {"higher"}


def test_wrk2_is_read_without_its_uncorrected_latencies() -> None:
    reading = of_file("wrk/wrk2.txt")
    assert (told(reading, "/items")["p99.9"], told(reading, "/items")["max"]) == (0.0098, 0.01242)
    # 190 refused and 10 without a response of 19,990 and those 10
    assert told(reading, "/items", "error_rate") == {"value": 0.01}
    assert {a.metric for a in reading.aggregates} == {"time", "throughput", "error_rate"}


def test_units_of_times() -> None:
    reading = of_text(RUN.format(url="http://h/x", done=100, timeout=0))
    assert told(reading, "/x") == {"mean": 1.3, "max": 63.0}


def test_nothing_was_answered() -> None:
    assert failed(of_text(RUN.format(url="http://h/x", done=0, timeout=0))) == [("/x", "no request was answered")]
    assert failed(of_text(RUN.format(url="http://h/x", done=0, timeout=5))) == [("/x", "all 5 requests failed")]
