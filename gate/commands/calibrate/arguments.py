"""The options of perfgate calibrate, which measures or, with --simulate, only calculates."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import TextIO

from gate.cli import arguments
from gate.cli.arguments import Parser, add_history, add_rules, add_strict, rules_of
from gate.model import UserError


def add_options(parser: Parser) -> None:
    """Add all options of calibrate."""
    group = parser.add_argument_group("measuring")
    group.add_argument("--head", metavar="REF", help="default: the working tree as it is")
    group.add_argument("--builds", type=arguments.counts, metavar="N", help="rounds, default 20; to simulate: a list")
    group.add_argument("--budget", type=arguments.duration, metavar="TIME", help="default: four times plan.budget")
    group.add_argument(
        "--out", type=arguments.folder, metavar="DIR", help="default: calibration in .perfgate of the project"
    )
    group.add_argument("--seed", type=arguments.seed, metavar="N", help="default: a new one; to simulate: 1")
    group.add_argument("--dry-run", action="store_true", help="print the schedule and its expected duration")
    group.add_argument("--resume", action="store_true", help="go on with an interrupted calibration")
    group.add_argument(
        "--inject", type=arguments.shares, metavar="SHARES", help="changes to look for; default 1%%,2%%,5%%,10%%"
    )
    add_strict(group)
    add_history(group)
    add_rules(parser)
    group = parser.add_argument_group("simulation")
    group.add_argument(
        "--simulate",
        nargs="?",
        const="table-vii",
        metavar="SOURCE",
        help="measure nothing: simulate with the variances of a RUN, of the history (history), or of K&J's Table VII",
    )
    group.add_argument("runs", nargs="*", metavar="RUN", help="more folders or measurement files to simulate from")
    group.add_argument("--threshold", type=arguments.shares, metavar="SHARES", help="default 0%%,1%%,2%%,5%%")
    group.add_argument("--effect", type=arguments.shares, metavar="SHARES", help="true changes; default 5%%,10%%")
    group.add_argument("--reports", type=arguments.count, metavar="N", help="drawn for each number; default 2000")
    group.add_argument("--cases", type=arguments.count, metavar="N", help="findings of a report; default 20")
    group.add_argument("--cores", type=arguments.count, metavar="N", help="default: all")
    group.add_argument("--markdown", type=Path, metavar="FILE", help="write a document, with its figures beside it")
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write what was learned as JSON; - for stdout instead of text")
    group.add_argument("--quiet", action="store_true", help="only one line, and errors")


def run(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Calibrate, or simulate."""
    _refuse_other_options(parsed)
    if parsed.simulate is not None:
        return _run_simulation(parsed, out, err)
    # asked first: where measuring is not supported its modules cannot even be loaded
    import_module("gate.run.refusal").require_measuring()
    calibrate = import_module("gate.commands.calibrate.calibrate")
    builds = parsed.builds or (calibrate.BUILDS,)
    if len(builds) > 1:
        raise UserError(f"--builds {','.join(map(str, builds))}: a calibration has one number of builds")
    options = calibrate.CalibrateOptions(
        head=parsed.head,
        builds=builds[0],
        budget=None if parsed.budget is None else float(parsed.budget),
        out=parsed.out,
        seed=parsed.seed,
        dry_run=parsed.dry_run,
        resume=parsed.resume,
        quiet=parsed.quiet,
        history=parsed.history,
        inject=parsed.inject or calibrate.INJECT,
        json=parsed.json,
        strict=parsed.strict,
    )
    code: int = calibrate.run(options, rules_of(parsed), out, err)
    return code


_SIMULATING: tuple[str, ...] = ("runs", "threshold", "effect", "reports", "cases", "cores", "markdown")
_CALIBRATING: tuple[str, ...] = ("head", "budget", "out", "dry_run", "resume", "inject", "json", "quiet", "strict")


def _refuse_other_options(parsed: argparse.Namespace) -> None:
    others = _SIMULATING if parsed.simulate is None else _CALIBRATING
    if parsed.simulate not in (None, "history"):
        # a simulation goes by its own thresholds: rules that it would pass over are refused
        others += ("sets", "config", "rules", "benchmarks")
    for name in others:
        if getattr(parsed, name) not in (None, False, []):
            option = {"runs": "RUN", "sets": "--set", "benchmarks": "--benchmark"}.get(
                name, f"--{name.replace('_', '-')}"
            )
            why = "belongs to --simulate" if parsed.simulate is None else "does not go with --simulate"
            raise UserError(f"{option}: {why}; see perfgate calibrate --help")


def _run_simulation(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    simulate = import_module("gate.commands.calibrate.simulation.simulate")
    named = [] if parsed.simulate in ("table-vii", "history") else [parsed.simulate]
    options = simulate.SimulateOptions(
        runs=(*named, *parsed.runs),
        builds=parsed.builds or simulate.BUILDS,
        thresholds=parsed.threshold or simulate.THRESHOLDS,
        effects=parsed.effect or simulate.EFFECTS,
        reports=parsed.reports or simulate.REPORTS,
        cases=parsed.cases or simulate.CASES,
        seed=1 if parsed.seed is None else parsed.seed,
        cores=parsed.cores,
        markdown=parsed.markdown,
    )
    if parsed.simulate == "history":
        code: int = simulate.run_history(parsed.history, rules_of(parsed), options, out, err)
    else:
        code = simulate.run(options, out, err)
    return code
