"""The interval of a report is chosen by its plan alone, and plans know what it will be."""

import itertools

import pytest

from gate.config.types import Builds, BuildTable, Config, Gate, Interval, Plan
from gate.decide.design import choose_interval
from gate.model import Layouts
from gate.planning.plan import terms_of
from gate.stats.planning import Components, Costs, PlannedCase
from gate.stats.ratio import Method

CASE = PlannedCase("a", Components(1e-4, 1e-4, 1e-4), Costs(1, 1, 1, 1), 0.03, ())


@pytest.mark.parametrize(
    ("rounds", "size", "layouts", "expected"),
    [
        (12, 20, "common", ("paired", True)),
        # an unpaired interval of four builds could call nothing at all
        (4, 20, "common", ("paired", True)),
        (3, 5, "common", ("paired", True)),
        (12, 4, "common", ("paired", False)),
        (4, 1, "common", ("paired", False)),
        (4, 4, "common", ("paired", False)),
        (12, 20, "independent", ("paired", False)),
        (5, 20, "independent", ("fieller", False)),
        (12, 20, None, ("paired", False)),
        (5, 20, None, ("fieller", False)),
    ],
)
def test_auto(rounds: int, size: int, layouts: Layouts | None, expected: tuple[Method, bool]) -> None:
    assert choose_interval(Gate(), rounds, size, layouts) == expected


def test_several_machines_and_a_remembered_correlation() -> None:
    assert choose_interval(Gate(), 3, 20, "common", sessions=3) == ("paired", False)
    fixed = Gate(sessions="fixed")
    assert choose_interval(fixed, 3, 20, "common", sessions=3) == ("paired", True)
    assert choose_interval(fixed, 3, 4, "common", sessions=3) == ("paired", False)
    assert choose_interval(fixed, 3, 20, None, sessions=3) == ("paired", False)
    # what is remembered stands for what is assumed
    assert choose_interval(Gate(), 4, 4, "common", remembered=0.1)[0] == "fieller"
    assert choose_interval(Gate(), 4, 4, "independent")[0] == "fieller"
    assert choose_interval(Gate(), 4, 4, "independent", remembered=0.9)[0] == "paired"


INTERVALS: tuple[Interval, ...] = ("auto", "fieller", "fieller-kj", "fieller-paired", "paired", "paired-shared")


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_plan_knows_the_interval_of_its_check(interval: Interval) -> None:
    gate = Gate(interval=interval)
    layout: tuple[Layouts, ...] = ("common", "independent")
    for rounds, size, layouts in itertools.product((3, 4, 5, 8), (1, 4, 5, 20), layout):
        method, shares = choose_interval(gate, rounds, size, layouts)
        config = Config(gate=gate, build=BuildTable(layouts=layouts), plan=Plan(builds=rounds))
        planned = terms_of(config, size).interval_of(CASE, rounds)
        shared = shares and size >= 5
        assert planned.method == ("paired-shared" if shared else method), (rounds, size, layouts)


@pytest.mark.parametrize("rounds", [3, 4, 8])
def test_a_plan_pairs_rounds_where_too_few_of_many_findings_share(rounds: int) -> None:
    # four means and three quantiles: the gate pairs, and neither has enough of its own to share with
    assert choose_interval(Gate(), rounds, 7, "common")[0] == "paired"
    config = Config(build=BuildTable(layouts="common"), plan=Plan(builds=rounds))
    assert terms_of(config, 7, sharing=4).interval_of(CASE, rounds).method == "paired"


@pytest.mark.parametrize("plan", [Plan(builds=Builds(min=4, max=12), sessions=3), Plan(builds=4, sessions=3)])
def test_a_plan_of_several_machines_shares_nothing(plan: Plan) -> None:
    config = Config(build=BuildTable(layouts="common"), plan=plan)
    assert terms_of(config, 20).interval_of(CASE, 12 if isinstance(plan.builds, Builds) else 4).method == "paired"
