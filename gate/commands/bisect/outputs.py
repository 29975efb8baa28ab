"""A result as text, Markdown, JSON and page, and where they go."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO
from xml.sax import saxutils

import msgspec
from markupsafe import Markup

from gate.commands.bisect import words
from gate.commands.bisect.options import OutputOptions
from gate.commands.bisect.result import Member, Result
from gate.document import document as doc
from gate.document import html, markdown, terminal
from gate.report.outputs import write
from gate.writing.amounts import changed
from gate.writing.phrases import more_are
from gate.writing.plain import clip, visible

_LEFT, _RIGHT, _TOP, _BARS, _GAP, _CHANGES, _BOTTOM = 64.0, 16.0, 26.0, 120.0, 44.0, 150.0, 40.0
_LEAST, _WIDE = 1080.0, 14.0
"""Width of the picture, and of a commit where there are many."""
_TONES: dict[str, doc.Tone] = {"culprit": "regression", "failed": "error", "no-difference": "pass"}
_READING = (
    "Bars: the probability that a commit brought the largest slowdown; red: the fewest that hold 95%. Points: the "
    "change of a measured commit against good with its 95% interval. A ring: the same program as good. A cross: it "
    "cannot be measured."
)
_MOST = 12
"""Commits that a text lists."""
_DOT = 3.5
_LABELS = 24
"""Commits of which each has a label; of more, some."""


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
    steps = [doc.Code(step.command, step.purpose) for step in words.next_steps(result)]
    details = words.details(result)
    more = [f"{more_are(left, 'commit')} in bisect.html."] if shown and left else []
    sections: list[list[doc.Part]] = [[doc.Said(words.headline(result), _TONES.get(result.outcome, "inconclusive"))]]
    if page:
        best = words.top(result) if searched and result.outcome == "culprit" else None
        picture = doc.Figure("strip", "Probability and change of each commit", Markup(strip(result)), "")  # noqa: S704 - escaped as it is made
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


def strip(result: Result) -> str:
    """Draw the range from left to right: probabilities above, measured changes with their intervals below."""
    members = result.commits
    width = max(_LEAST, _LEFT + _RIGHT + _WIDE * len(members))
    step = (width - _LEFT - _RIGHT) / len(members)
    top = _TOP + _BARS + _GAP
    height = top + _CHANGES + _BOTTOM
    # the logarithms that the lower scale goes from and to
    logs = [math.log(end) for m in members if (c := m.change) is not None for end in (c.low, c.high, c.ratio) if end]
    logs += [0.0] if result.step is None else [0.0, math.log(result.step.ratio)]
    room = 0.06 * (max(logs) - min(logs)) or 0.01
    low, high = min(logs) - room, max(logs) + room

    def place(ratio: float) -> float:
        share = (math.log(ratio) - low) / (high - low)
        return top + _CHANGES * (1 - min(max(share, 0.0), 1.0))

    def rule(kind: str, y: float, label: str) -> list[str]:
        return [
            f'<path class="{kind}" d="M{_LEFT} {y:.1f}H{width - _RIGHT:.1f}"/>',
            f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}">{label}</text>',
        ]

    label = saxutils.escape(words.headline(result), {'"': "&quot;"})
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    parts = [f'<svg class="strip" {size} role="img" aria-label="{label}">']
    parts.append(f'<text class="title" x="4" y="{_TOP - 14}">probability</text>')
    for tick in (0.0, 0.5, 1.0):
        parts += rule("grid", _TOP + _BARS * (1 - tick), f"{tick:.0%}")
    parts.append(f'<text class="title" x="4" y="{top - 18}">change against good</text>')
    span = math.exp(high) - math.exp(low)
    unit = 10 ** math.floor(math.log10(span / 3))
    unit *= next(each for each in (1, 2, 5, 10) if span / (each * unit) <= 5)
    for number in range(math.ceil((math.exp(low) - 1) / unit), math.floor((math.exp(high) - 1) / unit) + 1):
        ratio = 1 + number * unit
        parts += rule("grid" if number else "zero", place(ratio), changed(ratio) if number else "0%")
    for index, member in enumerate(members):
        x = _LEFT + step * (index + 0.5)
        tone = "likely" if member.sha in result.remaining else "rest"
        tall = _BARS * member.probability
        parts += [
            f'<g class="{tone}"><title>{_tip(member)}</title>',
            f'<rect class="hit" x="{x - step / 2:.1f}" y="{_TOP}" width="{step:.1f}" height="{height - _TOP}"/>',
            f'<rect class="bar" x="{x - step * 0.36:.1f}" y="{_TOP + _BARS - tall:.1f}" ',
            f'width="{step * 0.72:.1f}" height="{max(tall, 0.6):.1f}"/>',
        ]
        parts += _mark(member, x, place)
        parts.append("</g>")
    every = max(1, math.ceil(len(members) / _LABELS * 1.6)) if step < 80 else 1
    last = len(members) - 1
    for index, member in enumerate(members):
        if index == last or (index % every == 0 and last - index >= every):
            x = _LEFT + step * (index + 0.5)
            parts.append(f'<text class="name" x="{x:.1f}" y="{height - 22}">{member.number}</text>')
    parts.append(f'<text class="title" x="{_LEFT}" y="{height - 4}">commits after good, in order</text>')
    return "".join([*parts, "</svg>"])


def _mark(member: Member, x: float, place: Callable[[float], float]) -> list[str]:
    change = member.change
    if change is None:
        y = place(1.0)
        if member.state == "unmeasurable":
            return [f'<path class="unmeasurable" d="M{x - 3:.1f} {y - 3:.1f}l6 6m0-6l-6 6"/>']
        return [f'<circle class="same" cx="{x:.1f}" cy="{y:.1f}" r="{_DOT}"/>'] if member.state == "same" else []
    found = []
    if change.low is not None and change.high is not None:
        found.append(f'<path class="whisker" d="M{x:.1f} {place(change.low):.1f}V{place(change.high):.1f}"/>')
    return [*found, f'<circle class="dot" cx="{x:.1f}" cy="{place(change.ratio):.1f}" r="{_DOT}"/>']


def _tip(member: Member) -> str:
    basis = words.basis(member)
    lines = [
        f"{member.number}. {words.short(member.sha)} {clip(visible(member.subject), 90)}",
        f"{member.author}, {member.date[:10]}, {words.size_of(member)}",
        f"{words.percent(member.probability)}{f', {basis}' if basis else ''}",
    ]
    return saxutils.escape("\n".join(visible(line) if line != "" else "" for line in lines))


def json(result: Result) -> str:
    """Write the result as JSON, with its headline and next steps as text, ending with a newline."""
    data = msgspec.to_builtins(result)
    case = result.case
    data["case"] = case._asdict() if case is not None else None
    data["text"] = words.headline(result)
    data["next"] = [{"command": each.command, "purpose": each.purpose} for each in words.next_steps(result)]
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"


def fill(folder: Path, result: Result) -> None:
    """Write the result into the folder of the search. Raises UserError: it cannot be written."""
    write_asked(result, {name: str(folder / f"bisect.{name}") for name in ("json", "html")})


def write_asked(result: Result, files: Mapping[str, str]) -> None:
    """Write the files that were asked for. Raises UserError: one cannot be written."""
    for name, target in files.items():
        if target != "-":
            write(Path(target), FORMATS[name](result))


FORMATS: Mapping[str, Callable[[Result], str]] = {
    "json": json,
    "markdown": lambda result: markdown.render(document_of(result)),
    "html": lambda result: html.render(document_of(result, page=True)),
}


def show(result: Result, outputs: OutputOptions, out: TextIO) -> None:
    """Print the result: what was asked for on standard output, otherwise as text."""
    on_stdout = next((name for name, target in outputs.files.items() if target == "-"), None)
    if on_stdout is not None:
        out.write(FORMATS[on_stdout](result))
    elif outputs.quiet:
        out.write(f"{visible(words.headline(result))}\n")
    else:
        out.write(terminal.render(document_of(result), terminal.bounded(out)))
