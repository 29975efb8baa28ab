"""What is known of one case and statistic in two columns, however it was found."""

from __future__ import annotations

import msgspec

from gate.commands.compare.table import Cell
from gate.model import Case, Finding, RatioInterval, Verdict, reasons
from gate.model.case import CaseId, case_id
from gate.model.warnings import AnyWarning

EXTREMES = ("min", "max")
"""Statistics that have no interval: of more values they are only more extreme."""


class Estimate(msgspec.Struct, frozen=True, eq=False):
    """One case and statistic of two columns."""

    case: Case
    statistic: str
    base: Cell
    head: Cell
    ratio: RatioInterval
    """With the interval that is shown."""
    verdict: Verdict
    """On which side of no change the interval lies, as a gate with a threshold of 0 says it."""
    reason: reasons.Reason
    warnings: list[AnyWarning]
    finding: Finding | None = None
    """None: it has no interval, and so no more is to be said of it."""

    @property
    def key(self) -> CaseId:
        """Its identity among the findings of a gate."""
        return case_id(self.case, self.statistic)
