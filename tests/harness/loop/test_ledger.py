"""What the records of a session say about its time."""

from typing import Any

from gate.model import SIDES, Build, Execution, Record
from harness.loop.ledger import Ledger


def made(**how: Any) -> list[Record]:
    builds = [Build(side=side, build=0, seconds=20.0, setup=2.0, **how) for side in SIDES]
    runs = [Execution(benchmark="b", side=side, build=0, execution=0, seconds=3.0, metrics={}) for side in SIDES]
    return [*builds, *runs]


def test_the_next_round_is_expected_to_link_where_the_first_build_was_linked_again() -> None:
    ledger = Ledger(made(checked=1.0), 0)
    assert ledger.fits(8.0)
    assert not ledger.fits(7.9)
    assert not Ledger(made(), 0).fits(45.9)
    assert Ledger(made(), 0).fits(46.0)


def test_a_cold_first_round_is_no_measure_for_the_third() -> None:
    later = [Build(side=side, build=1, seconds=1.0) for side in SIDES]
    ran = [Execution(benchmark="b", side=side, build=1, execution=0, seconds=3.0, metrics={}) for side in SIDES]
    ledger = Ledger([*made(), *later, *ran], 0)
    assert ledger.fits(8.0)
    assert not ledger.fits(7.9)


def test_a_resumed_run_has_used_what_its_builds_took_together() -> None:
    assert Ledger(made(checked=1.0), 0).seconds == 2 * 23 + 6
