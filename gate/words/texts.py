"""A report with the sentence of each warning beside its numbers, for readers that know no kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gate.model import Report
from gate.model.warnings import AnyWarning
from gate.words.warnings import text


def with_texts(report: Report) -> dict[str, Any]:
    """Return the tables of report.json: what has a kind has a text as well."""
    tables: dict[str, Any] = msgspec.to_builtins(report)
    _add(report.warnings, tables["warnings"])
    for finding, table in zip(report.findings, tables["findings"], strict=True):
        _add(finding.warnings, table["warnings"])
    for recorded, table in zip(report.recorded, tables["recorded"], strict=True):
        _add(recorded.warnings, table["warnings"])
    return tables


def _add(warnings: Sequence[AnyWarning], tables: Sequence[dict[str, Any]]) -> None:
    for warning, table in zip(warnings, tables, strict=True):
        table["text"] = text(warning)
