"""What many cases have to mind, said once: sentences that differ in their figures alone are of one kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter

import msgspec

from gate.model import Finding, Recorded, reasons
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import WEIGHTS, Said
from gate.words import findings as words
from gate.writing.phrases import named
from gate.writing.plain import visible
from gate.writing.sentences import Sentence

MANY = 3
"""Cases from which a sentence is said of all of them at once."""
_NAMED = 20


Note = tuple[Hashable, str]
"""What a sentence is about without its figures, and the sentence without a full stop."""


class Shared(msgspec.Struct, frozen=True):
    """What is said once of several cases, those that matter most first."""

    text: str
    of: list[Finding]


def kind(said: msgspec.Struct, *, but: str = "") -> Hashable:
    """Return what two sentences share that differ in their figures alone; but: a field that may differ too."""
    if isinstance(said, Said) and said.what != "said":
        return (Said, said.what)
    told = {name: getattr(said, name) for name in said.__struct_fields__ if name != but}
    figures = (isinstance(value, (int, float)) and not isinstance(value, bool) for value in told.values())
    return (type(said), *(repr("" if own else value) for own, value in zip(figures, told.values(), strict=True)))


def notes(case: Finding | Recorded, *, every: bool = False) -> list[Note]:
    """Say what a reader of a finding should mind; every: beside all columns."""
    apart = words.from_columns(case)
    first = [("columns", apart)] if apart and not every else []
    return first + [(kind(each), visible(each.sentence())) for each in case.warnings]


def why(finding: Finding) -> list[Note]:
    """Say why a finding has its verdict, with what follows; nothing where its interval shows it."""
    if isinstance(finding.reason, reasons.Exceeds):
        return []
    more = (finding.stopped, finding.more_builds is None, finding.detectable is None, finding.is_bound_by_floor)
    return [((finding.verdict, kind(finding.reason), *more), words.reason(finding))]


def shared(findings: Iterable[Finding], told: Callable[[Finding], Iterable[Note]]) -> dict[Hashable, Shared]:
    """Find which kinds of sentences are told of many findings, and of which.

    Where their figures differ, the text says whose they are.
    """
    found: dict[Hashable, list[tuple[Finding, str]]] = {}
    for finding in findings:
        for key, text in dict(told(finding)).items():
            found.setdefault(key, []).append((finding, text))
    return {
        key: Shared(own[0][1] + ("" if len({text for _, text in own}) == 1 else FIRST), [each for each, _ in own])
        for key, own in found.items()
        if len(own) >= MANY
    }


FIRST = "; the figures are those of the first"
"""What follows a sentence that others say with other figures."""


def weigh(warnings: Sequence[AnyWarning], most: int) -> tuple[list[str], list[str]]:
    """Divide warnings, those that matter first: at most so many are shown at once, the rest in the details."""
    first, middle, later = ([each for each in warnings if each.weight == weight] for weight in WEIGHTS)
    found = once([*first, *middle])
    return found[:most], [*found[most:], *once(later)]


def once(warnings: Iterable[Sentence]) -> list[str]:
    """Say each warning of a report; of those of one kind the first, and of which benchmarks the others are."""
    found: dict[Hashable, list[Sentence]] = {}
    for each in warnings:
        of_one = getattr(each, "benchmark", None) is not None
        found.setdefault(kind(each, but="benchmark") if of_one else each.sentence(), []).append(each)
    told = []
    for own in found.values():
        said = [each.sentence() for each in own]
        if len(own) >= MANY:
            # one text many times is said once
            del said[1:]
            if getattr(own[0], "benchmark", None) is not None:
                first, *more = map(attrgetter("benchmark"), own)
                alike = {msgspec.structs.replace(each, benchmark=first).sentence() for each in own}
                other = "" if len(alike) == 1 else ", with other figures,"
                said = [f"{said[0]}; likewise{other} {named(more, _NAMED)}"]
        told += said
    return told
