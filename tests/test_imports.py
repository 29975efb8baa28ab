"""The house's order: imports point one way and in no circle, third parties are declared, functions fit a screen or two.

A room is a module or folder right below gate/ or harness/, with all that is below it. A room of gate imports itself and
rooms of the floors above its own in the picture of docs/design.md, where a blank line ends a floor; of harness any room
above it. Only run and the commands use the harness. A command is a folder of
gate/commands, and imports no other. Imports inside functions and those under TYPE_CHECKING count: laziness is no
direction.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

# The house is parsed once, on one worker.
pytestmark = pytest.mark.xdist_group("house")
ROOT = Path(__file__).parent.parent
LONGEST_FUNCTION = 70


def drawn(package: str) -> dict[str, str]:
    """The rooms in the picture of docs/design.md from top to bottom, with what it says about each and its folders."""
    picture = (ROOT / "docs/design.md").read_text(encoding="utf-8").split("```\n")[1]
    _, _, below = picture.partition(f"{package}/ ")
    part = re.split(r"^\w", below, flags=re.MULTILINE)[0]
    return dict(re.findall(r"^  (\w+)(?:/|\.py) +((?:.*\n)(?:   .*\n)*)", part, re.MULTILINE))


def floors() -> dict[str, int]:
    """The floor of each room of gate/ in the picture, the top one first; what imports nothing of ours is above all."""
    picture = (ROOT / "docs/design.md").read_text(encoding="utf-8").split("```\n")[1].partition("\nharness/")[0]
    paragraphs = [re.findall(r"^  (\w+)(?:/|\.py) ", text, re.MULTILINE) for text in picture.split("\n\n")]
    return {name: floor for floor, names in enumerate(paragraphs) for name in names}


ROOMS, HARNESS_ROOMS = list(drawn("gate")), list(drawn("harness"))
FLOORS = floors()
# With benchmarks/, which imports commands, below them.
MOST_FLOORS = 9
# From argv to the command that it names; nothing imports them, and what they import themselves is little.
ENTRIES = ("gate.__main__", "gate.cli.main")
FOR_ENTRIES = ("codes", "cli", "writing")
# What is loaded by the name of its file, against the order: a command by argv, an instrument's traits by perfgate.toml.
BY_NAME = {("gate.cli.command", "gate.commands"), ("gate.config.instruments", "harness.instruments")}
# Rooms of gate/ that use the harness, and what of gate/ the harness uses.
MEASURING = ("run", "commands")
FOR_HARNESS = {
    "codes", "model", "checkout", "removal", "walking", "writing", "config", "formats",
}  # fmt: skip
# All of evidence/ that knows other tools' files: the rest has records.
READS_RESULTS = "gate.evidence.foreign"
# What the list of commands costs at every start: its modules' own top levels.
LIGHT = ("gate.cli", "gate.codes", "gate.model", "gate.writing.units", "gate.writing")


class Import(NamedTuple):
    module: str
    line: int
    typing_only: bool = False
    lazy: bool = False


class House(NamedTuple):
    """Our modules by their dotted names."""

    modules: Mapping[str, list[Import]]
    functions: Mapping[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]

    def ours(self, name: str) -> str | None:
        """The module that an import names, which may name a thing in it; None for what is not ours."""
        if name.partition(".")[0] not in ("gate", "harness"):
            return None
        return name if name in self.modules or "." not in name else self._holding(name)

    def _holding(self, name: str) -> str:
        holder = name.rpartition(".")[0]
        return holder if holder in self.modules else name


def statements(node: ast.AST, *, typing_only: bool = False, lazy: bool = False) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Every statement below a node, whether only types need it and whether it stands in a function; no expressions."""
    for part in ("body", "handlers", "cases", "orelse", "finalbody"):
        guarded = part == "body" and isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING"
        for child in getattr(node, part, ()):
            inner = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield child, typing_only or guarded, lazy
            yield from statements(child, typing_only=typing_only or guarded, lazy=inner)


