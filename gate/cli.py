"""The command line: options, help, exit codes; nothing else, so that --help loads nothing heavy."""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn, TextIO

from gate import __version__, arguments, calibrating
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
from gate.commands import compare_options
from gate.commands.unfit import UnfitError
from gate.model import UserError

if TYPE_CHECKING:
    from typing_extensions import Buffer

EXIT_ERROR = 4
EXIT_UNFIT = 5

_ENDING = """\
exit codes of check, decide and report (measure: 0, 2, 4 or 5; ended by a signal: 128 + its number):
  0  pass: nothing regressed
  1  regression
  2  bad command line, config or input file
  3  inconclusive, with gate.inconclusive = "fail"
  4  error: a build or a benchmark failed or is missing, or nothing was measured
  5  the host is unfit (only with --strict)
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
        # names of benchmarks come from files, and may hold anything
        visible = import_module("gate.report.plain").visible
        err.write(f"perfgate: {visible(str(error))}\n")
        return EXIT_UNFIT if isinstance(error, UnfitError) else EXIT_USAGE
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None and error.errno == errno.ENOSPC:
            # standard output is on that disk: run() says so
            raise
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
    out, err = sys.stdout or null, _forgiving() if sys.stderr else null
    sys.stderr = err
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


class _Forgiving(io.FileIO):
    """Standard error on a disk that is full, or whose reader has gone: what cannot be said changes no exit code."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _forgiving() -> TextIO:
    raw = io.BufferedWriter(_Forgiving(sys.stderr.fileno(), "w", closefd=False))
    return io.TextIOWrapper(raw, sys.stderr.encoding, "backslashreplace", line_buffering=True)


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
    _add_compare(commands)
    _add_plan(commands)
    _add_calibrate(commands)
    _add_doctor(commands)
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
        "--kind",
        metavar="KIND",
        help="pytest-benchmark, pyperf, go, cargo, cmake, jmh, npm, make or generic; default: detected",
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
    arguments.add_rendering(parser)
    add_rules(parser, measured=True)
    add_outputs(parser)


def _add_compare(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "compare",
        "show two measurement files side by side, with intervals and no gate (0 whatever changed)",
        "perfgate compare monday friday --format markdown",
        _run_compare,
    )
    compare_options.add_options(parser)
    add_rules(parser, measured=True)


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
        "--target", type=arguments.share, metavar="SHARE", help="half-width of intervals; default: half the thresholds"
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
        calibrating.run,
    )
    calibrating.add_options(parser)


def _add_doctor(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "doctor",
        "say whether this host is fit to measure on, and how to make it so; changes nothing",
        "perfgate doctor --strict\n  perfgate doctor --metrics -- ./build/app parse data.json",
        _run_doctor,
    )
    parser.add_argument("--strict", action="store_true", help="exit with 5 when this host is unfit")
    parser.add_argument("--json", metavar="FILE", help="write what was found as JSON; - for stdout instead of text")
    parser.add_argument(
        "--metrics",
        action="store_true",
        help="measure COMMAND with every instrument there is instead, to choose a metric by",
    )
    parser.add_argument("argv", nargs="*", metavar="COMMAND", help="for --metrics, after --")


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


def _run_report(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    report = import_module("gate.commands.report")
    links = report.links_with(parsed.report_url, parsed.run_url)
    options = report.ReportOptions(tuple(parsed.runs), parsed.format, parsed.out, parsed.all, links)
    code: int = report.run(options, rules_of(parsed), outputs_of(parsed), out, err)
    return code


def _run_compare(parsed: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    compare = import_module("gate.commands.compare")
    code: int = compare.run(compare_options.options_of(parsed), rules_of(parsed), out)
    return code


def _run_plan(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    plan = import_module("gate.commands.plan")
    options = plan.PlanOptions(
        tuple(parsed.runs), parsed.history, parsed.budget, parsed.target, parsed.detect, parsed.json
    )
    code: int = plan.run(options, rules_of(parsed), out, err)
    return code


def _run_doctor(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    if parsed.metrics:
        if not parsed.argv:
            raise UserError("--metrics: needs a command: perfgate doctor --metrics -- COMMAND")
        if parsed.strict:
            raise UserError("--strict: does not go with --metrics")
        return _run_metrics(parsed, out, err)
    if parsed.argv:
        raise UserError(f"{parsed.argv[0]}: a command belongs to --metrics; see perfgate doctor --help")
    doctor = _measuring_command("gate.commands.doctor")
    code: int = doctor.run(doctor.DoctorOptions(parsed.strict, parsed.json), out)
    return code


def _run_metrics(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    metrics = _measuring_command("gate.commands.metrics")
    code: int = metrics.run(metrics.MetricsOptions(command=tuple(parsed.argv), json=parsed.json), out, err)
    return code


def _run_config(parsed: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    config = import_module("gate.commands.config")
    options = config.ConfigOptions(parsed.base, parsed.head, parsed.schema)
    code: int = config.run(options, rules_of(parsed), out)
    return code
