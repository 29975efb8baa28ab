"""Functions of base found again in head, under other names, files and lines."""

import pytest

from gate.explain.call_tree import is_project, match, plain
from gate.model.names import Side
from gate.model.profile import Frame, Profile, Stack


def profile(side: Side, *frames: Frame, below: int = 0) -> Profile:
    """The first function calls all others."""
    stacks = [Stack([below, index], 10.0) for index in range(1, len(frames))]
    return Profile(benchmark="b", side=side, profiler="perf", unit="samples", frames=list(frames), stacks=stacks)


def pairs(base: list[Frame], head: list[Frame]) -> set[tuple[str | None, str | None]]:
    main = Frame("main", "a.c")
    found = match(profile("base", main, *base), profile("head", main, *head)).functions
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


def test_names_that_are_brackets_stay_names() -> None:
    assert all(map(plain, ("operator<", "operator()", "operator->", "<lambda>", "(anonymous)", "f", "a < b")))


def test_what_is_one_function_and_what_is_two() -> None:
    overloads = [Frame("add(int)", "a.c"), Frame("add(double)", "a.c")]
    assert pairs(overloads, overloads) == {("add(int)", "add(int)"), ("add(double)", "add(double)")}
    # of another line or file it is the same, of one name in two files they are two
    assert pairs([Frame("f", "a.c", 10)], [Frame("f", "a.c", 99)]) == {("f", "f")}
    assert pairs([Frame("f", "a.c")], [Frame("f", "lib/a.c")]) == {("f", "f")}
    two = [Frame("init", "a.c"), Frame("init", "b.c")]
    main = Frame("main", "a.c")
    assert len(match(profile("base", main, *two), profile("head", main, *two)).functions) == 3


def test_what_is_the_projects_own() -> None:
    own = Frame("parse", "src/a.c"), Frame("<lambda>", "a.py")
    library = Frame("parse", "/lib/a.c"), Frame("malloc", "libc.so.6"), Frame("runtime.mallocgc", "/runtime/malloc.go")
    others = *library, Frame("parse", ""), Frame("[unknown]", "app"), Frame("f.<locals>.<listcomp>", "a.py")
    assert all(is_project(frame, files_known=True) for frame in own)
    assert not any(is_project(frame, files_known=True) for frame in others)
    # without any file the name has to do
    assert is_project(Frame("parse"), files_known=False)
    assert not is_project(Frame("strlen"), files_known=False)
