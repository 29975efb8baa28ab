"""Where the time of a run went, in words."""

from typing import Any

import pytest

from gate.model import Cost
from gate.words.reports import spent


def cost(**known: Any) -> Cost:
    fields: dict[str, Any] = dict.fromkeys(Cost.__struct_fields__)
    return Cost(**(fields | {"compiled": 2, "linked": 0} | known))


def test_the_line_has_the_total_and_every_part_that_counts() -> None:
    found = cost(setup=60.0, compile=100.0, link=8.0, linked=22, probe=1.0, measure=540.0, decide=4.0, total=713.0)
    said = "11 min 53 s: set-up 1 min, 2 builds 1 min 40 s, 22 links 8.0 s, measuring 9 min, interim checks 4.0 s"
    assert spent(found) == said


def test_perfgates_own_work_is_named() -> None:
    own = cost(compile=4.0, again=1.0, keep=2.0, trees=0.5, start=3.0, probe=1.0, outside=2.0, measure=4.0, other=0.5)
    assert spent(own) == (
        "2 builds 4.0 s, builds tried again 1.0 s, copying kept builds 2.0 s, comparing trees 500 ms, "
        "first starts 3.0 s, probe 1.0 s, files outside 2.0 s, measuring 4.0 s, other 500 ms"
    )


@pytest.mark.parametrize("unknown", [None, cost(), cost(measure=0.0), cost(measure=float("nan"))])
def test_what_is_not_known_is_not_said(unknown: Cost | None) -> None:
    assert spent(unknown) == ""
