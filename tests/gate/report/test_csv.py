"""Measurements as CSV: what goes in comes out of the readers that people use."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gate.model import Execution, Metric, Side
from gate.report.formats.csv import cell, written
from gate.writing.units import to_base

HEADER = "benchmark,metric,unit,better,side,session,build,execution,order,iteration,value\n"
HOSTILE = [
    'say "hi"', "a,b", "two\nlines", "two\r\nlines", "cr\rcr", " lead", "trail ", "", "'", '"', '""', '","', "#x", "=1+1", "NA", "-5",
    "1e5", "a;b\tc", "日本語", "\u00e9", "<script>", "\\", "`|`", "n" * 500,
]  # fmt: skip


def execution(name: str, side: Side, *values: float, **factors: object) -> Execution:
    metrics = {"time": Metric(unit="s", values=list(values))}
    return Execution(benchmark=name, side=side, build=0, execution=0, factors=factors, metrics=metrics)


def both(name: str, base: float = 1.5, head: float = 2.5, **factors: object) -> list[Execution]:
    return [execution(name, "base", base, **factors), execution(name, "head", head, **factors)]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_lines_are_a_header_and_a_value_each() -> None:
    assert written(both("parse", 0.1, 1e-9)) == (
        HEADER + "parse,time,s,lower,base,0,0,0,,0,0.1\nparse,time,s,lower,head,0,0,0,,0,1e-09\n"
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_names_come_back_from_the_csv_module_and_from_pandas(name: str) -> None:
    text = written(both(name, kind=name))
    assert [(row["benchmark"], row["kind"]) for row in rows(text)] == [(name, name)] * 2
    read = pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)
    assert read["benchmark"].tolist() == [name] * 2
    assert text.isascii() or text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize(
    ("name", "shown"),
    [("nul\0", "nul\\x00"), ("\x1b[31mred", "\\x1b[31mred"), ("\u202eevil", "\\u202eevil"), ("\udc80", "\\x80"), ("a\n\0", "a\n\\x00")],
)  # fmt: skip
def test_what_drives_a_terminal_or_stops_a_reader_is_written_out(name: str, shown: str) -> None:
    text = written(both(name))
    assert [row["benchmark"] for row in rows(text)] == [shown] * 2
    text.encode("utf-8")


def test_a_missing_setting_is_empty_and_an_empty_one_is_quoted() -> None:
    lines = written([*both("a", kind=""), *both("b")]).split("\n")
    assert lines[1] == 'a,time,s,lower,"",base,0,0,0,,0,1.5'
    assert lines[3] == "b,time,s,lower,,base,0,0,0,,0,1.5"


def by_hand(executions: Sequence[Execution]) -> Iterator[list[Any]]:
    """The literal twin: value by value, in the order of the lines."""
    for e in executions:
        for name, metric in e.metrics.items():
            unit, scale = to_base(metric.unit)
            better = metric.better or "lower"
            for iteration, value in enumerate(metric.values):
                place = [e.side, e.session, e.build, e.execution, e.order, iteration]
                yield [e.benchmark, name, unit, better, *e.factors.values(), *place, value * scale]


def test_lines_of_any_order_are_sorted_with_names_as_they_come() -> None:
    kinds = [("zoom", "time", 9), ("zoom", "time", 1), ("zoom", "user", 9), ("add", "time", 9), ("add", "user", 1)]
    in_order = [
        Execution(
            benchmark=name, side=side, session=session, build=build, execution=number, factors={"size": size},
            metrics={metric: Metric(unit=("ms", "s", "min")[k % 3], values=[0.1 + k, 1e-300])},
        )
        for k, (name, metric, size) in enumerate(kinds)
        for side in ("base", "head")
        for session in (0, 1)
        for build in (0, 2, 10)
        for number in (0, 1)
    ]  # fmt: skip
    shuffled = [in_order[k] for k in np.random.default_rng(4).permutation(len(in_order))]
    # what comes first decides the order of the names
    first = [in_order[0], in_order[24], in_order[48], in_order[72]]
    text = written([*first, *(e for e in shuffled if not any(e is each for each in first))])
    assert text.split("\n")[1:-1] == [",".join(map(cell, row)) for row in by_hand(in_order)]


def test_a_factor_named_like_a_column_gets_a_prefix() -> None:
    factors = {"value": 1, "factor_value": 2, "side": "left", "size": 3}
    metrics = {"time": Metric(unit="s", values=[1.0])}
    made = Execution(benchmark="x", side="base", build=0, execution=0, factors=factors, metrics=metrics)
    (row,) = rows(written([made]))
    columns = ["factor_factor_value", "factor_value", "factor_side", "size"]
    assert [row[column] for column in columns] == ["1", "2", "left", "3"]


def test_settings_keep_what_they_are() -> None:
    kept: list[tuple[list[Any], list[str]]] = [
        ([1, 1.0, 2], ["1", "1", "2"]),
        ([1, 2.5], ["1", "2.5"]),
        ([10, "all"], ["10", "all"]),
        ([True, False], ["true", "false"]),
        ([[1, 2], {"b": 1, "a": None}], ["[1,2]", '{"a":null,"b":1}']),
        ([2**70, 1, None], [str(2**70), "1", ""]),
    ]
    for settings, expected in kept:
        found = rows(written([execution("x", "base", 1.0, f=value) for value in settings]))
        assert [row["f"] for row in found] == expected
