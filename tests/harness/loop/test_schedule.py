"""The schedules of the gate and of designed experiments."""

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import pytest
from scipy import stats

from gate.config.study import FactorTable, SettingTable, Study
from gate.config.treatments import PlannedTreatment, spread, treatments
from gate.config.types import BuildTable
from gate.model import SIDES, Side
from gate.model.case import canonical
from harness.loop.schedule import ExecutionStep, Round, design_schedule, schedule

NAMES = ["parse", "write", "größe 'x'\n🐢"]


def both(*names: str) -> dict[Side, list[str]]:
    return {"base": list(names), "head": list(names)}


def test_a_small_schedule_as_a_list() -> None:
    # pinned: a resumed run of an older perfgate must find the same steps
    lines = [
        [(b.side, b.seed) for b in each.builds]
        + [(s.order, s.benchmark, s.side, s.execution, s.seed, s.padding) for s in each.executions]
        for each in schedule({"base": ["a", "b", "gone"], "head": ["a", "b", "new"]}, 2, 2, seed=7)
    ]
    assert lines == EXPECTED


EXPECTED: list[list[tuple[object, ...]]] = [
    [
        ("head", 1454170711),
        ("base", 1454170711),
        (0, "a", "head", 0, 1184425697, 1200),
        (1, "a", "base", 0, 1184425697, 1200),
        (2, "b", "head", 0, 1615061985, 3613),
        (3, "b", "base", 0, 1615061985, 3613),
        (4, "new", "head", 0, 1719548777, 1209),
        (5, "a", "base", 1, 1067080262, 467),
        (6, "a", "head", 1, 1067080262, 467),
        (7, "b", "base", 1, 1617705221, 1846),
        (8, "b", "head", 1, 1617705221, 1846),
    ],
    [
        ("base", 468443892),
        ("head", 468443892),
        (9, "a", "head", 0, 168053279, 3013),
        (10, "a", "base", 0, 168053279, 3013),
        (11, "b", "base", 0, 1293978011, 812),
        (12, "b", "head", 0, 1293978011, 812),
        (13, "a", "base", 1, 485203338, 698),
        (14, "a", "head", 1, 485203338, 698),
        (15, "b", "head", 1, 255277376, 1818),
        (16, "b", "base", 1, 255277376, 1818),
    ],
]


@pytest.mark.parametrize(("builds", "executions"), [(1, 1), (2, 8), (5, 3)])
def test_every_round_holds_every_execution_once_in_blocks_of_both_sides(builds: int, executions: int) -> None:
    rounds = schedule(both(*NAMES), builds, executions, seed=3)
    assert [each.build for each in rounds] == list(range(builds))
    for each in rounds:
        assert {step.side for step in each.builds} == {"base", "head"}
        assert {step.build for step in each.builds} | {step.build for step in each.executions} == {each.build}
        blocks = _pairs(each.executions)
        assert all(a.benchmark == b.benchmark and a.execution == b.execution and a.side != b.side for a, b in blocks)
        assert [a.execution for a, _ in blocks] == [k for k in range(executions) for _ in NAMES]
        assert Counter((a.benchmark, a.execution) for a, _ in blocks) == {
            (name, k): 1 for name in NAMES for k in range(executions)
        }
    steps = [step for each in rounds for step in each.executions]
    assert [step.order for step in steps] == list(range(len(steps)))
    assert all(0 <= step.padding < 4096 and 0 <= step.seed < 2**31 for step in steps)


def _pairs(steps: tuple[ExecutionStep, ...]) -> list[tuple[ExecutionStep, ExecutionStep]]:
    return list(zip(steps[::2], steps[1::2], strict=True))


def base_first(each: Round, name: str) -> int:
    return sum(a.benchmark == name and a.side == "base" for a, _ in _pairs(each.executions))


