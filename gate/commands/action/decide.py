"""The deciding step of the action: measurements -> report, and the files that are uploaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from gate.checkout import is_sha
from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.evidence.lines import Inputs, Located
from gate.evidence.records import MEASUREMENTS, REPORT, read_inputs
from gate.github.runner import fenced, is_regular, put, read_regular, remove, warning_line, write_outputs
from gate.model import Execution, Failure, ReportVerdict, Run, Same, UserError
from gate.model.records import Choice, Commit, SideChoice, working_ancestor
from gate.model.warnings import typed
from gate.publishing import outcome as outcomes
from gate.publishing.conclusion import (
    LARGEST,
    Concluded,
    NothingError,
    conclude_foreign,
    conclude_on,
    require_readable,
    target_of,
)
from gate.publishing.notice import Notice
from gate.publishing.request import DATA, RUN, STATUS, TEXT, Request, request_of
from gate.report.outputs import fill, show
from gate.words import failures
from gate.writing.plain import visible

_SHOWN = OutputOptions()


def run(out: TextIO, environment: Mapping[str, str], _: Mapping[str, str]) -> int:
    """Decide over what the request names, fill the folder, and say in outputs what to upload; always 0.

    Raises: UserError: there is no request, or its folder cannot be written.
    """
    request = request_of(environment)
    folder = Path(request.folder)
    _clear(request)
    # names of benchmarks and what programs wrote come from the project
    with fenced(out) as log:
        concluded = conclude(request, environment)
        written = _written(request, concluded)
        if concluded.decided is not None:
            show(concluded.decided, _SHOWN, log)
        for notice in concluded.outcome.notices:
            log.write(f"perfgate: {visible(notice.message)}\n")
        if concluded.outcome.note:
            log.write(f"perfgate: {visible(concluded.outcome.note)}\n")
    out.writelines(warning_line(warning, "perfgate") for warning in concluded.warnings)
    outcomes.keep(folder / outcomes.OUTCOME, concluded.outcome)
    write_outputs(Path(environment["GITHUB_OUTPUT"]), written)
    return 0


def _clear(request: Request) -> None:
    """Leave in the folder only what the measuring step writes there, as regular files.

    Measured code may have planted all else: links that lead to this step's token, folders where files are to be
    written, an outcome that would stand if this step broke off.

    Raises: UserError: the folder is a link, or cannot be cleared.
    """
    folder, run = Path(request.folder), request.run_folder
    try:
        if folder.is_symlink():
            raise UserError(f"{folder}: was replaced by a link, which perfgate does not follow")
        folder.chmod(0o700)
        _keep_only(folder, (STATUS, TEXT), RUN)
        if run.exists():
            run.chmod(0o700)
            _keep_only(run, (MEASUREMENTS,))
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        raise UserError(f"{name}cannot be cleared: {error.strerror}") from None


def _keep_only(folder: Path, files: Sequence[str], inner: str | None = None) -> None:
    """Remove all but these files and one folder, where they are what they are called."""
    for found in list(folder.iterdir()):
        is_folder = found.is_dir() and not found.is_symlink()
        if not (is_regular(found) if found.name in files else found.name == inner and is_folder):
            remove(found)


def conclude(request: Request, environment: Mapping[str, str]) -> Concluded:
    """Come to the outcome of a request; whatever is wrong with measurements becomes a notice."""
    target = target_of(request.event)
    if request.notices:
        return Concluded(outcomes.could_not_run(request.notices, target))
    if request.idle or request.command in ("plan", "ask"):
        return Concluded(outcomes.nothing(target, request.idle))
    try:
        if request.foreign:
            run, place, sets = request.run_folder, request.place, request.sets
            return conclude_foreign(request.event, environment, run, request.id, directory=place, sets=sets)
        text = Path(request.folder, TEXT)
        if request.command == "publish" and request.asked is not None and is_regular(text):
            return Concluded(outcomes.nothing(target, text=str(text), of=request.asked.words.verb))
        if request.measured:
            return _decided(request, environment, [request.run_folder / MEASUREMENTS])
        return _own(request, environment, outcomes.read_status(Path(request.folder)))
    except NothingError as error:
        return Concluded(outcomes.could_not_run([Notice(Exit.ERROR, str(error))], target))
    except UserError as error:
        return Concluded(outcomes.could_not_run([Notice(Exit.USAGE, str(error))], target))


def _own(request: Request, environment: Mapping[str, str], status: outcomes.Status) -> Concluded:
    """Conclude on what the measuring step of this job left."""
    target = target_of(request.event)
    measured = request.run_folder / MEASUREMENTS
    files = (measured,) if is_regular(measured) else ()
    if status.code:
        lines = status.lines or [f"measuring ended with exit code {status.code}"]
        return Concluded(outcomes.could_not_run([Notice(status.code, line) for line in lines], target), files=files)
    if request.command in ("check", "creep"):
        return _decided(request, environment, files)
    code, notices = 0, list[Notice]()
    outcome = outcomes.nothing(target)
    if request.asked is not None and request.asked.words.verb != "check":
        files = ()
    else:
        # one part of many: the gate's own job decides, but what failed fails here as well
        require_readable(files)
        records = [each.record for each in read_inputs([str(file) for file in files]).records]
        failed = [record for record in records if isinstance(record, Failure)]
        notices = [Notice(Exit.ERROR, failures.title(failure)) for failure in failed[:5]]
        # a shard may have nothing that both sides have; who decides over all shards sees that
        part = any(isinstance(record, Run) and (record.shard or record.sessions) for record in records)
        if not part and not any(isinstance(record, (Execution, Failure, Same)) for record in records):
            notices = [Notice(Exit.ERROR, "nothing was measured")]
        code = Exit.ERROR if notices else 0
    verdict: ReportVerdict | None = "error" if code else None
    return Concluded(msgspec.structs.replace(outcome, code=code, verdict=verdict, notices=notices), files=files)


def _decided(request: Request, environment: Mapping[str, str], files: Sequence[Path]) -> Concluded:
    target = target_of(request.event)
    if not files:
        raise NothingError("nothing was measured: the measuring step left no measurements")
    require_readable(files)
    read = read_inputs([str(file) for file in files])
    records = [_explained(located, request) for located in read.records]
    inputs = Inputs(records, [*typed(request.warnings), *read.warnings], read.files)
    return conclude_on(inputs, request.event, target, environment)


def _explained(located: Located, request: Request) -> Located:
    """Say in a run line what the action chose, and which commits of a pull request these are."""
    run, pull = located.record, request.event.pull
    if not isinstance(run, Run):
        return located
    base, head, choice = run.base, run.head, run.choice
    ancestor = choice.base if choice is not None and choice.base and choice.base.kind == "ancestor" else None
    if pull is not None and head is not None:
        merged = "" if head.sha == pull.head_sha else f" {pull.head_sha[:10]} merged as"
        head = msgspec.structs.replace(head, ref=f"{pull.head_ref}{merged}")
    if pull is not None and base is not None:
        itself = run.head is not None and base.sha == run.head.sha
        ref = pull.base_ref if ancestor is None else f"an ancestor of {pull.base_ref}"
        base = head if itself else msgspec.structs.replace(base, ref=ref)
    made = msgspec.structs.replace(run, base=base, head=head)
    if choice is not None:
        # the run line knows only that commits were given
        how = request.how or (SideChoice("the commit of the measuring run") if request.measured else None)
        if pull is not None and ancestor is not None:
            choice = Choice(working_ancestor(pull.base_ref, ancestor.steps), choice.head)
        out = SideChoice("the commit that was checked out")
        choice = Choice(_told(choice.base, run.base, how), _told(choice.head, run.head, out))
        made = msgspec.structs.replace(made, choice=choice, chosen=str(choice))
    return Located(made, located.path, located.line)


def _told(given: SideChoice | None, commit: Commit | None, how: SideChoice | None) -> SideChoice | None:
    is_commit = given is not None and given.kind == "given" and commit is not None and is_sha(commit.ref or "")
    return how if is_commit and how is not None else given


# --- the files --------------------------------------------------------------------------------------------------------


def _written(request: Request, concluded: Concluded) -> dict[str, str]:
    """Write report and data, and return the step's outputs: what is to be uploaded, and under which name."""
    folder, run = Path(request.folder), request.run_folder
    data = folder / DATA
    data.mkdir()
    outputs = {"report": "", "data": "", "artifact": ""}
    if concluded.files:
        # of the run's own folder, or what was fetched into it: one file
        require_readable(concluded.files[:1])
        # whole lines: a torn one is of a program that was killed
        put(data / MEASUREMENTS, b"".join((read_regular(concluded.files[0], LARGEST) or b"").rpartition(b"\n")[:2]))
        outputs |= {"data": str(data), "artifact": request.artifact}
    if request.command == "measure" and not request.idle:
        # also where nothing was measured: the job that decides says why
        outputs |= {"data": str(data), "artifact": request.artifact}
    if request.measures or (request.command == "measure" and not request.idle):
        # how measuring ended, written anew: no file that measured code may have written is copied
        status = outcomes.read_status(Path(request.folder))
        if request.notices:
            status = outcomes.Status(request.notices[0].code, [notice.message for notice in request.notices])
        attempt, how = request.event.run_attempt, request.how
        left = msgspec.structs.replace(status, attempt=attempt, how=how, warnings=request.warnings)
        outcomes.keep(data / STATUS, left)
    text = Path(request.folder, TEXT)
    if request.command == "measure" and is_regular(text):
        _copy(text, data / TEXT)
    if concluded.decided is not None:
        fill(run, concluded.decided)
        for name in (REPORT, "comment.md"):
            _copy(run / name, data / name)
        # under the name that its artifact gets
        named = Path(request.folder, f"perfgate-{request.id}-{request.event.run_attempt}.html")
        _copy(run / "report.html", named)
        outputs["report"] = str(named)
    return outputs


def _copy(source: Path, target: Path) -> None:
    data = read_regular(source)
    if data is None:
        raise UserError(f"{source}: cannot be read again")
    put(target, data)
