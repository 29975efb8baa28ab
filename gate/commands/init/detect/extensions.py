"""What a setup.py compiles when nobody asks for more: extensions that depend on a variable of the environment."""

from __future__ import annotations

import ast
import re

_MAKES = re.compile(r"(?:Extension|\bmypycify|\bcythonize)\(|\bcffi_modules\s*=")


def by_default(text: str) -> str:
    """Return a setup.py without what it does only if a variable of the environment is set.

    Nothing of it is left where it makes no extensions then.
    """
    module = _parsed(text)
    if module is None or not _MAKES.search(text):
        return text
    kept = ast.unparse(ast.fix_missing_locations(_Unset().visit(module)))
    return kept if _MAKES.search(kept) else ""


def asked_for(text: str) -> list[str]:
    """Name the variables of the environment without which a setup.py makes no extensions."""
    module = _parsed(text)
    if module is None or not _MAKES.search(text) or _MAKES.search(by_default(text)):
        return []
    tests = [node.test for node in ast.walk(module) if isinstance(node, ast.If) and _MAKES.search(ast.unparse(node))]
    names = (node.value for test in tests for node in ast.walk(test) if isinstance(node, ast.Constant))
    return list(
        dict.fromkeys(name for name in names if isinstance(name, str) and re.fullmatch(r"[A-Z][A-Z0-9_]+", name))
    )


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


class _Unset(ast.NodeTransformer):
    """Takes out the branches that are not taken while no variable is set."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Keep one branch where the test depends on variables alone, otherwise both."""
        self.generic_visit(node)
        value = _value(node.test)
        if value is _UNKNOWN:
            return node
        return (node.body if value else node.orelse) or [ast.Pass()]


_UNKNOWN = object()


def _value(test: ast.expr) -> object:
    """Evaluate an expression without any variable of the environment; _UNKNOWN where it depends on more."""
    match test:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _value(operand)
            return inner if inner is _UNKNOWN else not inner
        case ast.BoolOp(op=op, values=values):
            every = [_value(each) for each in values]
            deciding = [each for each in every if each is not _UNKNOWN and bool(each) is isinstance(op, ast.Or)]
            return deciding[0] if deciding else _UNKNOWN if _UNKNOWN in every else every[-1]
        case ast.Call(func=func, args=[_, *default]) if re.fullmatch(
            r"(os\.)?(environ\.get|getenv)", ast.unparse(func)
        ):
            return _value(default[0]) if default else None
        case ast.Compare(left=_, ops=[ast.In() | ast.NotIn() as op], comparators=[right]) if re.fullmatch(
            r"(os\.)?environ", ast.unparse(right)
        ):
            return isinstance(op, ast.NotIn)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            one, other = _value(left), _value(right)
            return _UNKNOWN if _UNKNOWN in (one, other) else (one == other) is isinstance(op, ast.Eq)
    return _UNKNOWN
