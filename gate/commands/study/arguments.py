"""The options of perfgate study and of its sub-commands, and what each starts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

from gate.cli import arguments
from gate.cli.arguments import Parser, add_rules, add_strict, rules_of
from gate.cli.options import RulesOptions
from gate.commands.study import options as study_options
from gate.commands.study.options import AnalyseOptions, StudyOptions
from gate.model import UserError

EXAMPLE = (
    "perfgate study --dry-run\n  perfgate study --set study.replicates=3\n  perfgate study analyse .perfgate/study"
)
ENDING = """\
exit codes (ended by a signal: 128 + its number):
  0  done; a study neither passes nor fails
  2  bad command line, config or input file
  4  a build or an execution failed, or nothing was measured
  5  the host is unfit (only with --strict)
"""
_FOLDER = ".perfgate/study"
_WHOSE = "whose [study] and rules count; default head"
_Run = Callable[[argparse.Namespace, TextIO, TextIO], int]


def add_options(parser: Parser) -> None:
    """Add all options of study, and its sub-commands."""
    parser.epilog = f"{parser.epilog}{ENDING}"
    _add_measuring(parser)
    parser.add_argument("--dry-run", action="store_true", help="print what `perfgate study plan` does; measure nothing")
    parser.add_argument("--all", action="store_true", help="with --dry-run: the order of all executions")
    _add_job(parser)
    add_rules(parser, whose=_WHOSE)
    _add_outputs(parser)
    commands = parser.add_subparsers(
        title="parts of it", metavar="plan | measure | analyse", dest="part", action=_Parts, required=False
    )
    _add_plan(commands)
    _add_measure(commands)
    _add_analyse(commands)


# argparse has no public name for what add_subparsers returns, and it takes a type only when it is checked
if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[Parser]
else:
    _Commands = argparse._SubParsersAction


class _Parts(_Commands):
    """Refuses options before a sub-command: argparse would forget them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        for action in parser._actions:  # argparse has no public list of them
            given = getattr(namespace, action.dest, None)
            if action.option_strings and given not in (None, parser.get_default(action.dest)):
                part = values[0] if values else "the sub-command"
                parser.error(f"{action.option_strings[0]}: stands after {part}, not before")
        super().__call__(parser, namespace, values, option_string)


def _part(commands: _Commands, name: str, what: str, example: str, run: _Run) -> Parser:
    parser: Parser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example:\n  {example}\n\n{ENDING}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=run)
    return parser


def _add_plan(commands: _Commands) -> None:
    parser = _part(
        commands,
        "plan",
        "print factors, treatments, order and expected time of a study, or its jobs for the matrix of a workflow",
        "perfgate study plan --all\n  perfgate study plan --matrix --sessions 2",
        run_plan,
    )
    _add_commits(parser)
    parser.add_argument("--out", type=arguments.folder, metavar="DIR", help=f"of the last run; default: {_FOLDER}")
    parser.add_argument("--seed", type=arguments.seed, metavar="N", help="of the order; default: a new one")
    parser.add_argument("--all", action="store_true", help="the order of all executions")
    parser.add_argument("--json", metavar="FILE", help="write the plan as JSON; - for stdout instead of text")
    text = "print the jobs as one line of JSON instead: session, sessions, runner and name of each"
    parser.add_argument("--matrix", action="store_true", help=text)
    _add_job(parser)
    add_rules(parser, whose=_WHOSE)


