"""The profiles of callgrind: own costs are exact, and nothing mangled is an error of ours."""

import gzip
import random
from pathlib import Path

import pytest

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from harness.profilers.callgrind import Arcs, Counted, add, drawn, spent
from harness.profilers.native import Places
from harness.profilers.profiler import Costs

DATA = Path(__file__).parents[2] / "data" / "profilers"
PROFILE = gzip.decompress((DATA / "callgrind-3.19.0.out.gz").read_bytes())
PROJECT = Places(Path("/tmp/project"))  # as in the data


def parse(data: bytes, places: Places) -> Counted:
    arcs = Arcs()
    add(data, arcs, places)
    return drawn(arcs)


def own(costs: Costs) -> dict[str, float]:
    found: dict[str, float] = {}
    for stack, cost in costs.items():
        found[stack[-1].function] = found.get(stack[-1].function, 0.0) + cost
    return found


def test_own_costs_add_up_to_callgrinds_total() -> None:
    total = int(next(line for line in PROFILE.split(b"\n") if line.startswith(b"totals:")).split()[1])
    costs = parse(PROFILE, PROJECT)
    assert sum(costs.values()) == pytest.approx(total)
    # twice is inlined into weigh, and counts as weigh
    assert {"weigh", "fib", "main"} <= own(costs).keys()
    assert "twice" not in own(costs)


def test_calls_are_counted_and_recursion_is_one_function() -> None:
    arcs = Arcs()
    add(PROFILE, arcs, PROJECT)
    counts = {frame.function: count for frame, count in arcs.counts.items()}
    assert counts["weigh"] == 11
    assert not any("'" in frame.function for frame in arcs.own)


def test_shares_of_callers_are_in_proportion() -> None:
    a, b, leaf, root = (Frame(name) for name in ("a", "b", "leaf", "root"))
    arcs = Arcs()
    arcs.own.update({root: 1.0, a: 2.0, b: 3.0, leaf: 8.0})
    arcs.calls[root].update({a: 8.0, b: 5.0})
    arcs.calls[a][leaf] = 6.0
    arcs.calls[b][leaf] = 2.0
    costs = drawn(arcs)
    assert costs[(root, a, leaf)] == pytest.approx(6.0)
    assert costs[(root, b, leaf)] == pytest.approx(2.0)
    assert sum(costs.values()) == pytest.approx(14.0)


def test_functions_that_call_each_other_keep_their_own_costs() -> None:
    even, odd, main = (Frame(name) for name in ("even", "odd", "main"))
    arcs = Arcs()
    arcs.own.update({even: 5.0, odd: 7.0, main: 1.0})
    arcs.calls[main][even] = 12.0
    arcs.calls[even][odd] = 11.0
    arcs.calls[odd][even] = 9.0
    assert own(drawn(arcs)) == pytest.approx({"even": 5.0, "odd": 7.0, "main": 1.0})


@pytest.mark.parametrize("data", [b"", b"\n", PROFILE[: len(PROFILE) // 2], b"events: Ir\nfn=(1) f\n1 x\ntotals: 3\n"])
def test_what_is_no_whole_profile_is_refused(data: bytes) -> None:
    with pytest.raises(OutputError):
        list(spent(data))


def test_mangled_profiles_are_read_or_refused() -> None:
    draw = random.Random(5)
    for _ in range(60):
        data = bytearray(PROFILE[-20_000:])
        for _ in range(draw.randrange(1, 40)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            costs = parse(bytes(data), PROJECT)
        except OutputError:
            continue
        assert all(cost >= 0 for cost in costs.values())
