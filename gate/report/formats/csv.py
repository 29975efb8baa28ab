"""The measurements behind a report as CSV in long form, one value a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from gate.directions import told_or_known
from gate.model import SIDES, Execution, Metric, UserError
from gate.report import Links
from gate.report.measurements import Subject, material_of
from gate.units import to_base
from gate.writing.plain import visible

_FIRST = ("benchmark", "metric", "unit", "better")
_LAST = ("side", "session", "build", "execution", "order", "iteration", "value")
"""The columns before and after those of the factors."""
_BREAKS = re.compile(r"[^\n\r\t]+")
_QUOTED = re.compile(r'[",\r\n]|^\s|\s$|^$')


def render(subject: Subject, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the measurements.

    Raises:
        UserError: only a report is here.
    """
    executions = material_of(subject).executions
    if not executions and subject.report.findings:
        raise UserError("csv is of the measurements, and only report.json is here: name measurements.jsonl too")
    return written(executions)


def written(executions: Sequence[Execution]) -> str:
    r"""Write all values as RFC 4180 has it, with a header line: a column for each factor, values in the base unit.

    Rows are sorted by benchmark, metric and setting of the factors, each in the order of its first value, then base
    before head, then by session, build and execution; iterations count from 0, without warm-up. Lines end with "\n".
    What does not exist is an empty cell, an empty text is a quoted one (""). A value has as many digits as it takes to
    read the same double back. A text is as it is, but for what neither prints nor breaks lines: NUL, which readers of
    CSV do not take, and what drives a terminal are written as "\x00" and "\x1b".
    """
    numbers: dict[bytes, int] = {}
    settings: list[Mapping[str, object]] = []
    benchmarks: dict[str, int] = {}
    metrics: dict[str, int] = {}
    parts: list[tuple[tuple[int, ...], Execution, str, Metric]] = []
    for each in executions:
        for name, metric in each.metrics.items():
            if not metric.values:
                continue
            key = msgspec.json.encode({factor: _whole(own) for factor, own in each.factors.items()}, order="sorted")
            if numbers.setdefault(key, len(settings)) == len(settings):
                settings.append(each.factors)
            first = benchmarks.setdefault(each.benchmark, len(benchmarks)), metrics.setdefault(name, len(metrics))
            last = (SIDES.index(each.side), each.session, each.build, each.execution)
            parts.append(((*first, numbers[key], *last), each, name, metric))
    factors = dict.fromkeys(name for each in settings for name in each)
    columns: dict[str, str] = {}
    for factor in factors:
        column = factor
        # a name that another column or factor has gets a prefix
        while column in (*_FIRST, *_LAST, *columns.values()) or (column in factors and column != factor):
            column = f"factor_{column}"
        columns[factor] = column
    cells = list(zip(*(_cells([own.get(factor) for own in settings]) for factor in columns), strict=True))
    lines = [",".join(map(cell, (*_FIRST, *columns.values(), *_LAST)))]
    for place, each, name, metric in sorted(parts, key=lambda part: part[0]):
        unit, scale = to_base(metric.unit)
        texts = (each.benchmark, name, unit, told_or_known(metric.better, name, unit) or "")
        order = (each.side, each.session, each.build, each.execution, each.order)
        row = ",".join([*map(cell, texts), *(cells[place[2]] if columns else ()), *map(cell, order)])
        lines += [f"{row},{iteration},{float(value * scale)!r}" for iteration, value in enumerate(metric.values)]
    return "\n".join(lines) + "\n"


def cell(text: object) -> str:
    """Write one cell of a CSV: text quoted where it has to be, numbers as Python writes them, None as nothing."""
    if text is None:
        return ""
    if not isinstance(text, str):
        return repr(text)
    plain = text if text.isprintable() else _BREAKS.sub(lambda found: visible(found[0]), text)
    return '"' + plain.replace('"', '""') + '"' if _QUOTED.search(plain) else plain


def _cells(settings: Sequence[object]) -> list[str]:
    """Write the settings of one factor: numbers where all of them are, else all as text; lists and tables as JSON."""
    whole = [_whole(each) for each in settings]
    plain = [
        msgspec.json.encode(each, order="sorted").decode() if isinstance(each, (bool, list, dict)) else each
        for each in whole
    ]
    texts = any(isinstance(each, str) for each in plain)
    return [cell(str(each) if texts and each is not None else each) for each in plain]


def _whole(value: object) -> object:
    """Write 1.0 as 1: they are one setting."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
