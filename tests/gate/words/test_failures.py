"""The words of failures."""

from __future__ import annotations

import pytest

from gate.model import Failure
from gate.words.failures import sentence


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("", "gz (tool=gzipp) failed on head: exit 127"),
        ("\n", "gz (tool=gzipp) failed on head: exit 127"),
        ("cc x.c\nx.c:1:2: error: no\nmake: *** Error 1\n", "gz (tool=gzipp) failed on head: x.c:1:2: error: no"),
        ("first\nsh: gzipp: not found\n\n", "gz (tool=gzipp) failed on head: sh: gzipp: not found"),
    ],
)
def test_a_failure_is_named_with_the_error_that_it_wrote(stderr: str, said: str) -> None:
    failure = Failure(
        kind="execution", benchmark="gz", side="head", factors={"tool": "gzipp"}, status="exit 127", stderr=stderr
    )
    assert sentence(failure) == said


def test_what_another_build_overwrote_is_named_with_that_build() -> None:
    failure = Failure(
        kind="outside", benchmark="app", side="base", build=0, status="the build of head overwrote /x/app in round 1"
    )
    assert sentence(failure) == "app does not use what base built: the build of head overwrote /x/app in round 1"
