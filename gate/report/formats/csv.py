"""The measurements behind a report, one value a line."""

from gate.model import UserError
from gate.report import csv
from gate.report.links import Links
from gate.report.measurements import Subject, material_of


def render(subject: Subject, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the measurements.

    Raises:
        UserError: only a report is here.
    """
    executions = material_of(subject).executions
    if not executions and subject.report.findings:
        raise UserError("csv is of the measurements, and only report.json is here: name measurements.jsonl too")
    return csv.render(executions)
