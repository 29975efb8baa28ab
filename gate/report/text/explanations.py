"""Which functions add to the changes that were profiled, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gate.document.terminal import paint
from gate.model import Report
from gate.model.explanation import Candidate, Explanation
from gate.words import explanations as words
from gate.words.names import Names
from gate.writing.phrases import more_are
from gate.writing.plain import wrap

_ALL = 20
_MOVED = 3


def explanation_lines(report: Report, most: int | None, width: int, style: str) -> list[str]:
    """Name the functions behind each change that was profiled.

    most: explanations, with three functions each; None: all, with all that are listed. style: of titles.
    """
    lines: list[str] = []
    names = Names(report)
    for found in report.explanations[:most]:
        lines += ["", *one(found, names, words.NAMED if most is not None else _ALL, width, style)]
    for each in report.unprofiled[:most]:
        lines += ["", *wrap(words.unprofiled(each, names), width, rest="  ")]
    left = 0 if most is None else len(report.explanations[most:]) + len(report.unprofiled[most:])
    lines += ["", *wrap(f"{more_are(left, 'profile')} in report.json and report.html.", width)] if left else []
    return lines[1:]


def one(found: Explanation, names: Names, most: int, width: int, style: str) -> list[str]:
    """Write one explanation: what the profile shows, the functions, what moved."""
    lines = [
        paint(f"why {words.title(found, names)}", style),
        *wrap(f"({words.profiled_by(found)})", width, first="  "),
    ]
    for text in words.cautions(found):
        lines += wrap(f"{text}.", width, first="  ", rest="  ")
    lines += _functions(found, found.candidates[:most], width)
    left = len(found.candidates[most:]) + found.left_out
    lines += wrap(f"{more_are(left, 'function')} in report.json and report.html.", width, first="  ") if left else []
    for shift in found.moved[:_MOVED]:
        lines += wrap(f"{words.moved(shift, found.unit)}.", width, first="  moved, not added: ", rest="    ")
    return lines


def _functions(found: Explanation, candidates: Sequence[Candidate], width: int) -> list[str]:
    lines = []
    for number, candidate in enumerate(candidates, 1):
        line = words.line(candidate, found)
        place = f", {line.place}" if line.place else ""
        lines += wrap(f"{line.name}: {line.added}{place}", width, first=f"  {number}. ", rest="     ")
        lines += wrap("; ".join(line.notes), width, first="     ", rest="     ") if line.notes else []
    return lines
