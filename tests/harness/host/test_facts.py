"""What is known of the machine, and that only one gate measures on it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gate.model.warnings.setup import Differing
from harness.host.facts import UNKNOWN, Facts, cpu_model, differences, facts, fingerprint, unsupported_platform

ROOT = Path(__file__).parents[3]


def test_facts_are_json_and_complete() -> None:
    known = facts()
    assert json.loads(json.dumps(known)) == known
    assert set(known) == {
        "os",
        "kernel",
        "machine",
        "cpu",
        "cores",
        "affinity",
        "memory",
        "priority",
        "hostname",
        "python",
        "boot_id",
        "fingerprint",
    }
    assert all(value != "" for value in known.values())
    assert facts()["fingerprint"] == known["fingerprint"]


def test_a_system_without_nice_values_has_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getpriority")
    assert facts()["priority"] == 0


def test_the_fingerprint_knows_the_make_and_not_the_machine() -> None:
    known = facts() | {"cpu": "x", "cores": 8, "memory": 16 * 2**30}
    same = known | {"hostname": "other", "boot_id": "other", "kernel": "9", "python": "3.99", "affinity": 1}
    assert fingerprint(same) == fingerprint(known)
    assert fingerprint(known | {"memory": 16 * 2**30 - 2**28}) == fingerprint(known)
    changes: list[Facts] = [{"cpu": "y"}, {"cores": 4}, {"memory": 8 * 2**30}, {"machine": "z80"}, {"memory": UNKNOWN}]
    for change in changes:
        assert fingerprint(known | change) != fingerprint(known)


def test_the_fingerprint_is_the_one_that_histories_hold() -> None:
    # what was calibrated by an earlier perfgate stays usable: this hash does not change
    known: Facts = {"cpu": "x", "cores": 8, "memory": 16 * 2**30, "machine": "x86_64", "os": "Linux"}
    assert fingerprint(known) == "f46a24c003593beb4ec7b0d478741bb8ecfb42e788e9d4b87c4d3cf536667339"


@pytest.mark.parametrize(
    ("sold", "seen"),
    [(1, 0.93), (1, 1.0), (2, 1.91), (7, 6.76), (8, 7.5), (8, 7.75), (16, 15.49), (16, 15.51), (24, 23.45), (24, 23.55),
     (32, 30.6), (64, 62.49), (64, 62.51), (512, 503.4)],
)  # fmt: skip
def test_what_the_kernel_keeps_of_the_memory_is_no_other_machine(sold: int, seen: float) -> None:
    known = facts()
    assert fingerprint(known | {"memory": int(seen * 2**30)}) == fingerprint(known | {"memory": sold * 2**30})


def test_what_differs_between_two_machines_is_named() -> None:
    known = facts() | {"cpu": "x", "cores": 8, "memory": 16 * 2**30, "machine": "x86_64", "os": "Linux"}
    rebooted = known | {"boot_id": "other", "kernel": "9", "hostname": "other", "memory": 16 * 2**30 - 2**28}
    assert differences(known, rebooted) == []
    assert differences(known, known | {"cpu": "y", "memory": 31 * 2**30 + 4096}) == [
        Differing("cpu", "x", "y"),
        Differing("memory", "16 GiB", "32 GiB"),
    ]
    assert differences(known, known | {"cores": 4, "machine": "aarch64", "os": "Darwin"}) == [
        Differing("cores", "8", "4"),
        Differing("architecture", "x86_64", "aarch64"),
        Differing("system", "Linux", "Darwin"),
    ]
    assert differences({}, known)[2] == Differing("memory", "unknown", "16 GiB")


def test_differences_and_fingerprints_agree() -> None:
    known = facts()
    for change in (
        {},
        {"cpu": "y"},
        {"cores": 99},
        {"memory": 2**50},
        {"machine": "z80"},
        {"os": "x"},
        {"kernel": "x"},
    ):
        other = known | change
        assert (differences(known, other) == []) == (fingerprint(known) == fingerprint(other))


@pytest.mark.parametrize(
    ("text", "model"),
    [
        (
            "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC  9V74 80-Core\nbogomips\t: 5\n\n",
            "AMD EPYC 9V74 80-Core",
        ),
        (
            "processor\t: 0\nBogoMIPS\t: 50\nCPU implementer\t: 0x41\nCPU part\t: 0xd49\n",
            "ARM implementer 0x41 part 0xd49",
        ),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
    ],
)
def test_the_processors_name(text: str, model: str) -> None:
    assert cpu_model(text) == model


def test_only_windows_is_refused() -> None:
    assert unsupported_platform("linux") is None
    assert unsupported_platform("darwin") is None
    refused = unsupported_platform("win32")
    assert refused is not None
    assert "\n" not in refused
