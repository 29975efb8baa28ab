"""What a Makefile makes, as far as it can be read without running make."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gate.commands.init.detect.tree import Tree

FILES = ("GNUmakefile", "makefile", "Makefile")
"""In make's own order."""
_LIBRARIES = (".o", ".a", ".lib", ".obj", ".d", ".json", ".txt")
_SHARED = (".so", ".dylib")
_ASSIGNMENT = re.compile(r"(?:export\s+|override\s+)?([A-Za-z_][\w.-]*)\s*(?:\?|:{0,3}|\+)=\s*(.*)")
_RULE = re.compile(r"([^\s#:=][^:=#]*?)\s*&?::?(?!=)([^=]*)")
_REFERENCE = re.compile(r"\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})")
_OUTPUT = re.compile(r"(?<=\s)-o\s+(\S+)")
_ELSEWHERE = re.compile(
    r"\$[({]MAKE[)}]\s+(?:-\w+\s+)*?-C\s+(\S+)\s*([^&|;>]*)|cd\s+(\S+)\s*(?:&&|;)\s*\$[({]MAKE[)}]([^&|;>]*)"
)
_COPY = re.compile(r"(?:\bln\s+-s\w*|\bcp|\$[({]CP[)}])\s+(?:-\w+\s+)*(\S+)\s+(\S+)\s*")
_ELSEWHERES = (".exe", ".dll", ".dylib")
_DEEPEST = 4
_ENDINGS = dict.fromkeys(("EXT", "EXE", "EXEEXT", "EXE_EXT", "EXESUF"), "")  # of programs, which only Windows has
PATH = re.compile(r"[\w./][\w./+-]*")
"""A name that can stand in a command as it is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How a target is made."""

    prerequisites: str
    recipe: str


@dataclass(frozen=True, slots=True)
class Makefile:
    """What a file says."""

    directory: str
    """Of the file, "" for the project's own."""
    rules: dict[str, Rule]
    first: str | None
    """The target that make makes by itself."""
    variables: dict[str, str]


@dataclass(frozen=True, slots=True)
class Linked:
    """A program or shared library that is made."""

    path: str
    shared: bool
    sources: tuple[str, ...]
    """What its rule names, below the project."""


def read_makefile(tree: Tree, directory: str) -> Makefile | None:
    """Return the Makefile of a directory, without targets for which make would do nothing, as a file has their name."""
    path = next((path for name in FILES if (path := posixpath.join(directory, name)) in tree.names), None)
    if path is None:
        return None
    makefile = parse(tree.text(path), directory)
    phony = makefile.rules.get(".PHONY", Rule("", "")).prerequisites.split()
    inside = [path.removeprefix(f"{directory}/" if directory else "") for path in tree.ending("", under=directory)]
    there = {*inside, *(path.split("/", 1)[0] for path in inside)}
    # what a file needs is made all the same, and then the file itself
    runnable = {
        name: rule
        for name, rule in makefile.rules.items()
        if name in phony or name not in there or (name in inside and rule.prerequisites)
    }
    return Makefile(directory, runnable, makefile.first, makefile.variables)


def linked(tree: Tree, makefile: Makefile, goal: str | None) -> list[Linked]:
    """Return what a goal links, from itself downwards, also in directories where it starts another make."""
    return list({each.path: each for each in _linked(tree, makefile, goal, 0) if each.path not in tree.names}.values())


def copied(tree: Tree, makefile: Makefile, goal: str | None) -> list[str]:
    """Return the programs that a goal's commands copy, or link to, from where another make leaves them."""
    found: list[str] = []
    for target in reached(makefile, goal):
        for command in makefile.rules[target].recipe.splitlines():
            copy = _COPY.search(command.replace("$@", target))
            words = [expand(word, makefile.variables) or "" for word in copy.groups()] if copy else []
            paths = [posixpath.normpath(posixpath.join(makefile.directory, word)) for word in words if word]
            if len(paths) == 2 and PATH.fullmatch(paths[0]) and _is_program(tree, *paths):
                found.append(paths[0])
    return list(dict.fromkeys(found))


def _is_program(tree: Tree, source: str, copy: str) -> bool:
    name = posixpath.basename(source)
    return name == posixpath.basename(copy) and "." not in name and source not in tree.names and source[0] not in "/."


