"""perfgate measure: measurements of this checkout, without a decision."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.cli.command import MEASURED, MEASURING, Command, late
from gate.cli.groups import PartOptions, RulesOptions
from gate.cli.options import group, switch
from gate.codes import Exit


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is measured, and by whose plan."""

    measuring: PartOptions = group(PartOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    quiet: bool = switch("print no progress")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Measure base and head; 0, or 4 when something failed or nothing was measured."""
    from gate.evidence.records import DEFAULT_FOLDER, MEASUREMENTS
    from gate.model import Execution, Failure, Same
    from gate.run.interruption import ended_before_a_round, say_why
    from gate.run.measuring import open_run
    from gate.run.preview import introduction, write_preview
    from gate.run.refusal import refuse_unsafe
    from gate.run.run_folder import records_of
    from gate.words.failures import title
    from gate.writing.units import plural

    refuse_unsafe()
    with open_run(options.measuring, Path(DEFAULT_FOLDER), err, quiet=options.quiet) as run:
        job = run.lay_out(options.rules, early=False)
        if options.measuring.dry_run:
            write_preview(job, out, explains=True)
            return 0
        run.begin(job, introduction(job))
        job, _ = run.measure(job, explains=True)
    records = records_of(job.out)
    failures = [r for r in records if isinstance(r, Failure)]
    executions, proofs = (sum(isinstance(r, kind) for r in records) for kind in (Execution, Same))
    err.writelines(f"perfgate: {title(failure)}\n" for failure in failures)
    unfinished = ended_before_a_round(job)
    if unfinished is not None:
        say_why(err, unfinished)
    proved = f" and {plural(proofs, 'unaffected benchmark')}" if proofs else ""
    more = f", with the other parts: this is {job.part}" if job.part else ""
    out.write(
        f"{plural(executions, 'start')}{proved} in {job.out / MEASUREMENTS}; "
        f"`perfgate decide {job.out}` decides{more}\n"
    )
    # a shard may have nothing that both sides have; who decides over all shards sees that
    idle = job.part is not None and not any(each.executions for each in job.rounds)
    return Exit.ERROR if failures or unfinished or not (executions or proofs or idle) else 0


COMMAND = Command(
    help="measure base and head of this checkout, without deciding",
    example="perfgate measure --base main --out results && perfgate decide results",
    options=Options,
    run=late("gate.commands.measure.command:run", MEASURING),
    codes=MEASURED,
    done="done: everything was measured",
)
