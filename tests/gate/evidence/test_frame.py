"""The long frame: one row a value, in the order of benchmarks, sides and levels."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gate.evidence.frame import factor_columns, long_frame
from gate.model import Execution, Metric, Side
from gate.units import to_base

OURS = ["benchmark", "metric", "unit", "better"]
REST = ["side", "session", "build", "execution", "order", "iteration", "value"]


def execution(
    values: Sequence[float], side: Side = "base", place: tuple[int, int, int] = (0, 0, 0), name: str = "bench", **more: Any
) -> Execution:  # fmt: skip
    """One execution of a metric; place: session, build, execution."""
    metric = Metric(values=list(values), **{"unit": "s", **more.pop("told", {})})
    session, build, number = place
    return Execution(
        benchmark=name, side=side, session=session, build=build, execution=number,
        metrics={more.pop("metric", "time"): metric}, **more,
    )  # fmt: skip


def rows_by_hand(executions: Sequence[Execution]) -> Iterator[dict[str, Any]]:
    """The literal twin: value by value, in the order of the lines."""
    for e in executions:
        for name, metric in e.metrics.items():
            unit, scale = to_base(metric.unit)
            for iteration, value in enumerate(metric.values):
                yield {
                    "benchmark": e.benchmark, "metric": name, "unit": unit, "better": metric.better or "lower", **e.factors,
                    "side": e.side, "session": e.session, "build": e.build, "execution": e.execution, "order": e.order,
                    "iteration": iteration, "value": value * scale,
                }  # fmt: skip


def rows(found: pd.DataFrame) -> list[Any]:
    return found.astype(object).where(found.notna(), None).to_dict("records")


def test_each_value_is_a_row_with_the_numbers_of_its_line() -> None:
    executions = [
        execution([1.5, 2.5], place=(0, 0, 2), order=9),
        execution([3.5], place=(0, 0, 7), order=3),
        execution([0.1 + 0.2], place=(0, 4, 0), order=4),
        execution([1e-300, 1e300], place=(2, 0, 1)),
        execution([5.5, 6.5, 7.5], "head", (0, 0, 0), order=0),
        execution([1.0], "head", name="other", metric="rate", told={"unit": "", "better": "higher"}),
    ]
    found = long_frame(executions)
    assert list(found.columns) == [*OURS, *REST]
    assert rows(found) == list(rows_by_hand(executions))


def test_lines_of_any_order_are_sorted_with_names_as_they_come() -> None:
    sorted_lines = [
        execution([float(10 * k + build)], side, (session, build, number), name, metric=metric, factors=factors)
        for k, (name, metric, factors) in enumerate(
            [
                ("zoom", "time", {"size": 9}), ("zoom", "time", {"size": 1}), ("zoom", "user", {"size": 9}),
                ("add", "time", {"size": 9}), ("add", "user", {"size": 1}),
            ]
        )
        for side in ("base", "head")
        for session in (0, 1)
        for build in (0, 2, 10)
        for number in (0, 1)
    ]  # fmt: skip
    shuffled = [sorted_lines[k] for k in np.random.default_rng(4).permutation(len(sorted_lines))]
    # what comes first decides the order of the names
    first = [sorted_lines[0], sorted_lines[24], sorted_lines[48], sorted_lines[72]]
    executions = [*first, *(e for e in shuffled if not any(e is each for each in first))]
    assert rows(long_frame(executions)) == list(rows_by_hand(sorted_lines))


def test_what_one_side_alone_has_is_there() -> None:
    executions = [execution([1.0], name="old"), execution([2.0, 3.0], "head", name="new")]
    found = long_frame(executions)
    assert list(zip(found["benchmark"], found["side"], found["value"], strict=True)) == [
        ("old", "base", 1.0), ("new", "head", 2.0), ("new", "head", 3.0),
    ]  # fmt: skip


def test_values_are_in_the_base_unit_each_by_the_unit_of_its_line() -> None:
    executions = [
        execution([1.5, 2.0], told={"unit": unit}, place=(0, 0, k)) for k, unit in enumerate(("ms", "s", "min"))
    ]
    executions.append(execution([2.0], place=(0, 0, 3), told={"unit": "KiB"}))
    found = long_frame(executions)
    assert found["unit"].tolist() == ["s"] * 6 + ["B"]
    assert found["value"].tolist() == [1.5 * 1e-3, 2.0 * 1e-3, 1.5, 2.0, 90.0, 120.0, 2048.0]


def test_an_execution_with_several_metrics_has_rows_of_each() -> None:
    metrics = {
        "time": Metric(unit="s", values=[1.0, 2.0]),
        "memory": Metric(unit="B", values=[3.0]),
        "none": Metric(values=[]),
    }
    found = long_frame([Execution(benchmark="x", side="head", build=0, execution=0, metrics=metrics)])
    assert list(zip(found["metric"], found["iteration"], found["value"], strict=True)) == [
        ("time", 0, 1.0), ("time", 1, 2.0), ("memory", 0, 3.0),
    ]  # fmt: skip


def test_text_and_settings_are_categories_and_numbers_are_numbers() -> None:
    types = long_frame([execution([1.0], order=0, factors={"size": 10})]).dtypes
    assert {name: str(kind) for name, kind in types.items()} == {
        **dict.fromkeys([*OURS, "size", "side"], "category"), **dict.fromkeys(["session", "build", "execution", "iteration"], "int64"),
        "order": "Int64", "value": "float64",
    }  # fmt: skip


@pytest.mark.parametrize("executions", [[], [execution([])]])
def test_without_a_value_the_columns_are_there(executions: list[Execution]) -> None:
    found = long_frame(executions)
    assert list(found.columns) == [*OURS, *REST]
    assert found.empty
    assert found["value"].dtype == float


def test_a_factor_named_like_a_column_gets_a_prefix() -> None:
    factors = {"value": 1, "factor_value": 2, "side": "left", "size": 3}
    assert factor_columns([factors]) == {
        "value": "factor_factor_value", "factor_value": "factor_value", "side": "factor_side", "size": "size",
    }  # fmt: skip
    found = long_frame([execution([1.0], factors=factors)])
    assert found.columns.is_unique
    assert found[["factor_factor_value", "factor_value", "factor_side", "size"]].iloc[0].tolist() == [1, 2, "left", 3]


def test_a_missing_setting_is_na() -> None:
    settings = [{"size": 10}, {"kind": "a"}, {"size": 20, "kind": None}]
    found = long_frame([execution([1.0], factors=each) for each in settings])
    assert found["size"].astype(object).where(found["size"].notna(), None).tolist() == [10, None, 20]
    assert found["kind"].astype(object).where(found["kind"].notna(), None).tolist() == [None, "a", None]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ([1, 1.0, 2], [1, 1, 2]),
        ([1, 2.5], [1.0, 2.5]),
        ([10, "all"], ["10", "all"]),
        ([True, False], ["true", "false"]),
        ([[1, 2], {"b": 1, "a": None}], ["[1,2]", '{"a":null,"b":1}']),
        (["", " "], ["", " "]),
        ([2**70, 1], [2**70, 1]),
    ],
)
def test_settings_keep_what_they_are(settings: list[Any], expected: list[Any]) -> None:
    found = long_frame([execution([1.0], factors={"f": value}) for value in settings])
    assert found["f"].tolist() == expected
    assert len(found["f"].cat.categories) == len(set(expected))


def test_an_unknown_order_is_na_beside_a_known_one() -> None:
    executions = [execution([1.0], place=(0, 0, number), order=order) for number, order in enumerate((5, 2, None))]
    assert long_frame(executions)["order"].tolist() == [5, 2, pd.NA]


def test_a_million_values_take_less_than_a_hundred_bytes_each() -> None:
    found = long_frame(
        [
            execution([0.5] * 5000, side, (0, build, number), f"bench {k}", factors={"size": k}, order=build)
            for k in range(5)
            for side in ("base", "head")
            for build in range(10)
            for number in range(2)
        ]
    )
    assert len(found) == 1_000_000
    assert found.memory_usage(deep=True).sum() < 100 * len(found)
