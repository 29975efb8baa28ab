"""The schedules that have treatments: of a designed experiment, and of a gate that measures at several settings."""

import itertools
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from scipy import stats

from gate.config.study import FactorTable, SettingTable, Study
from gate.config.treatments import Planned, spread, treatments
from gate.config.types import BuildTable
from gate.model import SIDES, Side
from gate.model.case import canonical
from harness.loop.schedule import ExecutionStep, Round, design_schedule

MAKE = BuildTable(command="make OPT={opt}")


def planned(*sizes: int, side: bool = False, opt: FactorTable | None = None) -> tuple[Planned, ...]:
    """Factors a, b, ... of so many settings 0, 1, ...; opt is what builds depend on."""
    tables: dict[str, FactorTable] = {name: list(range(size)) for name, size in zip("abcde", sizes, strict=False)}
    if opt is not None:
        tables["opt"] = opt
    if side:
        tables["side"] = ["base", "head"]
    return treatments(Study(factor=tables), MAKE)


OPT: FactorTable = {"O2": SettingTable(build_env={"C": "-O2"}), "O3": SettingTable()}


def cell(step: ExecutionStep) -> tuple[str, Side, str]:
    return (step.benchmark, step.side, canonical(step.factors))


def replicates(rounds: Sequence[Round]) -> list[list[ExecutionStep]]:
    return [
        [step for step in each.executions if step.execution == number]
        for each in rounds
        for number in range(each.replicates)
    ]


# --- designed experiments -------------------------------------------------------------------------------------------


def test_a_small_design_as_a_list() -> None:
    # pinned: a resumed study of an older perfgate must find the same steps
    rounds = design_schedule(["x"], planned(2, opt=OPT), spread(3, 2), seed=7)
    lines = [
        [(b.side, b.factors["opt"], b.seed) for b in each.builds]
        + [(s.order, s.execution, s.treatment, s.factors, s.building, s.seed, s.padding) for s in each.executions]
        for each in rounds
    ]
    assert lines == EXPECTED


EXPECTED: list[list[tuple[object, ...]]] = [
    [
        ("head", "O3", 1028812953),
        ("head", "O2", 1615710942),
        (0, 0, 2, {"a": 1, "opt": "O2"}, {"opt": "O2"}, 1433663259, 1717),
        (1, 0, 3, {"a": 1, "opt": "O3"}, {"opt": "O3"}, 1061180069, 2818),
        (2, 0, 0, {"a": 0, "opt": "O2"}, {"opt": "O2"}, 1395788928, 1517),
        (3, 0, 1, {"a": 0, "opt": "O3"}, {"opt": "O3"}, 1331114554, 2077),
        (4, 1, 0, {"a": 0, "opt": "O2"}, {"opt": "O2"}, 1437419357, 3045),
        (5, 1, 3, {"a": 1, "opt": "O3"}, {"opt": "O3"}, 1638518646, 771),
        (6, 1, 2, {"a": 1, "opt": "O2"}, {"opt": "O2"}, 1409419803, 3544),
        (7, 1, 1, {"a": 0, "opt": "O3"}, {"opt": "O3"}, 668214691, 620),
    ],
    [
        ("head", "O2", 1609416302),
        ("head", "O3", 2130577037),
        (8, 0, 1, {"a": 0, "opt": "O3"}, {"opt": "O3"}, 1205803474, 3493),
        (9, 0, 0, {"a": 0, "opt": "O2"}, {"opt": "O2"}, 1503564388, 3619),
        (10, 0, 3, {"a": 1, "opt": "O3"}, {"opt": "O3"}, 1590375278, 2341),
        (11, 0, 2, {"a": 1, "opt": "O2"}, {"opt": "O2"}, 133860374, 3493),
    ],
]


@pytest.mark.parametrize(("builds", "wanted"), [(1, [7]), (2, [4, 3]), (5, [2, 2, 1, 1, 1]), (9, [1] * 7)])
def test_each_treatment_is_there_once_in_each_replicate(builds: int, wanted: list[int]) -> None:
    plan = planned(3, 2, side=True, opt=OPT)
    rounds = design_schedule(["x", "y"], plan, spread(7, builds), seed=3)
    assert [each.replicates for each in rounds] == wanted
    expected = Counter({(name, each.side, canonical(each.settings)): 1 for name in "xy" for each in plan})
    assert len(expected) == 48
    found = replicates(rounds)
    assert len(found) == 7
    for steps in found:
        assert Counter(map(cell, steps)) == expected
        # contiguous, so that nothing of one replicate is made in another
        assert [s.order for s in steps] == list(range(steps[0].order, steps[0].order + 48))
    steps = [step for each in rounds for step in each.executions]
    assert [step.order for step in steps] == list(range(7 * 48))
    by_number = {each.number: each for each in plan}
    for step in steps:
        assert step.treatment is not None
        own = by_number[step.treatment]
        assert (own.side, own.settings, own.building) == (step.side, step.factors, step.building)
    keys = [(*cell(step), step.build, step.execution) for step in steps]
    assert len(set(keys)) == len(keys)
    # both sides are laid out alike
    assert len({step.seed for step in steps}) == len(steps) / 2
    assert all(0 <= step.padding < 4096 for step in steps)


