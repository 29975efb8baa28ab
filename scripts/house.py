"""How large the product is, and in how many pieces; the same of other folders, for comparison.

    scripts/house [--junit FILE] [FOLDER...]

The columns are folders: first this checkout's product, then those that are named. Tests, examples and generated code
are left out. Files that have a value in hand: those of which a function had a measured value, as an argument or as
what it returned, by itself, written in a text, or in objects nested up to three deep, from the {output} of a program
to the comment. Files that hand it on: those of which a function returned it, however deep, to a function of another
file. Seconds: of all tests together, from the JUnit file of a run.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import io
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import numpy as np

ROOT = Path(__file__).parent.parent
PRODUCT = ("gate", "harness")
NO_PRODUCT = re.compile(
    r"(^|/)(tests?|testdata|examples?|benches|benchmarks?|docs?|vendor|third_party|node_modules|target|book|site|dist)/|(^|/)\.|"
    r"(^|/)(test_|conftest)[^/]*$|_test\.\w+$|\.pb\.go$|\.min\.js$|^setup\.py$|(^|/)build\.rs$"
)
RECORDS = {"Struct", "NamedTuple", "TypedDict", "dataclass"}
DEFINED = {".rs": r"^\s*(?:pub(?:\(\w+\))? )?(?:struct|enum) (\w+)", ".go": r"^type (\w+) struct"}
PRIVATE = {
    ".py": r"^\s*(?:async )?def (_[^\W_]\w*)", ".rs": r"^\s*(?:const )?(?:async )?fn (\w+)",
    ".go": r"^func (?:\([^)]*\) )?([a-z]\w*)",
}  # fmt: skip
"""Functions that only their own file can use."""
WORD = re.compile(r"\w+")


def sources(top: Path, folders: Sequence[str] = ()) -> dict[str, str]:
    """Return the source files of a folder by path: of all of it those that are neither tests nor examples."""
    places = [top / each for each in folders] or [top]
    files = (
        file for place in places for file in place.rglob("*") if file.suffix in {".py", ".rs", ".go", ".js", ".ts"}
    )
    named = {str(file.relative_to(top)): file for file in files if file.is_file()}
    return {
        name: file.read_text("utf-8") for name, file in sorted(named.items()) if folders or not NO_PRODUCT.search(name)
    }


def figures(files: dict[str, str]) -> dict[str, int | None]:
    """Count what a folder holds; None: it cannot be counted in its language."""
    trees = {name: ast.parse(text) for name, text in files.items() if name.endswith(".py")}
    records = _records([node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)])
    once = 0
    for name, text in files.items():
        suffix = Path(name).suffix
        records += len(re.findall(DEFINED.get(suffix, "(?!)"), text, re.MULTILINE))
        private = Counter(re.findall(PRIVATE.get(suffix, "(?!)"), text, re.MULTILINE))
        words = Counter(WORD.findall(text))
        once += sum(words[each] - count == 1 for each, count in private.items())
    return {
        "lines": sum(text.count("\n") for text in files.values()),
        "files": len(files),
        "record types": records,
        "private functions with one use": once,
        "modules with one importer": _one_importer(trees) if trees else None,
    }


def _records(classes: Sequence[ast.ClassDef]) -> int:
    """Count the classes that hold fields: dataclasses, structs and the like, and what is derived from them."""
    above = [(node.name, (*node.bases, *node.decorator_list)) for node in classes]
    named = [(name, {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in own}) for name, own in above]
    known = set(RECORDS)
    while more := {name for name, own in named if own & known} - known:
        known |= more
    return sum(bool(own & known) for _, own in named)


def _one_importer(trees: dict[str, ast.Module]) -> int:
    """Count the modules that exactly one other imports; a package counts as its __init__."""
    known = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in trees}
    importers: Counter[str] = Counter()
    for tree in trees.values():
        imported: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        importers.update(imported & known)
    return sum(count == 1 for count in importers.values())


# --- the way of a value -----------------------------------------------------------------------------------------------

VALUE, CHANGE = 0.01234567, 1e-5
TEXTS = ("12.3", "0.0123")
PROGRAM = f"""import random, sys
open(sys.argv[1], "w").writelines(f"{{{VALUE} * (1 + {CHANGE} * random.random()):.9f}}\\n" for _ in range(12))
"""
CONFIG = """[plan]
builds = 5
executions = 2
sandbox = "off"
[[benchmark]]
name = "sleep"
instrument = "values"
command = ["python3", "program.py", "{output}"]
"""
DEEP = 8
"""As deep as a value lies in all records of a run."""


def passed() -> tuple[int, int]:
    """Count the files that a value passes from {output} to a comment, and those of them that hand it on to another."""
    from gate.cli.main import main as perfgate

    held: set[str] = set()
    handed_on: set[str] = set()

    def watch(frame: Any, event: str, returned: object) -> None:
        file = frame.f_code.co_filename
        if not file.startswith(tops) or event not in ("call", "return"):
            return
        if file not in held and any(map(_holds, frame.f_locals.values() if event == "call" else [returned])):
            held.add(file)
        if event == "return" and file not in handed_on and _caller(frame, tops) != file and _holds(returned, DEEP):
            handed_on.add(file)

    tops = tuple(str(ROOT.resolve() / each) + os.sep for each in PRODUCT)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _make_project()
        # loading runs functions too
        for out, profile in (("first", None), ("second", watch)):
            measuring = ["measure", "--quiet", "--base", "HEAD~1", "--out", out]
            for argv in (measuring, ["decide", out, "--markdown", "-"]):
                sys.setprofile(profile)
                try:
                    ended = perfgate(argv, io.StringIO(), errors := io.StringIO())
                finally:
                    sys.setprofile(None)
                if ended:
                    sys.exit(f"the value did not come to its comment: {errors.getvalue()}")
    return len(held), len(handed_on)


def _make_project() -> None:
    """Make a repository of two commits here, whose program writes values."""
    os.environ["PERFGATE_LOCK"] = str(Path("lock").absolute())
    Path("perfgate.toml").write_text(CONFIG, encoding="utf-8")
    for change in ("", "# changed\n"):
        Path("program.py").write_text(PROGRAM + change, encoding="utf-8")
        for arguments in (["init", "-q"], ["add", "program.py", "perfgate.toml"], ["commit", "-qm", "change"]):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@localhost", *arguments], check=True)


def _caller(frame: Any, tops: tuple[str, ...]) -> str:
    """Return the file of the product that called a function."""
    while (frame := frame.f_back) is not None:
        if frame.f_code.co_filename.startswith(tops):
            return str(frame.f_code.co_filename)
    return ""


def _holds(value: object, depth: int = 3) -> bool:
    if isinstance(value, float):
        return abs(value / VALUE - 1) < 10 * CHANGE
    if isinstance(value, (str, bytes)):
        text = value[:10_000] if isinstance(value, str) else value[:10_000].decode(errors="replace")
        return any(each in text for each in TEXTS)
    if isinstance(value, np.ndarray):
        return value.dtype == np.float64 and value.size > 0 and _holds(float(value.flat[0]), 0)
    return depth > 0 and any(_holds(each, depth - 1) for each in _inside(value))


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, msgspec.Struct):
        yield from (getattr(value, name) for name in value.__struct_fields__)
    elif dataclasses.is_dataclass(value):
        yield from (getattr(value, field.name, None) for field in dataclasses.fields(value))
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from list(value)[:100]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="scripts/house", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="of a run of the tests")
    options = parser.parse_args()
    columns = {"perfgate": figures(sources(ROOT, PRODUCT))}
    held, handed_on = passed()
    columns["perfgate"] |= {"files that have a value in hand": held, "files that hand it on": handed_on}
    if options.junit:
        suites = ElementTree.parse(options.junit).getroot().iter("testsuite")  # noqa: S314 - our own
        columns["perfgate"]["seconds of the suite"] = round(sum(float(each.get("time", "0")) for each in suites))
    columns |= {folder.resolve().name: figures(sources(folder)) for folder in options.folders}
    rows = list(columns["perfgate"])
    print(f"| | {' | '.join(columns)} |\n| --- |{' --: |' * len(columns)}")
    for row in rows:
        cells = (own.get(row) for own in columns.values())
        print(f"| {row} | {' | '.join('-' if each is None else f'{each:,}' for each in cells)} |")


if __name__ == "__main__":
    main()
