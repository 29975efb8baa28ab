"""The options of perfgate study and of its parts; loads nothing heavy."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gate.cli import groups, option_values
from gate.cli.groups import HEAD, SEED, STRICT, WAIT, RulesOptions
from gate.cli.options import argument, group, option, repeated, switch
from gate.codes import MisuseError

BlockOption = Literal["replicate", "build", "session", "none"]
BLOCKS: tuple[BlockOption, ...] = get_args(BlockOption)
ScaleOption = Literal["auto", "plain", "log"]
SCALES: tuple[ScaleOption, ...] = get_args(ScaleOption)
FOLDER = ".perfgate/study"


def _named(text: str, what: str, whole: str = "") -> tuple[str, str]:
    """Split NAME=REST; whole: what was given, where that is a part of it."""
    name, sign, rest = (piece.strip() for piece in text.partition("="))
    if not (sign and name and rest):
        raise argparse.ArgumentTypeError(f"{(whole or text)!r:.80} is {what}")
    return name, rest


def combination(text: str) -> dict[str, str]:
    """Read settings of several factors: "fp=no,prf=fp"."""
    found: dict[str, str] = {}
    for part in text.split(","):
        what = "not a combination of settings: write FACTOR=SETTING,FACTOR=SETTING"
        name, setting = _named(part, what, text)
        if name in found:
            raise argparse.ArgumentTypeError(f"{text!r:.80} names {name} twice")
        found[name] = setting
    return found


def factor_settings(text: str) -> tuple[str, tuple[str, ...]]:
    """Read which settings of a factor are meant, in order: "load=idle,busy"."""
    what = "not a list of settings: write FACTOR=SETTING,SETTING"
    name, rest = _named(text, what)
    settings = tuple(part.strip() for part in rest.split(","))
    if not all(settings):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is {what}")
    if len(set(settings)) < len(settings):
        raise argparse.ArgumentTypeError(f"{text!r:.80} names a setting twice")
    return name, settings


def host_factor(text: str) -> tuple[str, str]:
    """Read which factor is made of what a run line says of its host: "machine=cpu"."""
    return _named(text, "no factor of hosts: write NAME=KEY, such as machine=cpu")


def quantiles(text: str) -> tuple[float, ...]:
    """Read quantiles, and give them in order: "0.5,0.99"."""
    return tuple(sorted({_between(part, 0.0, "quantile") for part in text.split(",")}))


def confidence(text: str) -> float:
    """Read a confidence: "0.95"."""
    return _between(text, 0.5, "confidence")


def _between(text: str, low: float, what: str) -> float:
    number = float(text) if re.fullmatch(r"\s*0?\.[0-9]{1,15}\s*", text) else low
    if not low < number < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r:.80} is not a {what}: write a number between {low:g} and 1, such as 0.99"
        )
    return number


@dataclass(frozen=True, eq=False, repr=False)
class StudyRulesOptions(RulesOptions):
    """Whose study it is: nothing is judged, so that of the code it is about, in a workflow too."""

    rules: str = option(
        "where [study] and the rules come from (default: head)", metavar="base|head|FILE", default="head"
    )


@dataclass(frozen=True, eq=False, repr=False)
class CommitsOptions:
    """Which commits are measured."""

    base: str | None = option(
        "commit to compare with, if side is a factor (default: that of `perfgate check`)", metavar="REF"
    )
    head: str | None = option(HEAD, metavar="REF")


@dataclass(frozen=True, eq=False, repr=False)
class MeasuringOptions(CommitsOptions):
    """What is measured for a study, and where; out: None: study in .perfgate of the project."""

    out: Path | None = option(
        f"folder for measurements and analysis (default: {FOLDER} in the project)",
        metavar="DIR",
        parse=option_values.folder,
    )
    seed: int | None = option(SEED, metavar="N", parse=option_values.seed)
    keep: bool = switch("keep the checkouts of base and head")
    resume: bool = switch("continue an interrupted run")
    strict: bool = switch(STRICT)
    wait: float | None = option(WAIT, metavar="TIME", parse=option_values.wait)
    dry_run: bool = switch("print what would run, how often and how long; measure nothing")
    every: bool = switch("with --dry-run: print the order of all starts", flag="--all")


@dataclass(frozen=True, eq=False, repr=False)
class JobOptions:
    """Which job this is, where several measure; None: the only one."""

    session: int | None = option("number of this session, from 0", metavar="K", parse=option_values.session)
    sessions: int | None = option(
        "number of sessions (default: plan.sessions, at least as many as the factors name)",
        metavar="N", parse=option_values.sessions,
    )  # fmt: skip
    runner: str | None = option("name of this runner, if a factor names runners", metavar="NAME")


_SEVERAL = ("several runners", "see `perfgate study plan --matrix`")


@dataclass(frozen=True, eq=False, repr=False)
class AnalysisOutputOptions:
    """Where the analysis goes; "-" is standard output itself."""

    html: str | None = option("write the report as HTML (-: print it)", metavar="FILE")
    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")
    quiet: bool = switch("print only the summary and errors")

    def require_writable(self) -> list[Path]:
        """Refuse what cannot be written before anything takes time, and return what would be.

        Raises:
            UserError: a target is a folder, its folder cannot be had, or both formats want standard output.
        """
        from gate.report.outputs import require_writable, targets

        asked = {"json": self.json, "html": self.html}
        files = groups.OutputOptions({name: target for name, target in asked.items() if target is not None})
        require_writable(files)
        return [*targets(files)]


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A study, measured and analysed."""

    measuring: MeasuringOptions = group(MeasuringOptions, "measuring")
    job: JobOptions = group(JobOptions, *_SEVERAL)
    rules: StudyRulesOptions = group(StudyRulesOptions, "rules")
    outputs: AnalysisOutputOptions = group(AnalysisOutputOptions, "output")


