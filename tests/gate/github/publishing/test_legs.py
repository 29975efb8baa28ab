"""Legs of a matrix: a readable word for the names of comment, status and artifacts, and never the same for two."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from gate.github.publishing.action_inputs import leg_of
from gate.github.publishing.request import id_of

TOP = Path("/top")


@pytest.mark.parametrize(
    ("matrix", "leg"),
    [
        (None, ""),
        ({}, ""),
        ({"os": "ubuntu-24.04", "python": "3.12"}, "ubuntu-24.04_3.12"),
        ({"version": 3.12, "debug": True, "n": 0}, "3.12_true_0"),
        ({"os": "linux"}, "linux"),
    ],
)
def test_a_leg_is_called_by_its_values(matrix: Any, leg: str) -> None:
    assert leg_of(json.dumps(matrix)) == leg


@pytest.mark.parametrize("nonsense", ["", "nonsense", "[1]", '"linux"', "3"])
def test_what_is_no_matrix_is_no_leg(nonsense: str) -> None:
    assert leg_of(nonsense) == ""


def test_no_two_legs_have_one_name() -> None:
    values: list[Any] = [
        *("x", "y", "x_y", "x y", "x-y", "X/Y", "perfgate", "", "ü", "x" * 70, "x" * 70 + "y"),
        *(1, "1 ", None, True, {"cc": "gcc", "v": 12}, {"cc": "gcc", "v": 13}, ["a", "b"]),
    ]
    legs = [{"a": one} for one in values] + [{"a": one, "b": two} for one, two in itertools.product(values, values)]
    names = [leg_of(json.dumps(leg)) for leg in legs]
    assert len(set(names)) == len(legs)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,60}", name) and name != "perfgate" for name in names)


def test_which_part_of_a_gate_is_measured_makes_no_other_gate() -> None:
    planned = {"shard": "1/2", "session": 0, "sessions": 3, "name": "shard 1 of 2, session 0"}
    parts = {"1/2", "0", "3"}
    assert leg_of(json.dumps(planned), parts) == ""
    assert leg_of(json.dumps({"os": "linux", **planned}), parts) == "linux"
    assert leg_of(json.dumps({"part": "1/2", "name": "linux"}), {"1/2"}) == "linux"
    assert leg_of(json.dumps(planned)) != "", "a check measures all of a gate, whatever its leg is called"


def test_the_leg_follows_the_folder_and_an_id_stands_alone() -> None:
    assert id_of("", TOP, TOP, None, "linux_3.12") == "linux_3.12"
    assert id_of("", TOP / "lib", TOP, None, "linux") == "lib_linux"
    assert id_of("mine", TOP / "lib", TOP, None, "linux") == "mine"
    long = [id_of("", TOP / ("f" * 50), TOP, None, leg) for leg in ("a" * 50, "a" * 49 + "b")]
    assert long[0] != long[1] and all(len(name) == 60 for name in long)