@pytest.mark.parametrize("executions", [1, 4, 5])
def test_the_order_of_the_sides_is_balanced_in_each_four_also_over_rounds(executions: int) -> None:
    rounds = schedule(both(*NAMES), 6, executions, seed=11)
    for name in NAMES:
        counts = [base_first(each, name) for each in rounds]
        if executions % 2 == 0:
            assert counts == [executions // 2] * 6
        else:
            # the last one of a round is in a four with the first one of the next
            assert [a + b for a, b in zip(counts[::2], counts[1::2], strict=True)] == [executions] * 3


def test_draws_are_random_over_seeds_and_alike_on_both_sides() -> None:
    firsts = Counter[str]()
    sides = Counter[str]()
    builds = Counter[str]()
    for seed in range(600):
        each = schedule(both(*NAMES), 1, 1, seed)[0]
        firsts[each.executions[0].benchmark] += 1
        sides[each.executions[0].side] += 1
        builds[each.builds[0].side] += 1
    # 5 standard deviations of a fair draw
    assert all(abs(firsts[name] - 200) < 58 for name in NAMES)
    assert abs(sides["base"] - 300) < 62
    assert abs(builds["base"] - 300) < 62
    rounds = schedule(both(*NAMES), 20, 20, seed=1)
    steps = [step for each in rounds for step in each.executions]
    paddings = [step.padding for step in steps]
    assert abs(sum(paddings) / len(paddings) - 2047.5) < 5 * 1182 / len(paddings) ** 0.5
    of_side = {
        side: [(s.benchmark, s.build, s.execution, s.seed, s.padding) for s in steps if s.side == side]
        for side in SIDES
    }
    assert sorted(of_side["base"]) == sorted(of_side["head"]), "both sides are laid out alike"
    assert len({step.seed for step in steps}) == len(steps) / 2
    assert len({step.seed for each in rounds for step in each.builds}) == len(rounds)


def test_the_sequence_of_names_and_the_other_benchmarks_do_not_matter() -> None:
    rounds = schedule(both("a", "b"), 3, 3, seed=5)
    assert rounds == schedule({"base": ["b", "a"], "head": ["a", "b"]}, 3, 3, seed=5)

    def of_a(rounds: Sequence[Round]) -> list[tuple[str, int, int]]:
        return [(s.side, s.seed, s.padding) for r in rounds for s in r.executions if s.benchmark == "a"]

    assert of_a(rounds) == of_a(schedule(both("a", "c", "d"), 3, 3, seed=5))
    # more rounds begin as fewer do, and another seed is another schedule
    assert rounds == schedule(both("a", "b"), 5, 3, seed=5)[:3] != schedule(both("a", "b"), 3, 3, seed=6)


def test_some_are_executed_once_a_build_or_once_at_all() -> None:
    names: dict[Side, list[str]] = {"base": ["a", "b"], "head": ["a", "b"]}
    rounds = schedule(names, 3, 4, seed=1, single={"b"})
    for each in rounds:
        counts = Counter((step.benchmark, step.side) for step in each.executions)
        assert counts == {("a", "base"): 4, ("a", "head"): 4, ("b", "base"): 1, ("b", "head"): 1}
    orders = [step.order for each in rounds for step in each.executions]
    assert orders == list(range(30))
    # what is drawn for the others does not change
    plain = [s.seed for each in schedule(names, 3, 4, seed=1) for s in each.executions if s.benchmark == "a"]
    assert [s.seed for each in rounds for s in each.executions if s.benchmark == "a"] == plain
    # what head alone has is executed once, what base alone has never
    rounds = schedule({"base": ["a", "gone"], "head": ["a", "new"]}, 3, 4, seed=9)
    steps = [step for each in rounds for step in each.executions]
    assert [(s.side, s.build, s.execution) for s in steps if s.benchmark == "new"] == [("head", 0, 0)]
    assert all(s.benchmark != "gone" for s in steps)
    assert [s.order for s in steps] == list(range(len(steps)))
    nothing_in_common = schedule({"base": ["a"], "head": []}, 2, 3, seed=0)
    assert [(len(each.builds), each.executions) for each in nothing_in_common] == [(2, ()), (2, ())]


def test_starts_take_turns_in_fours_of_which_each_side_has_two() -> None:
    steps = [s for each in schedule(both("a", "b"), 4, 5, seed=3, starts={"a": 20}) for s in each.executions]
    assert [step.order for step in steps] == list(range(len(steps)))
    of_a = [step for step in steps if step.benchmark == "a"]
    firsts = set()
    for at in range(0, len(of_a), 4):
        four = of_a[at : at + 4]
        sides = [step.side for step in four]
        assert sides in (["base", "head", "head", "base"], ["head", "base", "base", "head"])
        # neighbours have one number
        assert [step.execution for step in four] == [four[0].execution] * 2 + [four[0].execution + 1] * 2
        firsts.add(sides[0])
    assert firsts == {"base", "head"}
    for build in range(4):
        numbers = [step.execution for step in of_a if step.build == build and step.side == "head"]
        assert numbers == list(range(20))
    # a block of each goes before the next of any
    assert [step.benchmark for step in steps if step.build == 0].count("b") == 10
    assert len({(s.seed, s.padding) for s in of_a}) == len(of_a) // 2


def test_the_first_starts_are_blocks_that_no_count_changes() -> None:
    found = {}
    for count in (10, 13, 50, 200):
        rounds = schedule(both("a", "b"), 3, 5, seed=3, starts={"a": count}, first={"a": (1, 10)})
        assert [each.first for each in rounds] == [(4, 24), (), ()]
        found[count] = rounds[0].executions[:24]
        for each in rounds:
            steps = [step for step in each.executions if step.benchmark == "a"]
            assert [step.execution for step in steps if step.side == "base"] == list(range(count))
            assert sum(step.benchmark == "b" for step in each.executions) == 10
        steps = [step for each in rounds for step in each.executions]
        assert [step.order for step in steps] == list(range(len(steps)))
    assert len(set(found.values())) == 1
    assert [step.benchmark for step in found[10]].count("a") == 20
    # a round that has no room for these goes on from where the first of them ends
    few = schedule(both("a", "b"), 3, 5, seed=3, starts={"a": 3}, first={"a": (1, 10)})
    assert few[0].executions[:4] == found[10][:4]
    assert [Counter(step.benchmark for step in each.executions) for each in few] == 3 * [Counter(a=6, b=10)]


def test_starts_are_shared_evenly_by_the_blocks_of_a_round() -> None:
    steps = schedule(both("a", "b"), 2, 5, seed=3, starts={"a": 12})[1].executions
    sizes = [len([*own]) // 2 for name, own in groupby(steps, lambda step: step.benchmark) if name == "a"]
    assert sum(sizes) == 12
    # two blocks may follow each other
    assert max(sizes) <= 6
    # a four of a block with an odd number of starts goes on in the next one
    sides = [step.side for step in schedule(both("a"), 1, 4, seed=5, starts={"a": 4})[0].executions]
    assert all(sides[at] == sides[at + 3] != sides[at + 1] == sides[at + 2] for at in (0, 4))
    one = schedule(both("a"), 2, 1, seed=3, starts={"a": 30}, first={"a": (1, 10)})
    assert [len(each.executions) for each in one] == [60, 60]


MAKE = BuildTable(command="make OPT={opt}")


def planned(*sizes: int, side: bool = False, opt: FactorTable | None = None) -> tuple[PlannedTreatment, ...]:
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
    assert lines == DESIGNED


DESIGNED: list[list[tuple[object, ...]]] = [
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
