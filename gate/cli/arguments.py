"""What the command lines of several commands share: the parser, groups of options, and the types of their values."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NoReturn, TextIO, TypeVar

from gate.cli.options import MeasureOptions, OutputOptions, RulesOptions
from gate.codes import Exit
from gate.config.shards import MOST_SESSIONS, Shard
from gate.units import Duration, Share

T = TypeVar("T")


class UsageError(Exception):
    """Ends parsing with an exit code; the message has been written."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Parser(argparse.ArgumentParser):
    """Writes where main says and ends by an exception, so that a command line can be tried in process."""

    out: TextIO = sys.stdout
    err: TextIO = sys.stderr

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        (self.err if file is sys.stderr else self.out).write(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End parsing with a code."""
        if message:
            self.err.write(message)
        raise UsageError(status)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # after an option that there is not, argparse takes the option's value for a sub-command
        if isinstance(action, argparse._SubParsersAction) and not action.required and value not in action.choices:
            raise argparse.ArgumentError(
                None, f"invalid choice: {value!r:.80} (no option here takes it, and it is none of {action.metavar})"
            )
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line in one line."""
        self.exit(Exit.USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


def add_sides(parser: Parser) -> None:
    """Add which two commits are compared."""
    parser.add_argument("--base", metavar="REF", help="default: the merge base with the default branch")
    parser.add_argument("--head", metavar="REF", help="default: the working tree as it is")


def add_measuring(parser: Parser, *, parts: bool = False) -> None:
    """Add what check and measure have in common; parts: which part this is where several runners measure."""
    group = parser.add_argument_group("measuring")
    group.add_argument("--base", metavar="REF", help="default: the merge base with the default branch")
    group.add_argument("--head", metavar="REF", help="default: the working tree as it is")
    group.add_argument("--out", type=folder, metavar="DIR", help="default: .perfgate of the project")
    group.add_argument("--seed", type=seed, metavar="N", help="of the schedule; default: a new one, which is recorded")
    group.add_argument("--dry-run", action="store_true", help="print the schedule and its expected duration")
    group.add_argument("--keep", action="store_true", help="leave the worktrees of base and head")
    group.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    add_strict(group)
    add_history(group)
    if parts:
        add_parts(parser)


def add_parts(parser: Parser) -> None:
    """Add which part of the gate one of several runners measures."""
    group = parser.add_argument_group("several runners", "see `perfgate plan --matrix`")
    text = "only this part of the benchmarks, from 1/N on; the same on every machine"
    group.add_argument("--shard", type=shard, metavar="I/N", help=text)
    group.add_argument("--session", type=session, metavar="S", help="which session this job is, from 0 on")
    group.add_argument("--sessions", type=sessions, metavar="N", help="how many there are; default: plan.sessions")


def add_strict(group: argparse._ActionsContainer) -> None:
    """Add whether an unfit host ends the command."""
    text = "exit with 5, before measuring, when this host is unfit; `perfgate doctor` shows why"
    group.add_argument("--strict", action="store_true", help=text)


def add_history(group: argparse._ActionsContainer) -> None:
    """Add where the history is."""
    text = "what is remembered of this host; default: gate.memory, $PERFGATE_HISTORY, the user's state directory"
    group.add_argument("--history", type=Path, metavar="FILE", help=text)


_WHOSE = "whose rules decide; default head, base where CI is set"


def add_rules(parser: Parser, *, measured: bool = False, whose: str = _WHOSE) -> None:
    """Add whose rules count; measured: of a run that has its own; whose: the help of --rules."""
    group = parser.add_argument_group("rules")
    if measured:
        both = "decide by this file instead of the rules that the run was measured under"
        group.add_argument("--config", type=Path, metavar="FILE", help=both)
        group.add_argument("--rules", metavar="FILE", help="the same")
    else:
        group.add_argument("--config", type=Path, metavar="FILE", help="use this config for both sides and the rules")
        group.add_argument("--rules", metavar="base|head|FILE", help=whose)
    group.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="sets", help="gate.threshold=5%%; repeatable"
    )
    group.add_argument(
        "--benchmark", action="append", default=[], metavar="GLOB", dest="benchmarks", help="only these; repeatable"
    )


def add_outputs(parser: Parser) -> None:
    """Add where the report goes."""
    group = parser.add_argument_group("output")
    for name in ("json", "html", "markdown", "junit"):
        group.add_argument(
            f"--{name}", metavar="FILE", help=f"write the report as {name}; - for stdout instead of text"
        )
    group.add_argument("--quiet", action="store_true", help="only the verdict and errors")


def add_rendering(parser: Parser) -> None:
    """Add what `perfgate report` renders, and how."""
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="a folder of a run, a report.json or measurement files; default .perfgate",
    )
    parser.add_argument(
        "--format",
        choices=["text", "markdown", "summary", "json", "html", "junit", "csv"],
        default="text",
        help="what to print; default text; markdown is the comment, summary that of a job, csv the measurements",
    )
    parser.add_argument(
        "--out",
        type=folder,
        metavar="DIR",
        help="folder to fill; default: RUN if it is one, unless other rules or benchmarks are named",
    )
    parser.add_argument("--all", action="store_true", help="every finding, also the unchanged ones of a long report")
    parser.add_argument("--report-url", type=address, metavar="URL", help="where the HTML report will be")
    parser.add_argument("--run-url", type=address, metavar="URL", help="where the workflow run is shown")


