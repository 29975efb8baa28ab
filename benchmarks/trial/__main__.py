"""`make trial`: measure, judge, and write docs/trial.md.

    python -m benchmarks.trial [--bundles 75] [--data .trial/data.jsonl] [--page docs/trial.md]
    python -m benchmarks.trial --judge        # judge what is kept, and write the page

The data file only grows: a trial that was stopped goes on, and a larger number of bundles adds some.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from benchmarks.trial import page, plan
from benchmarks.trial.comparisons import comparisons
from benchmarks.trial.judging import judged
from benchmarks.trial.measuring import measure
from benchmarks.trial.pictures import figures
from benchmarks.trial.records import Trial, read
from gate.model import UserError


def main() -> int:
    """Run the trial; 2 for what the user has to see to."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trial", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bundles", type=int, default=plan.BUNDLES, help="half a minute each (default %(default)s)")
    parser.add_argument("--data", type=Path, default=Path(".trial/data.jsonl"), help="where all values are kept")
    parser.add_argument("--page", type=Path, default=Path("docs/trial.md"), help="what is written")
    parser.add_argument("--seed", type=int, default=1, help="of orders and layouts, for a new data file")
    parser.add_argument("--judge", action="store_true", help="measure nothing")
    options = parser.parse_args()
    # what loads the host must not outlive it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        if not options.judge:
            measure(options.data.resolve(), options.bundles, options.seed)
        write(options.data, options.page)
    except (UserError, OSError) as error:
        sys.stderr.write(f"\nerror: {error}\n")
        return 2
    return 0


def write(data: Path, target: Path) -> None:
    """Judge a data file, and write the page and its pictures.

    Raises:
        UserError: there is no complete bundle in it.
    """
    lines = read(data)
    first = next((line for line in lines if isinstance(line, Trial)), None)
    found = comparisons(lines, first.seed) if first else []
    if first is None or not found:
        raise UserError(f"{data} holds no complete bundle: run `make trial`")
    trial = judged(found, _say)
    drawn = figures(trial)
    folder = target.parent / page.FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for figure in drawn:
        (folder / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
    target.write_text(page.page(trial, found, lines, drawn), encoding="utf-8")
    _say(f"wrote {target} and {len(drawn)} pictures in {folder}\n")


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
