"""The analysis of a study -> one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from gate.model.study import StudyReport
from gate.report.material import Attachment
from gate.report.plain import visible
from gate.report.study_page import page_of
from gate.report.templating import render_template
from gate.study.observations import Observed


def render(report: StudyReport, observed: Sequence[Observed], attachments: Sequence[Attachment]) -> str:
    """Write the page: it loads nothing and has no script.

    observed: of each response, in their order; its values are in the pictures. attachments: the measurement files.
    """
    page = page_of(report, observed, attachments)
    return render_template("study.html.j2", {"page": page}, html=True, finalize=_shown).lstrip()


def _shown(value: Any) -> Any:
    """Make what does not print visible in all text but our own markup; names come from files."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
