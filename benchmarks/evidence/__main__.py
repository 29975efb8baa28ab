"""Write docs/evidence.md: python -m benchmarks.evidence --reports 200 --seed 1 (ten minutes of CPU time)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.evidence import chapters as ours
from benchmarks.evidence import cost, layouts, other_tools, promises, views
from benchmarks.evidence.page import as_markdown, introduction
from gate.commands.simulate.command import Options
from gate.commands.simulate.draws import TABLE_VII
from gate.commands.simulate.sections import Scenario, SimulatedSection, asked
from gate.commands.simulate.studies import run_all

PAGE = Path(__file__).parents[2] / "docs/evidence.md"


def sections(reports: int) -> list[SimulatedSection]:
    """Lay out the page."""
    usual = Options(())
    setting = Scenario(TABLE_VII, True, usual.builds, usual.threshold, usual.effect, usual.cases)
    designs = cost.designs()
    promised = [
        *views.promises(),
        *ours.of_coverage(setting),
        *ours.of_alarms(setting),
        *layouts.promises(setting),
        *ours.of_power(setting),
        *ours.of_stopping(setting),
        *cost.promises(designs),
        *other_tools.promises(),
    ]
    return [
        promises.draft(promised, reports),
        views.draft(),
        layouts.draft(setting),
        other_tools.draft(setting),
        cost.draft(designs),
    ]


def main() -> None:
    """Simulate on all cores, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence", description=__doc__)
    parser.add_argument("--reports", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    found = sections(given.reports)
    results = run_all(asked(found), given.reports, seed=given.seed, cores=None, progress=sys.stderr)
    command = f"python -m benchmarks.evidence --reports {given.reports} --seed {given.seed}"
    given.page.write_text(as_markdown(introduction(given.reports, command), found, results), encoding="utf-8")


if __name__ == "__main__":
    main()
