"""BenchmarkDotNet's JSON and CSV."""

import json

import pytest

from gate.results.formats import benchmarkdotnet
from gate.results.source import Source
from tests.support.foreign import aggregates, measured, of_text, reading, refused

QUICK = "Tiny.Benchmarks.Sorts.Quick"
MEDIUM = "MediumRun"


def test_launches_are_executions_and_results_their_iterations() -> None:
    first, second = measured(reading("benchmarkdotnet", "sorts-report-full.json"), QUICK, job=MEDIUM)
    # of the stages Jitting, Pilot, Warmup and Actual nothing: 1616 ns and 1632 ns of 16 operations, 3248 ns of 32
    assert first.metrics["time"].values == pytest.approx([101e-9, 102e-9])
    assert second.metrics["time"].values == pytest.approx([101.5e-9])
    assert (first.execution, second.execution) == (0, 1)
    assert first.labels == {"n": "8", "text": "a", "job": MEDIUM}
    assert (first.metrics["memory"].unit, first.metrics["memory"].values) == ("B", [96])
    assert "memory" not in second.metrics


def test_without_results_the_actual_values() -> None:
    (found,) = measured(reading("benchmarkdotnet", "sorts-report-full.json"), QUICK, job="Runtime=.NET 6.0")
    assert found.metrics["time"].values == pytest.approx([99e-9])


def test_what_gave_no_statistics_has_failed() -> None:
    (failed,) = reading("benchmarkdotnet", "sorts-report-full.json").failed
    assert (failed.benchmark, failed.status) == ("Tiny.Benchmarks.Sorts.Bad", "no statistics (NA)")


def test_other_metrics_and_the_machine() -> None:
    found = reading("benchmarkdotnet", "sorts-report-full.json")
    collects = aggregates(found, QUICK, "Gen0Collects")["value"]
    assert (collects.value, collects.unit) == (0.5, "")
    assert found.about.tool == "BenchmarkDotNet 0.14.0"
    assert found.about.host["cpu"] == "AMD EPYC 7763"
    assert found.about.host["runtime"] == ".NET 8.0.8 (8.0.824.36612)"


def test_brief_has_values_or_statistics() -> None:
    found = reading("benchmarkdotnet", "sorts-report-brief.json")
    assert measured(found, QUICK, n="8")[0].metrics["time"].values == pytest.approx([101e-9, 102e-9, 101.5e-9])
    times = aggregates(found, QUICK, "time", n="64")
    mean = times["mean"]
    assert (mean.value, mean.low, mean.high, mean.confidence, mean.sd, mean.count) == pytest.approx(
        (802e-9, 800e-9, 804e-9, 0.999, 1e-9, 3)
    )
    assert times["p95"].value == pytest.approx(803e-9)
    assert aggregates(found, QUICK, "memory", n="64")["value"].value == 96


def test_measurements_say_the_same_as_full_json() -> None:
    of_json = measured(reading("benchmarkdotnet", "sorts-report-full.json"), QUICK, job=MEDIUM)
    of_csv = measured(reading("benchmarkdotnet", "sorts-measurements.csv"), QUICK)
    assert [list(m.metrics["time"].values) for m in of_csv] == [m.metrics["time"].values for m in of_json]
    assert [m.labels for m in of_csv] == [m.labels for m in of_json]


def test_a_report_has_units_in_its_cells() -> None:
    found = reading("benchmarkdotnet", "sorts-report.csv")
    mean = aggregates(found, "Quick", "time")["mean"]
    assert (mean.value, mean.low, mean.high, mean.sd) == pytest.approx((1014.5e-9, 1013.25e-9, 1015.75e-9, 0.75e-9))
    assert mean.labels == {"n": "8", "text": "a", "job": "DefaultJob", "runtime": ".NET 8.0"}
    merge = aggregates(found, "Merge", "time")
    assert (merge["mean"].value, merge["p95"].value, merge["p50"].value) == pytest.approx((14.65e-6, 15e-6, 14.6e-6))
    # BenchmarkDotNet's KB
    assert aggregates(found, "Merge", "memory")["value"].value == 1536
    assert aggregates(found, "Merge", "Gen0Collects")["value"].value == 24.1699
    assert [(f.benchmark, f.status) for f in found.failed] == [("Bad", "its mean is 'NA'")]


def test_a_report_in_another_language() -> None:
    found = reading("benchmarkdotnet", "german-report.csv")
    assert aggregates(found, "Quick", "time")["mean"].value == pytest.approx(1014.5e-9)
    rate = aggregates(found, "Quick", "throughput")["mean"]
    assert (rate.value, rate.unit, rate.better) == pytest.approx((985707.2, "1/s", "higher"))


def test_units_in_the_titles() -> None:
    found = of_text("benchmarkdotnet", "Method,Job,WarmupCount,Mean [us],Allocated [KB]\nA,DefaultJob,1,2.5,2\n")
    assert aggregates(found, "A", "time")["mean"].value == pytest.approx(2.5e-6)
    assert aggregates(found, "A", "memory")["value"].value == 2048


def test_a_report_of_several_types() -> None:
    text = "Namespace,Type,Method,Job,WarmupCount,n,Mean\nN,A,B,DefaultJob,1,8,2 ns\nN,C,B,DefaultJob,1,8,3 ns\n"
    assert benchmarkdotnet.recognises(Source("x", None, text.encode()))
    found = of_text("benchmarkdotnet", text)
    assert [(a.benchmark, a.labels) for a in found.aggregates] == [
        ("N.A.B", {"n": "8", "job": "DefaultJob"}),
        ("N.C.B", {"n": "8", "job": "DefaultJob"}),
    ]


def test_titles_that_a_quote_joins() -> None:
    assert "the titles are not those" in refused("benchmarkdotnet", 'Method,Job,"x,Mean\nA,B,C,D\n')


def test_old_names_of_stages() -> None:
    measurements = [
        {"IterationMode": "MainTarget", "LaunchIndex": 1, "Operations": 1, "Nanoseconds": 50},
        {"IterationMode": "Result", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 80},
        {"IterationMode": "IdleTarget", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 8},
    ]
    own = {"Type": "A", "Method": "B", "Namespace": "N", "Parameters": "", "Measurements": measurements}
    found = of_text("benchmarkdotnet", json.dumps({"HostEnvironmentInfo": {}, "Benchmarks": [own]}))
    assert measured(found, "N.A.B")[0].metrics["time"].values == pytest.approx([40e-9])
