"""perfgate doctor: checks whether this host is fit to measure on; changes nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.document.terminal import paint, screen
from gate.model import SCHEMA, UserError
from gate.model.controls import UNTESTED
from gate.report.json import text_of
from gate.report.outputs import require_writable, write
from gate.run.place import opened
from gate.store.memory import HistoryError, folder_of
from gate.store.records import proof_of
from gate.units import plural
from gate.writing.plain import pad, visible, wrap
from harness.host.fitness import WAITS, Check, State, examine, unfit
from harness.sandbox.sandbox import examined


def run(strict: bool, json: str | None, out: TextIO) -> int:
    """Examine the host and print what was found; 0, or 5 with strict when it is unfit.

    Args:
        json: a file, "-" for standard output instead of text.

    Raises:
        UserError: the JSON cannot be written.
    """
    require_writable(OutputOptions({"json": json} if json is not None else {}))
    history = None
    with suppress(HistoryError):
        history = folder_of(None, None, os.environ)
    sandbox = examined("auto")
    why = "It keeps what is measured from everything but its own tree (docs/security.md)."
    proved = [] if history is None else _controls()
    checks = [*examine(history), *proved, Check("sandbox", "ok" if sandbox.on else "warn", str(sandbox), why)]
    if json == "-":
        out.write(render_json(checks))
    else:
        shown = screen(out)
        out.write(render(checks, color=shown.color, width=shown.width))
        if json is not None:
            write(Path(json), render_json(checks))
    return Exit.UNFIT if strict and unfit(checks) else 0


def _controls() -> list[Check]:
    """Say what the controls of the history prove that the working directory has; nothing where it has none."""
    try:
        proof = proof_of(opened(None).read().records)
    except UserError:
        return []
    if proof is None:
        return []
    warning = proof.warning()
    # what is well is shown without why
    said = f"{proof.sentence()}: {warning}" if warning else f"{proof.sentence()}. {UNTESTED}"
    return [Check("controls", "warn" if warning else "ok", said, UNTESTED)]


def render_json(checks: Sequence[Check]) -> str:
    """Write the checks as JSON, ending with a newline."""
    keys = ("name", "state", "value", "why", "command")
    plain = [{key: getattr(check, key) for key in keys} for check in checks]
    return text_of({"schema": SCHEMA, "verdict": "unfit" if unfit(checks) else "fit", "checks": plain})


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
    for check in sorted((c for c in checks if c.state in _SHOWN), key=lambda check: _SHOWN.index(check.state)):
        state = paint(check.state, _STYLES[check.state] if color else "")
        first = f"{state}{pad('', len(_INDENT) - len(check.state))}{pad(check.name, names)}  "
        # as wide as it looks: a colour takes no columns
        plain = pad("", len(_INDENT) + names + 2)
        head, *rest = wrap(visible(check.value), wide, first=plain, rest=plain)
        lines += [first + head[len(plain) :], *rest, *wrap(check.why, wide, first=_INDENT, rest=_INDENT)]
        # never broken: it is there to be copied
        lines += [*([f"{_INDENT}to change it: {check.command}"] if check.command else []), ""]
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
