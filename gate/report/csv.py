"""Measurements -> CSV in long form, one value a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from gate.model import Execution
from gate.writing.plain import visible

if TYPE_CHECKING:
    import pandas as pd

_ROWS = 50_000
"""Rows that are written at once: lists of text take much more room than the frame."""
_BREAKS = re.compile(r"[^\n\r\t]+")
_QUOTED = re.compile(r'[",\r\n]|^\s|\s$|^$')


def render(executions: Sequence[Execution]) -> str:
    r"""Write all values as RFC 4180 has it, with a header line: the columns and rows of evidence.frame.long_frame.

    Lines end with "\n". What does not exist is an empty cell, an empty text is a quoted one (""). A value has as many
    digits as it takes to read the same double back. A text is as it is, but for what neither prints nor breaks lines:
    NUL, which readers of CSV do not take, and what drives a terminal are written as "\x00" and "\x1b".
    """
    from gate.evidence.frame import long_frame

    frame = long_frame(executions)
    lines = [",".join(map(cell, frame.columns))]
    for start in range(0, len(frame), _ROWS):
        part = frame.iloc[start : start + _ROWS]
        lines += map(",".join, zip(*_texts(part), strict=True))
    return "\n".join(lines) + "\n"


def cell(text: object) -> str:
    """Write one cell of a CSV: text quoted where it has to be, numbers as Python writes them, None as nothing."""
    if text is None:
        return ""
    if not isinstance(text, str):
        return repr(text)
    plain = text if text.isprintable() else _BREAKS.sub(lambda found: visible(found[0]), text)
    return '"' + plain.replace('"', '""') + '"' if _QUOTED.search(plain) else plain


def _texts(frame: pd.DataFrame) -> Iterator[list[str]]:
    import pandas as pd

    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            # the last one is what the code -1 of a missing setting finds
            names = [*map(cell, column.cat.categories.tolist()), ""]
            yield [names[code] for code in column.cat.codes.tolist()]
        else:
            write: Callable[[object], str] = repr if column.dtype == float else _whole
            yield [write(value) for value in column.tolist()]


def _whole(value: object) -> str:
    return str(value) if isinstance(value, int) else ""
