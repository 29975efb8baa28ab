"""Changes in words: one unit for a response."""

import math

import msgspec

from gate.commands.study.changes import named, named_short, partial_aliases, signed, size, unit_of
from gate.model.study import LinearModel, Response
from tests.gate.commands.study.plots import examples


def response(*means: float, log: bool = False, unit: str = "s") -> Response:
    own = examples.response()
    treatments = [msgspec.structs.replace(own.treatments[0], mean=math.log(m) if log else m) for m in means]
    return msgspec.structs.replace(own, treatments=treatments, scale="log" if log else "value", unit=unit)


def test_the_unit_is_that_of_the_middle_treatment() -> None:
    assert unit_of(response(2e-6, 3e-3, 5.0)).name == "ms"
    assert unit_of(response(2e-6, 3e-3, 5.0, log=True)).name == "ms"
    assert unit_of(response(2048, 3000, unit="B")).name == "KiB"
    assert unit_of(response(2e9, unit="")).name == ""


def test_changes_of_all_sizes_have_it_and_three_digits() -> None:
    own = response(2e-3, 3e-3, 5e-3)
    assert [signed(v, own) for v in (1.2, -4.56e-3, 7.891e-7)] == ["+1200 ms", "-4.56 ms", "+0.000789 ms"]
    assert size(-1e-9, own) == "1.00e-06 ms"


def test_a_term_is_named_with_what_it_cannot_be_told_from() -> None:
    aliases = ["A:B", "D:E", "F:G", "H:J", "K:L"]
    said = {
        0: ("C", "C"),
        1: ("C, or A:B", "C, or A:B"),
        2: ("C, or one of A:B and D:E", "C, or 2 others"),
        3: ("C, or one of A:B, D:E and F:G", "C, or 3 others"),
        5: ("C, or one of A:B, D:E and 3 more", "C, or 5 others"),
    }
    assert {n: (named("C", aliases[:n]), named_short("C", aliases[:n])) for n in said} == said


def test_parts_of_interactions_are_said_of_the_first_terms_that_hold_some() -> None:
    parts = {"A": {"B:C": 0.5, "D:E": -0.25, "B:E": 0.2}, "B": {"A:C": -1 / 3}, "C": {"A:B": 1 / 3}, "D": {}}
    assert partial_aliases(model(parts)) == (
        "effects also hold a part of interactions: A +0.5 of B:C, -0.25 of D:E and 1 more; B -0.33 of A:C; 1 more alike"
    )
    assert partial_aliases(model({"A": {}})) == ""


def model(parts: dict[str, dict[str, float]]) -> LinearModel:
    own = examples.response().linear
    assert own is not None
    terms = [msgspec.structs.replace(own.terms[0], term=name, partial_aliases=held) for name, held in parts.items()]
    return msgspec.structs.replace(own, terms=terms)
