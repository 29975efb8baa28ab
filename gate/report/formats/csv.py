"""The measurements behind a report as CSV in long form, one value a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from gate.model import SIDES, Execution, Metric, UserError
from gate.model.case import canonical
from gate.model.directions import told_or_known
from gate.report import Links
from gate.report.material import Shown, material_of
from gate.writing.plain import visible
from gate.writing.units import to_base

_FIRST = ("benchmark", "metric", "unit", "better")
_LAST = ("side", "session", "build", "execution", "order", "iteration", "value")
"""The columns before and after those of the factors."""
_BREAKS = re.compile(r"[^\n\r\t]+")
_QUOTED = re.compile(r'[",\r\n]|^\s|\s$|^$')


def render(subject: Shown, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the measurements. Raises: UserError: only a report is here."""
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
    benchmarks: dict[str, int] = {}
    metrics: dict[str, int] = {}
    settings: dict[str, Mapping[str, object]] = {}
    numbers: dict[str, int] = {}
    parts: list[tuple[tuple[int, ...], Execution, str, Metric]] = []
    for each in executions:
        for name, metric in each.metrics.items():
            if metric.values:
                key = canonical(each.factors)
                settings.setdefault(key, each.factors)
                first = benchmarks.setdefault(each.benchmark, len(benchmarks)), metrics.setdefault(name, len(metrics))
                last = (SIDES.index(each.side), each.session, each.build, each.execution)
                parts.append(((*first, numbers.setdefault(key, len(numbers)), *last), each, name, metric))
    factors = dict.fromkeys(name for own in settings.values() for name in own)
    columns: list[str] = []
    for factor in factors:
        column = factor
        # a name that another column or factor has gets a prefix
        while column in (*_FIRST, *_LAST, *columns) or (column in factors and column != factor):
            column = f"factor_{column}"
        columns.append(column)
    cells = [_cells([own.get(factor) for own in settings.values()]) for factor in factors]
    lines = [",".join(map(cell, (*_FIRST, *columns, *_LAST)))]
    for place, each, name, metric in sorted(parts, key=lambda part: part[0]):
        unit, scale = to_base(metric.unit)
        texts = (each.benchmark, name, unit, told_or_known(metric.better, name, unit) or "")
        order = (each.side, each.session, each.build, each.execution, each.order)
        row = ",".join([*map(cell, texts), *(own[place[2]] for own in cells), *map(cell, order)])
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
    plain = [
        msgspec.json.encode(each, order="sorted").decode()
        if isinstance(each, (bool, list, dict))
        # 1.0 and 1 are one setting
        else int(each)
        if isinstance(each, float) and each.is_integer()
        else each
        for each in settings
    ]
    texts = any(isinstance(each, str) for each in plain)
    return [cell(str(each) if texts and each is not None else each) for each in plain]
