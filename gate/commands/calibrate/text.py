"""A calibration as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.commands.calibrate.result import Calibration
from gate.document.document import Cell, Column, Document, Facts, Items, Part, Row, Said, Table
from gate.model.case import MEAN, pairs
from gate.stats.prior import FEWEST_COMMON, HALF_LIFE
from gate.units import format_duration, format_number, format_share, format_value, plural
from gate.words import failures, reports
from gate.writing.phrases import listed
from gate.writing.plain import clip, visible

_SHOWN = 40


def document(calibration: Calibration) -> Document:
    """Say what was measured, the noise of each finding, what each step costs, and what is remembered."""
    kept = [("memory", _memory(calibration))] if calibration.sessions is not None else []
    if calibration.history is not None:
        kept.append(("kept", f"in {visible(calibration.history)} as {visible(calibration.session)}"))
        kept.append(("gates", "`perfgate simulate --remembered` shows how often they are wrong, and what they find"))
    failed = [
        f"{failures.title(each)}{f': {visible(each.hint)}' if each.hint else ''}" for each in calibration.failures
    ]
    return Document(
        tool="perfgate calibrate",
        title="Calibration",
        sections=[
            [Said(headline(calibration))],
            [Facts(list(_measured(calibration)))],
            [Items(failed[:10], "caution")],
            _noise(calibration),
            _costs(calibration),
            [Facts(kept)],
            [Items(_warnings(calibration), "warning")],
        ],
        elsewhere="in --json",
        footer="",
    )


def headline(calibration: Calibration) -> str:
    """Say in one line what was learned."""
    count = len(calibration.findings)
    if not count:
        return "Not calibrated: nothing could be learned"
    what = plural(len({f.benchmark for f in calibration.findings}), "benchmark")
    return f"Calibrated: the noise of {what} on this host, from {plural(calibration.rounds.done, 'round')}"


def _measured(calibration: Calibration) -> Iterator[tuple[str, str]]:
    rounds, host = calibration.rounds, calibration.host
    done = plural(rounds.done, "round")
    if rounds.planned is not None and rounds.planned != rounds.done:
        done = f"{rounds.done} of {plural(rounds.planned, 'round')}"
    design = f"{plural(calibration.executions, 'execution')} x {plural(calibration.iterations, 'iteration')}"
    seconds = f", {format_duration(calibration.seconds)}" if calibration.seconds is not None else ""
    yield "head", f"{reports.commit(calibration.commit)}, against itself"
    yield "measured", f"{done} of {design} a side{seconds}"
    parts = [visible(str(host.get("cpu", "unknown")))]
    if isinstance(cores := host.get("cores"), int):
        parts.append(plural(cores, "core"))
    if isinstance(memory := host.get("memory"), int):
        parts.append(f"{memory / 2**30:.0f} GiB")
    yield "host", ", ".join(parts)


def _noise(calibration: Calibration) -> list[Part]:
    found = calibration.findings
    several = any(f.statistic != MEAN for f in found)
    names = ["benchmark", "metric", *(["statistic"] if several else [])]
    rows = [
        [
            ", ".join(text for text in (visible(f.benchmark), visible(pairs(f.factors))) if text),
            clip(visible(f.metric), 30),
            *([f.statistic] if several else []),
            *map(_share, (f.added.iteration, f.added.execution, f.added.build, f.round)),
            "-" if f.df is None else format_number(f.df, 2),
        ]
        for f in found
    ]
    text = "iteration, execution, build: what each level adds. round: the difference of base and head in a round, "
    if calibration.layouts == "independent":
        text += "which checks decide by."
    else:
        text += "whose layouts were independent here. In a check they are common, so there it is at most as large."
    numbers = ("iteration", "execution", "build", "round", "degrees")
    return _table("noise, as relative standard deviation", names, numbers, rows, text)


def _share(value: float | None) -> str:
    # a level that was not repeated is not known, one that adds nothing is
    return "-" if value is None else "none" if value == 0 else format_share(value)


def _costs(calibration: Calibration) -> list[Part]:
    by_benchmark = {f.benchmark: f.costs for f in calibration.findings}
    rows = [
        [visible(name), *map(_seconds, (costs.build, costs.start, costs.warmup, costs.iteration))]
        for name, costs in by_benchmark.items()
    ]
    return _table("time that each step takes", ["benchmark"], ("build", "start", "warm-up", "iteration"), rows)


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return "0" if value == 0 else format_value(value, "s", digits=3)


def _table(
    title: str, names: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]], reading: str = ""
) -> list[Part]:
    if not rows:
        return []
    head = [*map(Column, names), *(Column(name, right=True) for name in numbers)]
    left = [f"{len(rows) - _SHOWN} more are in --json."] if len(rows) > _SHOWN else []
    shown = [Row([Cell(text) for text in row]) for row in rows[:_SHOWN]]
    return [Table(title, title, head, shown), Items([*left, *([reading] if reading else [])], "rest")]


def _memory(calibration: Calibration) -> str:
    sessions = plural(calibration.sessions or 0, "session")
    if calibration.layouts == "common":
        return (
            f"{sessions}, for plans and for the error rate. Intervals use what checks of "
            f"the default branch remember, from {FEWEST_COMMON} of them on: there both sides are laid out alike."
        )
    return (
        f"{sessions}. Several days show how noise changes from day to day, a longer one does not. "
        f"The weight of a session halves every {HALF_LIFE:.0f} days."
    )


def _warnings(calibration: Calibration) -> list[str]:
    left = [visible(name) for name in calibration.left_out]
    why = "no spread, too few builds, or values without a ratio"
    return [
        *calibration.warnings,
        *([f"nothing can be remembered about {listed(left, 5)}: {why}"] if left else []),
    ]