def imports(tree: ast.Module, source: str) -> Iterator[Import]:
    """Every import of a module; `from a import b` counts as a.b, because b may be a module."""
    by_name = "import_module(" in source or "__import__(" in source
    for node, typing_only, lazy in statements(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, typing_only, lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "ruff bans relative imports"
            yield from (Import(f"{node.module}.{alias.name}", node.lineno, typing_only, lazy) for alias in node.names)
        elif by_name:
            for call in _calls(node):
                if _name(call.func) in ("import_module", "__import__"):
                    yield Import(_by_name(call.args[0]), call.lineno, typing_only, lazy)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls of a statement itself, without those of the statements in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from (each for each in ast.walk(child) if isinstance(each, ast.Call))


def _name(expression: ast.expr) -> str:
    """What an expression names, without the module that it is in; "" for what is no name."""
    return str(getattr(expression, "attr", getattr(expression, "id", "")))


def _by_name(argument: ast.expr) -> str:
    """The package that `import_module(f"gate.commands.{name}")` names; the standard library's, where that is not seen."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    text = first.value if isinstance(first, ast.Constant) else "importlib"
    return str(text).rstrip(".")


@cache
def parsed(source: str) -> ast.Module:
    """Parse a module once for all tests of the house."""
    return ast.parse(source)


def house(root: Path) -> House:
    modules, functions = {}, {}
    for package in ("gate", "harness"):
        for path in sorted((root / package).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            source = path.read_text(encoding="utf-8")
            tree = parsed(source)
            modules[name] = list(imports(tree, source))
            functions[name] = [
                each for each, *_ in statements(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
    return House(modules, functions)


def room(module: str) -> str:
    """The room of a module of ours; "" for a package itself, which holds no more than a version."""
    return [*module.split("."), ""][1]


def command(module: str) -> str:
    return [*module.split("."), "", ""][2]


def why_not(importer: str, imported: str) -> str | None:
    """Why a module of ours must not import another; None: it may."""
    if importer == imported or (importer, imported) in BY_NAME:
        return None
    if importer in ENTRIES:
        return None if room(imported) in ("", *FOR_ENTRIES) else f"{importer} must not import {imported}"
    if not room(importer):
        return f"{importer} must not import {imported}"
    if importer.startswith("harness"):
        return _why_harness_not(importer, imported)
    if imported.startswith("harness"):
        return None if room(importer) in MEASURING else f"{room(importer)} must not import harness"
    mine, other = room(importer), room(imported)
    if mine == "evidence" and other == "formats" and not importer.startswith(READS_RESULTS):
        return f"{importer} must not import {imported}"
    if imported in ENTRIES:
        return f"{mine} must not import {imported}"
    if mine == other == "commands":
        same = command(importer) == command(imported)
        return None if same else f"command {command(importer)} must not import command {command(imported)}"
    return None if not other or mine == other or FLOORS[other] < FLOORS[mine] else f"{mine} must not import {other}"


def _why_harness_not(importer: str, imported: str) -> str | None:
    mine, other = room(importer), room(imported)
    if imported.startswith("gate"):
        return None if other in FOR_HARNESS else f"harness must not import {imported}"
    order = HARNESS_ROOMS
    return None if order.index(other) <= order.index(mine) else f"harness.{mine} must not import harness.{other}"


def violations(built: House, declared: set[str]) -> list[str]:
    """What breaks the order, one line each: `place: reason`."""
    found = []
    for name, imported in built.modules.items():
        known = HARNESS_ROOMS if name.startswith("harness") else ROOMS
        if "." in name and name not in ENTRIES and room(name) not in known:
            found.append(f"{name}: {room(name)} is no room")
            continue
        if re.fullmatch(r"gate\.commands\.\w+", name) and not any(
            each.startswith(f"{name}.") for each in built.modules
        ):
            found.append(f"{name}: {command(name)} is no folder of a command")
        for module, line, typing_only, _ in imported:
            place = f"{name}:{line}"
            ours, package = built.ours(module), module.partition(".")[0]
            if ours is None:
                if package not in sys.stdlib_module_names and package not in declared and not typing_only:
                    found.append(f"{place}: {package} is no runtime dependency")
            elif room(ours) and room(ours) not in (*ROOMS, *HARNESS_ROOMS, "__version__"):
                found.append(f"{place}: {room(ours)} is no room")
            elif room(ours) != "__version__" and (why := why_not(name, ours)) is not None:
                found.append(f"{place}: {why}")
    return found


def heavy_tops(built: House) -> list[str]:
    """What a command.py imports at its top beside cli, codes, model, and modules of its own folder as light as it."""
    found = []
    for name in built.modules:
        if not re.fullmatch(r"gate\.commands\.\w+\.command", name):
            continue
        folder, pending, seen = name.removesuffix("command"), [name], set[str]()
        while pending:
            module = pending.pop()
            seen.add(module)
            for each in built.modules[module]:
                ours = built.ours(each.module)
                if each.typing_only or each.lazy or each.module.partition(".")[0] in sys.stdlib_module_names:
                    continue
                if ours is not None and ours.startswith(folder):
                    pending += [ours] if ours not in seen else []
                elif ours is None or not ours.startswith(LIGHT):
                    found.append(f"{module}:{each.line}: {each.module} at the top of a command")
    return found


def circles(built: House) -> list[str]:
    """Modules that import each other round in a circle, also lazily or for types only; one circle, if there are any."""
    edges = {name: {built.ours(each.module) for each in imported} for name, imported in built.modules.items()}
    try:
        TopologicalSorter({name: found & built.modules.keys() - {name} for name, found in edges.items()}).prepare()
    except CycleError as error:
        return sorted({*error.args[1]})
    return []


def long_functions(built: House, most: int = LONGEST_FUNCTION) -> list[str]:
    return [
        f"{name}:{node.lineno}: {node.name} has {lines} lines"
        for name, functions in built.functions.items()
        for node in functions
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > most
    ]


def runtime_dependencies() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = re.findall(r"^[\w-]+", "\n".join(project["dependencies"]), flags=re.MULTILINE)
    # ruamel.yaml is a part of a package of namespaces
    return {name.removesuffix("-yaml") for name in names}


@pytest.fixture(scope="module")
def here() -> House:
    return house(ROOT)


@pytest.mark.parametrize("package", ["gate", "harness"])
def test_the_picture_of_the_house_has_every_folder_and_no_other(here: House, package: str) -> None:
    found: dict[str, set[str]] = {}
    for name in here.modules.keys() - ENTRIES:
        top, own, *below = [*name.split("."), ""]
        if top == package and own:
            found.setdefault(own, set()).update(below[:1] if len(below) > 2 else [])
    assert found == {own: set(re.findall(r"(\w+)/(?!\w)", text)) for own, text in drawn(package).items()}


def test_the_house_is_no_higher_than_can_be_climbed() -> None:
    assert list(FLOORS) == ROOMS
    assert max(FLOORS.values()) < MOST_FLOORS


def test_imports_point_one_way_in_no_circle_light_at_the_tops_of_commands_and_functions_are_short(here: House) -> None:
    assert violations(here, runtime_dependencies()) == []
    assert circles(here) == []
    assert heavy_tops(here) == []
    assert long_functions(here) == []


def written(root: Path, files: Mapping[str, str]) -> House:
    for module, source in files.items():
        file = root / f"{module.replace('.', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    return house(root)


GO = "from gate.formats.go_bench import "
LOOP = "from harness.loop.measure import Loop"
TYPED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "


@pytest.mark.parametrize(
    ("module", "source", "expected"),
    [
        ("gate.writing.units", "from gate.config import Config", ":1: writing must not import config"),
        ("gate.evidence.a", f"{GO}read", ":1: gate.evidence.a must not import gate.formats.go_bench.read"),
        ("gate.decide.a", "def f():\n    from gate.report import text", ":2: decide must not import report"),
        ("gate.decide.a", f"{TYPED}from gate.run import x", ":3: decide must not import run"),
        ("gate.report.a", LOOP, ":1: report must not import harness"),
        ("gate.commands.check.check", f"{LOOP}\nfrom gate.commands.check.deep.words import x", ""),
        ("gate.commands.check.a", "import gate.commands.plan.b", ":1: command check must not import command plan"),
        ("harness.build.a", "from harness.loop.schedule import x", ":1: harness.build must not import harness.loop"),
        (
            "harness.loop.a",
            "from gate.decide.report import look",
            ":1: harness must not import gate.decide.report.look",
        ),
        ("gate.model", "import pandas", ":1: pandas is no runtime dependency"),
        ("gate.model", "from gate.helpers import first", ":1: helpers is no room"),
        ("gate.commands.helpers", "", ": helpers is no folder of a command"),
        ("gate.stats.a", 'def f():\n    g(__import__(f"harness.loop.{x}"))', ":2: stats must not import harness"),
        ("gate.cli.command", 'import_module(f"gate.commands.{name}.command")', ""),
        ("gate.cli.main", "from gate.commands.plan import x", ":1: gate.cli.main must not import gate.commands.plan.x"),
        ("gate.__init__", "from gate.run import job", ":1: gate must not import gate.run.job"),
    ],
)
def test_the_checker_sees_directions(tmp_path: Path, module: str, source: str, expected: str) -> None:
    beside = dict.fromkeys(("gate.__init__", "gate.cli.main"), "")
    built = written(tmp_path, beside | {module: source})
    assert violations(built, {"dependency"}) == ([module.removesuffix(".__init__") + expected] if expected else [])
