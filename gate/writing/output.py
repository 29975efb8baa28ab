"""What a program wrote before it failed: its last lines, and the one that names the error."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gate.writing.plain import visible

_CSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_ERRORS = (
    re.compile(
        r"\berror(\[\w+\])?:|^CMake Error\b|^panic: |\bpanicked at\b|^Exception in thread "
        r"|\bundefined (reference|symbol)\b|^(\w+\.)*[A-Z]\w*(Error|Exception)(:|$)|: Assertion .* failed",
        re.IGNORECASE,
    ),
    # a place in a file, as go build and shells name it, but for warnings
    re.compile(
        r"^[^\s:]*[^\s:.]\.[a-z]\w*:(line )?\d+:(\d+:)? (?!(fatal )?(warning|note|remark|info)\b|\w*Warning\b)",
        re.IGNORECASE,
    ),
    re.compile(r"(?<!--- standard )\berror\b|[a-z]Error\b|^\w+: \*\*\* ", re.IGNORECASE),
)
"""What compilers and interpreters write where something is wrong, from the surest structure to a mere word."""
_TRACEBACK = "Traceback (most recent call last):"
_FEWEST = 4
"""Lines among which an earlier one may stand."""


def last_lines(text: str, limit: int | None) -> list[str]:
    """Return the last lines of a program's output, made visible, without colours and blank ends; None: all.

    If the first line that names an error comes before them, it stands above them: a compiler's first error causes the
    others, and Node writes what it could not find above the stack.
    """
    lines = [visible(line.expandtabs(4)).rstrip() for line in _CSI.sub("", text).strip("\r\n").splitlines()]
    if limit is None or len(lines) <= limit:
        return lines
    last = lines[-limit:]
    first = _first_error(lines)
    if limit < _FEWEST or first >= len(lines) - limit:
        return last
    return [lines[first], "...", *last[2:]]


def _first_error(lines: Sequence[str]) -> int:
    """Return where the line stands that names an error by its structure; behind the last: none does.

    Of a traceback it is the line that ends it, of a chain of them the last one: that is what was not caught.
    """
    begins = [number for number, line in enumerate(lines) if line.strip() == _TRACEBACK]
    ends = [_end_of_traceback(lines, begin) for begin in begins]
    inside = {at for begin, end in zip(begins, ends, strict=True) for at in range(begin, end)}
    for pattern in _ERRORS:
        for number, line in enumerate(lines):
            if number in inside or not pattern.search(line):
                continue
            return ends[-1] if number in ends else number
    return ends[-1] if ends else len(lines)


def _end_of_traceback(lines: Sequence[str], begin: int) -> int:
    indent = len(lines[begin]) - len(lines[begin].lstrip())
    after = ((at, line) for at, line in enumerate(lines[begin + 1 :], begin + 1) if line.strip())
    return next((at for at, line in after if len(line) - len(line.lstrip()) <= indent), len(lines) - 1)


def error_line(text: str) -> str:
    """Return the first line of a program's output that names an error, else the last that is not blank; "": none."""
    lines = last_lines(text, None)
    said = [line.strip() for line in [*lines[_first_error(lines) :][:1], *reversed(lines)]]
    return next(filter(None, said), "")
