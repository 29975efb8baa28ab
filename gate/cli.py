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
from typing import IO, NoReturn, TextIO

from gate import __version__
from gate.commands.options import MeasureOptions, OutputOptions, RulesOptions
from gate.model import UserError

EXIT_USAGE = 2
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


class _UsageError(Exception):
    """Ends parsing with an exit code; the message has been written."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Parser(argparse.ArgumentParser):
    """Writes where main says and ends by an exception, so that a command line can be tried in process."""

    out: TextIO = sys.stdout
    err: TextIO = sys.stderr

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        (self.err if file is sys.stderr else self.out).write(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        if message:
            self.err.write(message)
        raise _UsageError(status)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Run one command line and return its exit code; nothing is raised but KeyboardInterrupt and SystemExit.

    argv: without the program's name. out takes the report, err everything else.
    """
    _Parser.out, _Parser.err = out, err
    try:
        arguments = _parser().parse_args(list(argv))
        command: Command = arguments.command
        return command(arguments, out, err)
    except _UsageError as usage:
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
    parser = _Parser(
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
    _add_config(commands)
    return parser


_Commands = argparse._SubParsersAction  # argparse has no public name for what add_subparsers returns


def _command(commands: _Commands[_Parser], name: str, what: str, example: str, function: Command) -> _Parser:
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


def _add_init(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands, "init", "write a commented perfgate.toml for the project here", "perfgate init", _run_init
    )
    parser.add_argument(
        "--kind", metavar="KIND", help="cargo, cmake, make, pytest-benchmark or generic; default: detected"
    )
    parser.add_argument("--force", action="store_true", help="overwrite a perfgate.toml that exists")


def _add_check(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "check",
        "measure base and head of this checkout, decide and report",
        "perfgate check --base main --set gate.threshold=5%",
        _run_check,
    )
    _add_measuring(parser)
    _add_rules(parser)
    _add_outputs(parser)


def _add_measure(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "measure",
        "measure base and head of this checkout, without deciding",
        "perfgate measure --base main --out results && perfgate decide results",
        _run_measure,
    )
    _add_measuring(parser)
    _add_rules(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _add_decide(commands: _Commands[_Parser]) -> None:
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
    _add_rules(parser, measured=True)
    _add_outputs(parser)


def _add_report(commands: _Commands[_Parser]) -> None:
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
    _add_rules(parser, measured=True)
    _add_outputs(parser)


def _add_config(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "config",
        "print the effective configuration and where each value comes from",
        "perfgate config --rules base --base main",
        _run_config,
    )
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of perfgate.toml instead")
    _add_sides(parser)
    _add_rules(parser)


def _add_sides(parser: _Parser) -> None:
    parser.add_argument("--base", metavar="REF", help="default: the merge base with the default branch")
    parser.add_argument("--head", metavar="REF", help="default: the working tree as it is")


def _add_measuring(parser: _Parser) -> None:
    group = parser.add_argument_group("measuring")
    group.add_argument("--base", metavar="REF", help="default: the merge base with the default branch")
    group.add_argument("--head", metavar="REF", help="default: the working tree as it is")
    group.add_argument("--out", type=Path, metavar="DIR", help="default: .perfgate of the project")
    group.add_argument("--seed", type=_seed, metavar="N", help="of the schedule; default: a new one, which is recorded")
    group.add_argument("--dry-run", action="store_true", help="print the schedule and its expected duration")
    group.add_argument("--keep", action="store_true", help="leave the worktrees of base and head")
    group.add_argument("--resume", action="store_true", help="go on with an interrupted run")


def _add_rules(parser: _Parser, *, measured: bool = False) -> None:
    group = parser.add_argument_group("rules")
    if measured:
        both = "decide by this file instead of the rules that the run was measured under"
        group.add_argument("--config", type=Path, metavar="FILE", help=both)
        group.add_argument("--rules", metavar="FILE", help="the same")
    else:
        group.add_argument("--config", type=Path, metavar="FILE", help="use this config for both sides and the rules")
        whose = "whose rules decide; default head, base where CI is set"
        group.add_argument("--rules", metavar="base|head|FILE", help=whose)
    group.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="sets", help="gate.threshold=5%%; repeatable"
    )
    group.add_argument(
        "--benchmark", action="append", default=[], metavar="GLOB", dest="benchmarks", help="only these; repeatable"
    )


def _add_outputs(parser: _Parser) -> None:
    group = parser.add_argument_group("output")
    for name in ("json", "html", "markdown"):
        group.add_argument(
            f"--{name}", metavar="FILE", help=f"write the report as {name}; - for stdout instead of text"
        )
    group.add_argument("--quiet", action="store_true", help="only the verdict and errors")


def _seed(text: str) -> int:
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed < 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to 2^63 - 1")
    return seed


def _rules(arguments: argparse.Namespace) -> RulesOptions:
    return RulesOptions(arguments.config, arguments.rules, tuple(arguments.sets), tuple(arguments.benchmarks))


def _outputs(arguments: argparse.Namespace) -> OutputOptions:
    return OutputOptions(arguments.json, arguments.html, arguments.markdown, arguments.quiet)


def _measuring(arguments: argparse.Namespace) -> MeasureOptions:
    return MeasureOptions(
        base=arguments.base,
        head=arguments.head,
        out=arguments.out,
        seed=arguments.seed,
        dry_run=arguments.dry_run,
        keep=arguments.keep,
        resume=arguments.resume,
    )


def _run_init(arguments: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    init = import_module("gate.commands.init")
    code: int = init.run(init.InitOptions(Path.cwd(), arguments.kind, arguments.force), out, err)
    return code


def _run_check(arguments: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    check = _measuring_command("gate.commands.check")
    code: int = check.run(_measuring(arguments), _rules(arguments), _outputs(arguments), out, err)
    return code


def _run_measure(arguments: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    measure = _measuring_command("gate.commands.measure")
    code: int = measure.run(_measuring(arguments), _rules(arguments), out, err, quiet=arguments.quiet)
    return code


def _measuring_command(name: str) -> ModuleType:
    # asked first: where measuring is not supported its modules cannot even be loaded
    import_module("gate.commands.platforms").require_measuring()
    return import_module(name)


def _run_decide(arguments: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    decide = import_module("gate.commands.decide")
    code: int = decide.run(arguments.files, _rules(arguments), _outputs(arguments), out)
    return code


def _run_report(arguments: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    report = import_module("gate.commands.report")
    options = report.ReportOptions(tuple(arguments.runs), arguments.format, arguments.out, arguments.all)
    code: int = report.run(options, _rules(arguments), _outputs(arguments), out)
    return code


def _run_config(arguments: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    config = import_module("gate.commands.config")
    options = config.ConfigOptions(arguments.base, arguments.head, arguments.schema)
    code: int = config.run(options, _rules(arguments), out)
    return code
