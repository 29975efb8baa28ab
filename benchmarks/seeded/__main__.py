"""`python -m benchmarks.seeded [LANGUAGE ...]`: how often is the culprit among the first three functions?"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from benchmarks.projects import cloned
from benchmarks.seeded.programs import PROGRAMS, Program
from gate.explain.explain import explain
from gate.model.profile import Explanation, Profile

FIRST = 3
_GROWN = 1.12
"""A regression is at least as large as this; a smaller one nobody profiles."""
_STEPS = 9
_LARGE = 0.01
"""Share of the program that a function takes into which something is put."""
_NO_NAMES = ("<module>", "<lambda>", "<genexpr>", "<listcomp>")


@dataclass(frozen=True)
class Planted:
    """A regression, its profile, and the file that it is in."""

    name: str
    file: str
    culprit: tuple[str, ...]
    profile: Profile


def planted(program: Program, tree: Path, base: Profile, count: int, seed: int) -> Iterator[Planted]:
    """Put regressions into a program, one after the other: those made by hand, then random ones."""
    clean = {name: (tree / name).read_text() for name in program.files}

    def with_change(name: str, file: str, culprit: tuple[str, ...], text: str) -> Planted:
        for each, own in clean.items():
            (tree / each).write_text(own)
        (tree / file).write_text(text)
        return Planted(name, file, culprit, program.profiled(tree, "head"))

    for each in program.seeds:
        if each.old not in clean[each.file]:
            raise LookupError(f"{each.name}: its text is not in {each.file}")
        yield with_change(each.name, each.file, each.culprit, clean[each.file].replace(each.old, each.new, 1))
    rng, places = random.Random(seed), _places(program, base, clean)  # noqa: S311 - the same ones each time
    # each kind in functions of its own
    both = [(kind, place) for kind in program.kinds for place in places]
    for kind, (file, function) in rng.sample(both, count - len(program.seeds)):
        for step in range(_STEPS):
            code = program.kinds[kind].format(n=program.first * 4**step)
            found = with_change(f"{kind} in {function}", file, (function,), program.insert(clean[file], function, code))
            if _total(found.profile) / _total(base) >= _GROWN:
                yield found
                break


def _places(program: Program, base: Profile, clean: dict[str, str]) -> list[tuple[str, str]]:
    inclusive: dict[int, float] = {}
    for stack in base.stacks:
        for index in set(stack.frames):
            inclusive[index] = inclusive.get(index, 0.0) + stack.cost
    whole = sum(stack.cost for stack in base.stacks)
    found = []
    for index, cost in inclusive.items():
        frame = base.frames[index]
        name = _bare(frame.function)
        if frame.file in clean and cost >= _LARGE * whole and name not in _NO_NAMES:
            try:
                program.insert(clean[frame.file], name, "")
            except LookupError:
                continue
            found.append((frame.file, name))
    return sorted(set(found))


def _total(profile: Profile) -> float:
    return sum(stack.cost for stack in profile.stacks) / (profile.operations or 1.0)


def _bare(function: str) -> str:
    """Return the last part of a name, of a closure that of the function around it."""
    name = re.sub(r"(?:\.func\d+|\.<locals>.*)+$", "", function)
    return name.split(".constprop")[0].split(".")[-1]


def rank(found: Explanation, culprit: tuple[str, ...]) -> int | None:
    """Return the place of the culprit among the candidates; None: it is none."""
    names = [_bare(candidate.frame.function) for candidate in found.candidates]
    return next((place for place, name in enumerate(names, 1) if name in culprit), None)


def report(program: Program, tree: Path, count: int, seed: int) -> None:
    """Print a line a regression, and how many culprits are among the first."""
    program.prepare(tree)
    base = program.profiled(tree, "base")
    places: list[int | None] = []
    with_diff: list[int | None] = []
    for each in planted(program, tree, base, count, seed):
        found = explain(base, each.profile)
        places.append(rank(found, each.culprit))
        with_diff.append(rank(explain(base, replace(each.profile, changed=[each.file])), each.culprit))
        grown = _total(each.profile) / _total(base)
        noise = ", within noise" if found.noise else ""
        _say(f"{program.language:7}{each.name:52}{grown:6.2f}  {places[-1]} ({with_diff[-1]}){noise}")
    first = sum(place == 1 for place in places)
    among, better = (sum(place is not None and place <= FIRST for place in each) for each in (places, with_diff))
    _say(
        f"{program.language}: {first} first and {among} among the first {FIRST} of {len(places)}; "
        f"{better} where the changed file is known"
    )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Plant regressions into the programs of the languages that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", default=list(PROGRAMS), metavar="LANGUAGE")
    parser.add_argument("--projects", type=Path, default=Path("build/projects"), help="where they are cloned")
    parser.add_argument("--count", type=int, default=24, help="regressions a language")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for language in options.languages:
        program = PROGRAMS[language]
        checkout = cloned(language.lower(), program.project, options.projects)
        subprocess.run(["git", "checkout", "-qf", program.project.commit], cwd=checkout, check=True)
        tree = options.projects / f"{language.lower()}-seeded"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(checkout, tree, ignore=shutil.ignore_patterns(".git"))
        report(program, tree.absolute(), options.count, options.seed)


if __name__ == "__main__":
    main()
