"""Break the code that verdicts rest on, one operator or number at a time, and count which breaks the tests notice.

Which are drawn follows from the function and the expression, not from the file: a module that moves keeps its mutants,
and the first of many are those of a smaller sample.
"""

import argparse
import ast
import copy
import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

STATS = ("levels", "ratio", "centers", "sequential", "prior")
SUBJECTS = ("gate/decide/*.py", *(f"gate/stats/{name}.py" for name in STATS))
# Run for every mutant, after its module's own.
TESTS = ("tests/gate/decide/test_*.py", "tests/gate/report/test_golden.py", "tests/gate/words/test_[fr]*.py")
SWAPPED: tuple[tuple[type[ast.cmpop] | type[ast.operator], type[ast.cmpop] | type[ast.operator]], ...] = (
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn),
    (ast.Add, ast.Sub), (ast.Mult, ast.Div),
)  # fmt: skip
OPERATORS: dict[type[ast.AST], type[Any]] = {
    **dict(SWAPPED),
    **{b: a for a, b in SWAPPED},
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div,
}
LONGEST = 1800  # seconds of processor time, of the tests without a mutant
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """One change of a file: where, what, and the whole source with it."""

    module: str
    function: str
    change: str
    source: str


def changed(node: ast.AST) -> ast.AST | None:
    """Return a copy of an expression with another meaning; None: it is not one that is changed."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[first, *_]):
            new.ops[0] = OPERATORS[type(first)]()
        case ast.BinOp(op=operator) if type(operator) in OPERATORS:
            new.op = OPERATORS[type(operator)]()
        case ast.BoolOp(op=operator):
            new.op = ast.Or() if isinstance(operator, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return operand
        case ast.Constant(value=bool() as value):
            new.value = not value
        case ast.Constant(value=int() | float() as value):
            new.value = value + 1
        case ast.Name(id=name) if name in NAMES:
            new.id = NAMES[name]
        case _:
            return None
    return new


def places(node: ast.AST, function: str = "") -> Iterator[tuple[str, ast.AST, str, int | None, ast.AST]]:
    """Walk over all but types and decorators: function, parent, field, index, node."""
    for field, value in ast.iter_fields(node):
        strict = isinstance(node, ast.keyword) and node.arg == "strict"
        if strict or field in ("annotation", "returns", "decorator_list"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                inside = function
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    inside = f"{function}.{child.name}".lstrip(".")
                yield inside, node, field, index, child
                yield from places(child, inside)


def mutants(path: Path) -> Iterator[tuple[str, Mutant]]:
    """Make all mutants of a file, each with the name that it is drawn by."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    seen: Counter[str] = Counter()
    for function, parent, field, index, node in list(places(tree)):
        new = changed(node)
        if new is None or not function:
            continue
        before, after, around = ast.unparse(node), ast.unparse(new), ast.unparse(parent)[:200]
        _put(parent, field, index, new)
        source = ast.unparse(ast.fix_missing_locations(tree))
        _put(parent, field, index, node)
        key = f"{function}\n{around}\n{before}\n{after}"
        seen[key] += 1
        yield f"{key}\n{seen[key]}", Mutant(path.as_posix(), function, f"{before} -> {after}", source)


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def chosen(count: int, seed: int) -> list[Mutant]:
    """Draw mutants of the files below the current directory."""
    named = (pair for pattern in SUBJECTS for path in sorted(Path().glob(pattern)) for pair in mutants(path))
    ranked = sorted(named, key=lambda pair: hashlib.sha256(f"{seed}\n{pair[0]}".encode()).digest())
    return [mutant for _, mutant in ranked[:count]]


def tests_of(module: str) -> list[str]:
    """List the files of tests that look at a module, its own first; those that import it where it has none."""
    package, _, last = module.removesuffix(".py").replace("/", ".").rpartition(".")
    wanted = re.compile(rf"{re.escape(package)}\.{last}\b|from {re.escape(package)} import .*\b{last}\b")
    files = sorted(Path("tests/gate").rglob("test_*.py"))
    own = [path for path in files if path.stem == f"test_{last}"]
    own = own or [path for path in files if wanted.search(path.read_text(encoding="utf-8"))]
    always = (path for pattern in TESTS for path in sorted(Path().glob(pattern)))
    return list(dict.fromkeys(map(str, (*own, *always))))


def survives(tests: list[str], seconds: int) -> bool:
    """Return whether tests pass within so much processor time: a mutant may loop, and a busy host is no mutant."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os._exit(int(__import__("pytest").main(["-x", "-q", "-p", "no:cacheprovider", *tests])))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, 1, 2, -signal.SIGKILL):
        raise RuntimeError(f"pytest ended with {status}")
    return status == 0


def main() -> None:
    """Break a copy of the checkout, and say what the tests make of it."""
    parser = argparse.ArgumentParser(description="Count the mutants that the tests kill.")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for heavy in ("pytest", "numpy", "scipy.stats", "scipy.optimize", "msgspec", "jinja2"):
        __import__(heavy)  # once, not in each process
    killed, drawn = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        # as it is staged
        subprocess.run(["git", "checkout-index", "--all", f"--prefix={folder}/"], check=True)
        os.chdir(folder)
        modules = [path for pattern in SUBJECTS for path in Path().glob(pattern)]
        if not survives(list({test: None for path in modules for test in tests_of(str(path))}), LONGEST):
            sys.exit("the tests fail without any mutant")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        enough = 60 + 2 * round(used.ru_utime + used.ru_stime)
        for mutant in chosen(options.count, options.seed):
            path = Path(mutant.module)
            original = path.read_bytes()
            path.write_text(mutant.source, encoding="utf-8")
            lives = survives(tests_of(mutant.module), enough)
            path.write_bytes(original)
            drawn[mutant.module] += 1
            killed[mutant.module] += not lives
            outcome = "survived" if lives else "killed"
            print(f"{outcome}: {mutant.module} {mutant.function}: {mutant.change}", flush=True)
    print("\n| module | mutants | killed |\n| --- | --- | --- |")
    print(*(f"| {module} | {drawn[module]} | {killed[module]} |" for module in sorted(drawn)), sep="\n")
    print(f"| all | {drawn.total()} | {killed.total()} |")


if __name__ == "__main__":
    main()
