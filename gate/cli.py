"""The command line: options, help, exit codes; nothing else, so that --help loads nothing heavy."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn, TextIO

from gate import __version__, arguments
from gate.arguments import (
    EXIT_USAGE,
    Parser,
    UsageError,
    add_history,
    add_measuring,
    add_outputs,
    add_rules,
    add_sides,
    measuring_of,
    outputs_of,
    rules_of,
)
from gate.model import UserError

EXIT_ERROR = 4

_ENDING = """\
exit codes of check, decide and report (measure: 0, 2 or 4; ended by a signal: 128 + its number):
  0  pass: nothing regressed
  1  regression
  2  bad command line, config or input file
  3  inconclusive, with gate.inconclusive = "fail"
  4  error: a build or a benchmark failed or is missing, or nothing was measured
"""

Command = Callable[[argparse.Namespace, TextIO, TextIO], int]


def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Run one command line and return its exit code; nothing is raised but KeyboardInterrupt and SystemExit.

    argv: without the program's name. out takes the report, err everything else.
    """
    Parser.out, Parser.err = out, err
    try:
        parsed = _parser().parse_args(list(argv))
        command: Command = parsed.command
        return command(parsed, out, err)
    except UsageError as usage:
        return usage.code
    except UserError as error:
        err.write(f"perfgate: {error}\n")
        return EXIT_USAGE
    except BrokenPipeError:
        raise
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        err.write(f"perfgate: {name}{error.strerror or error}\n")
        return EXIT_USAGE
    except Exception as error:  # a fault of perfgate itself is one line too, and never a pass
        if os.environ.get("PERFGATE_TRACEBACK"):
            raise
        kind = type(error).__name__
        err.write(f"perfgate: internal error, {kind}: {error} (PERFGATE_TRACEBACK=1 shows where); please report it\n")
        return EXIT_ERROR


def run() -> NoReturn:
    """Run the process's command line and exit."""
    # a stream that the caller closed is none at all in Python
    null = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # open as long as the process
    out, err = sys.stdout or null, sys.stderr or null
    try:
        code = main(sys.argv[1:], out, err)
        out.flush()
    except OSError as error:
        # the reader (head, less) has gone, or a disk is full: no more output, and no traceback at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        code = 128 + signal.SIGPIPE
        if not isinstance(error, BrokenPipeError):
            err.write(f"perfgate: standard output: {error.strerror}\n")
            code = EXIT_ERROR
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="perfgate",
        description="A performance regression gate: fails only when the interval of head/base lies beyond a threshold.",
        epilog=_ENDING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"perfgate {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="name")
    _add_init(commands)
    _add_check(commands)
    _add_measure(commands)
    _add_decide(commands)
    _add_report(commands)
    _add_plan(commands)
    _add_calibrate(commands)
    _add_config(commands)
    return parser


_Commands = argparse._SubParsersAction  # argparse has no public name for what add_subparsers returns


def _command(commands: _Commands[Parser], name: str, what: str, example: str, function: Command) -> Parser:
    parser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example:\n  {example}\n\n{_ENDING if name in ('check', 'decide', 'report') else ''}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        # an abbreviation would change its meaning with the next option
        allow_abbrev=False,
    )
    parser.set_defaults(command=function)
    return parser


def _add_init(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands, "init", "write a commented perfgate.toml for the project here", "perfgate init", _run_init
    )
    parser.add_argument(
        "--kind", metavar="KIND", help="cargo, cmake, make, pytest-benchmark or generic; default: detected"
    )
    parser.add_argument("--force", action="store_true", help="overwrite a perfgate.toml that exists")


def _add_check(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "check",
        "measure base and head of this checkout, decide and report",
        "perfgate check --base main --set gate.threshold=5%",
        _run_check,
    )
    add_measuring(parser)
    add_rules(parser)
    add_outputs(parser)


def _add_measure(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "measure",
        "measure base and head of this checkout, without deciding",
        "perfgate measure --base main --out results && perfgate decide results",
        _run_measure,
    )
    add_measuring(parser)
    add_rules(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _add_decide(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "decide",
        "decide over measurement files from anywhere; prints text, writes only what is asked for",
        "perfgate decide .perfgate --set gate.confidence=0.99 --json -",
        _run_decide,
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="measurements.jsonl, a folder with one, or - for stdin"
    )
    add_rules(parser, measured=True)
    add_outputs(parser)


def _add_report(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "report",
        "render a past run again",
        "perfgate report .perfgate --format markdown",
        _run_report,
    )
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="a folder of a run, a report.json or measurement files; default .perfgate",
    )
    parser.add_argument(
        "--format", choices=["text", "markdown", "json", "html"], default="text", help="what to print; default text"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder to fill; default: RUN if it is one, else .perfgate"
    )
    parser.add_argument("--all", action="store_true", help="every finding, also the unchanged ones of a long report")
    add_rules(parser, measured=True)
    add_outputs(parser)


