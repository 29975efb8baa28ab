"""Which functions an explanation names, and what it says that only moved or is noise."""

from typing import Any

import pytest

from gate.explain.call_tree import is_project, match, plain
from gate.explain.explain import MetricRatio, explain
from gate.model.names import Side
from gate.model.profile import Amounts, Candidate, Explanation, Frame, Profile, Stack

LIBRARY = ("memcmp", "malloc", "realloc", "strlen", "runtime.mallocgc", "{built-in method builtins.len}")


def profile(side: Side, spent: dict[str, float], **changes: Any) -> Profile:
    """Stacks such as "main>parse>memcmp"; "name@file" names another file than src/a.c."""
    names = list(dict.fromkeys(name for stack in spent for name in stack.split(">")))

    def frame(name: str) -> Frame:
        function, at, file = name.partition("@")
        return Frame(function, file if at else "" if name in LIBRARY else "src/a.c")

    stacks = [Stack([names.index(n) for n in stack.split(">")], cost) for stack, cost in spent.items()]
    fields: dict[str, Any] = {"profiler": "callgrind", "unit": "instructions"} | changes
    calls = fields.pop("calls", None)
    if calls is not None:
        fields["calls"] = [float(calls.get(name, 1)) for name in names]
    return Profile(benchmark="b", side=side, frames=[frame(name) for name in names], stacks=stacks, **fields)


def explained(
    base: dict[str, float], more: dict[str, float], measured: MetricRatio | None = None, **both: Any
) -> Explanation:
    """Explain what head spends in other stacks than base; None in calls of one side means those of both."""
    heads = {key.removeprefix("head_"): value for key, value in both.items() if key.startswith("head_")}
    shared = {key: value for key, value in both.items() if not key.startswith("head_")}
    return explain(profile("base", base, **shared), profile("head", base | more, **(shared | heads)), measured)


def names(found: Explanation) -> list[str]:
    """Those that add to the difference, and not only may."""
    return [each.frame.function for each in found.candidates if each.change > 1e-6]


def one(found: Explanation, name: str) -> Candidate:
    return next(each for each in found.candidates if each.frame.function == name)


BASE = {"main": 100.0, "main>parse": 400.0, "main>parse>lookup": 200.0, "main>print": 200.0}
BASE |= {"main>parse>lookup>memcmp": 100.0}


def test_the_function_that_spends_more_is_first_with_its_share() -> None:
    found = explained(BASE, {"main>parse": 700, "main>print": 210})
    assert names(found) == ["parse", "print"]
    first = one(found, "parse")
    assert first.change == 300 and first.share == pytest.approx(300 / 310)
    assert ([caller.function for caller in first.callers], first.inclusive) == (["main"], Amounts(700, 1000))


def test_a_library_function_counts_for_the_function_of_the_project_that_calls_it() -> None:
    built_in = "{built-in method builtins.len}"
    for name in ("strlen", "runtime.mallocgc", built_in, "memcpy@/string/memcpy.S", "f@libz.so.1"):
        found = explained(BASE, {f"main>parse>{name}": 500})
        assert names(found) == ["parse"]
        assert [part.frame.function for part in one(found, "parse").library] == [name.partition("@")[0]]
        assert one(found, "parse").own.change == 0


CALLS = {"main": 1, "parse": 10, "lookup": 100, "print": 10}
SLOWER_LOOKUP = {"main>parse>lookup": 400.0, "main>parse>lookup>memcmp": 200.0}


def test_a_function_that_is_called_more_often_counts_for_its_caller_up_to_where_it_began() -> None:
    found = explained(BASE, SLOWER_LOOKUP, calls=CALLS, head_calls=CALLS | {"lookup": 200})
    assert names(found)[0] == "parse"
    assert [(part.frame.function, part.change) for part in one(found, "parse").more] == [("lookup", 300)]
    assert one(found, "parse").change == pytest.approx(300)
    twice = {stack: 2 * cost for stack, cost in BASE.items() if "parse" in stack}
    found = explained(BASE, twice, calls=CALLS, head_calls=CALLS | {"parse": 20, "lookup": 200})
    assert names(found) == ["main"]
    assert one(found, "main").share == pytest.approx(1)
    # what is called as often became slower itself
    assert names(explained(BASE, SLOWER_LOOKUP, calls=CALLS)) == ["lookup"]


def test_without_counts_the_shape_shows_that_a_function_was_called_more_often() -> None:
    base = BASE | {"main>parse>lookup>hash": 150.0}
    found = explained(base, {stack: 2 * cost for stack, cost in base.items() if "lookup" in stack})
    assert names(found)[0] == "parse"
    # a guess: what is called stays among the first
    assert {each.frame.function for each in found.candidates[:3]} >= {"parse", "lookup"}
    # one part that grew alone is the culprit
    assert names(explained(base, {"main>parse>lookup>hash": 600.0}))[0] == "hash"


