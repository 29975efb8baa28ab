"""mitata's JSON."""

import json

import pytest

from tests.support.foreign import aggregates, measured, of_text, reading


def test_samples_in_ns_are_iterations_and_arguments_are_labels() -> None:
    found = reading("mitata", "mitata-1.json")
    (small,) = measured(found, "fill(8)")
    assert small.labels == {"n": "8"}
    time = small.metrics["time"]
    assert (time.unit, time.better, time.values[0]) == pytest.approx(("s", "lower", 39.83447265625e-9))
    assert [m.benchmark for m in found.measured] == ["sort", "fill(8)", "fill(64)", "inner"]
    assert measured(found, "inner")[0].labels == {"group": "g"}
    assert found.about.host == {"cpu": "AMD EPYC", "arch": "x64-linux", "runtime": "node", "version": "20.20.2"}


def test_memory_stands_beside_it_without_values() -> None:
    heap = aggregates(reading("mitata", "mitata-1.json"), "sort", "heap")
    assert (heap["mean"].unit, heap["mean"].value) == pytest.approx(("B", 943.7026339285715))


def test_what_threw_has_failed() -> None:
    failed = reading("mitata", "mitata-1.json").failed
    assert [(f.benchmark, f.status, f.labels) for f in failed] == [("throws", "it threw: as asked", {"group": "g"})]


def test_without_samples_the_statistics() -> None:
    stats = {
        "kind": "fn",
        "samples": None,
        "avg": 20.0,
        "p50": 10.0,
        "p999": 90.0,
        "counters": {"cycles": {"avg": 5.0}},
    }
    run = {"name": "a", "args": {}, "stats": stats}
    found = of_text("mitata", json.dumps({"benchmarks": [{"alias": "a", "kind": "static", "group": 0, "runs": [run]}]}))
    times = aggregates(found, "a", "time")
    assert {name: each.value for name, each in times.items()} == pytest.approx(
        {"mean": 2e-8, "p50": 1e-8, "p99.9": 9e-8}
    )
    assert aggregates(found, "a", "cycles")["mean"].value == 5
