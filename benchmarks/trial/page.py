"""docs/trial.md: the page of a trial. Its words are in page.md.j2; every number is computed here from the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

import jinja2

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, Round, mean
from benchmarks.trial.judging import GUARANTEE, Plan, Rate, Trial
from benchmarks.trial.pictures import ASKED, LABELS, Figure
from benchmarks.trial.programs import PROGRAMS
from benchmarks.trial.records import Line, Ran
from benchmarks.trial.records import Trial as First
from benchmarks.trial.rules.registry import CHECKED, PERFGATE, RULES
from benchmarks.trial.rules.rule import Rule

FOLDER = "trial"
FEW = 10
"""Fewer bundles than these with a change of a size rank no rules."""
_OTHERS = tuple(rule for rule in RULES if rule is not PERFGATE)
_COLUMNS = {"no change": plan.SAME, **{LABELS[kind]: (kind,) for kind in plan.CHANGED}}
_MIDDLE = plan.CHANGED[1:4]


def page(trial: Trial, comparisons: Sequence[Comparison], lines: Sequence[Line], figures: Sequence[Figure]) -> str:
    """Write the page."""
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701 - Markdown, of our own words and numbers
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    template = environment.from_string(Path(__file__).with_name("page.md.j2").read_text(encoding="utf-8"))
    ran = [line for line in lines if isinstance(line, Ran)]
    rates = {LABELS[kind]: trial.rate(PERFGATE.name, "own", (kind,)) for kind in plan.CHANGED}
    counts = {label: rate.of for label, rate in rates.items() if rate is not None}
    none = trial.rate(PERFGATE.name, "own", plan.SAME)
    return template.render(
        others=len(_OTHERS),
        planned=plan.BUNDLES,
        host=next(line.host for line in lines if isinstance(line, First)),
        bundles=len({each.bundle for each in comparisons}),
        minutes=f"{sum(line.seconds for line in ran) / 60:.0f}",
        comparisons=len(comparisons),
        loads=", ".join(plan.UNDER),
        hosts=_hosts(ran),
        small=LABELS[plan.SMALL],
        guarantee=f"{GUARANTEE:.1%}",
        better=_better(trial),
        sizes=_listed([LABELS[kind] for kind in ASKED]),
        equal_table=_table(trial, "equal"),
        counts=_listed([f"{of}" for of in (none.of if none else 0, *counts.values())]),
        few=min(counts.values(), default=0) < FEW,
        figures=figures,
        folder=FOLDER,
        middle=_listed([LABELS[kind] for kind in _MIDDLE]),
        blocks=_listed(sorted({f"{len(each.blocks[0])}" for each in comparisons}, key=int)),
        own_table=_table(trial, "own"),
        counted=_counted(comparisons),
        unknown=_percent(trial.unknown("own")),
        checked=", ".join(CHECKED),
        rules=RULES,
        programs=list(PROGRAMS.values()),
        tail_every=plan.TAIL_EVERY,
        sizes_table=_sizes(comparisons),
        rounds=plan.ROUNDS,
        starts=plan.EXECUTIONS * plan.ITERATIONS,
        executions=plan.EXECUTIONS,
        iterations=plan.ITERATIONS,
        intervals=len(_OTHERS) * len(ASKED),
        proof=_proof(none),
    )


def _hosts(ran: Sequence[Ran]) -> list[str]:
    """Say how busy the host was, as found and under a load."""
    found = []
    for loaded in (False, True):
        among = [line for line in ran if (plan.load_of(line.bundle) != plan.AS_FOUND) == loaded]
        if not among:
            continue
        took = [sum(line.seconds for line in among if line.bundle == each) for each in {line.bundle for line in among}]
        pressure = _percent(sum(line.waited for line in among) / sum(line.seconds for line in among))
        found.append(
            f"{'Under a load' if loaded else 'As found'}: {len(took)} bundles of {median(took):.0f} s (at most "
            f"{max(took):.0f} s), pressure {pressure}, load average {mean([line.load for line in among]):.1f}."
        )
    return found


def _table(trial: Trial, by: Plan) -> str:
    rows = []
    for rule in RULES:
        name = f"**{rule.name}**" if rule is PERFGATE else rule.name
        cells = [_cell(trial, rule, by, kinds) for kinds in _COLUMNS.values()]
        if by == "equal":
            rates = [trial.rate(rule.name, by, _MIDDLE, loaded=loaded) for loaded in (False, True)]
            cells += ["" if rate is None else _percent(rate.share) for rate in rates]
            value = trial.settings[rule.name]
            cells.insert(0, "never" if math.isinf(value) else rule.set_to(value))
        rows.append([name, *cells, _time(trial.seconds(rule.name, by))])
    more = (["set to"], ["as found", "loaded"]) if by == "equal" else ([], [])
    return _markdown(["rule", *more[0], *_COLUMNS, *more[1], "time"], rows)


def _cell(trial: Trial, rule: Rule, by: Plan, kinds: Sequence[str]) -> str:
    rate = trial.rate(rule.name, by, kinds)
    if rate is None:
        return ""
    found = trial.difference(rule.name, by, kinds[0]) if kinds[0] in ASKED else None
    mark = {"better": "▲", "worse": "▼"}.get(found.word if found else "", "")
    sizes = dict(zip(plan.CHANGED, plan.SIZES, strict=False))
    # a setting that begins above the smallest change is no size
    sized = rule.levels[0] < plan.SIZES[0]
    meant = by == "own" and sized and sizes.get(kinds[0], math.inf) <= rule.own
    return (f"({_percent(rate.share)})" if meant else _percent(rate.share)) + mark


def _better(trial: Trial) -> list[str]:
    """Say for each size which rules call more often than perfgate at equal guarantee, by the interval."""
    lines = []
    for kind in ASKED:
        own = trial.rate(PERFGATE.name, "equal", (kind,))
        found = []
        for rule in _OTHERS:
            difference, rate = trial.difference(rule.name, "equal", kind), trial.rate(rule.name, "equal", (kind,))
            if difference is not None and rate is not None and difference.word == "better":
                low, high = (f"{100 * each:+.0f}" for each in (difference.low, difference.high))
                found.append(f"{rule.name} {_percent(rate.share)} ({low} to {high} points)")
        if found and own is not None:
            lines.append(f"{LABELS[kind]}, of which perfgate calls {_percent(own.share)}: {', '.join(found)}.")
    return lines


def _sizes(comparisons: Sequence[Comparison]) -> str:
    rows = []
    for program in dict.fromkeys(each.program for each in comparisons):
        cells = []
        for kind in plan.CHANGED:
            of = [each for each in comparisons if each.program == program and each.kind == kind]
            if not of:
                cells.append("")
                continue
            time = median(_ratio(each) for comparison in of for each in comparison.rounds) - 1
            counts = of[0].counts
            counted = f" / {counts[1].instructions / counts[0].instructions - 1:+.1%}" if counts else ""
            cells.append(f"{time:+.1%}{counted}")
        rows.append([program, *cells])
    return _markdown(["program", *(LABELS[kind] for kind in plan.CHANGED)], rows)


def _ratio(of: Round) -> float:
    base, head = (
        mean([start.active or start.time for place, start in zip(of.order, of.starts, strict=True) if place == side])
        for side in (0, 1)
    )
    return head / base


def _counted(comparisons: Sequence[Comparison]) -> str:
    """Say how far the instructions of sides apart are that do the same work."""
    pairs = [each.counts for each in comparisons if each.kind in plan.SAME and each.counts is not None]
    apart = [abs(head.instructions / base.instructions - 1) for base, head in pairs]
    return f" (the same work differs by at most {max(apart):.2%})" if apart else ""


def _proof(none: Rate | None) -> str:
    if none is None:
        return ""
    high = Rate.of_counts(0, none.of, none.independent).high
    return f"none called in {none.independent} bundles leaves up to {_percent(high)} possible."


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    words = [head in ("rule", "program", "set to") for head in heads]
    lines = [heads, ["---" if word else "---:" for word in words], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s"
