"""The publishing step of the action: writes the outputs first, then the comment, summary and annotations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from gate.codes import Exit
from gate.evidence.records import REPORT
from gate.github.runner import error_line, is_regular, open_regular, warning_line, write_outputs
from gate.model import Report
from gate.publishing.conclusion import stamp_for, target_of
from gate.publishing.notice import Notice
from gate.publishing.outcome import GateEnd, could_not_run, read_outcome
from gate.publishing.publish import Publication, publish
from gate.publishing.request import Request, gate_name, request_of
from gate.report import Links, json
from gate.report.outputs import links_of
from gate.writing.plain import visible

_ITS_OWN = "if two jobs have the same `id`, set it to give each job, and each leg of a matrix, a name of its own"


def run(out: TextIO, environment: Mapping[str, str], _: Mapping[str, str]) -> int:
    """Write the outputs of the action, publish its outcome, and return the exit code of that.

    Raises: UserError: there is no request, or the outputs cannot be written.
    """
    request = request_of(environment)
    outcome = read_outcome(Path(request.folder), target_of(request.event))
    report: Report | None = None
    if outcome.report:
        try:
            with open_regular(request.run_folder / REPORT) as stream:
                report = json.read(stream.read())
        except (OSError, json.ReportError) as error:
            why = f"the report cannot be read again: {getattr(error, 'strerror', None) or error}"
            outcome = could_not_run([Notice(Exit.ERROR, why)], outcome.target)
    code = _write_outcome(request, outcome, report, environment)
    page, uploads = environment.get("INPUT_REPORT_URL") or None, environment.get("INPUT_UPLOADS", "").split()
    # with a run and no report the comment would name report.html among the run's artifacts
    named = page or uploads[:1] == ["success"] or not outcome.report
    links = Links(
        report=page, run=links_of(environment).run if named else None, gate=gate_name(request.id),
        pull=outcome.target.pull is not None,
    )  # fmt: skip
    publication = Publication(
        id=request.id, event=request.event, outcome=outcome, report=report,
        links=links, status=request.status, asked=request.asked,
        comment=request.comment,
        stamp=stamp_for(request.event, outcome.target, request.job, request.use),
    )  # fmt: skip
    if "failure" in uploads:
        why = (
            "the step before says why; `artifact: false` switches uploads off (GitHub Enterprise Server has no such "
            "action)"
        )
        out.write(warning_line(f"an artifact was not uploaded: {why}", "perfgate"))
    try:
        published = publish(publication, environment, out)
    except Exception as error:  # the exit code is written: what is told of it changes nothing
        if os.environ.get("PERFGATE_TRACEBACK"):
            raise
        out.write(error_line(f"perfgate: not everything was published: {type(error).__name__}: {visible(str(error))}"))
        return code
    later = {"comment-url": published.url or ""}
    lost = published.refused
    if request.command == "measure" and uploads[1:] == ["failure"]:
        lost = f"the artifact {request.artifact} was not uploaded, and the job that decides needs it; {_ITS_OWN}"
    if lost:
        # another job's result stands where this one's belongs: nobody would see it
        out.write(error_line(lost, "perfgate"))
        later |= {"exit-code": str(code or Exit.USAGE), "verdict": (code and outcome.verdict) or "error"}
        code = code or Exit.USAGE
    write_outputs(Path(environment["GITHUB_OUTPUT"]), later)
    # a request that is answered is no failure of the default branch, whose job this is
    return 0 if request.asked is not None and request.command == "publish" and published.url else code


def _write_outcome(request: Request, outcome: GateEnd, report: Report | None, environment: Mapping[str, str]) -> int:
    """Write what later steps go by, and return the exit code, which is not 0 where the report's is not."""
    code = outcome.code or (report.exit_code if report is not None else 0)
    page = request.run_folder / "report.html" if report is not None else None
    write_outputs(
        Path(environment["GITHUB_OUTPUT"]),
        {
            "exit-code": str(code),
            "verdict": outcome.verdict or "",
            "report": str(page) if page is not None and is_regular(page) else "",
            "json": str(request.run_folder / REPORT) if report is not None else "",
            "comment-url": "",
        },
    )
    return code
