import pytest

from tests.support.load import of_file, told


@pytest.mark.parametrize("file", ["java.hgrm", "java.csv"])
def test_percentiles(file: str) -> None:
    found = told(of_file(f"hgrm/{file}"), "histogram", "value")
    # the Java library's own: 2006015 at 50, 2224127 at 99, 2344959 at most, 2001236 on average, a million times smaller
    assert (found["p50"], found["p99"], found["max"]) == (2.006, 2.224, 2.345)
    assert found.get("mean") == (2.001 if file == "java.hgrm" else None)


def test_vegeta_names_the_unit() -> None:
    reading = of_file("hgrm/vegeta.txt")
    assert told(reading, "histogram")["p50"] == 0.049515675
    assert {(a.unit, a.count) for a in reading.aggregates} == {("s", 40)}