def _add_measure(commands: _Commands) -> None:
    parser = _part(
        commands,
        "measure",
        "measure the treatments of a study, without analysing",
        "perfgate study measure --session 1 --sessions 2 --out results && perfgate study analyse results",
        run_measure,
    )
    _add_measuring(parser)
    parser.add_argument("--dry-run", action="store_true", help="print what `perfgate study plan` does; measure nothing")
    parser.add_argument("--all", action="store_true", help="with --dry-run: the order of all executions")
    _add_job(parser)
    add_rules(parser, whose=_WHOSE)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _add_commits(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--base", metavar="REF", help="where side is a factor; default: as `perfgate check` has it")
    parser.add_argument("--head", metavar="REF", help="default: the working tree as it is")


def _add_measuring(parser: Parser) -> None:
    group = parser.add_argument_group("measuring")
    _add_commits(group)
    group.add_argument("--out", type=arguments.folder, metavar="DIR", help=f"default: {_FOLDER} of the project")
    group.add_argument("--seed", type=arguments.seed, metavar="N", help="of the order; default: a new one, recorded")
    group.add_argument("--keep", action="store_true", help="leave the worktrees")
    group.add_argument("--resume", action="store_true", help="go on with an interrupted study")
    add_strict(group)


def _add_job(parser: Parser) -> None:
    group = parser.add_argument_group("several runners", "see `perfgate study plan --matrix`")
    group.add_argument("--session", type=arguments.session, metavar="K", help="which session this job is, from 0 on")
    text = "how many there are; default: plan.sessions, and as many as the factors name"
    group.add_argument("--sessions", type=arguments.sessions, metavar="N", help=text)
    group.add_argument("--runner", metavar="NAME", help="which runner this job is on, where a factor names runners")


def _add_outputs(parser: Parser) -> None:
    group = parser.add_argument_group("output")
    for name in ("html", "json"):
        text = f"write the analysis as {name}; - for stdout instead of text"
        group.add_argument(f"--{name}", metavar="FILE", help=text)
    group.add_argument("--csv", type=arguments.folder, metavar="DIR", help="write its tables as CSV")
    group.add_argument("--quiet", action="store_true", help="only the summary and errors")


def _add_analyse(commands: _Commands) -> None:
    parser = _part(
        commands,
        "analyse",
        "say which factors matter for what, and by how much, from measurement files",
        'perfgate study analyse .perfgate/study --quantiles 0.5,0.99 --without "fp=no,prf=fp"',
        run_analyse,
    )
    text = f"measurements.jsonl, a folder with one, or - for stdin; default {_FOLDER}"
    parser.add_argument("files", nargs="*", metavar="FILE", help=text)
    group = parser.add_argument_group("of what")
    group.add_argument(
        "--benchmark", action="append", default=[], metavar="GLOB", dest="benchmarks", help="only these; repeatable"
    )
    group.add_argument(
        "--response", action="append", default=[], metavar="METRIC", dest="responses", help="only these; repeatable"
    )
    for name, what in (
        ("only", "only treatments with these settings"),
        ("without", "also the analysis without such treatments"),
    ):
        group.add_argument(
            f"--{name}", action="append", default=[], type=study_options.combination, metavar="F=S,F=S",
            help=f"{what}; repeatable",
        )  # fmt: skip
    group.add_argument(
        "--settings", action="append", default=[], type=study_options.factor_settings, metavar="F=S,S",
        help="settings of a factor, in order; the others are left out; repeatable",
    )  # fmt: skip
    group = parser.add_argument_group("how")
    text = "what one observation of the linear model is; default: the mean of an execution"
    group.add_argument("--unit", choices=study_options.UNITS, help=text)
    text = "interactions of up to so many factors; default: study.order"
    group.add_argument("--order", type=arguments.count, metavar="N", help=text)
    text = "between 0 and 1; default: 0.1 to 0.9 and 0.99"
    group.add_argument("--quantiles", type=study_options.quantiles, metavar="Q,Q", help=text)
    text = "also the intervals that take all values for independent, and why they are too narrow"
    group.add_argument("--iid", action="store_true", help=text)
    group.add_argument("--log", action="store_true", help="analyse the logarithms of the values: effects are ratios")
    group.add_argument("--confidence", type=study_options.confidence, metavar="C", help="default: gate.confidence")
    group.add_argument("--seed", type=arguments.seed, metavar="N", help="of subsamples; default: that of the run")
    parser.add_argument("--out", type=arguments.folder, metavar="DIR", help="folder to fill with report and tables")
    _add_outputs(parser)


def run(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Measure and analyse."""
    study = _measuring("gate.commands.study.study")
    analyse = AnalyseOptions(
        files=(),
        unit=None,
        order=None,
        quantiles=None,
        iid=False,
        log=False,
        without=(),
        only=(),
        benchmarks=(),
        responses=(),
        settings={},
        confidence=None,
        seed=None,
        out=None,
        html=parsed.html,
        json=parsed.json,
        csv=parsed.csv,
        quiet=parsed.quiet,
    )
    code: int = study.run(_options_of(parsed), _rules_of(parsed), analyse, out, err)
    return code


def run_plan(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Print the plan, or the jobs."""
    if parsed.matrix:
        _refuse_with_matrix(parsed)
        matrix = import_module("gate.commands.study.matrix")
        printed: int = matrix.run(_options_of(parsed), _rules_of(parsed), out)
        return printed
    measure = _measuring("gate.commands.study.measure")
    code: int = measure.run(_options_of(parsed), _rules_of(parsed), out, err)
    return code


def run_measure(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Measure."""
    measure = _measuring("gate.commands.study.measure")
    code: int = measure.run(_options_of(parsed), _rules_of(parsed), out, err)
    return code


def run_analyse(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Analyse."""
    analyse = import_module("gate.commands.study.analyse")
    try:
        settings = study_options.by_factor(parsed.settings)
    except ValueError as error:
        raise UserError(str(error)) from None
    options = AnalyseOptions(
        files=tuple(parsed.files) or (_FOLDER,),
        unit=parsed.unit,
        order=parsed.order,
        quantiles=parsed.quantiles,
        iid=parsed.iid,
        log=parsed.log,
        without=tuple(parsed.without),
        only=tuple(parsed.only),
        benchmarks=tuple(parsed.benchmarks),
        responses=tuple(parsed.responses),
        settings=settings,
        confidence=parsed.confidence,
        seed=parsed.seed,
        out=parsed.out,
        html=parsed.html,
        json=parsed.json,
        csv=parsed.csv,
        quiet=parsed.quiet,
    )
    code: int = analyse.run(options, out, err)
    return code


def _measuring(name: str) -> Any:
    # asked first: where measuring is not supported its modules cannot even be loaded
    import_module("gate.run.refusal").require_measuring()
    return import_module(name)


def _options_of(parsed: argparse.Namespace) -> StudyOptions:
    # plan only ever prints, and has none of what measuring asks
    plans = parsed.part == "plan"
    return StudyOptions(
        base=parsed.base,
        head=parsed.head,
        out=parsed.out,
        seed=parsed.seed,
        dry_run=plans or parsed.dry_run,
        keep=not plans and parsed.keep,
        resume=not plans and parsed.resume,
        strict=not plans and parsed.strict,
        session=parsed.session,
        sessions=parsed.sessions,
        runner=parsed.runner,
        every=parsed.all,
        json=getattr(parsed, "json", None),
        quiet=getattr(parsed, "quiet", False),
    )


def _rules_of(parsed: argparse.Namespace) -> RulesOptions:
    rules = rules_of(parsed)
    # nothing is judged: the study is that of the code it is about, in a workflow too
    return RulesOptions(rules.config, rules.rules or "head", rules.sets, rules.benchmarks)


_OTHERS = {
    "out": "--out",
    "seed": "--seed",
    "all": "--all",
    "json": "--json",
    "session": "--session",
    "runner": "--runner",
}
"""What `perfgate study plan` takes, and a matrix has no use for."""


def _refuse_with_matrix(parsed: argparse.Namespace) -> None:
    for name, option in _OTHERS.items():
        if getattr(parsed, name) not in (None, False):
            raise UserError(f"--matrix: does not go with {option}")
