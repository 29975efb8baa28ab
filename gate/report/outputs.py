"""Where a report goes: standard output, the files that were asked for, the folder of a run."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.checkout import refuse_tracked
from gate.cli.groups import OutputOptions
from gate.document.terminal import screen
from gate.evidence.records import DEFAULT_FOLDER, MEASUREMENTS, REPORT, parts
from gate.model import UserError
from gate.report import Links

if TYPE_CHECKING:
    from gate.report.material import Shown


def rendered(decided: Shown, form: str) -> str:
    """Render a report in one format of gate/report/formats; text without colour. In a workflow it links the run.

    Raises: UserError: csv without measurements.
    """
    from gate.report.formats import renderer

    return renderer(form)(decided, links_of(os.environ))


def links_of(environment: Mapping[str, str]) -> Links:
    """Tell where the run of a workflow is shown; nothing outside of one."""
    server, repository, run = (environment.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    if not (server and repository and run):
        return Links()
    return Links(run=f"{server}/{repository}/actions/runs/{run}")


def targets(options: OutputOptions) -> list[Path]:
    """Name the files that were asked for."""
    return [Path(target) for target in options.files.values() if target != "-"]


def require_writable(options: OutputOptions) -> None:
    """Refuse outputs that cannot be written, before anything is measured.

    Raises: UserError: a target is a folder, its folder cannot be had, or two formats want standard output.
    """
    on_stdout = [name for name, target in options.files.items() if target == "-"]
    if len(on_stdout) > 1:
        raise UserError(f"--{on_stdout[0]} - and --{on_stdout[1]} - both want standard output")
    for name, target in options.files.items():
        file = Path(target)
        if target != "-" and (not target or file.is_dir()):
            raise UserError(f"--{name} {target}: is a folder, not a file")
        near = next(path for path in (file.absolute(), *file.absolute().parents) if path.exists())
        can = os.access(near, os.W_OK | os.X_OK if near.is_dir() else os.W_OK) and (
            near.is_dir() or near == file.absolute()
        )
        if target != "-" and not can:
            raise UserError(f"--{name} {target}: cannot be written there")


def write_asked(decided: Shown, options: OutputOptions) -> None:
    """Write the files that were asked for. Raises: UserError: one cannot be written."""
    for name, target in options.files.items():
        if target != "-":
            write(Path(target), rendered(decided, name))


def show(
    decided: Shown,
    options: OutputOptions,
    out: TextIO,
    *,
    form: str = "text",
    whole: str = "report.html",
) -> None:
    """Print a report: what was asked for on standard output, else in a form; text in colour on a terminal.

    whole: what shows all of it, for whoever reads the text.
    """
    report = decided.report
    on_stdout = next((name for name, target in options.files.items() if target == "-"), None)
    if on_stdout is not None:
        out.write(rendered(decided, on_stdout))
    elif options.quiet and form == "text":
        from gate.document import bars
        from gate.words import failures, verdict_line

        out.write(f"{bars.of_report(report)} {verdict_line.text(report)}\n")
        out.writelines(f"{failures.title(failure)}\n" for failure in report.failures)
    elif form == "text":
        from gate.report.formats import text

        shown = screen(out)
        out.write(text.written(report, color=shown.color, width=shown.width, every=options.every, whole=whole))
    else:
        out.write(rendered(decided, form))


def deliver(
    files: Mapping[str, str], formats: Mapping[str, Callable[[], str]], text: Callable[[], str], out: TextIO
) -> None:
    """Write what a command says into the files that were asked for; and print the format that "-" names, else the text.

    Raises: UserError: a file cannot be written.
    """
    for name, target in files.items():
        if target != "-":
            write(Path(target), formats[name]())
    on_stdout = next((name for name, target in files.items() if target == "-"), None)
    out.write(text() if on_stdout is None else formats[on_stdout]())


def whole(folder: Path | None) -> str:
    """Say what shows all of a report; folder: into which it was filled, None: into none."""
    if folder is None:
        return "run it again with `--all`"
    return f"`perfgate report {f'{shlex.quote(str(folder))} ' if folder != Path(DEFAULT_FOLDER) else ''}--all`"


def filled(folder: Path) -> list[Path]:
    """Name what fill writes."""
    return [folder / name for name in (REPORT, "comment.md", "report.html")]


def fill(folder: Path, decided: Shown) -> None:
    """Write report.json, report.html and comment.md into the folder of a run.

    Raises: UserError: a file cannot be written.
    """
    make_folder(folder)
    for file, form in zip(filled(folder), ("json", "markdown", "html"), strict=True):
        write(file, rendered(decided, form))


def make_folder(folder: Path, *, own: bool = False) -> None:
    """Make the folder of a run, out of git's sight.

    Args:
        own: it is perfgate's, whoever made it. One that exists is the user's otherwise, and gets no .gitignore.

    Raises:
        UserError: it cannot be made or written.
    """
    refuse_tracked(folder)
    try:
        existed = folder.exists()
        if existed and not folder.is_dir():
            raise UserError(f"--out {folder}: is a file, not a folder")
        if existed and not os.access(folder, os.W_OK | os.X_OK):
            raise UserError(f"--out {folder}: cannot be written")
        folder.mkdir(parents=True, exist_ok=True)
        if (own or not existed) and not os.path.lexists(folder / ".gitignore"):
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out {folder}: cannot be made: {error.strerror}") from None


def write(file: Path, text: str) -> None:
    """Write a file whole or not at all, making its folder when that is missing.

    Raises: UserError: it cannot be written.
    """
    refuse_tracked(file.parent)
    beside = file.with_name(f"{_unfinished(file)}{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and not file.is_file():
            # a pipe or device, such as /dev/stderr
            refuse_tracked(file)
            file.write_text(text, encoding="utf-8")
            return
        _remove_unfinished(file)
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None


def _unfinished(file: Path) -> str:
    """Begin the name of a file while it is written; the number of the process follows."""
    return f".{file.name}.perfgate-"


def _remove_unfinished(file: Path) -> None:
    """Remove what processes that were killed while they wrote a file left beside it."""
    start = _unfinished(file)
    for beside in file.parent.glob(f"{glob.escape(start)}*"):
        number = beside.name.removeprefix(start)
        if re.fullmatch("[1-9][0-9]{0,8}", number):
            # another user's process, or a file that is gone by now
            with contextlib.suppress(OSError):
                try:
                    os.kill(int(number), 0)
                except ProcessLookupError:
                    beside.unlink()


def refuse_inputs(inputs: Sequence[Path], targets: Sequence[Path]) -> None:
    """Refuse a target that is one of the inputs, also by another name: a link, or the file on standard input.

    inputs: as the command line names them: files, folders, which stand for the measurements in them, "-" for standard
    input. targets: files that will be written, "-" for standard output.

    Raises: UserError: naming the target.
    """
    read = [found for path in inputs for found in _read(str(path))]
    for target in targets:
        if str(target) == "-":
            continue
        found = _of(target)
        if found is not None and any(os.path.samestat(found, each) for each in read):
            raise UserError(f"{target}: is read as an input, and would be replaced by the output: name another file")


def _read(path: str) -> Iterator[os.stat_result]:
    """Yield what an input is read from, as far as it is there; the others are for who reads them to refuse."""
    if path == "-":
        try:
            yield os.fstat(sys.stdin.fileno())
        except (AttributeError, OSError, ValueError):
            return
    for part in map(Path, parts(path) if path != "-" else ()):
        files = [part / MEASUREMENTS, part / f"{MEASUREMENTS}.gz"] if part.is_dir() else [part]
        yield from (found for file in files if (found := _of(file)) is not None)


def _of(file: Path) -> os.stat_result | None:
    """Return what tells a file from others; None: there is none, or a pipe or device, which nothing replaces."""
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found if file.is_file() else None
