"""What profiles say about a change: which functions add to it, what moved, and what the profiles do not show."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gate.explain.call_tree import plain
from gate.model.profile import Amounts, Candidate, Explanation, Frame, FrameChange, Moved, Unprofiled
from gate.words import views
from gate.words.short_names import Names
from gate.writing import amounts
from gate.writing.phrases import joined
from gate.writing.plain import clip, columns, visible

NAMED = 3
"""Functions that a comment names."""
_NAME = 60
_PLACE = 80
_MOSTLY = 0.5
_LITTLE = 0.02
_NONE = 0.005
_GO_FOLDERS = re.compile(r"^(?:[\w.~-]+/)+(?=[\w.~%-]+\.[\w(])")
"""The folders of a Go package's path: all but the last, which is said with each of its functions."""
_PREFIXES = ((1e9, " G"), (1e6, " M"), (1e3, " k"))


class Line(msgspec.Struct, frozen=True):
    """What is said of one function, in pieces that each format marks up in its way."""

    name: str
    added: str
    """"+38% of the change"."""
    place: str
    """File and line; "" where they are not known."""
    notes: tuple[str, ...]


def name(frame: Frame) -> str:
    """Write the name of a function, shortened.

    Of Go's "github.com/o/json.(*T).Get" it is what Go's own tools show; a long one goes without arguments, or a method
    of a C++ template would lose its name.
    """
    whole = visible(_GO_FOLDERS.sub("", frame.function))
    return clip(whole if columns(whole) <= _NAME else visible(plain(frame.function)), _NAME) or "(no name)"


def place(frame: Frame) -> str:
    """Write where a function is: "src/json.c:123"; "" where that is not known."""
    at = f":{frame.line}" if frame.file and frame.line else ""
    return f"{clip(visible(frame.file.removeprefix('/')), _PLACE)}{at}"


def title(found: Explanation, names: Names) -> str:
    """Name the benchmark, with its settings; names: those of the report."""
    settings = names.settings(found, _NAME)
    return names.benchmark(found.benchmark, _NAME) + (f" ({settings})" if settings else "")


# --- amounts ----------------------------------------------------------------------------------------------------------


def amount(cost: float, unit: str) -> str:
    """Write a cost: "12.3 M instructions", "1.204 s", "340 samples"."""
    if unit == "s":
        return amounts.amount(cost, "s", cost)
    size, prefix = next(((cost / by, name) for by, name in _PREFIXES if abs(cost) >= by), (cost, ""))
    return f"{size:.3g}{prefix} {visible(unit)}"


def signed(cost: float, unit: str) -> str:
    """Write a difference of costs with its sign."""
    return f"{'+' if cost >= 0 else ''}{amount(cost, unit)}"


def grown(both: Amounts) -> str:
    """Write how a cost changed: "+12.1%", "new", "gone"."""
    if both.base <= 0:
        return "new" if both.head > 0 else "none"
    return "gone" if both.head <= 0 else amounts.changed(both.head / both.base)


def share(candidate: Candidate) -> str:
    """Write the share of the change that a function adds; "" where there is none to speak of."""
    if candidate.share is None or (candidate.share < _NONE and candidate.maybe > 0):
        return ""
    return f"{candidate.share:+.0%}"


def added(candidate: Candidate, unit: str) -> str:
    """Write what a function adds: its share of the change, or its cost where there is no change to share."""
    if candidate.share is None:
        return signed(candidate.change, unit) if candidate.change > 0 else "little itself"
    return f"{share(candidate)} of the change" if share(candidate) else "little itself"


# --- sentences --------------------------------------------------------------------------------------------------------


def profiled_by(found: Explanation) -> str:
    """Say which profiler saw it, and how much more it saw: "callgrind, instructions +12.1%"."""
    each = " per operation" if found.operations is not None else ""
    return f"{visible(found.profiler)}, {_quantity(found)}{each} {grown(found.total)}"


def _quantity(found: Explanation) -> str:
    return "CPU time" if found.unit == "s" else visible(found.unit)


def tool(found: Explanation) -> str:
    """Name the profiler's version, where it says more than its name, and say what its stacks are."""
    version = clip(visible(found.tool or ""), _NAME)
    said = [version if version != found.profiler else "", "stacks are approximate" if found.approximate else ""]
    return "; ".join(text for text in said if text)


