"""The options of perfgate simulate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.cli import values
from gate.cli.groups import HISTORY, RulesOptions
from gate.cli.options import argument, group, option, switch


@dataclass(frozen=True, eq=False, repr=False)
class SourceOptions:
    """Whose variances."""

    runs: tuple[str, ...] = argument(
        "folders or measurement files to take variances from (default: published ones)", metavar="RUN", nargs="*"
    )
    remembered: bool = switch("take what is remembered of this host and project")
    history: Path | None = option(HISTORY, metavar="DIR", parse=Path)


@dataclass(frozen=True, eq=False, repr=False)
class SizeOptions:
    """What is simulated, and how much of it."""

    builds: tuple[int, ...] = option(
        "numbers of builds of each side (default: 3,5,10,20)",
        metavar="LIST",
        parse=values.counts,
        default=(3, 5, 10, 20),
    )
    threshold: tuple[float, ...] = option(
        "thresholds (default: 0%%,2%%)", metavar="SHARES", parse=values.shares, default=(0.0, 0.02)
    )
    effect: tuple[float, ...] = option(
        "true changes (default: 5%%,10%%)", metavar="SHARES", parse=values.shares, default=(0.05, 0.10)
    )
    reports: int = option("reports for each number (default: 200)", metavar="N", parse=values.count, default=200)
    cases: int = option("findings in each report (default: 20)", metavar="N", parse=values.count, default=20)
    seed: int = option("seed of the random numbers (default: 1)", metavar="N", parse=values.seed, default=1)
    cores: int | None = option("processes to use (default: one per core)", metavar="N", parse=values.count)
    markdown: Path | None = option("write a Markdown page", metavar="FILE", parse=Path)


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A simulation."""

    source: SourceOptions = group(SourceOptions, "variances")
    sizes: SizeOptions = group(SizeOptions, "simulation")
    rules: RulesOptions = group(RulesOptions, "rules")
