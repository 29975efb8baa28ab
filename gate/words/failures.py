"""The words of failures: which are grouped, where they happened and how to repeat them by hand."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from gate.config.commands import by_hand
from gate.model import UNBUILT, Failure, RunFacts
from gate.words.short_names import Names
from gate.writing.last_lines import error_line
from gate.writing.plain import clip, visible
from gate.writing.units import plural

_OF_CI = re.compile(r"(GITHUB|ACTIONS|RUNNER|INPUT)_")
"""Names that only the job has: nobody repeats a command with them set."""
_TREE = re.compile(r"/[^\s:'\"]*/perfgate-[0-9a-f]{8}/((base|head)/)?tree/")
"""What a path begins with in a run's own tree, which is gone when somebody reads of it."""
_NAME = 100
_SETTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


FailureGroup = list[Failure]
"""Failures that say the same thing; the first represents all."""


def grouped(failures: Iterable[Failure], *, by_output: bool) -> list[FailureGroup]:
    """Put failures together that differ only in where they happened; by_output: and that wrote the same."""
    groups: dict[tuple[str | None, ...], FailureGroup] = {}
    for failure in failures:
        key: tuple[str | None, ...] = (failure.kind, failure.benchmark, failure.side, failure.status)
        if by_output:
            key = (*key, failure.stderr, failure.command, failure.directory)
        groups.setdefault(key, []).append(failure)
    return list(groups.values())


def sentence(failure: Failure) -> str:
    """Name what failed and the error that it wrote: "head does not build: work.c:18:19: expected ;"."""
    said = error(failure)
    # of an exit code nobody learns more than from what was written
    short = msgspec.structs.replace(failure, status="") if said and failure.status.startswith("exit ") else failure
    return f"{title(short)}{f': {said}' if said else ''}"


def heading(group: FailureGroup, names: Names | None = None) -> str:
    """Name what failed in all failures of a group: as title, with the settings that all of them have.

    names: those of the report.
    """
    return title(group[0], _shared(group), names)


def settings(group: FailureGroup) -> str:
    """Write the settings that all failures of a group have: "pkg=x/a, size=10"; "" where there are none."""
    return clip(_settings(_shared(group)), 200)


def title(failure: Failure, factors: Mapping[str, Any] | None = None, names: Names | None = None) -> str:
    """Name what failed: "head does not build: exit 1", "parse (load=busy) failed on head: exit 1".

    factors: the settings that are said; None: its own. names: those of the report.
    """
    factors = failure.factors if factors is None else factors
    side = f" on {failure.side}" if failure.side else ""
    settings = f" ({clip(_settings(factors), 200)})" if factors else ""
    name = None
    if failure.benchmark:
        short = names.benchmark(failure.benchmark, _NAME) if names else clip(visible(failure.benchmark), _NAME)
        name = f"{short}{settings}"
    status = f": {clip(visible(failure.status), 200)}" if failure.status else ""
    if failure.kind in ("missing", "repeated") and failure.benchmark is None and failure.status:
        # a part of several, or both sides, which its status names
        return clip(visible(failure.status), 200)
    if failure.kind == "lock":
        return f"the machine was not free: {clip(visible(failure.status), 600)}"
    if failure.kind == "missing":
        return f"{failure.side or 'a part'} has no {f'benchmark {name}' if name else 'measurements'}{status}"
    if failure.kind in UNBUILT:
        return f"{f'{failure.side} does not build' if failure.side else 'a build failed'}{settings}{status}"
    if failure.kind == "tree":
        return f"files of {failure.side or 'a side'}{settings} changed{status}"
    if failure.kind == "outside":
        return f"{name or 'a benchmark'} does not use what {failure.side or 'its side'} built{status}"
    if failure.kind == "unproved":
        return f"{name or 'a benchmark'} is not proved unaffected, and was not measured{status}"
    if is_difference(failure):
        return f"{name or 'a benchmark'} gave different output on base and head{status}"
    return f"{name or f'a benchmark{settings}'} failed{side}{status}"


def _settings(factors: Mapping[str, Any]) -> str:
    return ", ".join(clip(visible(f"{name}={value}"), 60) for name, value in factors.items())


