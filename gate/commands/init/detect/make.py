"""Projects with a Makefile: the targets and programs it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gate.commands.init.detect.result import Found, Measured, c_wants_arguments, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree

_FILES = ("GNUmakefile", "makefile", "Makefile")  # in make's own order
_BENCH = ("bench", "benchmark", "benchmarks", "perf")
_TEST = ("test", "check", "tests")
_BUILD = ("all", "build", "release")
_NO_BUILD = re.compile(
    r"(help|usage|clean|distclean|install|lint|format|fmt|run|doc|ci|dev|deploy|docker"
    r"|bench|benchmark|perf|test|check)s?([-_.].*)?"
)
_SOURCES = (
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".C",
    ".m",
    ".f90",
    ".f",
    ".s",
    ".S",
    ".zig",
    ".d",
    ".pas",
    ".adb",
    ".ml",
    ".hs",
)
_LIBRARIES = (".o", ".a", ".so", ".dylib", ".lib", ".obj", ".d", ".json", ".txt")
_ASIDE = {"examples", "tests", "test", "docs", "vendor", "third_party"}
_ASSIGNMENT = re.compile(r"(?:export\s+|override\s+)?([A-Za-z_][\w.-]*)\s*(?:\?|:{0,3}|\+)=\s*(.*)")
_RULE = re.compile(r"([^\s#:=][^:=#]*?)\s*&?::?(?!=)([^=]*)")
_REFERENCE = re.compile(r"\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})")
_OUTPUT = re.compile(r"(?<=\s)-o\s+(\S+)")
_PATH = re.compile(r"[\w./][\w./+-]*")
# `rm file` without -f fails in a fresh checkout
_BARE_RM = re.compile(r"^@?\s*rm\s+(?!-\S*[fF])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Rule:
    prerequisites: str
    recipe: str


@dataclass(frozen=True, slots=True)
class _Makefile:
    rules: dict[str, _Rule]
    first: str | None
    variables: dict[str, str]


def look(tree: Tree) -> Found | None:
    """Find what a Makefile builds and runs; None without one, or when it names nothing that can be measured."""
    name = next((name for name in _FILES if name in tree.names), None)
    if name is None:
        return None
    makefile = _parse(tree.text(name))
    makefile = _Makefile(_runnable(tree, makefile), makefile.first, makefile.variables)
    goal = _goal(makefile)
    bench = next((target for target in _BENCH if target in makefile.rules), None)
    test = next((target for target in _TEST if target in makefile.rules), None)
    programs = [path for path in dict.fromkeys(_programs(makefile, goal)) if path not in tree.names]
    native = any(path.split("/", 1)[0] not in _ASIDE for path in tree.ending(*_SOURCES))
    build, comment = _build(makefile, goal, native)
    made = [*programs, *(path for target in (goal, bench, test) for path in _reached(makefile, target))]
    if bench:
        text = ["The whole of this target, make's own start included. A program that it runs can be named instead."]
        measured = Measured(bench, ["make", "--silent", bench], text, slow=True)
        return Found("make", f"{name}, target {bench}", measured, build, comment, products=made)
    argument, unsure = _argument(tree)
    if programs and (not unsure or not test):
        path = min(programs, key=lambda path: ("bench" not in path, "test" in path))
        benchmark, notes = program(path.rsplit("/", 1)[-1], path, argument, unsure=unsure)
        evidence = f"{name}, program {path}"
        return Found("make", evidence, benchmark, build, comment, artifacts=[path], products=made, notes=notes)
    if test and native:
        notes = [f"the benchmark is `make {test}`: replace it with a program that does real work"]
        measured = stand_in(test, ["make", "--silent", test])
        return Found("make", f"{name}, target {test}", measured, build, comment, products=made, notes=notes)
    benchmark, notes = placeholder()
    # a wrapper around the tools of another language has nothing of its own to measure
    evidence = f"{name}, without a target or program to measure"
    return Found("make", evidence, benchmark, build, comment, products=made, notes=notes) if native else None


def _runnable(tree: Tree, makefile: _Makefile) -> dict[str, _Rule]:
    """Leave out targets for which make would do nothing, as a tracked file or directory has their name."""
    phony = makefile.rules.get(".PHONY", _Rule("", "")).prerequisites.split()
    there = tree.names | {path.split("/", 1)[0] for path in tree.files}
    return {name: rule for name, rule in makefile.rules.items() if name in phony or name not in there}


def _build(makefile: _Makefile, goal: str | None, native: bool) -> tuple[str | None, list[str]]:
    if goal is None or not (native or goal in _BUILD):
        return None, []
    clean = makefile.rules.get("clean")
    if clean is None or _BARE_RM.search(clean.recipe):
        comment = ["From scratch each time: make builds everything anew (-B), as there is no `clean` that can be used."]
        return f"make -B {goal}", comment
    return f"make clean {goal}", ["From scratch each time, so that the rebuilds of a side differ as two builds do."]


def _goal(makefile: _Makefile) -> str | None:
    named = next((target for target in _BUILD if target in makefile.rules), None)
    default = _expand(makefile.variables.get(".DEFAULT_GOAL", ""), makefile.variables) or makefile.first
    return named or (default if default and not _NO_BUILD.fullmatch(default) and _PATH.fullmatch(default) else None)


def _argument(tree: Tree) -> tuple[str | None, bool]:
    """Return an argument with which the program surely ends by itself, and whether that is in doubt."""
    texts = [tree.text(path) for path in tree.ending(*_SOURCES)]
    if any('"--help"' in text for text in texts):
        return "--help", False
    return None, any(c_wants_arguments(text) for text in texts)


def _parse(text: str) -> _Makefile:
    rules: dict[str, _Rule] = {}
    variables: dict[str, str] = {}
    first = None
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for target in current:
                rules[target] = _Rule(rules[target].prerequisites, f"{rules[target].recipe}{line.strip()}\n")
            continue
        assignment, rule = _ASSIGNMENT.fullmatch(line.strip()), _RULE.fullmatch(line.rstrip())
        if line.startswith(".DEFAULT_GOAL"):
            variables[".DEFAULT_GOAL"] = line.partition("=")[2].strip()
        elif assignment:
            variables[assignment[1]] = re.sub(r"\s+#.*", "", assignment[2]).strip()
        elif rule:
            prerequisites, _, recipe = rule[2].partition(";")
            current = (_expand(rule[1], variables) or "").split()
            for target in current:
                before = rules.get(target, _Rule("", ""))
                added = f"{recipe.strip()}\n" if recipe.strip() else ""
                rules[target] = _Rule(f"{before.prerequisites} {prerequisites}".strip(), before.recipe + added)
            usable = [t for t in current if "%" not in t and (not t.startswith(".") or "/" in t)]
            first = first or next(iter(usable), None)
    return _Makefile(rules, first, variables)


def _expand(text: str, variables: dict[str, str]) -> str | None:
    """Put in the values of variables; None when one is not known or computed."""
    for _ in range(10):
        if not _REFERENCE.search(text):
            break
        text = _REFERENCE.sub(lambda match: variables.get(match[1] or match[2], "$?"), text)
    return None if "$" in text else text


def _programs(makefile: _Makefile, goal: str | None) -> Iterator[str]:
    """Yield the programs that a goal links, from itself downwards."""
    for target in _reached(makefile, goal):
        rule = makefile.rules[target]
        for command in rule.recipe.splitlines():
            yield from _linked(command, target, makefile.variables)
        # make's own rule links a target without a recipe from the object or source of its name
        names = _needs(makefile, target)
        if not rule.recipe and any(name.rsplit(".", 1)[0] == target and name != target for name in names):
            yield target


def _reached(makefile: _Makefile, goal: str | None) -> list[str]:
    """Return the targets that a goal makes, itself first."""
    waiting, seen = [goal] if goal else [], dict[str, None]()
    while waiting:
        target = waiting.pop(0)
        if target not in seen and target in makefile.rules:
            seen[target] = None
            waiting += _needs(makefile, target)
    return list(seen)


def _needs(makefile: _Makefile, target: str) -> list[str]:
    inner = [_expand(word, makefile.variables) for word in makefile.rules[target].prerequisites.split()]
    return [name for words in inner if words for name in words.split()]


def _linked(command: str, target: str, variables: dict[str, str]) -> Iterator[str]:
    output = _OUTPUT.search(command)
    if output is None or re.search(r"\s(-c|-shared|-r)\b", command):
        return
    path = _expand(output[1].replace("$@", target).replace("$(@)", target), variables)
    if path and _PATH.fullmatch(path) and not path.endswith(_LIBRARIES) and not path.startswith("/"):
        yield path.removeprefix("./")
