"""What a program wrote before it failed: its last lines, and the one that names the error."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gate.writing.plain import visible

_CSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_ERRORS = (
    re.compile(
        r"\berror(\[\w+\])?:|^CMake Error\b|^panic: |\bpanicked at\b|^Exception in thread |\bcannot find -l|^e: |^E {3}"
        r"|\bundefined (reference|symbols?)\b|^(E +)?(\w+\.)*[A-Z]\w*(Error|Exception)(:|$)|: Assertion .* failed",
        re.IGNORECASE,
    ),
    # a place in a file, as go build, shells and Maven name it, but for warnings
    re.compile(
        r"^(\[error\] )?[^\s:]*[^\s:.]\.[a-z]\w*:((line )?\d+:(\d+:)?|\[\d+,\d+\]) "
        r"(?!(fatal )?(warning|note|remark|info)\b|\w*Warning\b|in \w+$)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?!.*(\bwarning: |--- standard error)|npm error( code |$))(.*(\berror\b|[a-z]Error\b)|\w+(\[\d+\])?: \*{3} )"
        r"|^npm ERR! (?!code )\S|^\* What went wrong:",
        re.IGNORECASE,
    ),
)
"""What compilers and interpreters write where something is wrong, from the surest structure to a mere word."""
_OF_ANOTHER = re.compile(
    r"\bexit(ed)?( with)?( code| status| value)?:? \d+|\breturned \d+ exit status|\*\*\* .*\bError \d+$|\bELIFECYCLE\b"
    r"|\bsubprocess-exited-with-error\b",
    re.IGNORECASE,
)
"""What a program writes when one that it started has failed; that one wrote why, and mostly before."""
_ECHO = ("--- standard ", "> ", "$ ")
"""What begins a line that names a stream, or a command that a package manager starts."""
_ANNOUNCES, _PLACE = re.compile(r":( \[[\w-]+\])?\s*$"), " --> "
_LABEL = re.compile(r"^(\[\w+\]|npm \S+) +")
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
    first, error = _first_error(lines)
    if limit < _FEWEST or first >= len(lines) - limit:
        return last
    return [error, "...", *last[2:]]


def _first_error(lines: Sequence[str]) -> tuple[int, str]:
    """Return where the line stands that names an error by its structure, and its text; behind the last: none does.

    Of a traceback it is the line that ends it, of a chain of them the last one: that is what was not caught. Where all
    that names an error says that something else failed, it is the line above.
    """
    begins = [number for number, line in enumerate(lines) if line.strip() == _TRACEBACK]
    ends = [_end_of_traceback(lines, begin) for begin in begins]
    inside = {at for begin, end in zip(begins, ends, strict=True) for at in range(begin, end)}
    others = [at for at, line in enumerate(lines) if at not in inside and _OF_ANOTHER.search(line)]
    for pattern in _ERRORS:
        for number, line in enumerate(lines):
            if number in inside or number in others or not (number in ends or pattern.search(line)):
                continue
            if pattern is _ERRORS[-1] and others and number > others[0]:
                break
            found = ends[-1] if number in ends else number
            return found, _continued(lines, found)
    if not others:
        return len(lines), ""
    # what was started wrote its last line there, where it wrote any on that stream
    before = [at for at in range(others[0]) if lines[at].strip()][-1:]
    found = before[0] if before and not lines[before[0]].startswith(_ECHO) else others[0]
    return found, lines[found]


def _continued(lines: Sequence[str], at: int) -> str:
    """Write a line, and what it announces: behind a colon the next, and one that is indented below; rustc's place."""
    following = [_LABEL.sub("", line) for line in lines[at + 1 :] if _LABEL.sub("", line).strip()][:2]
    indented = [line.startswith((" ", "> ")) for line in following]
    told = 1 + all(indented[1:]) if _ANNOUNCES.search(lines[at]) else following[:1] != [] and _PLACE in following[0]
    return " ".join([lines[at].strip(), *(line.strip() for line in following[:told])])


def _end_of_traceback(lines: Sequence[str], begin: int) -> int:
    indent = len(lines[begin]) - len(lines[begin].lstrip())
    after = ((at, line) for at, line in enumerate(lines[begin + 1 :], begin + 1) if line.strip())
    return next((at for at, line in after if len(line) - len(line.lstrip()) <= indent), len(lines) - 1)


def error_line(text: str) -> str:
    """Return the first line of a program's output that names an error, else the last that is not blank; "": none."""
    lines = last_lines(text, None)
    said = [line.strip() for line in [_first_error(lines)[1], *reversed(lines)]]
    return next(filter(None, said), "")
