"""The measuring step of the action: runs code of the project, without the token, behind a fence."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from gate.cli.command import Command, command_of
from gate.cli.groups import MeasureOptions
from gate.cli.option_values import Shard
from gate.codes import Exit, is_of_signal
from gate.github.runner import NAMES, FileGuard, error_line, fenced, put, warning_line
from gate.model import UserError
from gate.publishing.outcome import Status, keep
from gate.publishing.request import STATUS, TEXT, Request, as_inputs, request_of, rules_of
from gate.run.interruption import EndedError, Heard, say_why
from gate.writing.plain import visible
from harness.process.execute import is_of_runner, is_secret

_TOKEN = re.compile(r"\b(gh[a-z]_[A-Za-z0-9]{10,}|github_pat_[A-Za-z0-9_]{10,})")
SECRET = ("GITHUB_TOKEN", "GH_TOKEN", "INPUT_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
# no secret: the public key that an image of Python was checked with
_PUBLIC = "GPG_KEY"
_SHOWN = 5


def run(out: TextIO, environment: Mapping[str, str], _: Mapping[str, str]) -> int:
    """Measure what the request asks for, and keep how that ended in the folder.

    Returns 0, since the steps after it report; 128 + signal after an interruption, and 4 when the runner's files are
    not as they were: then no step after it runs.

    Raises: UserError: there is no request, or its folder cannot be written.
    """
    _leave_tokens_behind(out)
    request = request_of(environment)
    guard = FileGuard(environment)
    out.writelines(warning_line(warning, "perfgate") for warning in secret_warnings(environment))
    try:
        with _one_stream(out), fenced(out) as inside:
            heard = Heard(inside)
            code = attempted(lambda: _measured(request, heard), heard)
            keep(Path(request.folder, STATUS), Status(code, [heard.why] if code and heard.why else []))
    finally:
        # whatever ended it
        warnings, whole = guard.restore()
        line = warning_line if whole else error_line
        out.writelines(line(warning, "perfgate") for warning in warnings)
    if not whole:
        return Exit.ERROR
    return code if is_of_signal(code) else 0


def _leave_tokens_behind(out: TextIO) -> None:
    """Begin again without GitHub's tokens in the environment, which stands in /proc as long as this process does."""
    held = sorted(name for name, value in os.environ.items() if _TOKEN.search(value) and name not in SECRET)
    # what calls this in process is not to be replaced
    if not held or sys.argv[1:3] != ["action", "measure"]:
        return
    shown = ", ".join(visible(name)[:80] for name in held[:_SHOWN])
    out.write(warning_line(f"the job's `env:` holds a GitHub token ({shown}): it was removed", "perfgate"))
    out.flush()
    kept = {name: value for name, value in os.environ.items() if name not in held}
    os.execve(sys.executable, [sys.executable, "-I", "-m", "gate", *sys.argv[1:]], kept)  # noqa: S606  # perfgate itself


def secret_warnings(environment: Mapping[str, str]) -> list[str]:
    """Warn of variables that look like secrets: benchmarks do not get them, and find them in perfgate's own process."""
    named = [
        name
        for name, value in sorted(environment.items())
        if value and is_secret(name) and not is_of_runner(name) and name not in (*SECRET, _PUBLIC)
    ]
    shown = ", ".join(visible(name)[:80] for name in named[:_SHOWN]) + (", ..." if len(named) > _SHOWN else "")
    what = f"the job's `env:` holds {shown}, which measured code can read: give secrets to the steps that need them"
    return [what] if named else []


@contextlib.contextmanager
def _one_stream(out: TextIO) -> Iterator[None]:
    """Lead the process's standard error into its standard output meanwhile: a fence holds on one stream only."""
    if out is not sys.stdout or out.fileno() != 1:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(1, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def attempted(measure: Callable[[], int], err: TextIO) -> int:
    """Return the exit code of measuring as the command line would; what ends it is one line."""
    try:
        return measure()
    except UserError as error:
        say_why(err, visible("; ".join(map(str, error.errors))), as_input=visible(as_inputs(error)))
        return error.exit_code
    except EndedError as ended:
        say_why(err, visible(str(ended)))
        return ended.exit_code
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        say_why(err, visible(f"{name}{error.strerror or error}"))
        return Exit.ERROR
    except Exception as error:  # a fault of perfgate itself is one line too, and never a pass
        if os.environ.get("PERFGATE_TRACEBACK"):
            raise
        say_why(err, f"internal error, {type(error).__name__}: {visible(str(error))}; please report it")
        return Exit.ERROR


def _measured(request: Request, out: TextIO) -> int:
    held = [name for name in SECRET if os.environ.get(name)]
    if held:
        say_why(out, f"the measuring step must not have the token: {', '.join(held)} is set; it is not measured")
        return Exit.ERROR
    for name in NAMES:
        os.environ.pop(name, None)
    from gate.run.refusal import require_measuring

    require_measuring()
    os.chdir(request.directory)
    verb = request.asked.words.verb if request.asked is not None else "check"
    if verb == "bisect":
        return _bisected(request, out)
    from gate.decide.stopping import interim_check
    from gate.evidence.records import DEFAULT_FOLDER
    from gate.run.measuring import open_run
    from gate.run.memory import append_check
    from gate.run.preview import introduction
    from gate.run.run_folder import records_of

    options = measuring_options(request)
    with open_run(options, Path(DEFAULT_FOLDER), out, quiet=False) as run:
        job = run.lay_out(rules_of(request))
        run.begin(job, introduction(job))
        # looks are taken over all shards and sessions together, or not at all
        job, _ = run.measure(job, interim_check if job.part is None else None, explains=True)
        records = records_of(job.out)
        warnings = append_check(options.history, job.project, job.run, records, allowed=request.remember)
        if job.run.creep is not None:
            from gate.run.creep import append_night

            warnings += append_night(options.history, job.project, job.run, records, allowed=request.remember)
        out.writelines(f"perfgate: warning: {warning}\n" for warning in warnings)
    if verb != "explain":
        return 0
    command = command_of("explain")
    asked = command.options(run=str(request.run_folder), benchmarks=request.benchmarks)
    return _kept(command, asked, request, out)


def measuring_options(request: Request) -> MeasureOptions:
    """Return what a request asks to measure, and how."""
    return MeasureOptions(
        base=request.base, head=request.head, out=request.run_folder, session=request.session,
        sessions=request.sessions, shard=Shard.parse(request.shard) if request.shard else None,
        creep=request.command == "creep",
    )  # fmt: skip


def _bisected(request: Request, out: TextIO) -> int:
    from gate.run.refusal import ASKED, FORKS

    # what is not to be measured never comes here
    os.environ[FORKS] = ASKED
    command = command_of("bisect")
    good = request.asked.words.good if request.asked is not None else None
    asked = command.options(rules=rules_of(request), good=good, bad=request.head, out=request.run_folder)
    code = _kept(command, asked, request, out)
    # several commits remain, which is an answer
    return 0 if code == Exit.INCONCLUSIVE else code


def _kept(command: Command, options: Any, request: Request, out: TextIO) -> int:
    """Run a command, and keep what it says for the steps after it."""
    text = io.StringIO()
    code = command.run(options, text, out)
    out.write(text.getvalue())
    put(Path(request.folder, TEXT), text.getvalue().encode("utf-8", "backslashreplace"))
    return code
