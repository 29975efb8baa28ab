"""What an `if` of a GitHub workflow gives, as far as it is known beforehand."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

_SIGN = re.compile(r"'((?:[^']|'')*)'|&&|\|\||!(?!=)|\btrue\b|\bfalse\b|\bnull\b|\.\*|[\w.-]*-[\w.-]*")
_PYTHON = {"&&": " and ", "||": " or ", "!": "~", "true": "True", "false": "False", "null": "None", ".*": "._"}
UNKNOWN: Final = ...
"""What only the run can tell."""


def gives(text: object, known: Mapping[str, object], results: Sequence[str]) -> bool | None:
    """Return whether a job or a step with this `if` runs; None: that is not known beforehand, or not understood.

    Args:
        text: the condition as YAML gives it; None: there is none.
        known: values by the name of their property, in lower case; texts in lower case, since GitHub compares so.
        results: of what comes before: success, failure, cancelled or skipped.
    """
    source = "" if text is None else str(text).strip().lower()
    tree = tree_of(source)
    success = all(each == "success" for each in results)
    status = {"always()": True, "success()": success, "failure()": "failure" in results, "cancelled()": False}
    value = UNKNOWN if tree is None else _value(tree, {**known, **status})
    # without a function of status success() is meant as well
    if not success and not re.search(r"\b(always|success|failure|cancelled)\s*\(", source):
        value = False
    return None if value is UNKNOWN else bool(value)


def tree_of(source: str) -> ast.expr | None:
    """Read an expression by Python's grammar, in whose signs it is written first; None: it is not understood."""

    def sign(match: re.Match[str]) -> str:
        if match[1] is not None:
            return repr(match[1].replace("''", "'"))
        # a name with a hyphen, such as needs.my-job.result
        return _PYTHON.get(match[0]) or match[0].replace("-", "_")

    inner = source.removeprefix("${{").removesuffix("}}") if source.startswith("${{") else source
    try:
        return ast.parse(_SIGN.sub(sign, inner).strip() or "True", mode="eval").body
    except SyntaxError:
        return None


def _value(node: ast.expr, known: Mapping[str, object]) -> object:
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            value = _value(operand, known)
            return value if value is UNKNOWN else not value
        case ast.BoolOp(op=op, values=parts):
            ends = isinstance(op, ast.Or)
            values = [_value(part, known) for part in parts]
            decided = (each for each in values if each is not UNKNOWN and bool(each) == ends)
            return next(decided, UNKNOWN if UNKNOWN in values else values[-1])
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as how], comparators=[right]):
            one, other = _value(left, known), _value(right, known)
            return UNKNOWN if UNKNOWN in (one, other) else (one == other) == isinstance(how, ast.Eq)
        case ast.Call(func=ast.Name(id="contains" | "startswith" | "endswith" as name), args=[first, second]):
            whole, part = _value(first, known), _value(second, known)
            if not isinstance(whole, (str, list)) or not isinstance(part, str):
                return UNKNOWN
            if name == "contains":
                return part in whole
            return getattr(whole, name)(part) if isinstance(whole, str) else UNKNOWN
        case ast.Call(func=ast.Name(id="fromjson"), args=[ast.Constant(value=str(text))]):
            try:
                return json.loads(text)
            except ValueError:
                return UNKNOWN
    return known.get(ast.unparse(node), UNKNOWN)
