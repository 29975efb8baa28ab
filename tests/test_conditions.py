"""No condition reads an English text of ours: a distinction is data, and its sentence is in gate/words.

What is found here is a text of two words or more that is compared, looked for or cut off, a pattern with one, and an
error whose text is compared. Only what other programs write may be read so, in the places named below.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.test_imports import parsed

# with tests/test_imports.py, which parses the same files
pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("house")]
ROOT = Path(__file__).parent.parent
METHODS = {
    "startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "find", "rfind", "index",
    "rindex", "split", "rsplit", "count", "replace",
}  # fmt: skip
PATTERNS = {"compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer"}
WORDS = re.compile(r"[a-z]{2,}(?: |\\s[+*]?)[a-z]{2,}")
OTHERS = {
    "gate/cli/lacks.py": "Python's words",
    "gate/commands/init": "the files of a project",
    "gate/explain/call_tree.py": "names of functions, as compilers and profilers write them",
    "gate/formats": "the output of other tools",
    "gate/run/hints.py": "what programs say",
    "gate/writing/last_lines.py": "what programs say",
    "gate/github/client.py": "GitHub's words",
    "gate/github/transport.py": "GitHub's words",
    "harness/host": "the files of the kernel",
    "harness/instruments": "the output of other tools",
    "harness/source": "the output of git",
}


Constants = Mapping[str, ast.expr]
"""What a module calls by names of its own."""


def texts(node: ast.expr, constants: Constants) -> Iterator[str]:
    """The texts that an expression is, with those of a tuple, a list, a set and the fixed parts of an f-string."""
    match node:
        case ast.Name(id=name) if name in constants:
            yield from texts(constants[name], {})
        case ast.Constant(value=str(text)):
            yield text
        case ast.Constant(value=bytes(data)):
            yield data.decode("latin-1")
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.JoinedStr(values=parts):
            for part in parts:
                yield from texts(part, constants)


def read(node: ast.AST, constants: Constants) -> Iterator[str]:
    """What a node looks for in a text, compares it with, or cuts off."""
    match node:
        case ast.Compare(left=left, comparators=others):
            for side in (left, *others):
                yield from texts(side, constants)
                if isinstance(side, ast.Call) and isinstance(side.func, ast.Name) and side.func.id == "str":
                    yield from (
                        "an error's text" for name in side.args if getattr(name, "id", "") in ("error", "problem")
                    )
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method), args=[pattern, *_]) if (
            method in PATTERNS
        ):
            yield from texts(pattern, constants)
        case ast.Call(func=ast.Attribute(attr=method), args=[first, *_]) if method in METHODS:
            yield from texts(first, constants)


def conditions(tree: ast.Module) -> list[tuple[int, str]]:
    """Lines with a text that is read, and the text."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return [
        (getattr(node, "lineno", 0), text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.Call)
        for text in read(node, constants)
        if WORDS.search(text)
    ]


def ours(file: Path) -> bool:
    """Whether a file has no business with what other programs write."""
    name = file.relative_to(ROOT).as_posix()
    return not any(name == other or name.startswith(f"{other}/") for other in OTHERS)


def test_no_condition_reads_a_sentence() -> None:
    files = [file for room in ("gate", "harness") for file in sorted((ROOT / room).rglob("*.py")) if ours(file)]
    assert len(files) > 200
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text!r}"
        for file in files
        for line, text in conditions(parsed(file.read_text("utf-8")))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ('if "too wide" in reason: pass', True),
        ('if reason == "the host is unfit": pass', True),
        ('if reason.startswith(("no more", "too wide")): pass', True),
        ('re.sub(rf"{side} is [0-9a-f]+ as given", why, chosen)', True),
        ('re.match(r"too\\s+wide", text)', True),
        ('if str(error) == "x": pass', True),
        ('WIDE = "too wide"\nif WIDE in reason: pass', True),
        ('if "," in text: pass', False),
        ('if verdict == "no-sign": pass', False),
    ],
)
def test_the_checker_sees_conditions_and_lets_data_pass(source: str, reads: bool) -> None:
    assert bool(conditions(ast.parse(source))) == reads