def _add_plan(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "plan",
        "counts for the next runs, by what was measured or is remembered of this host",
        "perfgate plan .perfgate --budget 10m --target 1%",
        _run_plan,
    )
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="a folder or measurement files; default: what is remembered of this host"
    )
    parser.add_argument(
        "--budget", type=arguments.duration, metavar="TIME", help="of builds and executions; default: plan.budget"
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--target", type=arguments.share, metavar="SHARE", help="half-width of the intervals; default: half the thresholds"
    )
    wanted.add_argument(
        "--detect", type=arguments.share, metavar="SHARE", help="a change to be found in 80%% of the runs"
    )
    parser.add_argument("--json", metavar="FILE", help="write the plan as JSON; - for stdout instead of text")
    add_history(parser)
    add_rules(parser)


def _add_calibrate(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "calibrate",
        "measure this checkout against itself, and remember how noisy this host is",
        "perfgate calibrate --builds 20 --budget 1h\n  perfgate calibrate --simulate .perfgate --effect 2%,5%",
        _run_calibrate,
    )
    group = parser.add_argument_group("measuring")
    group.add_argument("--head", metavar="REF", help="default: the working tree as it is")
    group.add_argument("--builds", type=arguments.counts, metavar="N", help="rounds, default 20; to simulate: a list")
    group.add_argument("--budget", type=arguments.duration, metavar="TIME", help="default: four times plan.budget")
    group.add_argument("--out", type=Path, metavar="DIR", help="default: calibration in .perfgate of the project")
    group.add_argument("--seed", type=arguments.seed, metavar="N", help="default: a new one; to simulate: 1")
    group.add_argument("--dry-run", action="store_true", help="print the schedule and its expected duration")
    group.add_argument("--resume", action="store_true", help="go on with an interrupted calibration")
    group.add_argument(
        "--inject", type=arguments.shares, metavar="SHARES", help="changes to look for; default 1%%,2%%,5%%,10%%"
    )
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


def _add_config(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "config",
        "print the effective configuration and where each value comes from",
        "perfgate config --rules base --base main",
        _run_config,
    )
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of perfgate.toml instead")
    add_sides(parser)
    add_rules(parser)


def _run_init(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    init = import_module("gate.commands.init")
    code: int = init.run(init.InitOptions(Path.cwd(), parsed.kind, parsed.force), out, err)
    return code


def _run_check(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    check = _measuring_command("gate.commands.check")
    code: int = check.run(measuring_of(parsed), rules_of(parsed), outputs_of(parsed), out, err)
    return code


def _run_measure(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    measure = _measuring_command("gate.commands.measure")
    code: int = measure.run(measuring_of(parsed), rules_of(parsed), out, err, quiet=parsed.quiet)
    return code


def _measuring_command(name: str) -> ModuleType:
    # asked first: where measuring is not supported its modules cannot even be loaded
    import_module("gate.commands.platforms").require_measuring()
    return import_module(name)


def _run_decide(parsed: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    decide = import_module("gate.commands.decide")
    code: int = decide.run(parsed.files, rules_of(parsed), outputs_of(parsed), out)
    return code


def _run_report(parsed: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    report = import_module("gate.commands.report")
    options = report.ReportOptions(tuple(parsed.runs), parsed.format, parsed.out, parsed.all)
    code: int = report.run(options, rules_of(parsed), outputs_of(parsed), out)
    return code


def _run_plan(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    plan = import_module("gate.commands.plan")
    options = plan.PlanOptions(
        tuple(parsed.runs), parsed.history, parsed.budget, parsed.target, parsed.detect, parsed.json
    )
    code: int = plan.run(options, rules_of(parsed), out, err)
    return code


def _run_calibrate(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    _refuse_other_options(parsed)
    if parsed.simulate is not None:
        return _run_simulation(parsed, out, err)
    calibrate = _measuring_command("gate.commands.calibrate")
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
    )
    code: int = calibrate.run(options, rules_of(parsed), out, err)
    return code


_SIMULATING = ("runs", "threshold", "effect", "reports", "cases", "cores", "markdown")
_CALIBRATING = ("head", "budget", "out", "dry_run", "resume", "inject", "json")


def _refuse_other_options(parsed: argparse.Namespace) -> None:
    others = _SIMULATING if parsed.simulate is None else _CALIBRATING
    for name in others:
        if getattr(parsed, name) not in (None, False, []):
            option = "RUN" if name == "runs" else f"--{name.replace('_', '-')}"
            why = "belongs to --simulate" if parsed.simulate is None else "does not go with --simulate"
            raise UserError(f"{option}: {why}; see perfgate calibrate --help")


def _run_simulation(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    simulate = import_module("gate.commands.simulate")
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


def _run_config(parsed: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    config = import_module("gate.commands.config")
    options = config.ConfigOptions(parsed.base, parsed.head, parsed.schema)
    code: int = config.run(options, rules_of(parsed), out)
    return code