def seed(text: str) -> int:
    """Read a seed."""
    return _whole(text, 0, 2**63 - 1)


def shard(text: str) -> Shard:
    """Read a part of the benchmarks."""
    return _parsed(Shard.parse, text)


def session(text: str) -> int:
    """Read the number of a session, from 0."""
    return _whole(text, 0, MOST_SESSIONS - 1)


def sessions(text: str) -> int:
    """Read how many sessions there are."""
    return _whole(text, 1, MOST_SESSIONS)


def count(text: str) -> int:
    """Read a count of at least 1."""
    return _whole(text, 1, 10**9)


def counts(text: str) -> tuple[int, ...]:
    """Read counts with commas between them."""
    return tuple(count(part) for part in text.split(","))


def _whole(text: str, least: int, most: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        upper = "2^63 - 1" if most == 2**63 - 1 else str(most)
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {upper}")
    return number


def duration(text: str) -> Duration:
    """Read a time span."""
    return _parsed(Duration.parse, text)


def share(text: str) -> Share:
    """Read a share."""
    return _parsed(Share.parse, text)


def shares(text: str) -> tuple[float, ...]:
    """Read shares with commas between them."""
    return tuple(float(share(part)) for part in text.split(","))


def address(text: str) -> str:
    """Read the address of a page."""
    if not re.fullmatch(r"https?://[^\s<>\"'`()\[\]\\|]{1,2000}", text):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no address that begins with https:// or http://")
    return text


def folder(text: str) -> Path:
    """Read the name of a folder."""
    if not text:
        raise argparse.ArgumentTypeError("is empty: name a folder")
    return Path(text)


def _parsed(parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def rules_of(arguments: argparse.Namespace) -> RulesOptions:
    """Give the rules that the arguments name."""
    return RulesOptions(arguments.config, arguments.rules, tuple(arguments.sets), tuple(arguments.benchmarks))


def outputs_of(arguments: argparse.Namespace) -> OutputOptions:
    """Give the outputs that the arguments name."""
    return OutputOptions(arguments.json, arguments.html, arguments.markdown, arguments.junit, arguments.quiet)


def measuring_of(arguments: argparse.Namespace) -> MeasureOptions:
    """Give what check and measure are told."""
    return MeasureOptions(
        base=arguments.base,
        head=arguments.head,
        out=arguments.out,
        seed=arguments.seed,
        dry_run=arguments.dry_run,
        keep=arguments.keep,
        resume=arguments.resume,
        history=arguments.history,
        strict=arguments.strict,
        # check has none of them: it measures everything in one session
        shard=getattr(arguments, "shard", None),
        session=getattr(arguments, "session", None),
        sessions=getattr(arguments, "sessions", None),
    )
