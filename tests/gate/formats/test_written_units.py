"""Units as people write them."""

import pytest

from gate.formats.parts.output import Written, written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ns/iter", Written("s", 1e-9, metric="time")),
        ("ms", Written("s", 1e-3, metric="time")),
        ("seconds", Written("s", 1.0, metric="time")),
        ("µs/op", Written("s", 1e-6, metric="time")),
        ("us per call", Written("s", 1e-6, metric="time")),
        ("Megabytes", Written("B", 1e6)),
        ("bytes", Written("B")),
        ("KiB", Written("B", 1024.0)),
        ("ops/sec", Written("1/s", 1.0, "throughput")),
        ("iter/sec", Written("1/s", 1.0, "throughput")),
        ("x/s", Written("1/s", 1.0, "throughput")),
        ("requests per second", Written("1/s", 1.0, "throughput")),
        ("ops/ms", Written("1/s", 1000.0, "throughput")),
        ("Kops/s", Written("1/s", 1000.0, "throughput")),
        ("Mcycles", Written("cycles", 1e6)),
        ("Kallocs/op", Written("allocs/op", 1e3)),
        ("Ktriangles/s", Written("Ktriangles/s", 1.0, "throughput")),
        ("RPS", Written("1/s", 1.0, "throughput")),
        ("MB/s", Written("B/s", 1e6, "throughput")),
        ("MiB/s", Written("B/s", 1024.0**2, "throughput")),
        ("triangles/s", Written("triangles/s", 1.0, "throughput")),
        ("Percent", Written("%")),
        ("allocs/op", Written("allocs/op")),
        ("m", Written("m")),
        ("", Written("")),
    ],
)
def test_units(text: str, expected: Written) -> None:
    own = written(text)
    assert (own.unit, own.metric) == (expected.unit, expected.metric)
    assert own.scale == pytest.approx(expected.scale)
