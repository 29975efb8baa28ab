import pytest

from gate.model import UserError
from tests.support.load import failed, mean, of, of_file, of_text

HEADER = "timeStamp,elapsed,label,responseCode,success\n"
REFUSED = ("refused", "all 10 requests failed")


def test_a_label_is_a_benchmark_and_a_failed_request_no_time() -> None:
    reading = of_file("jmeter/plain.csv")
    # the fifth and the tenth of ten requests were answered with 503; read off with awk
    assert mean(reading, "flaky") == 0.05425
    assert mean(reading, "flaky", "latency") == 0.053625
    assert of(reading, "flaky", "error_rate") == [0.2]
    assert of(reading, "flaky", "bytes") == [117.0] * 8
    assert failed(reading) == [REFUSED]


def test_throughput_is_of_those_that_succeeded() -> None:
    reading = of_file("jmeter/plain.csv")
    # 8 from 1795629384249 to 1795629384541 + 43
    assert of(reading, "flaky", "throughput") == [pytest.approx(8 / 0.335)]
    (metric,) = [m.metrics["throughput"] for m in reading.measured if m.benchmark == "flaky"]
    assert (metric.unit, metric.better) == ("1/s", "higher")


def test_a_transaction_is_told_from_its_samplers() -> None:
    assert mean(of_file("jmeter/plain.csv"), "visit, whole", kind="transaction") == 0.074375
    flaky = next(m for m in of_file("jmeter/plain.csv").measured if m.benchmark == "flaky")
    assert flaky.labels == {}


def test_xml_with_samples_below_samples() -> None:
    reading = of_file("jmeter/nested.xml")
    assert of(reading, "flaky", "time") == [0.041, 0.047, 0.061, 0.046, 0.045, 0.046, 0.05, 0.045]
    assert len(of(reading, "visit, whole", "time", kind="transaction")) == 8
    assert of(reading, "flaky", "error_rate") == [0.2]
    assert failed(reading) == [REFUSED]


def test_other_columns_and_delimiter() -> None:
    reading = of_file("jmeter/semicolons.csv")
    # only codes tell what failed, and of a transaction its message; times of day give no throughput
    assert of(reading, "flaky", "error_rate") == of(reading, "visit, whole", "error_rate") == [0.2]
    assert "throughput" not in reading.measured[0].metrics
    assert failed(reading) == [REFUSED]


def test_a_header_again_begins_another_execution() -> None:
    reading = of_text(HEADER + "1,10,a,200,true\n" + HEADER + "1,30,a,200,true\n")
    assert [(m.execution, list(m.metrics["time"].values)) for m in reading.measured] == [(0, [0.01]), (1, [0.03])]


def test_without_success_and_code_nothing_is_said_of_errors() -> None:
    reading = of_text("elapsed,label\n10,a\n20,a\n")
    assert list(reading.measured[0].metrics) == ["time"]


def test_text_where_a_number_should_be() -> None:
    with pytest.raises(UserError, match="line 2: '1,fast,a,200,true' has text for a number"):
        of_text(HEADER + "1,fast,a,200,true\n")


def test_xml_that_ends_early_gives_what_it_holds() -> None:
    text = '<testResults version="1.2">\n<httpSample t="5" s="true" lb="a"/>\n<httpSample t="6" s="tr'
    assert of(of_text(text), "a", "time") == [0.005]


def test_xml_that_is_none() -> None:
    with pytest.raises(UserError, match=r"line 2: no XML"):
        of_text('<testResults version="1.2">\n<a></b>\n')
    with pytest.raises(UserError, match="an entity is declared"):
        of_text('<!DOCTYPE x [<!ENTITY a "aaa">]>\n<testResults version="1.2"/>\n')


def test_samples_without_a_time_say_nothing_unless_they_failed() -> None:
    text = '<testResults version="1.2"><sample s="true" lb="a"/><sample s="false" lb="b"/></testResults>'
    assert failed(of_text(text)) == [("b", "its one request failed")]


def test_negative_times_fail_the_label() -> None:
    assert failed(of_text(HEADER + "1,-5,a,200,true\n1,5,b,200,true\n")) == [("a", "-0.005 in 'time' is below 0")]
