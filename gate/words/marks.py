"""The mark of each verdict, beside its word, so that colour alone never carries a verdict; the same in every format."""

from __future__ import annotations

from gate.model import Finding, Report, ReportVerdict, Verdict, outcomes

SHAPES: dict[Verdict, str] = {
    "regression": "✖", "inconclusive": "◆", "accepted": "■", "improvement": "★", "unchanged": "●",
    "no-sign": "○", "identical": "≡",
}  # fmt: skip
"""Of a finding: the marks of the forest plot, each one column of a terminal."""
_OF_REPORT: dict[ReportVerdict, str] = {"pass": "✔", "regression": "✖", "inconclusive": "◆", "error": "✖"}
_NEUTRAL = "○"
_COLOURED: dict[str, str] = {
    "✖": "❌", "◆": "⚠️", "■": "☑️", "★": "🚀", "●": "✅", "○": "✅", "≡": "✅", "✔": "✅",
}  # fmt: skip
_COLOURED_NEUTRAL = "⚪"
STYLES = {
    "regression": "1;31", "error": "1;31", "inconclusive": "33", "accepted": "35", "improvement": "36",
    "no-sign": "32", "unchanged": "2", "identical": "2", "pass": "1;32",
}  # fmt: skip
"""The SGR code of each verdict, of a finding and of a report."""


def of_report(report: Report) -> str:
    """Give the mark of a report's verdict; where nothing could be compared it is neither good nor bad."""
    return _NEUTRAL if isinstance(report.summary, outcomes.NothingToCompare) else _OF_REPORT[report.verdict]


def emoji_of_report(report: Report) -> str:
    """Give the coloured mark of a report's verdict, for a comment."""
    mark = of_report(report)
    return _COLOURED_NEUTRAL if mark == _NEUTRAL else _COLOURED[mark]


def emoji(finding: Finding) -> str:
    """Give the coloured mark of a finding's verdict, for a comment."""
    return _COLOURED[SHAPES[finding.verdict]]