def test_a_round_builds_once_what_its_treatments_need() -> None:
    both = planned(2, side=True, opt=OPT)
    for each in design_schedule(["x"], both, spread(3, 3), seed=1):
        assert Counter((b.side, b.factors["opt"]) for b in each.builds) == dict.fromkeys(
            itertools.product(SIDES, ["O2", "O3"]), 1
        )
        assert len({b.seed for b in each.builds}) == 2, "one of both sides at each setting"
    head = design_schedule(["x"], planned(2), spread(1, 1), seed=1)[0]
    assert [(b.side, b.factors) for b in head.builds] == [("head", {})]
    some = [p for p in both if (p.side, p.building["opt"]) != ("base", "O3")]
    assert len(design_schedule(["x"], some, spread(1, 1), seed=1)[0].builds) == 3


def test_places_in_a_replicate_are_uniform_over_seeds() -> None:
    plan = planned(3, 2)
    count, runs = len(plan), 1200
    places: dict[int, Counter[int]] = {place: Counter() for place in range(count)}
    pairs = Counter[tuple[int | None, int | None]]()
    builds = Counter[str]()
    for seed in range(runs):
        (first,) = design_schedule(["x"], plan, spread(1, 1), seed)
        for place, step in enumerate(first.executions):
            places[place][step.treatment or 0] += 1
        pairs[first.executions[0].treatment, first.executions[1].treatment] += 1
        builds[str(design_schedule(["x"], planned(opt=OPT), spread(1, 1), seed)[0].builds[0].factors["opt"])] += 1
    # seeded, so that these are no chance: each p is one draw of a uniform
    assert all(stats.chisquare([counts[i] for i in range(count)]).pvalue > 0.001 for counts in places.values())
    # who comes first says nothing of who comes next
    assert len(pairs) == count * (count - 1)
    assert stats.chisquare(list(pairs.values())).pvalue > 0.001
    assert abs(builds["O2"] - runs / 2) < 5 * (runs / 4) ** 0.5


def test_neither_other_treatments_nor_the_order_of_names_change_a_draw() -> None:
    def of_x(rounds: Sequence[Round]) -> dict[tuple[object, ...], tuple[int, int]]:
        return {
            (*cell(s), s.build, s.execution): (s.seed, s.padding)
            for each in rounds
            for s in each.executions
            if s.benchmark == "x" and s.factors["a"] != 2
        }

    small = design_schedule(["x"], planned(2, 2), spread(4, 2), seed=5)
    assert of_x(small) == of_x(design_schedule(["y", "x"], planned(3, 2), spread(4, 2), seed=5))
    assert design_schedule(["x", "y"], planned(2), spread(4, 2), 5) == design_schedule(
        ["y", "x"], planned(2)[::-1], spread(4, 2), 5
    )
    assert small != design_schedule(["x"], planned(2, 2), spread(4, 2), seed=6)


def test_a_schedule_begins_as_every_shorter_one_does() -> None:
    # a study that goes on with more replicates or builds finds what it has measured: order, seeds and numbers
    rng = random.Random(2)
    plan = planned(3, 2, side=True, opt=OPT)
    for seed in range(30):
        shares = [rng.randint(1, 4) for _ in range(rng.randint(2, 6))]
        whole = design_schedule(["x", "y"], plan, shares, seed, {"y"})
        cut = rng.randrange(len(shares))
        shorter = [*shares[:cut], rng.randint(1, shares[cut])]
        part = design_schedule(["x", "y"], plan, shorter, seed, {"y"})
        assert part[:-1] == whole[:cut]
        assert part[-1].builds == whole[cut].builds
        assert part[-1].executions == whole[cut].executions[: len(part[-1].executions)]


def test_some_are_executed_in_the_first_replicate_of_a_round() -> None:
    rounds = design_schedule(["x", "counted"], planned(3), spread(5, 2), seed=1, single={"counted"})
    counts = Counter((s.benchmark, s.build, s.execution) for each in rounds for s in each.executions)
    assert {place: n for place, n in counts.items() if place[0] == "counted"} == {
        ("counted", 0, 0): 3,
        ("counted", 1, 0): 3,
    }
    assert sum(n for place, n in counts.items() if place[0] == "x") == 15
    assert [s.order for each in rounds for s in each.executions] == list(range(21))


def test_settings_as_text() -> None:
    assert canonical({}) == ""
    assert canonical({"b": 1.0, "a": "1", "c": 1.5}) == '{"a":"1","b":1,"c":1.5}'


def orders(count: int, builds: int, seed: int) -> list[tuple[object, ...]]:
    """The settings in the order in which each round builds them."""
    opt: FactorTable = {f"O{k}": SettingTable(build_env={"C": f"-O{k}"}) for k in range(count)}
    rounds = design_schedule(["x"], planned(opt=opt), [1] * builds, seed)
    return [tuple(b.factors["opt"] for b in each.builds) for each in rounds]


@pytest.mark.parametrize("count", [2, 3, 5])
def test_builds_are_balanced_over_the_rounds(count: int) -> None:
    for seed in range(20):
        found = orders(count, 4 * count, seed)
        for begin in range(0, 4 * count, count):
            for place in zip(*found[begin : begin + count], strict=True):
                assert len(set(place)) == count, "each is once in each place"
        for begin in range(0, 4 * count, 2 * count):
            before = Counter(
                pair for order in found[begin : begin + 2 * count] for pair in itertools.combinations(order, 2)
            )
            assert set(before.values()) == {count}, "each two are as often in one order as in the other"
    assert len({tuple(orders(count, count, seed)) for seed in range(20)}) > 1


def test_two_builds_never_just_alternate() -> None:
    for seed in range(50):
        first = [order[0] for order in orders(2, 12, seed)]
        for begin in range(0, 12, 4):
            a, b, c, d = first[begin : begin + 4]
            assert a != b == c != d == a
    drawn = Counter(orders(2, 1, seed)[0][0] for seed in range(400))
    assert abs(drawn["O0"] - 200) < 50