def agreement(found: Explanation) -> str:
    """Say whether the profile shows the measured change; "" where there is nothing to compare, or it does."""
    more, metric = grown(found.total), visible(views.metric_name(found.metric or ""))
    measured = amounts.changed(found.measured) if found.measured is not None else ""
    match found.agreement:
        case "less":
            rest = "waiting, input and output, or other processes"
            if found.unit == "instructions":
                rest = "waiting, input and output, memory stalls, or work in the kernel"
            return (
                f"The profile does not show the change: {_quantity(found)} {more}, measured {metric} {measured}. "
                f"The rest is likely what {visible(found.profiler)} does not count: {rest}"
            )
        case "opposite":
            return (
                f"The profile contradicts the change: {_quantity(found)} {more}, measured {metric} {measured}. "
                "Do not rely on the functions below"
            )
        case "elsewhere":
            return f"The profile shows {_quantity(found)}, and what changed is {metric}: the two may be unrelated"
        case _:
            return ""


def alike(found: Explanation) -> str:
    """Say that all functions changed alike; "" where they did not."""
    if found.alike == 1:
        return ""
    much = amounts.changed(found.alike)
    if not found.left_alike:
        return f"Most functions changed alike, by {much}: compiler options may have changed"
    return (
        f"Most functions took {much} alike, as on a machine that was slower or faster then, or with other compiler "
        "options; the functions below are compared without that"
    )


def cautions(found: Explanation) -> list[str]:
    """Say what to mind about an explanation."""
    texts = [agreement(found), alike(found)]
    certain = any(not each.noise for each in found.candidates[:NAMED])
    if found.noise and not certain:
        texts.append("The two profiles differ by no more than sampling noise: the ranking is not reliable")
    elif found.candidates and not certain:
        texts.append("No single function stands out of the sampling noise")
    if not (found.candidates or texts[0] or found.noise):
        texts.append("No function adds to the difference")
    return [text for text in texts if text]


def line(candidate: Candidate, found: Explanation) -> Line:
    """Say of a function what it adds, where it is, through what, and who calls it."""
    # say in which functions below it the change shows
    said = []
    library = [part for part in candidate.library if part.change > 0]
    own = candidate.own.change
    if library and sum(part.change for part in library) >= _MOSTLY * max(candidate.change, own):
        said.append(f"mostly in {_names(library)}, which it calls")
    if candidate.more:
        # counted or, in a sampling profile, guessed from the shape
        calls = "calls" if candidate.calls is not None else "seems to call"
        said.append(f"{calls} {_names(candidate.more)} more often")
    if candidate.guesses and candidate.maybe > candidate.change:
        said.append(f"may call {_names(candidate.guesses)} more often than before")
    elif candidate.maybe > max(candidate.change, 0.0):
        said.append("may have become slower itself")
    if candidate.calls is not None and not candidate.more and candidate.calls.base > 0:
        times = candidate.calls.head / candidate.calls.base
        if times >= 1 + _LITTLE and abs(candidate.cost.change) > 0:
            said.append(f"called {times:.3g} times as often")
    notes = [
        *([f"was {clip(visible(candidate.was), _NAME)}"] if candidate.was else []),
        *(["new"] if candidate.state == "new" else ["gone"] if candidate.state == "gone" else []),
        *said,
        *([f"called from {name(candidate.callers[-1])}"] if candidate.callers else []),
        *(["in a changed file"] if candidate.in_diff else []),
        *([] if candidate.project else ["not in the project's files"]),
        *(["within sampling noise"] if candidate.noise else []),
    ]
    return Line(name(candidate.frame), added(candidate, found.unit), place(candidate.frame), tuple(notes))


def _names(parts: Sequence[FrameChange]) -> str:
    return joined([name(part.frame) for part in parts])


def moved(shift: Moved, unit: str) -> str:
    """Say what moved: "7 M instructions moved from a to b; with all that it calls, c changed by +0.1%"."""
    size = amount(shift.cost, unit)
    sources, targets = _names(shift.sources), _names(shift.targets)
    caller = (
        f"; with all that it calls, {name(shift.caller)} changed by {grown(shift.inclusive)}" if shift.caller else ""
    )
    return f"{size} moved from {sources} to {targets}{caller}"


def unprofiled(found: Unprofiled, names: Names) -> str:
    """Say why a benchmark has no profile, and what would change that; names: those of the report."""
    of, detail = names.benchmark(found.benchmark, _NAME), clip(visible(found.detail), 200)
    profiler, install = clip(visible(found.profiler), 40), clip(visible(found.install), 120)
    said = f": {detail}" if detail else ""
    match found.kind:
        case "no-profiler":
            how = f"; `{install}` installs it" if install else ""
            return f"{of} was not profiled: {profiler or 'no profiler'} is not installed{how}"
        case "budget":
            return f"{of} was not profiled: no time was left{said}"
        case "unsupported":
            return f"{of} was not profiled: no profiler is known for its instrument or command{said}"
        case _:
            return f"{of} was not profiled: {profiler or 'the profiler'} failed{said}"