def test_without_counts_a_new_place_counts_for_its_caller_there_unless_base_may_have_missed_it() -> None:
    found = explained({"main>show>text": 300.0, "main>group": 500.0}, {"main>group>text": 200.0}, unit="samples")
    assert names(found) == ["group"]
    assert [part.frame.function for part in one(found, "group").more] == ["text"]
    more = {"main>group>text": 9.0, "main>show>text": 60.0}
    found = explained({"main>show>text": 20.0, "main>group": 500.0}, more, unit="samples")
    assert names(found) == ["text"]


def test_cost_that_moved_into_a_new_function_is_set_apart() -> None:
    found = explained(BASE, {"main>parse": 150.0, "main>parse>read": 255.0, "main>print": 260.0})
    (moved,) = found.moved
    assert ([p.frame.function for p in moved.sources], [p.frame.function for p in moved.targets]) == (
        ["parse"],
        ["read"],
    )
    assert moved.cost == pytest.approx(250) and moved.caller is not None and moved.caller.function == "parse"
    assert names(found)[0] == "print" and one(found, "print").share == pytest.approx(60 / 65)


def test_a_function_that_was_inlined_is_no_regression_of_its_caller() -> None:
    kept = {stack: cost for stack, cost in BASE.items() if "lookup" not in stack}
    found = explain(profile("base", BASE), profile("head", kept | {"main>parse": 700.0, "main>print": 250.0}))
    assert names(found) == ["print"]
    assert [part.frame.function for part in found.moved[0].sources] == ["lookup"]


def test_more_and_less_between_siblings_is_set_apart_only_where_it_cancels() -> None:
    base = BASE | {"main>parse>a": 300.0, "main>parse>b": 300.0}
    found = explained(base, {"main>parse>a": 500.0, "main>parse>b": 105.0, "main>print": 300.0})
    assert names(found)[0] == "print"
    (moved,) = found.moved
    assert ([p.frame.function for p in moved.sources], [p.frame.function for p in moved.targets]) == (["b"], ["a"])
    found = explained(base, {"main>parse>a": 600.0, "main>parse>b": 200.0})
    assert names(found) == ["a"]
    assert not found.moved


def test_recursion_is_counted_once() -> None:
    base = {"main": 100.0, "main>walk": 100.0, "main>walk>visit": 50.0, "main>walk>visit>walk": 100.0}
    found = explained(base | {"main>walk>visit>walk>visit": 50.0}, {"main>walk>visit>walk>visit": 250.0})
    first = one(found, "visit")
    assert (first.change, first.inclusive) == (200, Amounts(100, 300))


def test_a_changed_file_comes_first_of_two_alike() -> None:
    base = BASE | {"main>encode@src/b.c": 400.0}
    more = {"main>parse": 700.0, "main>encode@src/b.c": 690.0}
    assert names(explained(base, more))[0] == "parse"
    found = explained(base, more, head_changed=["src/b.c"])
    assert names(found)[0] == "encode"
    assert [each.in_diff for each in found.candidates][:2] == [True, False]
    assert {each.in_diff for each in explained(base, more).candidates} == {None}


def test_costs_are_set_to_one_operation() -> None:
    double = {stack: 2 * cost for stack, cost in BASE.items()}
    found = explain(profile("base", BASE, operations=10.0), profile("head", double, operations=20.0))
    assert not found.candidates and found.total.change == 0


def test_a_difference_of_a_few_samples_is_noise_and_counted_costs_have_none() -> None:
    base = {"main>a": 100.0, "main>b": 100.0}
    found = explained(base, {"main>a": 112.0}, unit="samples")
    assert found.noise and one(found, "a").noise
    certain = explained(base, {"main>a": 300.0}, unit="samples")
    assert not certain.noise and not one(certain, "a").noise
    assert not explained(base, {"main>a": 101.0}).noise


def test_the_totals_are_compared_with_what_was_measured() -> None:
    def agreement(ratio: float, low: float | None = None, high: float | None = None, unit: str = "s") -> str:
        measured = MetricRatio("time", unit, ratio, low or ratio, high or ratio)
        return explained(BASE, {"main>parse": 700.0}, measured).agreement

    assert agreement(1.3) == agreement(1.1) == "agrees"
    assert (agreement(2.5), agreement(0.8), agreement(1.4, unit="B")) == ("less", "opposite", "elsewhere")
    # within the measured interval it does not contradict it
    assert agreement(0.75, 0.7, 2.1) == agreement(1.9, 0.7, 2.1) == "agrees"
    # without a change it does not show one
    assert explained(BASE, {}, MetricRatio("time", "s", 1.4, 1.4, 1.4)).agreement == "less"
    assert explained(BASE, {}).agreement == "unknown"


