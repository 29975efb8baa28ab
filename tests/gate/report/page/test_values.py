from typing import Any

import msgspec
import numpy as np
import pytest

from gate.model import Case, Counts, Finding, Sample
from gate.report.measurements import Material
from gate.report.page import html
from gate.report.page.html import page_of
from gate.report.page.values import MOST_BUILDS, ByBuild, by_build, used
from tests.gate.report import examples


def sample(*builds: list[float], first: int = 0, sessions: int = 1) -> Sample:
    """One execution a build, with these values."""
    per = len(builds) // sessions
    return Sample(
        values=np.concatenate([np.asarray(b, dtype=np.float64) for b in builds]),
        counts=(
            np.array([len(b) for b in builds]),
            np.ones(len(builds), dtype=np.int64),
            np.full(sessions, per, dtype=np.int64),
        ),
        builds=tuple((k // per, first + k % per) for k in range(len(builds))),
    )


def case(base: Sample, head: Sample, **changes: Any) -> Case:
    fields: dict[str, Any] = {
        "benchmark": "parse-large", "metric": "time", "factors": {}, "unit": "s", "better": "lower", "exact": False,
        "decided": True, "warnings": [],
    }  # fmt: skip
    return Case(base=base, head=head, **(fields | changes))


def found(base: float, head: float, unit: str = "s", **changes: Any) -> Finding:
    return examples.regressed(unit=unit, base=examples.side(base), head=examples.side(head), **changes)


def table(base: Sample, head: Sample, finding: Finding) -> ByBuild:
    return by_build(case(base, head, unit=finding.unit), finding)


def test_each_build_has_its_count_mean_and_extremes_in_the_unit_of_the_finding() -> None:
    said = table(sample([0.010, 0.012], [0.011]), sample([0.0131, 0.0135, 0.0130], [0.0140]), found(0.011, 0.013))
    assert said.unit == "ms"
    (name, base, head), (second, *_) = said.rows
    assert (name, second) == ("0", "1")
    assert base == ["2", "11.00", "10.00", "12.00"]
    assert head is not None
    assert head[1:3] == ["13.20", "13.00"]
    assert said.range == "means of builds: base 11.00, head 13.20 to 14.00 ms"
    assert said.more == ""


def test_means_are_written_with_places_that_tell_them_apart() -> None:
    said = table(sample([1.00001], [1.00002]), sample([1.00003], [1.00004]), found(1.0, 1.0))
    assert [base[1] for _, base, _ in said.rows if base] == ["1.0000100", "1.0000200"]
    large = table(sample([123456.0], [125456.0]), sample([123456.0], [125456.0]), found(124456.0, 124456.0, "1/s"))
    assert large.range == "means of builds: base 123,456 to 125,456, head 123,456 to 125,456 1/s"


def test_builds_that_one_side_lacks_are_told() -> None:
    said = table(sample([1.0, 2.0], [1.0]), sample([2.0], first=1), found(1.0, 2.0))
    assert [(base is None, head is None) for _, base, head in said.rows] == [(False, True), (False, False)]


def test_sessions_are_part_of_a_builds_name() -> None:
    said = table(sample([1.0], [2.0], sessions=2), sample([1.0], [3.0], sessions=2), found(1.0, 2.0))
    assert [name for name, *_ in said.rows] == ["0/0", "1/0"]


def test_of_many_builds_the_first_are_listed_and_the_range_is_of_all() -> None:
    many = sample(*([1.0 + k] for k in range(MOST_BUILDS + 10)))
    said = table(many, many, found(1.0, 2.0))
    assert len(said.rows) == MOST_BUILDS
    assert said.more == "The first 30 builds of each; 10 more builds in the measurements."
    assert said.range == "means of builds: base 1.0 to 40.0, head 1.0 to 40.0 s"


@pytest.mark.parametrize("size", [1e60, 1e-60, 0.0])
def test_numbers_at_the_ends_of_the_bounds_are_written(size: float) -> None:
    said = table(sample([size, size], [size / 2]), sample([size], [0.0]), found(size, size))
    text = " ".join(" ".join(cells) for _, *sides in said.rows for cells in sides if cells)
    assert "nan" not in text
    assert "inf" not in text


def counts(builds: int) -> Counts:
    return Counts(session=1, build=builds, execution=builds, iteration=builds)


def test_what_rests_on_a_part_of_the_builds_says_so() -> None:
    six = sample(*([1.0 + k] for k in range(6)))
    part = examples.side(1.0, counts=counts(4))
    assert used(case(six, six), Finding(**fields(part, part, 1, 4))) == (
        "Decided over 4 of the 6 measured builds of each, those up to interim check 1 of 4"
    )
    whole = examples.side(1.0, counts=counts(6))
    assert used(case(six, six), Finding(**fields(whole, whole, 1, 1))) == ""
    assert used(case(six, six), Finding(**fields(part, whole, 1, 1))) == (
        "Decided over 4 of the 6 measured builds of base and 6 of the 6 measured builds of head"
    )


def fields(base: Any, head: Any, look: int, looks: int) -> dict[str, Any]:
    finding = examples.regressed()
    decided = msgspec.structs.replace(finding.decided_at, look=look, looks=looks)
    return msgspec.structs.asdict(finding) | {"base": base, "head": head, "decided_at": decided}


def test_only_drawn_cases_have_the_table() -> None:
    names = [f"case-{k:02}" for k in range(22)]
    spread = sample([1.0, 1.1], [1.2, 1.3])
    report = examples.report("regression", [examples.regressed(name) for name in names])
    rows = page_of(report, Material(cases=[case(spread, spread, benchmark=name) for name in names])).rows
    assert [row.by_build is not None for row in rows] == [True] * 20 + [False] * 2


@pytest.mark.parametrize("name", examples.HOSTILE)
def test_a_hostile_unit_is_text(name: str) -> None:
    spread = sample([1.0, 1.1], [1.2, 1.3])
    report = examples.report("regression", [examples.regressed(unit=name)])
    source = html.render(report, Material(cases=[case(spread, spread, unit=name)]))
    assert source.count("<script") == 2
    assert "Values of each build" in source
