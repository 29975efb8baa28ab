"""perfgate doctor: checks whether this host is fit to measure on; changes nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

import msgspec

from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.model import SCHEMA
from gate.report.outputs import require_writable, write
from gate.store.memory import HistoryError, folder_of
from gate.units import plural
from gate.words.grid import paint
from gate.words.streams import colored
from gate.writing.plain import pad, visible, wrap
from harness.host.fitness import WAITS, Check, State, examine, unfit
from harness.sandbox.sandbox import examined


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """strict: an unfit host ends with 5. json: a file, "-" for standard output instead of text."""

    strict: bool
    json: str | None


def run(options: DoctorOptions, out: TextIO) -> int:
    """Examine the host and print what was found; 0, or 5 with strict when it is unfit.

    Raises:
        UserError: the JSON cannot be written.
    """
    require_writable(OutputOptions({"json": options.json} if options.json is not None else {}))
    checks = [*examine(_history()), _sandbox()]
    if options.json == "-":
        out.write(render_json(checks))
    else:
        width = min(shutil.get_terminal_size((100, 24)).columns, 140)
        out.write(render(checks, color=colored(out), width=width))
        if options.json is not None:
            write(Path(options.json), render_json(checks))
    return Exit.UNFIT if options.strict and unfit(checks) else 0


def _sandbox() -> Check:
    found = examined("auto")
    why = "It keeps what is measured from everything but its own tree (docs/security.md)."
    return Check("sandbox", "ok" if found.on else "warn", str(found), why)


def _history() -> Path | None:
    try:
        return folder_of(None, None, os.environ)
    except HistoryError:
        return None


def render_json(checks: Sequence[Check]) -> str:
    """Write the checks as JSON, ending with a newline."""
    verdict: Literal["fit", "unfit"] = "unfit" if unfit(checks) else "fit"
    table = {"schema": SCHEMA, "verdict": verdict, "checks": [_plain(check) for check in checks]}
    return msgspec.json.format(msgspec.json.encode(table), indent=2).decode() + "\n"


def _plain(check: Check) -> dict[str, Any]:
    # a path or the name of a process may hold bytes that are no text
    return {name: _text(getattr(check, name)) for name in ("name", "state", "value", "why", "command")}


def _text(value: str | None) -> str | None:
    return None if value is None else value.encode("utf-8", "backslashreplace").decode()


_STYLES: dict[State, str] = {"bad": "1;31", "warn": "33", "unknown": "2", "ok": ""}
_SHOWN: tuple[State, ...] = ("bad", "warn")
_INDENT = " " * 9
_NARROWEST = 40


def render(checks: Sequence[Check], *, color: bool = False, width: int = 100) -> str:
    """Write what was found, the worst first, ending with the verdict and a newline.

    Args:
        color: SGR codes for states, else none at all.
        width: columns of the terminal; only commands to copy go beyond it.
    """
    wide = max(width, _NARROWEST)
    names = max((len(check.name) for check in checks if check.state != "ok"), default=0)
    lines: list[str] = []
    for state in _SHOWN:
        for check in (check for check in checks if check.state == state):
            lines += _row(check, names, wide, color=color) + _reasons(check, wide)
    lines += _brief(checks, "unknown", wide, color=color)
    lines += _brief(checks, "ok", wide, color=color)
    bad = bool(unfit(checks))
    style = ("1;31" if bad else "1;32") if color else ""
    lines += ["", *(paint(line, style) for line in wrap(verdict(checks), wide))]
    return "\n".join(lines) + "\n"


def verdict(checks: Sequence[Check]) -> str:
    """Put the verdict into words: "fit with 3 warnings, 2 unknown" or "unfit: steal time, governor"."""
    bad = [check.name for check in unfit(checks)]
    counts = {state: sum(check.state == state for check in checks) for state in ("warn", "unknown")}
    warnings = plural(counts["warn"], "warning") if counts["warn"] else ""
    unknown = f"{counts['unknown']} unknown" if counts["unknown"] else ""
    more = ", ".join(text for text in (warnings, unknown) if text)
    if bad:
        wall = " for wall time" if set(bad) <= WAITS else ""
        able = "; commands that active time decides can be measured (`perfgate try` shows which)" if wall else ""
        return f"unfit{wall}: {', '.join(bad)}{able}" + (f"; {more}" if more else "")
    return f"fit with {more}" if more else "fit"


def _row(check: Check, names: int, width: int, *, color: bool) -> list[str]:
    state = paint(check.state, _STYLES[check.state]) if color else check.state
    first = f"{state}{pad('', len(_INDENT) - len(check.state))}{pad(check.name, names)}  "
    # as wide as it looks: a colour takes no columns
    plain = pad("", len(_INDENT) + names + 2)
    head, *rest = wrap(visible(check.value), width, first=plain, rest=plain)
    return [first + head[len(plain) :], *rest]


def _reasons(check: Check, width: int) -> list[str]:
    lines = wrap(check.why, width, first=_INDENT, rest=_INDENT)
    if check.command:
        # never broken: it is there to be copied
        lines.append(f"{_INDENT}to change it: {check.command}")
    return [*lines, ""]


def _brief(checks: Sequence[Check], state: State, width: int, *, color: bool) -> list[str]:
    """List the checks of one state in short."""
    found = [check for check in checks if check.state == state]
    if not found:
        return []
    shown = paint(state, _STYLES[state]) if color else state
    texts = [f"{check.name}: {visible(check.value)}" for check in found]
    if state == "unknown":
        texts = [f"{text}. {check.why}" for text, check in zip(texts, found, strict=True)]
    lines = [line for text in texts for line in wrap(text, width, first=_INDENT, rest=_INDENT + "  ")]
    lines[0] = f"{shown}{pad('', len(_INDENT) - len(state))}{lines[0][len(_INDENT) :]}"
    return [*lines, ""] if state == "unknown" else lines
