"""A result as text, Markdown, JSON and page, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

import msgspec

from gate.commands.bisect import words
from gate.commands.bisect.options import OutputOptions
from gate.commands.bisect.page import render as html
from gate.commands.bisect.result import Member, Result
from gate.report.markdown.escape import code, escape
from gate.report.outputs import write
from gate.writing.plain import visible

_MOST = 12
"""Commits that a text lists."""


def text(result: Result) -> str:
    """Write the report for a terminal, ending with a newline."""
    lines = [words.headline(result), ""]
    listed = shown(result)
    if listed:
        lines += [f"  {_row(each)}".rstrip() for each in listed]
        rest = len(result.commits) - len(listed)
        lines += [f"  ({rest} more, see bisect.html)"] if rest else []
        lines.append("")
    lines += words.details(result)
    steps = words.next_steps(result)
    lines += ["", "Next:", *(f"  {step.command}\n    {step.purpose}" for step in steps)] if steps else []
    return "\n".join(lines) + "\n"


def _row(member: Member) -> str:
    basis = words.basis(member)
    return f"{words.percent(member.probability):>6}  {words.named(member)}{f'  [{basis}]' if basis else ''}"


def shown(result: Result) -> list[Member]:
    """Return the commits worth a line: the most probable and those that were measured, in the order of the range."""
    if result.step is None:
        return []
    order = sorted(result.commits, key=lambda each: (-each.probability, -each.rounds, each.number))
    kept = [each for each in order if each.sha in result.remaining or each.rounds][:_MOST]
    return sorted(kept, key=lambda each: each.number)


def markdown(result: Result) -> str:
    """Write the report in Markdown, ending with a newline."""
    lines = [f"### perfgate bisect: {escape(words.headline(result))}", ""]
    listed = shown(result)
    if listed:
        lines += ["| probability | commit | change against good | author, date |", "| ---: | --- | --- | --- |"]
        lines += [
            f"| {words.percent(each.probability)} | `{words.short(each.sha)}` {escape(each.subject)} "
            f"| {escape(words.basis(each))} | {escape(each.author)}, {each.date[:10]} |"
            for each in listed
        ]
        lines.append("")
    lines += [f"- {escape(line)}" for line in words.details(result)]
    lines += [f"- {code(step.command, 200)}: {escape(step.purpose)}" for step in words.next_steps(result)]
    return "\n".join(lines) + "\n"


def json(result: Result) -> str:
    """Write the result as JSON, with its headline and next steps as text, ending with a newline."""
    data = msgspec.to_builtins(result)
    case = result.case
    data["case"] = case._asdict() if case is not None else None
    data["text"] = words.headline(result)
    data["next"] = [{"command": each.command, "purpose": each.purpose} for each in words.next_steps(result)]
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"


FORMATS: Mapping[str, Callable[[Result], str]] = {"json": json, "markdown": markdown, "html": html}


def fill(folder: Path, result: Result) -> None:
    """Write the result into the folder of the search.

    Raises:
        UserError: it cannot be written.
    """
    write(folder / "bisect.json", json(result))
    write(folder / "bisect.html", html(result))


def write_asked(result: Result, files: Mapping[str, str]) -> None:
    """Write the files that were asked for.

    Raises:
        UserError: one cannot be written.
    """
    for name, target in files.items():
        if target != "-":
            write(Path(target), FORMATS[name](result))


def show(result: Result, outputs: OutputOptions, out: TextIO) -> None:
    """Print the result: what was asked for on standard output, otherwise as text."""
    on_stdout = next((name for name, target in outputs.files.items() if target == "-"), None)
    if on_stdout is not None:
        out.write(FORMATS[on_stdout](result))
    else:
        out.write(f"{visible(words.headline(result))}\n" if outputs.quiet else text(result))
