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
from typing import TYPE_CHECKING, NoReturn, TextIO

from gate import __version__
from gate.cli import arguments, running
from gate.cli.arguments import Parser, UsageError, add_history, add_measuring, add_outputs, add_rules, add_sides
from gate.codes import Exit, of_signal
from gate.commands.action import options as action_options
from gate.commands.calibrate import arguments as calibrating
from gate.commands.compare import options as compare_options
from gate.commands.publish import options as publish_options
from gate.commands.study import arguments as studying
from gate.model import UserError
from gate.run import matrix

if TYPE_CHECKING:
    from typing_extensions import Buffer


_ENDING = """\
exit codes of check, decide, report and publish (measure: 0, 2, 4 or 5; ended by a signal: 128 + its number):
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
        visible = import_module("gate.words.plain").visible
        err.write(f"perfgate: {visible(str(error))}\n")
        return error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None and error.errno == errno.ENOSPC:
            # standard output is on that disk: run() says so
            raise
        name = f"{error.filename}: " if error.filename else ""
        err.write(f"perfgate: {name}{error.strerror or error}\n")
        return Exit.USAGE
    except Exception as error:  # a fault of perfgate itself is one line too, and never a pass
        if os.environ.get("PERFGATE_TRACEBACK"):
            raise
        kind = type(error).__name__
        err.write(f"perfgate: internal error, {kind}: {error} (PERFGATE_TRACEBACK=1 shows where); please report it\n")
        return Exit.ERROR


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
        code = of_signal(signal.SIGPIPE)
        if not isinstance(error, BrokenPipeError):
            err.write(f"perfgate: standard output: {error.strerror}\n")
            code = Exit.ERROR
    except KeyboardInterrupt:
        code = of_signal(signal.SIGINT)
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
    _add_study(commands)
    _add_doctor(commands)
    _add_publish(commands)
    _add_action(commands)
    _add_config(commands)
    return parser


_Commands = argparse._SubParsersAction  # argparse has no public name for what add_subparsers returns


def _command(commands: _Commands[Parser], name: str, what: str, example: str, function: Command) -> Parser:
    parser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example:\n  {example}\n\n{_ENDING if name in ('check', 'decide', 'report', 'publish') else ''}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        # an abbreviation would change its meaning with the next option
        allow_abbrev=False,
    )
    parser.set_defaults(command=function)
    return parser


def _add_init(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "init",
        "write a commented perfgate.toml for the project here, or a workflow for GitHub",
        "perfgate init\n  perfgate init --workflow pull-request",
        running.run_init,
    )
    parser.add_argument(
        "--kind",
        metavar="KIND",
        help="pytest-benchmark, pyperf, go, cargo, cmake, jmh, npm, make or generic; default: detected",
    )
    parser.add_argument(
        "--workflow",
        metavar="KIND",
        help="write into .github/workflows instead: pull-request, forks, matrix or calibrate",
    )
    parser.add_argument(
        "--action", metavar="OWNER/REPO@REF", help="what the workflow uses; default perfgate/perfgate@v1"
    )
    parser.add_argument("--force", action="store_true", help="overwrite what exists")


def _add_check(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "check",
        "measure base and head of this checkout, decide and report",
        "perfgate check --base main --set gate.threshold=5%",
        running.run_check,
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
        running.run_measure,
    )
    add_measuring(parser, parts=True)
    add_rules(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _add_decide(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "decide",
        "decide over measurement files from anywhere; prints text, writes only what is asked for",
        "perfgate decide .perfgate --set gate.confidence=0.99 --json -",
        running.run_decide,
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
        running.run_report,
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
        running.run_compare,
    )
    compare_options.add_options(parser)
    add_rules(parser, measured=True)


def _add_plan(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "plan",
        "counts for the next runs, by what was measured or is remembered of this host",
        "perfgate plan .perfgate --budget 10m --target 1%\n  perfgate plan --matrix --shards 3 --sessions 2",
        running.run_plan,
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
    matrix.add_options(parser)
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


def _add_study(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "study",
        "measure the treatments of an experiment, and say which factors matter and by how much",
        studying.EXAMPLE,
        studying.run,
    )
    studying.add_options(parser)


def _add_doctor(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "doctor",
        "say whether this host is fit to measure on, and how to make it so; changes nothing",
        "perfgate doctor --strict\n  perfgate doctor --metrics -- ./build/app parse data.json",
        running.run_doctor,
    )
    parser.add_argument("--strict", action="store_true", help="exit with 5 when this host is unfit")
    parser.add_argument("--json", metavar="FILE", help="write what was found as JSON; - for stdout instead of text")
    parser.add_argument(
        "--metrics",
        action="store_true",
        help="measure COMMAND with every instrument there is instead, to choose a metric by",
    )
    parser.add_argument("argv", nargs="*", metavar="COMMAND", help="for --metrics, after --")


def _add_publish(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "publish",
        "put a report on a pull request: comment, job summary, annotations, status; in a GitHub workflow only",
        "perfgate publish .perfgate --id parser --status",
        running.run_publish,
    )
    publish_options.add_options(parser)


def _add_action(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands, "action", "run one step of the GitHub Action, as action.yml does", "perfgate action measure",
        running.run_action,
    )  # fmt: skip
    action_options.add_options(parser)


def _add_config(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "config",
        "print the effective configuration and where each value comes from",
        "perfgate config --rules base --base main",
        running.run_config,
    )
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of perfgate.toml instead")
    add_sides(parser)
    add_rules(parser)
