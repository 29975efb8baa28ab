"""A calibration, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gate.commands.calibrate.result import Calibrated, Calibration
from gate.document.terminal import Cell, Column, lay_out, paint
from gate.model.case import MEAN
from gate.stats.prior import FEWEST_COMMON, HALF_LIFE
from gate.units import format_duration, format_number, format_share, format_value, plural
from gate.words import failures, reports
from gate.writing.phrases import listed
from gate.writing.plain import clip, distinct, visible, wrap

_SHOWN = 40
_INDENT = " " * 10


def render(calibration: Calibration, *, color: bool = False, width: int = 100) -> str:
    """Write a calibration for a terminal, ending with a newline.

    Args:
        color: SGR codes for titles.
    """
    width = max(width, 40)
    bold = "1" if color else ""
    facts = [("memory", _memory(calibration))]
    if calibration.history is not None:
        facts.append(("kept", f"in {visible(calibration.history)} as {visible(calibration.session)}"))
        facts.append(("gates", "`perfgate simulate --remembered` shows how often they are wrong, and what they find"))
    parts = [
        _top(calibration, bold, width),
        _failures(calibration, bold, width),
        _noise(calibration, bold, width),
        _costs(calibration, bold, width),
        [line for name, text in facts if text for line in _fact(name, text, width)],
        _warnings(calibration, bold, width),
    ]
    lines: list[str] = []
    for part in parts:
        if part:
            lines += ["", *part] if lines else part
    return "\n".join(lines) + "\n"


def headline(calibration: Calibration) -> str:
    """Say in one line what was learned."""
    count = len(calibration.findings)
    if not count:
        return "Not calibrated: nothing could be learned"
    what = plural(len({f.benchmark for f in calibration.findings}), "benchmark")
    return f"Calibrated: the noise of {what} on this host, from {plural(calibration.rounds.done, 'round')}"


def _top(calibration: Calibration, bold: str, width: int) -> list[str]:
    rounds = calibration.rounds
    done = plural(rounds.done, "round")
    if rounds.planned is not None and rounds.planned != rounds.done:
        done = f"{rounds.done} of {plural(rounds.planned, 'round')}"
    design = f"{plural(calibration.executions, 'execution')} x {plural(calibration.iterations, 'iteration')}"
    seconds = f", {format_duration(calibration.seconds)}" if calibration.seconds is not None else ""
    host = calibration.host
    cores, memory = host.get("cores"), host.get("memory")
    parts = [visible(str(host.get("cpu", "unknown")))]
    if isinstance(cores, int):
        parts.append(plural(cores, "core"))
    if isinstance(memory, int):
        parts.append(f"{memory / 2**30:.0f} GiB")
    facts = [
        ("head", f"{reports.commit(calibration.commit)}, against itself"),
        ("measured", f"{done} of {design} a side{seconds}"),
        ("host", ", ".join(parts)),
    ]
    lines = [paint(line, bold) for line in wrap(headline(calibration), width)]
    return [*lines, "", *(line for name, text in facts for line in _fact(name, text, width))]


def _fact(name: str, text: str, width: int) -> list[str]:
    return wrap(text, width, first=f"{name:{len(_INDENT)}}", rest=_INDENT)


def _failures(calibration: Calibration, bold: str, width: int) -> list[str]:
    if not calibration.failures:
        return []
    lines = [paint("failures", bold)]
    for failure in calibration.failures[:10]:
        lines += wrap(failures.title(failure), width, first="  ", rest="    ")
        if failure.hint:
            lines += wrap(visible(failure.hint), width, first="    ", rest="    ")
    return lines


# --- the noise --------------------------------------------------------------------------------------------------------


def _noise(calibration: Calibration, bold: str, width: int) -> list[str]:
    found = calibration.findings
    if not found:
        return []
    several = any(f.statistic != MEAN for f in found)
    head = [
        Column("benchmark"),
        Column("metric"),
        *([Column("statistic")] if several else []),
        *(Column(name, right=True) for name in ("iteration", "execution", "build", "round", "degrees")),
    ]
    rows = [_noise_row(f, statistic=several) for f in found[:_SHOWN]]
    lines = [paint("noise, as relative standard deviation", bold)]
    lines += [f"  {line}" for line in _table(head, rows, width - 2, bold)]
    lines += _left_out(len(found), width)
    text = "iteration, execution, build: what each level adds. round: the difference of base and head in a round, "
    if calibration.layouts == "independent":
        text += "which checks decide by."
    else:
        text += "whose layouts were independent here. In a check they are common, so there it is at most as large."
    return [*lines, *wrap(text, width, first="  ", rest="  ")]


def _noise_row(finding: Calibrated, *, statistic: bool) -> list[Cell]:
    added = finding.added
    texts = [
        _name(finding),
        clip(visible(finding.metric), 30),
        *([finding.statistic] if statistic else []),
        *(_share(value) for value in (added.iteration, added.execution, added.build, finding.round)),
        "-" if finding.df is None else format_number(finding.df, 2),
    ]
    return [Cell(text) for text in texts]


def _name(finding: Calibrated) -> str:
    factors = ", ".join(f"{visible(str(k))}={visible(str(v))}" for k, v in finding.factors.items())
    return ", ".join(text for text in (visible(finding.benchmark), factors) if text)


def _share(value: float | None) -> str:
    # a level that was not repeated is not known, one that adds nothing is
    return "-" if value is None else "none" if value == 0 else format_share(value)


def _table(head: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int, bold: str) -> list[str]:
    lines = lay_out(head, rows, width, style=bold)
    if lines is not None:
        return lines
    # a terminal too narrow for a table: a block each
    blocks = []
    for name, row in zip(distinct([row[0].text for row in rows], width), rows, strict=True):
        pairs = ", ".join(f"{column.title} {cell.text}" for column, cell in zip(head[1:], row[1:], strict=True))
        blocks += [name, *wrap(pairs, width, first="  ", rest="    ")]
    return blocks


def _left_out(count: int, width: int) -> list[str]:
    return wrap(f"{count - _SHOWN} more are in --json.", width, first="  ", rest="  ") if count > _SHOWN else []


def _costs(calibration: Calibration, bold: str, width: int) -> list[str]:
    by_benchmark = {f.benchmark: f.costs for f in calibration.findings}
    if not by_benchmark:
        return []
    head = [Column("benchmark"), *(Column(name, right=True) for name in ("build", "start", "warm-up", "iteration"))]
    rows = [
        [Cell(visible(name)), *(Cell(_seconds(v)) for v in (c.build, c.start, c.warmup, c.iteration))]
        for name, c in list(by_benchmark.items())[:_SHOWN]
    ]
    lines = [paint("time that each step takes", bold)]
    return [
        *lines,
        *(f"  {line}" for line in _table(head, rows, width - 2, bold)),
        *_left_out(len(by_benchmark), width),
    ]


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return "0" if value == 0 else format_value(value, "s", digits=3)


# --- what follows -----------------------------------------------------------------------------------------------------


def _memory(calibration: Calibration) -> str:
    if calibration.sessions is None:
        return ""
    sessions = plural(calibration.sessions, "session")
    if calibration.layouts == "common":
        return (
            f"{sessions}, for plans and for the error rate. Intervals use what checks of "
            f"the default branch remember, from {FEWEST_COMMON} of them on: there both sides are laid out alike."
        )
    return (
        f"{sessions}. Several days show how noise changes from day to day, a longer one does not. "
        f"The weight of a session halves every {HALF_LIFE:.0f} days."
    )


def _warnings(calibration: Calibration, bold: str, width: int) -> list[str]:
    texts = [visible(text) for text in calibration.warnings]
    if calibration.left_out:
        names = listed([visible(name) for name in calibration.left_out], 5)
        texts.append(f"nothing can be remembered about {names}: no spread, too few builds, or values without a ratio")
    lines = [paint("warnings", bold)] if texts else []
    return lines + [line for text in texts for line in wrap(text, width, first="  - ", rest="    ")]
