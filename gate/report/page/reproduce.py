"""How to come to the same page again: the commands, and whose rules judged, in words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec

from gate.decide.importance import ordered
from gate.model import Commit, PolicyFacts, Report
from gate.report.page.embedded import Data
from gate.writing.plain import clip, visible

_NAME = 200
_WHOSE: dict[str, str] = {
    "base": "The rules are those of base's perfgate.toml, which the pull request cannot change.",
    "head": "The rules are those of head's perfgate.toml, which the pull request may have changed; "
    "`--rules base` takes those of base.",
    "defaults": "No rules file was found: the rules are perfgate's defaults.",
    "run": "The rules are those of the measuring run.",
}


class Again(msgspec.Struct, frozen=True):
    """Commands to copy. one: without its benchmark; measure: nothing where the seed is not known."""

    decide: str
    render: str
    some: str
    one: str
    measure: str


def again_of(report: Report, data: Data, options: Sequence[str]) -> Again:
    """Write the commands that decide, render and measure again, with the files by the names that they are saved by.

    options: by which the measurements were decided, beside their names.
    """
    saved = [file.name for file in data.files]
    names = dict.fromkeys(saved or data.names or ("measurements.jsonl",))
    others = [
        word for pair in zip(options[::2], options[1::2], strict=False) if pair[0] != "--benchmark" for word in pair
    ]
    one = _command("report", *names, *others)
    return Again(
        decide=_command("decide", *names, *options),
        render=_command("report", *names, *options, "--html", "again.html"),
        some=f"{one} --benchmark {_least(report)} --html some.html",
        one=one,
        measure=_measure(report),
    )


def _least(report: Report) -> str:
    """Name the benchmark that matters least, as an example of one without pictures."""
    found = ordered(report.findings)
    return visible(shlex.quote(found[-1].benchmark)) if found else "GLOB"


def _command(name: str, *words: str) -> str:
    return visible(shlex.join(["perfgate", name, *words]))


def _measure(report: Report) -> str:
    run = report.run
    if run.seed is None:
        return ""
    sides = [*_side("base", run.base), *_side("head", run.head)]
    return visible(" ".join(["perfgate check", *sides, f"--seed {run.seed}"]))


def _side(name: str, side: Commit | None) -> list[str]:
    # what was not committed is the working tree, which check takes where no head is named
    if side is None or side.dirty or not (revision := side.sha or side.ref):
        return []
    return [f"--{name} {shlex.quote(clip(visible(revision), _NAME))}"]


def whose_rules(policy: PolicyFacts) -> str:
    """Say whose rules judged, such as the target's own file, and what was set over it."""
    whose = policy.whose
    known = _WHOSE.get(whose.kind) if whose else None
    if whose is None or known is None:
        return f"They come from: {visible(policy.source)}."
    over = f" Overridden by --set: {visible(', '.join(whose.sets))}." if whose.sets else ""
    return known + over


def is_dirty(sides: Sequence[Commit | None]) -> bool:
    """Return whether a side had uncommitted changes, which no commit gives again."""
    return any(side is not None and bool(side.dirty) for side in sides)
