import json

import pytest

from tests.support.load import DATA, failed, mean, of, of_file, of_text, told


def test_calls() -> None:
    reading = of_file("ghz/pretty.json")
    assert of(reading, "shop.Orders.Get", "time")[:3] == [0.003897187, 0.00413533, 0.002841943]
    # 4 of 24 are Unavailable
    assert of(reading, "shop.Orders.Get", "error_rate") == [pytest.approx(4 / 24)]
    assert len(of(reading, "shop.Orders.Get", "time")) == 20
    assert reading.about.created == "2026-11-25T17:57:11Z"


def test_a_name_is_a_label() -> None:
    assert len(of(of_file("ghz/compact.json"), "shop.Orders.Get", "time", name="orders")) == 20


def test_without_details_there_are_aggregates() -> None:
    document = json.loads((DATA / "ghz" / "pretty.json").read_text())
    reading = of_text(json.dumps(document | {"details": None}))
    assert not reading.measured
    assert told(reading, "shop.Orders.Get") == {
        "mean": 0.003185548, "min": 0.002726392, "max": 0.00413533, "p10": 0.002838708, "p25": 0.002868943,
        "p50": 0.003033522, "p75": 0.003357367, "p90": 0.003551649, "p95": 0.003897187, "p99": 0.00413533,
    }  # fmt: skip
    assert told(reading, "shop.Orders.Get", "error_rate") == {"value": pytest.approx(4 / 24)}
    assert told(reading, "shop.Orders.Get", "throughput") == {"value": 607.999372}
    down = of_text(json.dumps(document | {"details": [], "statusCodeDistribution": {"Unavailable": 3}}))
    assert failed(down) == [("shop.Orders.Get", "all 3 requests failed")]


def test_rows_with_commas_in_their_errors() -> None:
    reading = of_file("ghz/rows.csv")
    assert of(reading, "requests", "time")[:6] == [0.00413, 0.00463, 0.0029, 0.00367, 0.0031, 0.00253]
    assert of(reading, "requests", "error_rate") == [pytest.approx(4 / 24)]
    assert mean(reading, "requests") > 0


def test_summary() -> None:
    reading = of_file("ghz/summary.txt")
    assert (told(reading, "requests")["mean"], told(reading, "requests")["p99"]) == (0.00319, 0.00558)
    assert told(reading, "requests", "error_rate") == {"value": pytest.approx(4 / 24)}
