"""What cannot be measured with both sides at once, and what the reader of a duet must know (docs/duet.md)."""

from __future__ import annotations

from collections.abc import Sequence

from gate.config.resolve import Settings
from gate.config.rules import is_decided, no_duet
from gate.config.types import Config
from gate.model import SIDES, UserError
from gate.model.warnings import AnyWarning
from gate.model.warnings.setup import DuetOnOneProcessor
from harness.host.fitness import others_load
from harness.loop.duet import processors
from harness.process.processors import ProcessorsError, started_with

_INSTEAD = 'use plan.pairing = "interleaved", or leave it out with --benchmark'
_CPU = 'set plan.metrics = ["cpu"]'
_QUIET = 0.1
"""The share of all processors' time that others may take where wall time decides."""


def refuse_duet(settings: Settings) -> tuple[AnyWarning, ...]:
    """Refuse benchmarks that cannot be measured on both sides at once; return what the reader must know.

    Raises:
        UserError: naming the benchmark, and what to do.
    """
    if settings.rules.plan.pairing != "duet":
        return ()
    selected = {name for names in settings.benchmarks.values() for name in names}
    benchmarks = [b for side in SIDES for b in settings.sides[side].benchmark if b.name in selected]
    for benchmark in benchmarks:
        why = no_duet(benchmark)
        if why:
            raise UserError(f"{benchmark.name}: {why}, which a duet cannot measure: {_INSTEAD}")
    # what both sides have alike is head's
    heads = {b.name: b for b in settings.sides["head"].benchmark}
    benchmarks = [heads.get(b.name, b) for b in benchmarks]
    for benchmark in (b for b in benchmarks if b.cpus is not None):
        # the launcher, which pins both sides, takes those that are there
        try:
            started_with(lambda: None, benchmark.cpus, None)
        except ProcessorsError as error:
            raise UserError(f"{benchmark.name}: {error}") from None
    alone = dict.fromkeys(b.name for b in benchmarks if len(processors(b.cpus)) == 1)
    return (DuetOnOneProcessor(tuple(alone)),) if alone else ()


def refuse_wall_time(rules: Config, names: Sequence[str]) -> None:
    """Refuse to decide wall time of a duet on a host that others load, where it would hide part of a change.

    Raises:
        UserError: how busy the host is, and what to do.
    """
    decided = [name for name in names if is_decided(rules, name, "time")] if rules.plan.pairing == "duet" else []
    if not decided:
        return
    cpus = {b.name: b.cpus for b in rules.benchmark}
    alone = next((name for name in decided if len(processors(cpus.get(name))) == 1), None)
    if alone is not None:
        raise UserError(f"{alone}: time cannot be decided in a duet on one processor: {_CPU}")
    busy = others_load()
    if busy is None or busy >= _QUIET:
        taken = "how busy it is cannot be told" if busy is None else f"others take {busy:.0%} of its processors"
        raise UserError(
            f"{decided[0]}: time cannot be decided in a duet on this host: {taken}, and wall time would hide part of "
            f"a change: {_CPU}"
        )
