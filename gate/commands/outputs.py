"""Where a report goes: standard output, the files that were asked for, the folder of a run."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Literal, TextIO

from gate.commands.inputs import REPORT
from gate.commands.options import OutputOptions
from gate.model import Report, UserError

Format = Literal["text", "markdown", "json", "html"]


def rendered(report: Report, form: Format) -> str:
    """Render a report in one format; text without colour."""
    # each renderer only where it is needed: jinja2 takes its time
    if form == "json":
        from gate.report import json

        return json.render(report)
    if form == "html":
        from gate.report import html

        return html.render(report)
    if form == "markdown":
        from gate.report import markdown

        return markdown.render(report)
    from gate.report import text

    return text.render(report)


def show(report: Report, options: OutputOptions, out: TextIO, *, form: Format = "text", every: bool = False) -> None:
    """Print a report and write the files that were asked for.

    Raises:
        UserError: a file cannot be written, or two formats want standard output.
    """
    asked: dict[Format, str | None] = {"json": options.json, "html": options.html, "markdown": options.markdown}
    on_stdout = [name for name, target in asked.items() if target == "-"]
    if len(on_stdout) > 1:
        raise UserError(f"--{on_stdout[0]} - and --{on_stdout[1]} - both want standard output")
    for name, target in asked.items():
        if target is not None and target != "-":
            write(Path(target), rendered(report, name))
    if on_stdout:
        out.write(rendered(report, on_stdout[0]))
    elif options.quiet and form == "text":
        from gate.report import wording

        out.write(f"{wording.headline(report)}\n")
    elif form == "text":
        from gate.report import text

        width = shutil.get_terminal_size((100, 24)).columns
        out.write(text.render(report, color=colored(out), width=min(width, 140), every=every))
    else:
        out.write(rendered(report, form))


def colored(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal that shows colour (NO_COLOR and TERM=dumb say no)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal."""
    with contextlib.suppress(AttributeError, ValueError):
        return stream.isatty()
    return False


def fill(folder: Path, report: Report) -> None:
    """Write report.json, report.html and comment.md into the folder of a run.

    Raises:
        UserError: a file cannot be written.
    """
    ignore(folder)
    write(folder / REPORT, rendered(report, "json"))
    write(folder / "report.html", rendered(report, "html"))
    write(folder / "comment.md", rendered(report, "markdown"))


def ignore(folder: Path) -> None:
    """Make the folder of a run, out of git's sight; a folder that exists is the user's and stays as it is.

    Raises:
        UserError: it cannot be made.
    """
    if not folder.exists():
        write(folder / ".gitignore", "*\n")


def write(file: Path, text: str) -> None:
    """Write a file whole or not at all, making its folder when that is missing.

    Raises:
        UserError: it cannot be written.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and not file.is_file():
            # a pipe or device, such as /dev/stderr
            file.write_text(text, encoding="utf-8")
            return
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None
