"""The options of perfgate study and of its parts; loads nothing heavy."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from gate.cli import groups, option_values
from gate.cli.groups import HEAD, SEED, STRICT, WAIT, RulesOptions
from gate.cli.options import argument, group, named, option, repeated, switch
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
class JobOptions:
    """Which job this is, where several measure; None: the only one."""

    session: int | None = option("number of this session, from 0", metavar="K", parse=option_values.session)
    sessions: int | None = option(
        "number of sessions (default: plan.sessions, at least as many as the factors name)",
        metavar="N", parse=option_values.sessions,
    )  # fmt: skip
    runner: str | None = option("name of this runner, if a factor names runners", metavar="NAME")


_SEVERAL = ("several runners", "see `perfgate study plan --matrix`")


_BASE = "commit to compare with, if side is a factor (default: that of `perfgate check`)"


def _files() -> Any:
    """Declare where the analysis goes."""
    return named(("html", "json"), "write the report as {} (-: print it)", metavar="FILE", section="output")


@dataclass(frozen=True, eq=False, repr=False)
class StudyMeasureOptions:
    """A study, measured; out: None: study in .perfgate of the project."""

    base: str | None = option(_BASE, metavar="REF", section="measuring")
    head: str | None = option(HEAD, metavar="REF")
    out: Path | None = option(
        f"folder for measurements and analysis (default: {FOLDER} in the project)",
        metavar="DIR", parse=option_values.folder,
    )  # fmt: skip
    seed: int | None = option(SEED, metavar="N", parse=option_values.seed)
    keep: bool = switch("keep the checkouts of base and head")
    resume: bool = switch("continue an interrupted run")
    strict: bool = switch(STRICT)
    wait: float | None = option(WAIT, metavar="TIME", parse=option_values.wait)
    dry_run: bool = switch("print what would run, how often and how long; measure nothing")
    every: bool = switch("with --dry-run: print the order of all starts", flag="--all")
    job: JobOptions = group(JobOptions, *_SEVERAL)
    rules: StudyRulesOptions = group(StudyRulesOptions, "rules")
    written: Mapping[str, str] = field(default_factory=dict)
    """Files of the analysis."""
    quiet: bool = switch("print no progress", section="")


@dataclass(frozen=True, eq=False, repr=False)
class Options(StudyMeasureOptions):
    """A study, measured and analysed."""

    written: Mapping[str, str] = _files()
    quiet: bool = switch("print only the summary and errors")


@dataclass(frozen=True, eq=False, repr=False)
class PlanOptions:
    """A study before it is measured, and how that is shown."""

    base: str | None = option(_BASE, metavar="REF")
    head: str | None = option(HEAD, metavar="REF")
    out: Path | None = option(f"folder of the last run (default: {FOLDER})", metavar="DIR", parse=option_values.folder)
    seed: int | None = option(SEED, metavar="N", parse=option_values.seed)
    every: bool = switch("print the order of all starts", flag="--all")
    matrix: bool = switch("print the jobs as one line of JSON: session, sessions, runner and name of each")
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
    responses: tuple[str, ...] = repeated("only these metrics", metavar="METRIC", flag="--response")
    """Metrics; none: as configured."""
    only: tuple[dict[str, str], ...] = repeated(
        "only treatments with these settings",
        metavar="F=S,F=S", flag="--only", parse=combination,
    )  # fmt: skip
    """What is analysed has all settings of one of these."""
    without: tuple[dict[str, str], ...] = repeated(
        "analyse again without these treatments",
        metavar="F=S,F=S", flag="--without", parse=combination,
    )  # fmt: skip
    """Analyses again, each without the treatments that have all these settings."""
    sample: dict[str, str] | None = option(
        "treatment of the sample-size study (default: one with the most units)",
        metavar="F=S,F=S", parse=combination,
    )  # fmt: skip
    histograms: tuple[dict[str, str], ...] = repeated(
        "show the histograms of these treatments",
        metavar="F=S,F=S", flag="--histogram", parse=combination,
    )  # fmt: skip
    host_factors: tuple[tuple[str, str], ...] = repeated(
        "make a factor of what the hosts of the files differ in: machine=cpu, kernel=kernel",
        metavar="NAME=KEY", flag="--host-factor", parse=host_factor,
    )  # fmt: skip
    """KEY: what a run line says of its host."""
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = repeated(
        "analyse only these settings of a factor, in this order",
        metavar="F=S,S", flag="--settings", parse=factor_settings,
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
    )
    quantiles: tuple[float, ...] | None = option(
        "quantiles to analyse, between 0 and 1 (default: 0.1 to 0.9 and 0.99)",
        metavar="Q,Q",
        parse=quantiles,
    )
    iid: bool = switch("also show the intervals that treat all values as independent, and why they are too narrow")
    scale: ScaleOption | None = option(
        "plain values, or their logarithms, where effects are percentages (default: study.scale, which is auto: log "
        "where the spread grows with the level)",
        choices=SCALES,
    )
    confidence: float | None = option(
        "confidence of intervals (default: gate.confidence)", metavar="C", parse=confidence
    )
    out: Path | None = option(
        "folder to write the page and the JSON to", metavar="DIR", parse=option_values.folder, section=""
    )
    written: Mapping[str, str] = _files()
    quiet: bool = switch("print only the summary and errors")

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
