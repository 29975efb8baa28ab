"""Whether both sides of a round were laid out alike: by the config, and by the order of Go's functions."""

from __future__ import annotations

from typing import Any

from gate.config.types import BuildTable, Config
from gate.evidence.sameness import layouts_of, shuffled
from gate.model import SIDES, Build, Layouts


def builds(base: str, head: str, **more: Any) -> list[Build]:
    """A build of each side a round, with the layouts that the letters name; "." is unknown."""
    return [
        Build(side=side, build=number, seed=number, layout=None if letter == "." else letter, **more)
        for side, letters in zip(SIDES, (base, head), strict=True)
        for number, letter in enumerate(letters)
    ]


def config(layouts: Layouts = "common") -> Config:
    return Config(build=BuildTable(layouts=layouts))


def test_one_order_on_both_sides_of_a_round() -> None:
    assert shuffled(builds("abc", "abc")) == "common"
    assert layouts_of(config(), builds("abc", "abc")) == "common"


def test_a_function_more_draws_another_order() -> None:
    found = builds("abc", "xyz")
    assert shuffled(found) == "independent"
    assert layouts_of(config(layouts="common"), found) == "independent"


def test_orders_drawn_apart_as_configured() -> None:
    base, head = builds("abc", ""), builds("", "xyz")
    apart = [*base, *(Build(side="head", build=b.build, seed=9 + n, layout=b.layout) for n, b in enumerate(head))]
    assert shuffled(apart) == "independent"
    assert layouts_of(config(layouts="independent"), builds("abc", "abc")) == "independent"


def test_what_is_not_shuffled_says_nothing_of_layouts() -> None:
    # a Go program whose own -ldflags replace perfgate's
    for found in (
        builds("aaa", "aaa"),
        builds("aaa", "bbb"),
        builds("a", "b"),
        builds("...", "..."),
        builds("abc", ""),
    ):
        assert shuffled(found) is None
        assert layouts_of(config(), found) == "common"
    assert layouts_of(None, []) is None


def test_builds_of_other_settings_are_no_shuffle() -> None:
    found = [*builds("aa", "xx", factors={"flag": 1}), *builds("bb", "yy", factors={"flag": 2})]
    assert shuffled(found) is None
    assert shuffled([*found, *builds("cd", "cd", factors={"flag": 3})]) == "independent"
