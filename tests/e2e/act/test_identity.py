"""Legs of a matrix under the real workflow runner: no leg's result is another's."""

from __future__ import annotations

import json
import sys

import pytest

from tests.e2e.act.consumer import Consumer
from tests.e2e.act.runner import Act
from tests.support.forge import FakeGitHub

# by day tests/gate/commands/action/test_identity.py runs the steps of such legs
pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend, pytest.mark.nightly]

MATRIX = """\
name: perfgate
on: pull_request
permissions: {contents: read, pull-requests: write, statuses: write}
jobs:
  bench:
    runs-on: self-hosted
    strategy:
      fail-fast: false
      matrix: {include: [{threshold: "5%", leg: linux-5}, {threshold: "90%", leg: linux-90}]}
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with: {fetch-depth: 0, persist-credentials: false}
      - uses: acme/perfgate@v1
        with: INPUTS
  last:
    runs-on: self-hosted
    needs: bench
    if: ${{ always() }}
    steps:
      - run: "true"
"""


def legs(**inputs: str) -> str:
    given = {
        "perfgate-path": sys.prefix,
        "set": "gate.threshold=${{ matrix.threshold }}",
        "status": "true",
        **inputs,
    }
    return MATRIX.replace("INPUTS", json.dumps(given))


def test_each_leg_has_a_name_of_its_own(act: Act, consumer: Consumer, github: FakeGitHub) -> None:
    change = consumer.change(1.3)
    # this runner does not know the matrix inside of an action, as GitHub's does
    ran = act.run(consumer.top, change.event("opened"), legs(id="${{ matrix.leg }}"))
    assert ran.exit == 1, ran.log
    states = {each["context"]: each["state"] for each in github.statuses}
    assert sorted(states.values()) == ["failure", "success"], ran.log
    assert all(name.startswith("perfgate/") and "linux" in name for name in states)
    assert len(github.comments) == 1, "the leg that passes needs none"
    names = {each.name for each in github.artifacts}
    assert len(names) == 4 == len(github.artifacts)
    assert github.violations == []
