"""How builds were made, in words."""

from __future__ import annotations

import typing
from typing import Any

import pytest

from gate.model import Build
from gate.model.records import FullBuilds, FullKind
from gate.words.builds import say_builds, say_why


def build(number: int, seconds: float | None, **more: Any) -> Build:
    return Build(side="head", build=number, seconds=seconds, **more)


def test_links_instead_of_builds() -> None:
    builds = [build(0, 50.0), build(1, 0.4, relinked=True), build(2, 0.3, relinked=True), build(3, 0.3, relinked=True)]
    said = "head: 3 builds linked again what the first one had compiled: 300 ms instead of 50 s"
    assert say_builds("head", builds) == said


def test_why_every_build_is_a_full_one() -> None:
    full = FullBuilds(kind="not-linked", path="out/app")
    assert say_builds("base", [build(0, 50.0, full=full), build(1, 49.0)]) == (
        "base: every build ran the build command, because out/app is not what a linker wrote "
        "(a later step changed it, or another tool made it)"
    )


def test_a_link_that_failed_on_the_way() -> None:
    failed = build(2, 51.0, full=FullBuilds(kind="failed", path="app"))
    assert say_builds("head", [build(0, 49.0), build(1, 0.3, relinked=True), failed]) == (
        "head: 1 build linked again what the first one had compiled: 300 ms instead of 50 s; "
        "every later build ran the build command, because linking app again failed"
    )


def test_what_is_unknown_is_not_said() -> None:
    assert say_builds("head", []) == ""
    assert say_builds("head", [build(0, None), build(1, None)]) == ""
    assert say_builds("head", [build(0, 1.0, full=FullBuilds(kind="of-a-newer-program"))]) == ""


@pytest.mark.parametrize("kind", typing.get_args(FullKind))
def test_each_reason_has_words(kind: str) -> None:
    assert "{" not in say_why(FullBuilds(kind=kind))
    assert len(say_why(FullBuilds(kind=kind))) > 10
    assert "\x1b" not in say_why(FullBuilds(kind=kind, path="a\x1bb{0}"))
