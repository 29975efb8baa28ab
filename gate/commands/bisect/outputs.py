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
from gate.document.html import prose, render_template
from gate.document.markdown import code, escape
from gate.report.outputs import write
from gate.writing.amounts import changed
from gate.writing.plain import clip, visible

_LEFT, _RIGHT, _TOP, _BARS, _GAP, _CHANGES, _BOTTOM = 64.0, 16.0, 26.0, 120.0, 44.0, 150.0, 40.0
_LEAST, _WIDE = 1080.0, 14.0
"""Width of the picture, and of a commit where there are many."""
_TONES = {"culprit": "regression", "set": "inconclusive", "open": "inconclusive", "failed": "error"}
_DOT = 3.5
_LABELS = 24
"""Commits of which each has a label; of more, some."""


def html(result: Result) -> str:
    """Write the page, ending with a newline."""
    best = words.top(result) if result.step is not None and result.outcome == "culprit" else None
    values = {
        "headline": words.headline(result),
        "tone": _TONES.get(result.outcome, "pass"),
        "good": f"{visible(result.good.ref)} {words.short(result.good.sha)}",
        "bad": f"{visible(result.bad.ref)} {words.short(result.bad.sha)}",
        "case": words.case_name(result.case) if result.case is not None else "",
        "details": [prose(line) for line in words.details(result)],
        "steps": words.next_steps(result),
        "culprit": _in_page(best, result) if best is not None else None,
        "strip": Markup(strip(result)) if result.step is not None else "",  # noqa: S704 - escaped as it is made
        "rows": [_in_page(each, result) for each in result.commits],
        "searched": result.step is not None,
        "ends": f"{result.folder}/ends/report.html",
    }
    return render_template("bisect.html.j2", values, html=True).lstrip()


def _in_page(member: Member, result: Result) -> dict[str, object]:
    return {
        "number": member.number, "sha": words.short(member.sha), "subject": visible(member.subject),
        "author": visible(member.author), "date": member.date[:10], "size": words.size_of(member),
        "probability": words.percent(member.probability) if result.step is not None else "",
        "basis": words.basis(member), "folder": f"perfgate report {member.folder}" if member.folder else "",
        "tone": "likely" if member.sha in result.remaining else "",
    }  # fmt: skip


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
