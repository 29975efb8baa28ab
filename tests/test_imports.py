"""The house's order: imports point one way, third parties are declared, and modules stay small.

A part is a module or package right below gate/ (harness is one part). A part may import the tiers below its own and the
parts that stand before it in its own tier, with the exceptions of ONLY. Imports inside functions and those under
TYPE_CHECKING count: laziness is no direction.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
LONGEST_MODULE = 400

TIERS = (
    ("__init__",),
    ("codes", "model", "resources"),
    ("units", "records", "config", "adapters", "history"),
    ("stats", "runs", "factors", "completeness", "looks", "hosts", "steadiness", "evidence", "importance", "frame"),
    ("decide", "study"),
    ("words",),
    ("plots", "report"),
    ("github",),
    ("harness",),
    ("commands",),
    ("arguments", "calibrating", "studying", "running", "cli"),
    ("__main__",),
)
RANK = {part: (tier, place) for tier, parts in enumerate(TIERS) for place, part in enumerate(parts)}

# Parts that may import these and no others.
ONLY = {
    "stats": {"model"},
    "evidence": {
        "model",
        "units",
        "records",
        "config",
        "runs",
        "factors",
        "completeness",
        "looks",
        "hosts",
        "steadiness",
    },
    "harness": {"codes", "model", "units", "records", "config", "adapters"},
}
# Parts that nobody but these may import.
ONLY_FOR = {"harness": {"commands"}}


class Import(NamedTuple):
    module: str
    line: int
    typing_only: bool


def imports(tree: ast.AST, typing_only: bool = False) -> Iterator[Import]:
    """Every import below a node; `from a import b` counts as a.b, because b may be a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "ruff bans relative imports"
            yield from (Import(f"{node.module}.{alias.name}", node.lineno, typing_only) for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from imports(ast.Module(node.body, []), typing_only=True)
            yield from imports(ast.Module(node.orelse, []), typing_only)
        else:
            yield from imports(node, typing_only)


def part_of(module: str) -> str | None:
    """The part of our house that a dotted name belongs to; None for what is not ours."""
    package, *rest = module.split(".")
    if package == "harness":
        return "harness"
    if package != "gate":
        return None
    if rest[:2] == ["report", "plain"]:
        # safe text, which sentences are made of; it stands in report for the time being
        return "plain"
    # A name that gate/__init__.py defines, as in `from gate import __version__`.
    return "__init__" if not rest or rest[0] == "__version__" else rest[0]


def modules(root: Path) -> Iterator[tuple[Path, str]]:
    """Each source file of gate and harness with the part it belongs to."""
    for package in ("gate", "harness"):
        for path in sorted((root / package).rglob("*.py")):
            inside = path.relative_to(root).with_suffix("").parts
            yield path, "harness" if package == "harness" else inside[1]


def allowed(importer: str, imported: str) -> bool:
    if importer == imported:
        return True
    if imported in ONLY_FOR and importer not in ONLY_FOR[imported]:
        return False
    if importer in ONLY and imported not in ONLY[importer]:
        return False
    return RANK[imported] < RANK[importer]


def violations(root: Path, declared: set[str]) -> list[str]:
    """What breaks the order, one line each: `place: reason`."""
    found = []
    for path, part in modules(root):
        place = path.relative_to(root).as_posix()
        if part not in RANK:
            found.append(f"{place}: {part} has no place in TIERS")
            continue
        for module, line, typing_only in imports(ast.parse(path.read_text(encoding="utf-8"))):
            imported, package = part_of(module), module.partition(".")[0]
            if imported is None:
                known = package in sys.stdlib_module_names or package in declared or typing_only
                if not known:
                    found.append(f"{place}:{line}: {package} is no runtime dependency")
            elif imported not in RANK:
                found.append(f"{place}:{line}: {imported} has no place in TIERS")
            elif not allowed(part, imported):
                found.append(f"{place}:{line}: {part} must not import {imported}")
    return found


def runtime_dependencies() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(re.findall(r"^[\w-]+", "\n".join(project["dependencies"]), flags=re.MULTILINE))


def test_imports_point_one_way() -> None:
    assert violations(ROOT, runtime_dependencies()) == []


def test_no_module_is_too_long() -> None:
    lengths = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path, _ in modules(ROOT)}
    assert {path: lines for path, lines in lengths.items() if lines > LONGEST_MODULE} == {}


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("gate/units.py", "from gate.model import Side", None),
        ("gate/config/parse.py", "import gate.units\nfrom gate.config.types import Config", None),
        ("gate/units.py", "from gate.config import Config", "gate/units.py:1: units must not import config"),
        ("gate/stats/ratio.py", "from gate.stats.levels import s2", None),
        ("gate/stats/ratio.py", "from gate.units import scale", "gate/stats/ratio.py:1: stats must not import units"),
        ("gate/evidence.py", "from gate.evidence.records import read", None),
        ("gate/evidence.py", "import gate.stats.levels", "gate/evidence.py:1: evidence must not import stats"),
        ("gate/decide.py", "from gate import stats, records", None),
        (
            "gate/decide.py",
            "def f():\n    from gate.report import text",
            "gate/decide.py:2: decide must not import report",
        ),
        ("gate/report/html.py", "from gate.plots import interval", None),
        ("gate/plots/svg.py", "from gate.report import html", "gate/plots/svg.py:1: plots must not import report"),
        ("gate/commands/check.py", "from harness.loop.measure import measure\nfrom gate.decide import decide", None),
        ("gate/cli.py", "from gate import __version__, commands", None),
        ("gate/cli.py", "import harness.build.builder", "gate/cli.py:1: cli must not import harness"),
        ("gate/report/text.py", "from harness import host", "gate/report/text.py:1: report must not import harness"),
        ("harness/build.py", "from gate.model import Build\nfrom harness.source.sides import Tree", None),
        ("harness/build.py", "from gate import __version__", "harness/build.py:1: harness must not import __init__"),
        ("harness/measure.py", "from gate.decide import look", "harness/measure.py:1: harness must not import decide"),
        (
            "gate/model.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gate.decide import Policy",
            "gate/model.py:3: model must not import decide",
        ),
        ("gate/model.py", "import typing\nif typing.TYPE_CHECKING:\n    import pandas", None),
        ("gate/model.py", "import dependency.part, os.path", None),
        ("gate/model.py", "import pandas", "gate/model.py:1: pandas is no runtime dependency"),
        (
            "gate/model.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import pandas",
            "gate/model.py:5: pandas is no runtime dependency",
        ),
        ("gate/model.py", "from gate.helpers import first", "gate/model.py:1: helpers has no place in TIERS"),
        ("gate/helpers.py", "", "gate/helpers.py: helpers has no place in TIERS"),
    ],
)
def test_the_checker_sees(tmp_path: Path, path: str, source: str, expected: str | None) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    assert violations(tmp_path, {"dependency"}) == ([] if expected is None else [expected])
