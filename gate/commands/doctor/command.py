"""perfgate doctor: checks whether this host is fit to measure on; changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from gate.cli.command import MEASURED, Command
from gate.cli.groups import OutputOptions
from gate.cli.options import option, switch
from gate.codes import Exit
from gate.model import SCHEMA, UserError

if TYPE_CHECKING:
    from gate.document.document import Document, Part
    from harness.host.fitness.checks import Check


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """How the host is looked at."""

    strict: bool = switch("exit with 5 if this host is unfit")
    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")


def run(options: Options, out: TextIO, _err: TextIO) -> int:
    """Examine the host and print what was found; 0, or 5 with --strict when it is unfit.

    Raises: UserError: the JSON cannot be written.
    """
    from gate.document import terminal
    from gate.model.history import UNTESTED
    from gate.report.json import text_of
    from gate.report.outputs import deliver, require_writable
    from gate.run.memory import opened
    from gate.run.refusal import require_measuring
    from gate.store.history_records import proof_of
    from harness.host.fitness.checks import Check
    from harness.host.fitness.examination import examine, unfit
    from harness.sandbox.sandbox import examined

    require_measuring()
    files = {"json": options.json} if options.json is not None else {}
    require_writable(OutputOptions(files))
    sandbox = examined("auto")
    why = "It keeps what is measured from everything but its own tree (docs/security.md)."
    # what the controls prove of the history that the working directory has
    proved, proof = list[Check](), None
    with suppress(UserError):
        proof = proof_of(opened(None).read().records)
    if proof is not None:
        warning = proof.warning()
        # what is well is shown without why
        said = f"{proof.sentence()}: {warning}" if warning else f"{proof.sentence()}. {UNTESTED}"
        proved = [Check("controls", "warn" if warning else "ok", said, UNTESTED)]
    checks = [*examine(), *proved, Check("sandbox", "ok" if sandbox.on else "warn", str(sandbox), why)]
    keys = ("name", "state", "value", "why", "command")
    plain = [{key: getattr(check, key) for key in keys} for check in checks]
    found = {"schema": SCHEMA, "verdict": "unfit" if unfit(checks) else "fit", "checks": plain}
    deliver(
        files, {"json": lambda: text_of(found)},
        lambda: terminal.render(document(checks), terminal.bounded(out)), out,
    )  # fmt: skip
    return Exit.UNFIT if options.strict and unfit(checks) else 0


def document(checks: Sequence[Check]) -> Document:
    """Say what was found, the worst first, ending with the verdict."""
    from gate.document.document import Code, Document, Facts, Section, Statement
    from harness.host.fitness.examination import unfit

    of = {state: [check for check in checks if check.state == state] for state in ("bad", "warn", "unknown", "ok")}
    sections: list[list[Part]] = [
        [
            Section(
                f"{check.state}: {check.name}",
                check.name,
                [
                    Statement(check.value),
                    Statement(check.why),
                    *([Code(check.command, "to change it")] if check.command else []),
                ],
            )
        ]
        for check in (*of["bad"], *of["warn"])
    ]
    sections += [
        [Section("unknown", "unknown", [Facts([(each.name, f"{each.value}. {each.why}") for each in of["unknown"]])])],
        [Section("ok", "ok", [Facts([(each.name, each.value) for each in of["ok"]])])],
        [Statement(verdict(checks), "error" if unfit(checks) else "pass")],
    ]
    return Document("perfgate doctor", "this host", sections, "in --json", "")


def verdict(checks: Sequence[Check]) -> str:
    """Put the verdict into words: "fit with 3 warnings, 2 unknown" or "unfit: steal time, governor"."""
    from gate.writing.units import plural
    from harness.host.fitness.checks import WAITS
    from harness.host.fitness.examination import unfit

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


COMMAND = Command(
    help="check whether this host is fit to measure on, and show what helps",
    example="perfgate doctor --strict",
    options=Options,
    run=run,
    codes=MEASURED,
    done="done; also on an unfit host without --strict",
    place=7,
)
