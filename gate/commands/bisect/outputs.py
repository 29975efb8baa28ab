"""A result as text, Markdown, JSON and page, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TextIO

import msgspec

from gate.commands.bisect import words
from gate.commands.bisect.command import OutputOptions
from gate.commands.bisect.result import Member, Result
from gate.document import document as doc
from gate.document import html, markdown, terminal
from gate.report.outputs import deliver, write
from gate.writing.phrases import more_are
from gate.writing.plain import visible

_TONES: dict[str, doc.Tone] = {"culprit": "regression", "failed": "error", "no-difference": "pass"}
_MOST = 12
"""Commits that a text lists."""


def document_of(result: Result, *, page: bool = False) -> doc.Document:
    """Write a result; page: with all commits of the range."""
    searched = result.step is not None
    order = sorted(result.commits, key=lambda each: (-each.probability, -each.rounds, each.number))
    likely = [each for each in order if each.sha in result.remaining or each.rounds] if searched else []
    shown = result.commits if page else sorted(likely[:_MOST], key=lambda each: each.number)
    head = [
        doc.Column("commit"),
        *([doc.Column("probability", right=True, fixed=True)] if searched else []),
        doc.Column("change against good"), doc.Column("changes", spare=True), doc.Column("author, date", spare=True),
    ]  # fmt: skip
    left = len(result.commits) - len(shown)
    table = doc.Table(
        "Commits" if page or not left else "Commits: the most probable, and those that were measured",
        "Commits",
        head,
        [doc.Row(_cells(each, result, page=page)) for each in shown],
        note=f"The gate over both ends: {result.folder}/ends/report.html" if page else "",
    )
    steps = words.next_steps(result)
    details = words.details(result)
    more = [f"{more_are(left, 'commit')} in bisect.html."] if shown and left else []
    sections: list[list[doc.Part]] = [[doc.Said(words.headline(result), _TONES.get(result.outcome, "inconclusive"))]]
    if page:
        best = [words.top(result)] if searched and result.outcome == "culprit" else []
        facts = [
            fact
            for member in best
            for fact in (
                ("commit", words.named(member)),
                ("author, date", f"{visible(member.author)}, {member.date[:10]}"),
                ("changes", words.size_of(member)),
                ("against good", words.basis(member) or "not measured: inferred from the commits around it"),
            )
        ]
        sections += [
            [doc.Facts(facts)],
            [doc.Section("Evidence", "basis", [doc.Items(details, "advice")])],
            [doc.Section("Next", "next", [*steps])] if steps else [],
            [table],
        ]
    else:
        sections += [[table] if shown else [], [doc.Items([*more, *details], "rest")]]
        sections += [[doc.Section("Next:", "next", [*steps])]]
    good, bad = (f"{visible(end.ref)} {words.short(end.sha)}" for end in (result.good, result.bad))
    of = f"{words.case_name(result.case)}, " if result.case is not None else ""
    return doc.Document(
        tool="perfgate bisect",
        title=f"{of}{good} to {bad}",
        sections=sections,
        elsewhere="in bisect.html",
        footer="What was measured of each commit is kept; the command beside it shows it as any run.",
    )


def _cells(member: Member, result: Result, *, page: bool) -> list[doc.Cell]:
    likely = member.sha in result.remaining
    number = f"{member.number}. " if page else ""
    kept = f"; perfgate report {member.folder}" if page and member.folder else ""
    share = [doc.Cell(words.percent(member.probability), tone="regression" if likely else "")]
    basis = words.basis(member)
    return [
        doc.Cell(f"{number}{words.named(member)}"),
        *(share if result.step is not None else []),
        doc.Cell(f"{basis}{kept}" if basis else kept.removeprefix("; ")),
        doc.Cell(words.size_of(member)),
        doc.Cell(f"{visible(member.author)}, {member.date[:10]}"),
    ]


def json(result: Result) -> str:
    """Write the result as JSON, with its headline and next steps as text, ending with a newline."""
    data = msgspec.to_builtins(result)
    case = result.case
    data["case"] = case._asdict() if case is not None else None
    data["text"] = words.headline(result)
    data["next"] = [{"command": each.text, "purpose": each.purpose} for each in words.next_steps(result)]
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"


FORMATS: Mapping[str, Callable[[Result], str]] = {
    "json": json,
    "markdown": lambda result: markdown.render(document_of(result)),
    "html": lambda result: html.render(document_of(result, page=True)),
}


def show(result: Result, folder: Path, outputs: OutputOptions, out: TextIO) -> None:
    """Write the result into the folder of the search and where it was asked for, and print it.

    Raises:
        UserError: a file cannot be written.
    """
    for name in ("json", "html"):
        write(folder / f"bisect.{name}", FORMATS[name](result))

    def text() -> str:
        if outputs.quiet:
            return f"{visible(words.headline(result))}\n"
        return terminal.render(document_of(result), terminal.bounded(out))

    deliver(outputs.files, {name: partial(render, result) for name, render in FORMATS.items()}, text, out)
