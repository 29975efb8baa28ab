"""A result as text, Markdown, JSON and page, and where they go."""

from __future__ import annotations

import math
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
from gate.plots.axes import grid
from gate.plots.picture import Picture, Sheet, Tip
from gate.plots.scales import Axis, Tick, change_ticks
from gate.report.outputs import deliver, write
from gate.writing.phrases import more_are
from gate.writing.plain import clip, visible

_WIDTH, _HEIGHT, _LEFT, _RIGHT = 960.0, 442.0, 78.0, 946.0
_TOP, _BARS, _CHANGES, _BOTTOM = 50.0, 120.0, 150.0, 382.0
"""Places in the picture, and the heights of its halves."""
_TONES: dict[str, doc.Tone] = {"culprit": "regression", "failed": "error", "no-difference": "pass"}
_READING = (
    "Bars: the probability that a commit brought the largest slowdown; red: the fewest that hold 95%. Points: the "
    "change of a measured commit against good with its 95% interval. A ring: the same program as good. A cross: it "
    "cannot be measured."
)
_MOST = 12
"""Commits that a text lists."""


def document_of(result: Result, *, page: bool = False) -> doc.Document:
    """Write a result; page: with all commits of the range, and a picture of them."""
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
        best = words.top(result) if searched and result.outcome == "culprit" else None
        picture = strip(result).figure("strip", "Probability and change of each commit")
        sections += [
            [doc.Facts(_facts(best))] if best is not None else [],
            [doc.Section("Commits of the range", "range", [doc.Figures([picture])], _READING)] if searched else [],
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


def _facts(member: Member) -> list[tuple[str, str]]:
    return [
        ("commit", words.named(member)),
        ("author, date", f"{visible(member.author)}, {member.date[:10]}"),
        ("changes", words.size_of(member)),
        ("against good", words.basis(member) or "not measured: inferred from the commits around it"),
    ]


def strip(result: Result) -> Picture:
    """Draw the range from left to right: probabilities above, measured changes with their intervals below."""
    members, sheet = result.commits, Sheet(_WIDTH, _HEIGHT)
    step = (_RIGHT - _LEFT) / len(members)
    xs = [_LEFT + step * (index + 0.5) for index in range(len(members))]
    chance = Axis(0, 1, _TOP + _BARS, _TOP)
    # the logarithms that the lower scale goes from and to
    logs = [math.log(end) for m in members if (c := m.change) is not None for end in (c.low, c.high, c.ratio) if end]
    logs += [0.0] if result.step is None else [0.0, math.log(result.step.ratio)]
    margin = 0.06 * (max(logs) - min(logs)) or 0.01
    change = Axis(min(logs) - margin, max(logs) + margin, _BOTTOM, _BOTTOM - _CHANGES)
    grid(sheet, chance, [Tick(share, f"{share:.0%}") for share in (0.0, 0.5, 1.0)], _LEFT, _RIGHT)
    grid(sheet, change, change_ticks(change, lambda _: 30), _LEFT, _RIGHT)
    sheet.lines("axis", [[(_LEFT, change.at(0)), (_RIGHT, change.at(0))]])
    sheet.text(12, 20, "probability", "soft")
    sheet.text(12, _BOTTOM - _CHANGES - 26, "change against good", "soft")
    for is_likely, fill, colour in ((False, "soft", "base"), (True, "pip-regression", "regression")):
        own = [(x, m) for x, m in zip(xs, members, strict=True) if (m.sha in result.remaining) is is_likely]
        half = 0.36 * step
        tops = [(x, min(chance.at(m.probability), chance.start - 0.6)) for x, m in own]
        corners = ((-half, 0), (half, 0), (half, 1), (-half, 1))
        bars = ([(x + dx, (top, chance.start)[end]) for dx, end in corners] for x, top in tops)
        sheet.lines(fill, bars, closed=True)
        changes = [(x, c) for x, m in own if (c := m.change) is not None]
        ends = [(x, c.low, c.high) for x, c in changes if c.low is not None and c.high is not None]
        whiskers = ([(x, change.at(math.log(end))) for end in (low, high)] for x, low, high in ends)
        sheet.lines(f"fine-{colour}", whiskers)
        sheet.marks(f"spot-{colour}", "circle", [(x, change.at(math.log(c.ratio))) for x, c in changes])
    unmeasured = [(x, m.state) for x, m in zip(xs, members, strict=True) if m.change is None]
    for state, classes in (("same", ("spot-base", "hole")), ("unmeasurable", ("fine-inconclusive",))):
        points = [(x, change.at(0)) for x, own in unmeasured if own == state]
        for each in classes:
            sheet.marks(each, "circle" if state == "same" else "cross", points)
    sheet.row(_BOTTOM + 24, [(x, str(m.number)) for x, m in zip(xs, members, strict=True)], "soft")
    sheet.text((_LEFT + _RIGHT) / 2, _HEIGHT - 10, "commits after good, in order", "soft wide", "middle")
    sheet.tips("tip", [Tip(x, _TOP, _BOTTOM, _tip(m)) for x, m in zip(xs, members, strict=True)])
    return sheet.picture("strip", "Probability and change of each commit", words.headline(result), "")


def _tip(member: Member) -> str:
    basis = words.basis(member)
    lines = [
        f"{member.number}. {words.short(member.sha)} {clip(visible(member.subject), 90)}",
        f"{member.author}, {member.date[:10]}, {words.size_of(member)}",
        f"{words.percent(member.probability)}{f', {basis}' if basis else ''}",
    ]
    return "\n".join(map(visible, lines))


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
