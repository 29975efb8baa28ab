from tests.support.load import failed, of, of_file, told


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


def test_a_server_that_is_down() -> None:
    assert failed(of_file("oha/down.json")) == [("requests", "all 4 requests failed")]


def test_summary_in_any_unit() -> None:
    reading = of_file("oha/summary.txt")
    times = told(reading, "requests")
    assert (times["mean"], times["p50"], times["p99.99"]) == (0.0440026, 0.0479426, 0.052083)
    assert told(reading, "requests", "error_rate") == {"value": 0.2}
