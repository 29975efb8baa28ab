import pytest

from gate.formats import hlog
from gate.model import UserError
from tests.support.load import DATA, of, of_file

TAGS = DATA / "hlog" / "tags.hlog"


def test_a_tag_is_a_benchmark() -> None:
    reading = of_file("hlog/tags.hlog")
    # means of the three intervals by the Java library, whose own middle of a bucket differs by half a unit at most
    times, writes = of(reading, "histogram", "time"), of(reading, "write", "time")
    assert sum(times) / 60 == pytest.approx((1969152.0 + 2019328.0 + 2012774.4) / 3 * 1e-9, rel=1e-6)
    assert sum(writes) / 60 == pytest.approx((7838924.8 + 8049459.2 + 8023244.8) / 3 * 1e-9, rel=1e-6)
    assert max(times[:20]) == pytest.approx(2162687e-9, rel=0.005)


def test_values_of_an_interval_are_in_a_fixed_random_order() -> None:
    times = of(of_file("hlog/tags.hlog"), "histogram", "time")
    assert times == of(of_file("hlog/tags.hlog"), "histogram", "time")
    assert times[:20] not in (sorted(times[:20]), sorted(times[:20], reverse=True))


def test_the_unit_is_read_from_the_maxima_that_are_shown() -> None:
    assert sum(of(of_file("hlog/micros.hlog"), "histogram", "time")) / 60 == pytest.approx(1982.9e-6, rel=1e-4)
    assert sum(of(of_file("hlog/plain.hlog"), "histogram", "value")) / 60 == pytest.approx(39.8667, rel=1e-5)


def test_more_values_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hlog, "MOST", 30)
    with pytest.raises(UserError, match="line 6: more than 30 values: record for a shorter time, or fewer"):
        of_file("hlog/tags.hlog")
