"""A report over lines of measurements, by rules as a file has them."""

import datetime
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gate.cli.main import main
from gate.config.config_text import from_tables, read_source
from gate.config.parse import parse
from gate.config.rules import Policy
from gate.decide.report import decide
from gate.decide.stopping import look
from gate.evidence.gather import gather
from gate.model import Finding, Report
from tests.support.lines import builds, execution, located

TODAY = datetime.date(2026, 11, 20)
Lines = list[dict[str, Any]]
Means = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""By benchmark the values of base and of head, one a build."""
SPEEDS = (1.0, 2.0, 0.7, 5.0, 0.3)
"""Of machines that measure one thing."""
COUNTS = '[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "values"\n[benchmark.metric.n]\nunit = ""\nexact = true\n'
MEDIAN = '[[benchmark]]\nname = "bench"\ncommand = "x"\nmetric.time.statistics = ["p50"]\n'


def policy_by(rules: Mapping[str, Any] | str, label: str | None = None) -> Policy:
    """Make a policy of tables, or of the text of a perfgate.toml."""
    source = read_source(rules, "perfgate.toml") if isinstance(rules, str) else from_tables(dict(rules), "test")
    return Policy(parse(source), "test", TODAY, label)


def decided(
    lines: Sequence[dict[str, Any]], rules: Mapping[str, Any] | str | None = None, label: str | None = None
) -> Report:
    """Decide over lines of measurements; rules: None: those of the run line."""
    policy = policy_by((lines[0].get("config") or {}) if rules is None and lines else rules or "", label)
    return decide(gather(located(*lines), policy.config), policy)


def only(lines: Sequence[dict[str, Any]], rules: Mapping[str, Any] | str | None = None) -> Finding:
    """Decide over lines of one case."""
    (found,) = decided(lines, rules).findings
    return found


def settled(lines: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Name what a look at lines, whose first is that of the run, leaves to measure no more."""
    policy = policy_by(lines[0]["config"])
    return look(gather(located(*lines), policy.config), policy)


def both(base: Sequence[Sequence[Sequence[float]]], head: Sequence[Sequence[Sequence[float]]], **more: Any) -> Lines:
    """Make the lines of two sides: build, execution, value."""
    return [*builds("base", base, **more), *builds("head", head, **more)]


def ones(base: Iterable[float], head: Iterable[float], **more: Any) -> Lines:
    """Make the lines of two sides of one value a build."""
    return both([[[value]] for value in base], [[[value]] for value in head], **more)


def rounds_of(
    means: Means, rounds: int, config: Mapping[str, Any], *, until: Mapping[str, int] | None = None, **more: Any
) -> Lines:
    """A run of some rounds, with a look after each where its plan is a range.

    until: the round after which a benchmark was settled. more: of every execution, as better=.
    """
    plan, until = config["plan"]["builds"], until or {}
    found: Lines = [{"type": "run", "seed": 1, "config": dict(config)}]
    found[0] |= {} if isinstance(plan, int) else {"looks": plan.get("max", 56)}
    for r in range(rounds):
        for name, sides in means.items():
            for side, values in zip(("base", "head"), sides, strict=True):
                if r < until.get(name, rounds):
                    found.append(execution(side, [values[r]], build=r, benchmark=name, **more))
        if not isinstance(plan, int):
            done = [name for name, last in until.items() if last == r + 1]
            found.append({"type": "look", "look": r + 1, "settled": done})
    return found


def on_machines(
    ratios: Sequence[float],
    rounds: int = 5,
    spread: float = 0.01,
    *,
    seed: int = 3,
    speeds: Sequence[float] = SPEEDS,
    **more: Any,
) -> Lines:
    """Measure in sessions on machines of some speeds, each with a ratio of its own; one value a build."""
    rng = np.random.default_rng(seed)
    return [
        line
        for session, (ratio, speed) in enumerate(zip(ratios, speeds, strict=False))
        for side, mean in (("base", 0.1 * speed), ("head", 0.1 * speed * ratio))
        for line in builds(side, [[[mean * rng.normal(1, spread)]] for _ in range(rounds)], session=session, **more)
    ]


def counted(sides: Sequence[tuple[float, float]], rounds: int = 1) -> Lines:
    """Count on machines: by session a number of base and one of head."""
    return [
        line
        for session, (base, head) in enumerate(sides)
        for line in both([[[base]]] * rounds, [[[head]]] * rounds, metric="n", unit="", better="lower", session=session)
    ]


def typed(*argv: str) -> tuple[int, str]:
    """Run a command line in process: its exit code, and what it writes; nothing to standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, out, err)
    assert not err.getvalue()
    return code, out.getvalue()
