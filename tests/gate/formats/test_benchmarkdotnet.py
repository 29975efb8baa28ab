"""BenchmarkDotNet's JSON."""


import pytest

from tests.support.foreign import aggregates, measured, reading

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
    assert found.about.host["debugger"] is False


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
