"""What a comment and a job summary point to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of the HTML report and of the workflow run; None: not known."""

    report: str | None = None
    run: str | None = None
