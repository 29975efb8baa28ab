"""perfgate simulate, which measures nothing."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from gate.cli import option_values
from gate.cli.command import Command, late
from gate.cli.options import argument, option


def _builds(text: str) -> tuple[int, ...]:
    return tuple(map(option_values.whole(2, 200), text.split(",")))


def _shares(text: str) -> tuple[float, ...]:
    found = tuple(float(option_values.share(part)) for part in text.split(","))
    if max(found) > 1:
        raise argparse.ArgumentTypeError(f"{max(found) * 100:g}% is more than 100%")
    return found


def _effects(text: str) -> tuple[float, ...]:
    found = _shares(text)
    if min(found) == 0:
        raise argparse.ArgumentTypeError("0% is no change: write shares above 0%")
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """Whose variances are simulated, and how much."""

    runs: tuple[str, ...] = argument(
        "folders or measurement files to take variances from (default: published ones)", metavar="RUN", nargs="*"
    )
    builds: tuple[int, ...] = option(
        "numbers of builds of each side (default: 3,5,10,20)",
        metavar="LIST",
        parse=_builds,
        default=(3, 5, 10, 20),
    )
    threshold: tuple[float, ...] = option(
        "thresholds (default: 0%%,2%%)", metavar="SHARES", parse=_shares, default=(0.0, 0.02)
    )
    effect: tuple[float, ...] = option(
        "true changes (default: 5%%,10%%)", metavar="SHARES", parse=_effects, default=(0.05, 0.10)
    )
    reports: int = option(
        "reports for each number (default: 200)", metavar="N", parse=option_values.whole(1, 10**7), default=200
    )
    cases: int = option(
        "findings in each report (default: 20)", metavar="N", parse=option_values.whole(1, 1000), default=20
    )
    seed: int = option("seed of the random numbers (default: 1)", metavar="N", parse=option_values.seed, default=1)
    cores: int | None = option("processes to use (default: one per core)", metavar="N", parse=option_values.count)


COMMAND = Command(
    help="show how often a gate is wrong, and what it sees",
    example="perfgate simulate .perfgate --effect 2%,5%",
    options=Options,
    run=late("gate.commands.simulate.chapters:run"),
)
