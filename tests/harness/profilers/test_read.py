"""What profilers wrote: own costs are exact, stacks whole, and nothing mangled is an error of ours."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from harness.profilers import perf, pprof, python
from harness.profilers.callgrind import Arcs, Counted, add, chains, drawn
from harness.profilers.profiler import Costs, Places, plain_name

DATA = Path(__file__).parents[2] / "data" / "profilers"
PROFILE = gzip.decompress((DATA / "callgrind-3.19.0.out.gz").read_bytes())
INLINED = (DATA / "addr2line-2.40.txt").read_bytes()
BINARY = "/tmp/project/sort"  # as in the data
PROJECT = Places(Path(BINARY).parent)
TEXT = (DATA / "perf-6.1.187.txt").read_bytes()
PACKED = (DATA / "go-1.26.8.pprof").read_bytes()
PLACES = Places(DATA)


def parse(data: bytes, places: Places = PROJECT) -> Counted:
    arcs = Arcs()
    add(data, arcs, places, {})
    return drawn(arcs)


def of_go(data: bytes) -> Costs:
    return pprof.parse(data, PLACES)


def of_python(data: bytes) -> Costs:
    return python.parse(data, PLACES)


@pytest.mark.parametrize(
    ("read", "whole", "times"),
    [
        (parse, PROFILE[-20_000:], 60),
        (perf.parse, TEXT, 200),
        (of_go, gzip.decompress(PACKED), 300),
        (of_python, b"f main\t/p/main.py\t3\nf burn\t/p/burning.py\t2\ns 0.25 0 1\ns 0.5 0\n", 500),
    ],
    ids=["callgrind", "perf", "pprof", "python"],
)
def test_mangled_profiles_are_read_or_refused(read: Callable[[bytes], Costs], whole: bytes, times: int) -> None:
    draw, refused = random.Random(5), 0
    for _ in range(times):
        data = bytearray(whole[: draw.randrange(1, len(whole))] if draw.random() < 0.2 else whole)
        for _ in range(draw.randrange(1, 20)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            costs = read(bytes(data))
        except OutputError:
            refused += 1
            continue
        assert all(cost >= 0 for cost in costs.values())
    assert refused


NONE: dict[Callable[[bytes], Costs], list[bytes]] = {
    parse: [b"", b"\n", PROFILE[: len(PROFILE) // 2], b"events: Ir\nfn=(1) f\n1 x\ntotals: 3\n"],
    perf.parse: [b"perf: error\n", b"123 cpu-clock:u: \n\tx y\n\n", b"99999999999999999999 c: \n\n"],
    of_python: [b"s nan 0\n", b"f a\tb\ns inf 0\n", b"f a\tb\ns 1 -1\n", b"f a\tb\ns 1 1\n", b"x\n"],
}


@pytest.mark.parametrize(("read", "data"), [(read, data) for read, own in NONE.items() for data in own])
def test_what_no_profiler_writes_is_refused(read: Callable[[bytes], Costs], data: bytes) -> None:
    with pytest.raises(OutputError):
        read(data)


def own(costs: Costs) -> dict[str, float]:
    found: dict[str, float] = {}
    for stack, cost in costs.items():
        found[stack[-1].function] = found.get(stack[-1].function, 0.0) + cost
    return found


def test_own_costs_add_up_to_callgrinds_total_and_calls_are_counted() -> None:
    total = int(next(line for line in PROFILE.split(b"\n") if line.startswith(b"totals:")).split()[1])
    costs = parse(PROFILE, PROJECT)
    assert sum(costs.values()) == pytest.approx(total)
    # twice is inlined into weigh, and counts as weigh where nothing says so
    assert {"weigh", "fib", "main"} <= own(costs).keys()
    assert "twice" not in own(costs)
    arcs = Arcs()
    add(PROFILE, arcs, PROJECT, {})
    counts = {frame.function: count for frame, count in arcs.counts.items()}
    assert counts["weigh"] == 11
    assert not any("'" in frame.function for frame in arcs.own)


def test_an_inlined_function_has_its_own_cost() -> None:
    plain, arcs = own(parse(PROFILE, PROJECT)), Arcs()
    add(PROFILE, arcs, PROJECT, {BINARY: chains(INLINED)})
    found = own(drawn(arcs))
    assert found["twice"] > 0
    assert found["twice"] + found["weigh"] == pytest.approx(plain["weigh"])
    assert sum(found.values()) == pytest.approx(sum(plain.values()))
    stack = max((s for s in drawn(arcs) if s[-1].function == "twice"), key=lambda s: drawn(arcs)[s])
    assert [frame.function for frame in stack[-3:]] == ["both", "weigh", "twice"]
    assert stack[-1].file == "sort.c"


def test_mangled_lists_of_inlined_functions_are_read_or_refused() -> None:
    draw = random.Random(6)
    for _ in range(60):
        data = bytearray(INLINED)
        for _ in range(draw.randrange(1, 40)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            found = chains(bytes(data[draw.randrange(len(data)) :]))
        except OutputError:
            continue
        assert all(len(each) == 2 for chain in found.values() for each in chain)


def test_callers_have_shares_in_proportion_and_recursion_keeps_own_costs() -> None:
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
    even, odd, main = (Frame(name) for name in ("even", "odd", "main"))
    arcs = Arcs()
    arcs.own.update({even: 5.0, odd: 7.0, main: 1.0})
    arcs.calls[main][even] = 12.0
    arcs.calls[even][odd] = 11.0
    arcs.calls[odd][even] = 9.0
    assert own(drawn(arcs)) == pytest.approx({"even": 5.0, "odd": 7.0, "main": 1.0})


def test_samples_count_with_their_period_and_inlined_functions_are_of_the_file_that_holds_them() -> None:
    costs = perf.parse(TEXT)
    assert sum(costs.values()) == TEXT.count(b"cpu-clock:u") * 2_004_008
    stack = max(costs, key=lambda s: costs[s])
    assert [frame.function for frame in stack[-3:]] == ["main", "mid", "leaf"]
    assert stack[-1].file == "burn"
    assert stack[0].function == "_start"
    text = b"  2004008 cpu-clock:u: \n\t  10f8 checksum (inlined)\n\t  10f8 main (/tmp/project/app)\n\t  11a0 _start ([unknown])\n\n"
    (stack,) = perf.parse(text)
    assert [(frame.function, frame.file) for frame in stack] == [("_start", ""), ("main", "app"), ("checksum", "app")]


def test_clones_of_a_function_have_its_name() -> None:
    assert plain_name("parse.constprop.0") == plain_name("parse.isra.0.cold") == plain_name("parse'2") == "parse"
    assert plain_name("pthread_create@@GLIBC_2.34") == "pthread_create"
    assert plain_name("std::vector<int>::push_back(int&&)") == "std::vector<int>::push_back(int&&)"


def test_seconds_are_those_of_go_tool_pprof_and_stacks_begin_outside() -> None:
    # go tool pprof -top: "Total samples = 580ms", 120 ms of Hash and 140 ms of the preemption that it is taken for
    costs = of_go(PACKED)
    assert sum(costs.values()) == pytest.approx(0.58)
    of_hash = sum(cost for stack, cost in costs.items() if stack[-1].function == "example.com/words.Hash")
    assert 0.12 <= of_hash <= 0.26
    assert not any(stack[-1].function.startswith("runtime.asyncPreempt") for stack in costs if len(stack) > 1)
    stack = next(s for s in of_go(PACKED) if s[-1].function == "example.com/words.Hash")
    names = [frame.function for frame in stack]
    assert names[-3:] == ["example.com/words.BenchmarkCount.func1", "example.com/words.Count", "example.com/words.Hash"]
    assert names[0] == "testing.(*B).launch"
    assert of_go(gzip.decompress(PACKED)) == of_go(PACKED)


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.profilers.profiler.MOST_OUTPUT", 1 << 16)
    with pytest.raises(OutputError, match="cannot be read"):
        of_go(gzip.compress(bytes(1 << 22)))
