"""The pictures of the page: which finding gets which, and where the others point to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec
from msgspec import structs

from gate.decide.importance import MOST
from gate.document.document import Figure
from gate.model import Case, Finding, QuantileCurve
from gate.model.case import CaseId, case_id, shown
from gate.model.profile import Explanation
from gate.writing.plain import visible

_Named = TypeVar("_Named", Finding, Case, QuantileCurve)


class Shown(msgspec.Struct, frozen=True):
    """What a finding shows.

    figures: its pictures. elsewhere: number of the finding, from 0, that shows those of the same case. note: why there
    is none, in words; nothing where that needs no word.
    """

    figures: tuple[Figure, ...] = ()
    elsewhere: int | None = None
    note: str = ""


def flame_of(found: Explanation, title: str, prefix: str) -> Figure | None:
    """Draw the call tree of both sides; None where an explanation has none."""
    from gate.plots.flame import flame_graph

    picture = flame_graph(found, title, prefix)
    return None if picture is None else picture.figure("flame", "Call tree")


def pictures_of(found: Sequence[Finding], cases: Sequence[Case], curves: Sequence[QuantileCurve]) -> list[Shown]:
    """Draw the cases of the findings that matter most, one set of pictures a case.

    found: in the order of importance. cases: with values, of as many findings as are at hand.
    """
    values = {case_id(case): case for case in cases}
    effects = {case_id(curve): curve for curve in curves}
    first: dict[CaseId, int] = {}
    shown: list[Shown] = []
    for number, finding in enumerate(found):
        key = case_id(finding)
        if number >= MOST and key not in first:
            shown.append(Shown())
        elif key in first:
            shown.append(Shown(elsewhere=first[key]))
        else:
            one = _drawn(finding, values.get(key), effects.get(key), f"case-{number + 1}")
            if one.figures:
                first[key] = number
            shown.append(one)
    return shown


def readings(figures: Iterable[Figure]) -> list[tuple[str, str]]:
    """Say how to read the pictures of each kind, each sentence once."""
    found: dict[str, dict[str, None]] = {}
    for figure in figures:
        found.setdefault(figure.name, {}).update(dict.fromkeys(figure.reading))
    return [(name, " ".join(sentences)) for name, sentences in found.items() if sentences]


def _drawn(finding: Finding, case: Case | None, curve: QuantileCurve | None, prefix: str) -> Shown:
    if finding.ratio.method == "exact" or (case is not None and case.exact):
        return Shown(note="Exact numbers have no spread, so there is nothing to draw.")
    from gate.plots.changes import effects
    from gate.plots.violins import series, values

    named, drawn = _legible(finding), []
    if case is not None:
        own = _legible(case)
        drawn = [
            ("values", "Values by build and start", values(own, named, f"{prefix}-values")),
            ("series", "Values in the order of the run", series(own, named, f"{prefix}-series")),
        ]
    if curve is not None:
        drawn.append(("effects", "Change by quantile", effects(_legible(curve), named, f"{prefix}-effects")))
    figures = tuple(picture.figure(kind, name) for kind, name, picture in drawn if picture is not None)
    missing = "Its values have no spread that a picture could show." if case is not None and not figures else ""
    return Shown(figures, note=missing)


def _legible(found: _Named) -> _Named:
    """Make every name visible that a picture writes."""
    factors = {visible(name): visible(shown(value)) for name, value in found.factors.items()}
    names = {"benchmark": visible(found.benchmark), "metric": visible(found.metric), "factors": factors}
    if not isinstance(found, QuantileCurve):
        names["unit"] = visible(found.unit)
    return structs.replace(found, **names)
