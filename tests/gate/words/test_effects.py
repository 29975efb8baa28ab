"""Changes in words: one unit for a response, and trends of factors whose settings are numbers."""

import math

import msgspec
import pytest

from gate.model.study import Axis, Effect, LinearModel, Response, Slope, Term, Trend
from gate.words.effects import named, named_short, partial_aliases, say_trend, signed, size, unit_of
from tests.gate.commands.study.plots import examples


def response(*means: float, log: bool = False, unit: str = "s") -> Response:
    own = examples.response()
    treatments = [msgspec.structs.replace(own.treatments[0], mean=math.log(m) if log else m) for m in means]
    return msgspec.structs.replace(own, treatments=treatments, scale="log" if log else "value", unit=unit)


def slope(estimate: float, half: float) -> Slope:
    return Slope(estimate=estimate, low=estimate - half, high=estimate + half, p=0.01)


def trend(estimate: float, curvature: Slope | None, axis: Axis = "log2") -> Trend:
    return Trend(factor="clients", axis=axis, settings=[1, 2, 4], slope=slope(estimate, 1e-4), per_unit=None,
                 curvature=curvature, fitted=[0, 0, 0])  # fmt: skip


def test_the_unit_is_that_of_the_middle_treatment() -> None:
    assert unit_of(response(2e-6, 3e-3, 5.0)).name == "ms"
    assert unit_of(response(2e-6, 3e-3, 5.0, log=True)).name == "ms"
    assert unit_of(response(2048, 3000, unit="B")).name == "KiB"
    assert unit_of(response(2e9, unit="")).name == ""


def test_changes_of_all_sizes_have_it_and_three_digits() -> None:
    own = response(2e-3, 3e-3, 5e-3)
    assert [signed(v, own) for v in (1.2, -4.56e-3, 7.891e-7)] == ["+1200 ms", "-4.56 ms", "+0.000789 ms"]
    assert size(-1e-9, own) == "1.00e-06 ms"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (trend(2.3e-3, slope(-0.4e-3, 0.1e-3)), "+2.30 ms per doubling, less at the high end (curvature -0.400 ms)"),
        (trend(2.3e-3, slope(0.4e-3, 0.1e-3)), "+2.30 ms per doubling, more at the high end (curvature +0.400 ms)"),
        (trend(-2.3e-3, slope(-0.4e-3, 0.1e-3)), "-2.30 ms per doubling, more at the high end (curvature -0.400 ms)"),
        (trend(2.3e-3, slope(-0.4e-3, 0.5e-3)), "+2.30 ms per doubling"),
        (trend(2.3e-3, None, "setting"), "+2.30 ms per unit of clients"),
    ],
)
def test_a_trend_says_its_curvature_only_where_that_is_clear(found: Trend, said: str) -> None:
    assert say_trend(found, response(2e-3)) == said


def test_of_logarithms_a_trend_is_a_percentage() -> None:
    assert say_trend(trend(math.log(1.5), None), response(2e-3, log=True)) == "+50.0% per doubling"


@pytest.mark.parametrize(
    ("aliases", "long", "short"),
    [
        ([], "C", "C"),
        (["A:B"], "C, or A:B", "C, or A:B"),
        (["A:B", "D:E"], "C, or one of A:B and D:E", "C, or 2 others"),
        (["A:B", "D:E", "F:G"], "C, or one of A:B, D:E and F:G", "C, or 3 others"),
        (["A:B", "D:E", "F:G", "H:J", "K:L"], "C, or one of A:B, D:E and 3 more", "C, or 5 others"),
    ],
)
def test_a_term_is_named_with_what_it_cannot_be_told_from(aliases: list[str], long: str, short: str) -> None:
    assert named("C", aliases) == long
    assert named_short("C", aliases) == short


def test_parts_of_interactions_are_said_once_for_all_main_effects() -> None:
    parts = {"A": {"B:C": 1 / 3}, "B": {"A:C": -1 / 3}, "C": {"A:B": 1 / 3}}
    assert partial_aliases(model(parts)) == (
        "each main effect also holds a third of the two-factor interactions without its factor: A +0.33 of B:C; "
        "B -0.33 of A:C; 1 more alike"
    )
    assert partial_aliases(model({"A": {"B:C": 0.5, "D:E": -0.25, "B:E": 0.2}, "B": {}})) == (
        "effects also hold a part of interactions: A +0.5 of B:C, -0.25 of D:E and 1 more"
    )
    some = {"A": {"B:C": 1 / 3}, "B": {}, "C": {"A:B": 1 / 3}}
    assert partial_aliases(model(some)).startswith("each main effect also holds a third of some interactions: A ")
    assert partial_aliases(model({"A": {}})) == ""


def model(parts: dict[str, dict[str, float]]) -> LinearModel:
    none = Effect(term="", settings={}, estimate=1.0, low=None, high=None, p=None)
    terms = [
        Term(term=name, factors=[name], df=1, sum_of_squares=1.0, share=None, f=None, p=None, p_adjusted=None,
             effects=[], partial_aliases=own)
        for name, own in parts.items()
    ]  # fmt: skip
    return LinearModel(
        formula="", observations=12, intercept=none, terms=terms, residual_df=0, residual_ss=0.0, residual_sd=None,
        total_ss=1.0, r2=None, unexplained=None, inestimable=[],
    )  # fmt: skip
