"""docs/trial.md: the page of a trial. Its words are in page.md.j2; every number is computed here from the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import jinja2

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison
from benchmarks.trial.judging import BENCHMARKS, Rate, Trial, sizes
from benchmarks.trial.pictures import LABELS, Figure
from benchmarks.trial.programs import PROGRAMS
from benchmarks.trial.records import Host
from benchmarks.trial.rules.registry import CHECKED, PERFGATE, RULES
from benchmarks.trial.rules.rule import SIZE, Plan, Rule

FOLDER = "trial"
FEW = 10
"""Fewer bundles without a change than these rank no rules."""
FEW_OF_SIZE = 5
"""Fewer bundles with a change of a size."""
_KINDS = {"same": "the same program", "edited": "an edit elsewhere", "relaid": "another layout"}
_OTHERS = tuple(rule for rule in RULES if rule is not PERFGATE)


def page(trial: Trial, comparisons: Sequence[Comparison], host: Host, minutes: float, figures: Sequence[Figure]) -> str:
    """Write the page."""
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701 - Markdown, of our own words and numbers
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    template = environment.from_string(Path(__file__).with_name("page.md.j2").read_text(encoding="utf-8"))
    own = trial.alarms(PERFGATE.name, "default")
    changed = _changed(trial)
    bundles = len({each.bundle for each in comparisons})
    fewest = min(rate.independent for rate in changed.values()) if changed else 0
    seconds = trial.seconds(PERFGATE.name, "default") or 0.0
    return template.render(
        host=host,
        minutes=f"{minutes:.0f}",
        bundles=_plural(bundles, "bundle"),
        bundle_minutes=f"{minutes / bundles:.1f}",
        comparisons=len(comparisons),
        unchanged=sum(not each.changed for each in comparisons),
        mix=_mix(comparisons),
        few=own is None or own.independent < FEW or fewest < FEW_OF_SIZE,
        fewest=fewest,
        fewest_bundles=_plural(fewest, "bundle"),
        fewest_high=_percent(Rate.of_counts(0, fewest, fewest).high),
        behind=_listed(
            [f"{rate.of} of {label} ({_plural(rate.independent, 'bundle')})" for label, rate in changed.items()]
        ),
        size=_percent(SIZE),
        without_size=_listed([rule.name for rule in RULES if not rule.threshold and rule.sized is None]),
        benchmarks=BENCHMARKS,
        reports=trial.reports.of,
        counts=_counts(comparisons),
        default_table=_table(trial, "default"),
        equal_table=_table(trial, "equal"),
        sized_table=_sized(trial),
        kinds_table=_kinds(trial),
        sizes_table=_sizes(comparisons),
        figures=figures,
        folder=FOLDER,
        seconds=_time(seconds),
        faster=_faster(trial, seconds),
        fewer_misses=_fewer_misses(trial),
        quiet=_quiet(trial),
        dominating={by: _dominating(trial, by) for by in ("default", "equal", "sized")},
        unknown=_percent(trial.unknown(PERFGATE.name, "default")),
        proof=_proof(own),
        checked=", ".join(CHECKED),
        rules=RULES,
        programs=list(PROGRAMS.values()),
        tail_every=plan.TAIL_EVERY,
        tail_mean=_percent(1 / plan.TAIL_EVERY),
        same=len(plan.SAME),
        long_seconds=math.floor(plan.LONG_SECONDS),
        apart=math.floor((len(plan.SAME) + plan.CHANGES_A_BUNDLE - 1) * plan.LONG_SECONDS),
        starts=plan.STARTS,
        rounds=plan.ROUNDS,
        executions=plan.EXECUTIONS,
        history_first=plan.HISTORY_FIRST,
        history_more=plan.HISTORY_MORE,
    )


_HEADS = ("false alarms", "pull request", *(f"missed {label}" for label in LABELS), "time")


def _changed(trial: Trial) -> dict[str, Rate]:
    """Give the comparisons of each size; what they say is not asked."""
    found = {
        label: trial.misses(PERFGATE.name, "default", kind) for label, kind in zip(LABELS, plan.CHANGED, strict=True)
    }
    return {label: rate for label, rate in found.items() if rate is not None}


def _mix(comparisons: Sequence[Comparison]) -> str:
    counts = {kind: sum(each.kind == kind for each in comparisons) for kind in _KINDS}
    return _listed([f"{count} are of {_KINDS[kind]}" for kind, count in counts.items()])


def _table(trial: Trial, by: Plan) -> str:
    rows = [[_name(rule, rule.name), *_cells(trial, rule, by)] for rule in RULES]
    return _markdown(["rule", *_HEADS], rows)


def _sized(trial: Trial) -> str:
    rows = [
        [_name(rule, rule.sized.name), rule.sized.setting, *_cells(trial, rule, "sized")]
        for rule in RULES
        if rule.sized is not None
    ]
    return _markdown(["rule", "setting", *_HEADS], rows)


def _name(rule: Rule, name: str) -> str:
    return f"**{name}**" if rule is PERFGATE else name


def _cells(trial: Trial, rule: Rule, by: Plan) -> list[str]:
    pull = trial.pull_request(rule.name, by)
    seconds = trial.seconds(rule.name, by)
    return [
        _interval(trial.alarms(rule.name, by)),
        "" if pull is None else _percent(pull),
        *(_missed(trial, rule, by, column) for column in range(len(plan.CHANGED))),
        "" if seconds is None else _time(seconds),
    ]


def _missed(trial: Trial, rule: Rule, by: Plan, column: int) -> str:
    found = trial.misses(rule.name, by, plan.CHANGED[column])
    if found is None:
        return ""
    return f"({_percent(found.share)})" if rule.lets_pass(column, by) else _percent(found.share)


def _kinds(trial: Trial) -> str:
    rows = [[rule.name, *(_interval(trial.alarms(rule.name, "default", [kind])) for kind in _KINDS)] for rule in RULES]
    return _markdown(["rule", *_KINDS.values()], rows)


def _sizes(comparisons: Sequence[Comparison]) -> str:
    found = sizes(comparisons)
    rows = []
    for program in dict.fromkeys(size.program for size in found):
        of = {size.kind: size for size in found if size.program == program}
        cells = []
        for kind in plan.CHANGED:
            size = of.get(kind)
            counted = "" if size is None or size.instructions is None else f" / {size.instructions:+.1%}"
            cells.append("" if size is None else f"{size.time:+.1%}{counted}")
        rows.append([program, *cells])
    return _markdown(["program", *LABELS], rows)


def _faster(trial: Trial, seconds: float) -> str:
    found = [(each, rule.name) for rule in _OTHERS if (each := trial.seconds(rule.name, "default")) is not None]
    return ", ".join(f"{name} ({_time(each)})" for each, name in sorted(found) if each < seconds)


def _fewer_misses(trial: Trial) -> list[str]:
    lines = []
    for label, kind in zip(LABELS, plan.CHANGED, strict=True):
        mine = trial.misses(PERFGATE.name, "default", kind)
        if mine is None:
            continue
        better = []
        for rule in _OTHERS:
            found, alarms = trial.misses(rule.name, "default", kind), trial.alarms(rule.name, "default")
            if found is not None and alarms is not None and found.share < mine.share:
                better.append(f"{rule.name} {_percent(found.share)} (false alarms {_percent(alarms.share)})")
        if better:
            lines.append(f"{label}, of which perfgate misses {_percent(mine.share)}: {', '.join(better)}.")
    return lines


def _quiet(trial: Trial) -> str:
    mine = trial.alarms(PERFGATE.name, "default")
    found = [(rule.name, trial.alarms(rule.name, "default")) for rule in _OTHERS]
    return ", ".join(name for name, each in found if each is not None and mine is not None and each.share <= mine.share)


def _dominating(trial: Trial, by: Plan) -> str:
    """Name the rules that miss less of some size than perfgate, more of none, and have no more false alarms.

    Of sizes that either rule is meant to pass none counts.
    """
    mine = trial.alarms(PERFGATE.name, by)
    names = []
    for rule in _OTHERS:
        alarms = trial.alarms(rule.name, by)
        if alarms is None or mine is None or alarms.share > mine.share:
            continue
        pairs = [
            (found.share, own.share)
            for column, kind in enumerate(plan.CHANGED)
            if (found := trial.misses(rule.name, by, kind)) and (own := trial.misses(PERFGATE.name, by, kind))
            if not PERFGATE.lets_pass(column, by)
        ]
        if all(one <= other for one, other in pairs) and any(one < other for one, other in pairs):
            names.append(rule.sized.name if by == "sized" and rule.sized is not None else rule.name)
    return ", ".join(names)


def _proof(own: Rate | None) -> str:
    if own is None:
        return ""
    none = Rate.of_counts(0, own.of, own.independent)
    return f"No alarm in {_plural(own.independent, 'bundle')} leaves up to {_percent(none.high)} possible."


def _counts(comparisons: Sequence[Comparison]) -> str:
    """Say how far the instructions of sides apart are that do the same work."""
    pairs = [(each.base.instructions, each.head.instructions) for each in comparisons if not each.changed]
    apart = [abs(head / base - 1) for base, head in pairs if base and head]
    return f": sides that do the same work differ by at most {max(apart):.2%} here" if apart else ""


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    words = [head in ("rule", "program", "setting") for head in heads]
    lines = [heads, ["---" if word else "---:" for word in words], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _interval(rate: Rate | None) -> str:
    return "" if rate is None else f"{_percent(rate.share)} ({100 * rate.low:.0f} to {100 * rate.high:.0f})"


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"