def reached(makefile: Makefile, goal: str | None) -> list[str]:
    """Return the targets of the file that a goal makes, itself first."""
    waiting, seen = [goal] if goal else [], dict[str, None]()
    while waiting:
        target = waiting.pop(0)
        if target not in seen and target in makefile.rules:
            seen[target] = None
            waiting += _needs(makefile, target)
    return list(seen)


def parse(text: str, directory: str = "") -> Makefile:
    """Read the rules and variables of a Makefile."""
    rules: dict[str, Rule] = {}
    variables: dict[str, str] = {}
    first = None
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for target in current:
                rules[target] = Rule(rules[target].prerequisites, f"{rules[target].recipe}{line.strip()}\n")
            continue
        assignment, rule = _ASSIGNMENT.fullmatch(line.strip()), _RULE.fullmatch(line.rstrip())
        if line.startswith(".DEFAULT_GOAL"):
            variables[".DEFAULT_GOAL"] = line.partition("=")[2].strip()
        elif assignment:
            value = re.sub(r"\s+#.*", "", assignment[2]).strip()
            # what only another system's branch says does not go before what was said already
            if not (assignment[1] in variables and value.endswith(_ELSEWHERES)):
                variables[assignment[1]] = value
        elif rule:
            prerequisites, _, recipe = rule[2].partition(";")
            current = (expand(rule[1], variables) or "").split()
            for target in current:
                before = rules.get(target, Rule("", ""))
                added = f"{recipe.strip()}\n" if recipe.strip() else ""
                rules[target] = Rule(f"{before.prerequisites} {prerequisites}".strip(), before.recipe + added)
            usable = [t for t in current if "%" not in t and (not t.startswith(".") or "/" in t)]
            first = first or next(iter(usable), None)
    return Makefile(directory, rules, first, variables)


def expand(text: str, variables: dict[str, str]) -> str | None:
    """Put in the values of variables; None when one is not known or computed."""
    known = {**_ENDINGS, **variables}
    for _ in range(10):
        if not _REFERENCE.search(text):
            break
        text = _REFERENCE.sub(lambda match: known.get(match[1] or match[2], "$?"), text)
    return None if "$" in text else text


def _linked(tree: Tree, makefile: Makefile, goal: str | None, depth: int) -> Iterator[Linked]:
    for target in reached(makefile, goal):
        rule = makefile.rules[target]
        needs = _needs(makefile, target)
        sources = tuple(posixpath.normpath(posixpath.join(makefile.directory, name)) for name in needs)
        for command in rule.recipe.splitlines():
            path = _output(command, target, makefile.variables)
            if path:
                whole = posixpath.normpath(posixpath.join(makefile.directory, path))
                if not whole.startswith(("/", "..")):
                    yield Linked(
                        whole, bool(re.search(r"\s-(shared|dynamiclib)\b", command)) or whole.endswith(_SHARED), sources
                    )
            yield from _elsewhere(tree, makefile, command.replace("$@", target).replace("$(@)", target), depth)
        # make's own rule links a target without a recipe from the object or source of its name
        if not rule.recipe and any(name.rsplit(".", 1)[0] == target and name != target for name in needs):
            yield Linked(posixpath.normpath(posixpath.join(makefile.directory, target)), False, sources)


def _elsewhere(tree: Tree, makefile: Makefile, command: str, depth: int) -> Iterator[Linked]:
    found = _ELSEWHERE.search(command)
    directory = expand(found[1] or found[3], makefile.variables) if found else None
    if not found or not directory or depth == _DEEPEST:
        return
    inner = read_makefile(tree, posixpath.normpath(posixpath.join(makefile.directory, directory)))
    goals = [word for word in (found[2] or found[4] or "").split() if PATH.fullmatch(word)]
    if inner:
        for goal in goals or [inner.first]:
            yield from _linked(tree, inner, goal, depth + 1)


def _needs(makefile: Makefile, target: str) -> list[str]:
    inner = [expand(word, makefile.variables) for word in makefile.rules[target].prerequisites.split()]
    return [name for words in inner if words for name in words.split()]


def _output(command: str, target: str, variables: dict[str, str]) -> str | None:
    """Return what a command links, if that is known."""
    output = _OUTPUT.search(command)
    if output is None or re.search(r"\s(-c|-r)\b", command):
        return None
    path = expand(output[1].replace("$@", target).replace("$(@)", target), variables)
    usable = path and PATH.fullmatch(path) and not path.endswith(_LIBRARIES) and not path.startswith("/")
    return path.removeprefix("./") if path and usable else None
