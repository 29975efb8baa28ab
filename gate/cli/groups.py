"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.cli import option_values
from gate.cli.command import file_formats
from gate.cli.option_values import Shard
from gate.cli.options import named, option, repeated, switch, words


@dataclass(frozen=True, eq=False, repr=False)
class RulesOptions:
    """Whose rules decide, and over which benchmarks."""

    config: Path | None = option(
        "configuration file for both sides and for the rules (default: that of each side)", metavar="FILE", parse=Path
    )
    rules: str | None = option(
        "where the rules come from (default: head; base where CI is set)", metavar="base|head|FILE"
    )
    sets: tuple[str, ...] = repeated(
        "override a setting, such as gate.threshold=5%%", metavar="KEY=VALUE", flag="--set"
    )
    benchmarks: tuple[str, ...] = repeated("only the benchmarks that match", metavar="GLOB", flag="--benchmark")
    given: Any = None
    """A config (gate.config.config_text.ConfigText) that other options made, in place of a file."""
    typed: tuple[str, ...] = words()
    """The command line that has these options, from the command's name on; empty: none was typed."""


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredRulesOptions(RulesOptions):
    """The same over measurements, which have rules of their own."""

    config: Path | None = option(
        "file with the rules that decide (default: the rules that the run was measured under)",
        metavar="FILE",
        parse=Path,
    )
    rules: str | None = option("another name for --config", metavar="FILE")


@dataclass(frozen=True, eq=False, repr=False)
class OutputOptions:
    """Where the report goes beside standard output; "-" is standard output itself."""

    files: Mapping[str, str] = named(file_formats(), "write the report as {} (-: print it)", metavar="FILE")
    """By the format's name, in the order of the command line."""
    quiet: bool = switch("print only the verdict and errors")
    every: bool = switch("print everything, however long: all benchmarks, views, functions, rules", flag="--all")


STRICT = "exit with 5 before measuring if this host is unfit; `perfgate doctor` shows why"
WAIT = "longest time to wait while another perfgate measures on this machine (0: do not wait; default: the budget)"
SEED = "seed of the schedule (default: a new one, recorded in the run)"
HISTORY = "folder of the history (default: gate.history, then $PERFGATE_HISTORY, then the user's state directory)"
BASE = "commit to compare with (default: the merge base with the default branch)"
HEAD = "commit to measure (default: the working tree as it is)"


@dataclass(frozen=True, eq=False, repr=False)
class MeasureOptions:
    """What is measured and how."""

    base: str | None = option(BASE, metavar="REF")
    head: str | None = option(HEAD, metavar="REF")
    creep: bool = switch(
        "compare the default branch with the commit that [creep] pins, together with the nights before"
    )
    dry_run: bool = switch("print what would run, how often and how long; measure nothing", section="run")
    resume: bool = switch("continue an interrupted run")
    out: Path | None = option(
        "folder for measurements and report (default: .perfgate in the project)",
        metavar="DIR", parse=option_values.folder,
    )  # fmt: skip
    keep: bool = switch("keep the checkouts of base and head")
    strict: bool = switch(STRICT)
    wait: float | None = option(WAIT, metavar="TIME", parse=option_values.wait)
    seed: int | None = option(SEED, metavar="N", parse=option_values.seed)
    history: Path | None = option(HISTORY, metavar="DIR", parse=Path)
    shard: Shard | None = None
    """None: every benchmark. A check has no parts: it measures everything in one session."""
    session: int | None = None
    sessions: int | None = None
    """None: as configured, where a shard or a session is named; else one."""


@dataclass(frozen=True, eq=False, repr=False)
class PartOptions(MeasureOptions):
    """The same with which part of the gate one of several runners measures; nights are judged by a check."""

    creep: bool = False
    shard: Shard | None = option(
        "measure only part I of N of the benchmarks, the same part on every machine",
        metavar="I/N", parse=option_values.shard, section="several runners, see `perfgate plan --matrix`",
    )  # fmt: skip
    session: int | None = option("number of this session, from 0", metavar="S", parse=option_values.session)
    sessions: int | None = option(
        "number of sessions (default: plan.sessions)", metavar="N", parse=option_values.sessions
    )
