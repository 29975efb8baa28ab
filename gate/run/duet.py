"""What cannot be measured with both sides at once, and what the reader of a duet must know (docs/duet.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.config.resolve import Settings
from gate.config.rules import is_decided
from gate.config.types import Benchmark, Config
from gate.model import SIDES, UserError
from gate.model.warnings import AnyWarning
from gate.model.warnings.setup import DuetOnOneProcessor
from harness.host.fitness import others_load
from harness.loop.duet import processors

_INSTEAD = 'use plan.pairing = "interleaved", or leave it out with --benchmark'
_COMMANDS = ("hyperfine", "spawn")
_QUIET = 0.1
"""The share of all processors' time that others may take where wall time decides."""


def refuse_duet(settings: Settings, *, planned: bool) -> tuple[AnyWarning, ...]:
    """Refuse benchmarks that cannot be measured on both sides at once; return what the reader must know.

    planned: treatments are measured.

    Raises:
        UserError: naming the benchmark, and what to do.
    """
    if settings.rules.plan.pairing != "duet":
        return ()
    if planned:
        raise UserError('plan.pairing = "duet" measures no treatments of [study]: use "interleaved", or gate = false')
    selected = {name for names in settings.benchmarks.values() for name in names}
    benchmarks = [b for side in SIDES for b in settings.sides[side].benchmark if b.name in selected]
    for benchmark in benchmarks:
        why = _impossible(benchmark)
        if why:
            raise UserError(f"{benchmark.name}: {why}, which a duet cannot measure: {_INSTEAD}")
    warmups = {side: {b.name: b.warmup for b in settings.sides[side].benchmark} for side in SIDES}
    for name in warmups["base"].keys() & warmups["head"].keys() & selected:
        if warmups["base"][name] != warmups["head"][name]:
            raise UserError(
                f"{name}: the warmup of base and head differs, and a duet pairs their iterations: make them the same"
            )
    alone = dict.fromkeys(b.name for b in benchmarks if len(processors(b.cpus)) == 1)
    return (DuetOnOneProcessor(tuple(alone)),) if alone else ()


def _impossible(benchmark: Benchmark) -> str:
    """Say what of a benchmark a duet cannot measure; "" where it can."""
    if benchmark.service is not None:
        return "it has a service"
    if benchmark.load is not None:
        return "it has a load"
    if benchmark.measured.suite:
        return "it is a suite"
    return "" if benchmark.instrument in _COMMANDS else f'its instrument is "{benchmark.instrument}"'


def is_possible(config: Config) -> bool:
    """Return whether all benchmarks of a configuration could be measured on both sides at once."""
    return bool(config.benchmark) and not any(map(_impossible, config.benchmark))


def refuse_wall_time(rules: Config, names: Sequence[str]) -> None:
    """Refuse to decide wall time of a duet on a host that others load, where it would hide part of a change.

    Raises:
        UserError: how busy the host is, and what to do.
    """
    if rules.plan.pairing != "duet" or not any(_decides_wall_time(rules, names)):
        return
    free = len(processors())
    if free == 1:
        raise UserError('plan.metrics: "time" cannot be decided in a duet on one processor: use metrics = ["cpu"]')
    busy = others_load()
    if busy is None or busy >= _QUIET:
        taken = "how busy it is cannot be told" if busy is None else f"others take {busy:.0%} of its processors"
        raise UserError(
            f'plan.metrics: "time" cannot be decided in a duet on this host: {taken}, and wall time would hide part of '
            'a change: use metrics = ["cpu"]'
        )


def _decides_wall_time(rules: Config, names: Sequence[str]) -> Iterator[bool]:
    for name in names:
        yield is_decided(rules, name, "time")