def test_a_slower_machine_is_no_slower_function() -> None:
    base = {f"main>f{n}": 1.0 + n / 10 for n in range(12)} | {"main": 0.001}
    slower = {stack: 1.3 * cost for stack, cost in base.items()} | {"main>f3": 1.3 * 2 * base["main>f3"]}
    found = explained(base, slower, unit="s")
    assert names(found)[0] == "f3" and found.alike == pytest.approx(1.3)
    assert one(found, "f3").share == pytest.approx(1, abs=0.01)
    counted = explained(base, slower)
    assert counted.alike == pytest.approx(1.3) and not counted.left_alike


def test_lists_are_bounded_and_deep_stacks_read() -> None:
    base = {f"main>f{n}>g{m}": 1.0 for n in range(40) for m in range(30)}
    found = explained(base, {stack: 3.0 + n for n, stack in enumerate(base)})
    assert len(found.candidates) == 20 and found.left_out > 0
    deep = ">".join(["main", *(f"f{n}" for n in range(500))])
    assert names(explained({deep: 10.0}, {deep: 20.0}))[0] == "f499"


# --- which function of base is which of head --------------------------------------------------------------------------


def calling(side: Side, *frames: Frame) -> Profile:
    """The first function calls all others."""
    stacks = [Stack([0, index], 10.0) for index in range(1, len(frames))]
    return Profile(benchmark="b", side=side, profiler="perf", unit="samples", frames=list(frames), stacks=stacks)


def pairs(base: list[Frame], head: list[Frame]) -> set[tuple[str | None, str | None]]:
    main = Frame("main", "a.c")
    found, _ = match(calling("base", main, *base), calling("head", main, *head))
    return {(f.base.function if f.base else None, f.head.function if f.head else None) for f in found} - {
        ("main", "main")
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("json::parse::h0123456789abcdef", "json::parse::hfedcba9876543210"),
        ("std::sort<int*>(int*, int*)", "std::sort<long*>(long*, long*)"),
        ("parse(char const*)", "parse(char const*, bool)"),
        ("print.constprop.0", "print.constprop.1"),
        ("print", "print.isra.0"),
        ("main.run.func1", "main.run.func2"),
        ("main.(*T).Do", "main.T.Do"),
        ("pkg.Map[go.shape.int]", "pkg.Map[go.shape.string]"),
        ("app::run::{{closure}}", "app::run::{closure#0}"),
        ("walk [clone .cold]", "walk"),
    ],
)
def test_names_that_compilers_make_up(before: str, after: str) -> None:
    assert pairs([Frame(before, "a.c")], [Frame(after, "a.c")]) == {(before, after)}
    # brackets that are a name stay
    assert all(map(plain, ("operator<", "operator()", "operator->", "<lambda>", "(anonymous)", "f", "a < b")))


def test_what_is_one_function_and_what_is_two() -> None:
    overloads = [Frame("add(int)", "a.c"), Frame("add(double)", "a.c")]
    assert pairs(overloads, overloads) == {("add(int)", "add(int)"), ("add(double)", "add(double)")}
    # of another line or file it is the same, of one name in two files they are two
    assert pairs([Frame("f", "a.c", 10)], [Frame("f", "a.c", 99)]) == {("f", "f")}
    assert pairs([Frame("f", "a.c")], [Frame("f", "lib/a.c")]) == {("f", "f")}
    two = [Frame("init", "a.c"), Frame("init", "b.c")]
    main = Frame("main", "a.c")
    assert len(match(calling("base", main, *two), calling("head", main, *two))[0]) == 3


def test_what_is_the_projects_own() -> None:
    own = Frame("parse", "src/a.c"), Frame("<lambda>", "a.py")
    library = Frame("parse", "/lib/a.c"), Frame("malloc", "libc.so.6"), Frame("runtime.mallocgc", "/runtime/malloc.go")
    others = *library, Frame("parse", ""), Frame("[unknown]", "app"), Frame("f.<locals>.<listcomp>", "a.py")
    assert all(is_project(frame, files_known=True) for frame in own)
    assert not any(is_project(frame, files_known=True) for frame in others)
    # without any file the name has to do
    assert is_project(Frame("parse"), files_known=False)
    assert not is_project(Frame("strlen"), files_known=False)