@dataclass(frozen=True, eq=False, repr=False)
class MeasureOptions:
    """A study, measured."""

    measuring: MeasuringOptions = group(MeasuringOptions, "measuring")
    job: JobOptions = group(JobOptions, *_SEVERAL)
    rules: StudyRulesOptions = group(StudyRulesOptions, "rules")
    quiet: bool = switch("print no progress")


@dataclass(frozen=True, eq=False, repr=False)
class PlanningOptions(CommitsOptions):
    """What a plan is of, and how it is shown."""

    out: Path | None = option(f"folder of the last run (default: {FOLDER})", metavar="DIR", parse=option_values.folder)
    seed: int | None = option(SEED, metavar="N", parse=option_values.seed)
    every: bool = switch("print the order of all starts", flag="--all")
    matrix: bool = switch("print the jobs as one line of JSON: session, sessions, runner and name of each")


@dataclass(frozen=True, eq=False, repr=False)
class PlanOptions:
    """A study, before it is measured."""

    plan: PlanningOptions = group(PlanningOptions)
    job: JobOptions = group(JobOptions, *_SEVERAL)
    rules: StudyRulesOptions = group(StudyRulesOptions, "rules")


@dataclass(frozen=True, eq=False, repr=False)
class AnalyseOptions:
    """What is analysed, how, and where it goes."""

    files: tuple[str, ...] = argument(
        f"measurements.jsonl, a folder that holds one, or - for stdin (default: {FOLDER})", metavar="FILE", nargs="*"
    )
    benchmarks: tuple[str, ...] = repeated(
        "only the benchmarks that match", metavar="GLOB", flag="--benchmark", section="selection"
    )
    """Globs; none: as configured."""
    responses: tuple[str, ...] = repeated(
        "only these metrics", metavar="METRIC", flag="--response", section="selection"
    )
    """Metrics; none: as configured."""
    only: tuple[dict[str, str], ...] = repeated(
        "only treatments with these settings",
        metavar="F=S,F=S", flag="--only", parse=combination, section="selection",
    )  # fmt: skip
    """What is analysed has all settings of one of these."""
    without: tuple[dict[str, str], ...] = repeated(
        "analyse again without these treatments",
        metavar="F=S,F=S", flag="--without", parse=combination, section="selection",
    )  # fmt: skip
    """Analyses again, each without the treatments that have all these settings."""
    sample: dict[str, str] | None = option(
        "treatment of the sample-size study (default: one with the most units)",
        metavar="F=S,F=S", parse=combination, section="selection",
    )  # fmt: skip
    histograms: tuple[dict[str, str], ...] = repeated(
        "show the histograms of these treatments",
        metavar="F=S,F=S", flag="--histogram", parse=combination, section="selection",
    )  # fmt: skip
    host_factors: tuple[tuple[str, str], ...] = repeated(
        "make a factor of what the hosts of the files differ in: machine=cpu, kernel=kernel",
        metavar="NAME=KEY", flag="--host-factor", parse=host_factor, section="selection",
    )  # fmt: skip
    """KEY: what a run line says of its host."""
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = repeated(
        "analyse only these settings of a factor, in this order",
        metavar="F=S,S", flag="--settings", parse=factor_settings, section="selection",
    )  # fmt: skip
    block: BlockOption | None = option(
        "what starts are compared within (default: study.block, or the lowest that has every treatment)",
        choices=BLOCKS,
        section="method",
    )
    order: int | None = option(
        "most factors in an interaction (default: study.order)",
        metavar="N",
        parse=option_values.count,
        section="method",
    )
    quantiles: tuple[float, ...] | None = option(
        "quantiles to analyse, between 0 and 1 (default: 0.1 to 0.9 and 0.99)",
        metavar="Q,Q",
        parse=quantiles,
        section="method",
    )
    iid: bool = switch(
        "also show the intervals that treat all values as independent, and why they are too narrow", section="method"
    )
    scale: ScaleOption | None = option(
        "plain values, or their logarithms, where effects are percentages (default: study.scale, which is auto: log "
        "where the spread grows with the level)",
        choices=SCALES,
        section="method",
    )
    confidence: float | None = option(
        "confidence of intervals (default: gate.confidence)", metavar="C", parse=confidence, section="method"
    )
    out: Path | None = option("folder to write the page and the JSON to", metavar="DIR", parse=option_values.folder)
    outputs: AnalysisOutputOptions = group(AnalysisOutputOptions, "output")

    @property
    def settings(self) -> dict[str, tuple[str, ...]]:
        """Factor -> its settings in order, the others left out. Raises MisuseError: a factor is named twice."""
        found: dict[str, tuple[str, ...]] = {}
        for factor, settings in self.chosen:
            if factor in found:
                raise MisuseError(f"--settings {factor}: is given twice; write {factor}=SETTING,SETTING")
            found[factor] = settings
        return found


@dataclass(frozen=True, eq=False, repr=False)
class StudyOptions(groups.MeasureOptions):
    """What is measured for a study or planned, whichever part of the command asks."""

    runner: str | None = None
    every: bool = False
    matrix: bool = False
    quiet: bool = False
