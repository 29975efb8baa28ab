"""A comparison of two measurement files -> JSON, as that of a report."""

from __future__ import annotations

import msgspec

from gate.commands.compare.table import Comparison, Screen
from gate.report import json


def render(comparison: Comparison, _: Screen) -> str:
    """Write the report, with what cannot be compared as warnings."""
    report = comparison.report
    return json.render(msgspec.structs.replace(report, warnings=[*comparison.unlike, *report.warnings]))