def _shared(group: FailureGroup) -> dict[str, Any]:
    found = group[0].factors
    return {k: v for k, v in found.items() if all(k in other.factors and other.factors[k] == v for other in group)}


def place(failure: Failure, *, top: str = "build", without: Collection[str] = ()) -> str:
    """Say in which unit it happened, as measurements.jsonl counts: "session 1, build 0, start 3, load=busy".

    top: what is above the starts. without: factors that are named elsewhere.
    """
    if failure.kind == "lock" or (failure.kind == "missing" and failure.benchmark is None):
        return ""
    words = [f"session {failure.session}"] if failure.session else []
    for level, number in ((top, failure.build), ("start", failure.execution)):
        if number is not None:
            words.append(f"{level} {number}")
    factors = {name: value for name, value in failure.factors.items() if name not in without}
    return ", ".join([*words, *([_settings(factors)] if factors else [])])


def places(group: FailureGroup, limit: int, top: str = "build") -> str:
    """Name the units of all failures of a group, at most so many of them: "build 0, start 1; and 4 more".

    Settings that all of them have are left to the heading.
    """
    shared = _shared(group)
    # each of the settings comes before the second unit of any
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, Failure]] = []
    for failure in group:
        at = _settings(failure.factors)
        ranked.append((seen[at], failure))
        seen[at] += 1
    ranked.sort(key=lambda each: each[0])
    found = [text for _, failure in ranked if (text := place(failure, top=top, without=shared))]
    more = len(found) - limit
    return "; ".join(found[:limit]) + (f"; and {more} more" if more > 0 else "")


def repeat(failure: Failure, run: RunFacts) -> list[str]:
    """Return the shell lines that repeat it from the project's folder: checkout, environment, set-up, build, start.

    Names that no shell can set are left out, and counted in a comment.
    """
    if not failure.command:
        return []
    lines, commit = [], run.head if failure.side == "head" else run.base
    table = (run.settings or {}).get("build", {})
    if failure.directory and failure.side and commit is not None and commit.sha and not commit.dirty:
        # the tree of the run is gone
        sha = visible(commit.sha)[:12]
        lines = [f'tree=$(mktemp -d) && git worktree add --detach "$tree" {sha}']
        lines.append('cd "$tree/$(git rev-parse --show-prefix)"')
        if table.get("overlay") and failure.side == "base" and run.head is not None and run.head.sha:
            lines.append(f"git checkout {visible(run.head.sha)[:12]} -- {visible(shlex.join(table['overlay']))}")
    environment = {name: value for name, value in (failure.environment or {}).items() if not _OF_CI.match(name)}
    settable = {name: value for name, value in environment.items() if _SETTABLE.fullmatch(name)}
    removed = [name for name, value in settable.items() if not value]
    if removed:
        lines.append(f"unset {' '.join(removed)}")
    lines.extend(f"export {name}={shlex.quote(visible(value))}" for name, value in settable.items() if value)
    left = len(environment) - len(settable)
    if left:
        lines.append(f"# left out: {plural(left, 'variable')} whose name a shell cannot set")
    seed = {"seed": settable.get("PERFGATE_SEED") or "0"}
    before = [table.get(key) for key in ("setup", "command")][: 1 if failure.kind in UNBUILT else 2]
    steps = [step for step in (by_hand(each, seed) for each in before if each) if step != failure.command]
    lines += [visible(line) for step in (*steps, failure.command) for line in step.splitlines()]
    gone = shlex.quote(visible(failure.directory)) if failure.directory else ""
    return [line.replace(gone, '"$PWD"') if gone else line for line in lines]


def is_difference(failure: Failure) -> bool:
    """Return whether it is that base and head differ, of which its output shows the first line of each."""
    return failure.kind == "output" and failure.side is None


def output_title(failure: Failure) -> str:
    """Name what a failure wrote."""
    return "where they differ" if is_difference(failure) else "its output"


def error(failure: Failure) -> str:
    """Return the first error that it wrote, as of a compiler, else its last line; "" where it wrote nothing."""
    return "" if is_difference(failure) else clip(_TREE.sub("", error_line(failure.stderr)), 200)
