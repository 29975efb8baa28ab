"""Profiles of callgrind and cachegrind, and what callgrind prints."""

from functools import partial
from pathlib import Path

import pytest

from gate.formats.callgrind import instructions
from gate.formats.parts.output import OutputError
from gate.formats.parts.reading import Reading, read
from gate.formats.parts.source import Source
from tests.support.foreign import reading

of = partial(reading, "callgrind")
DATA = Path(__file__).parents[2] / "data/results/callgrind"


def counts(reading: Reading) -> dict[str, float]:
    return {name: metric.values[0] for name, metric in reading.measured[0].metrics.items()}


@pytest.mark.parametrize("name", ["plain.out", "plain.txt"])
def test_one_process_and_one_count(name: str) -> None:
    found = of(name)
    assert [(each.benchmark, each.execution) for each in found.measured] == [("tiny", 0)]
    assert counts(found) == {"instructions": 6002}
    metric = found.measured[0].metrics["instructions"]
    assert (metric.unit, metric.better, metric.exact) == ("", "lower", True)
    assert found.about.tool.startswith("callgrind")


def test_other_events_and_trailing_zeros() -> None:
    assert counts(of("caches.out")) == {
        "instructions": 6002, "Dr": 1000, "Dw": 1001, "I1mr": 1, "D1mr": 0, "D1mw": 1, "ILmr": 1, "DLmr": 0, "DLmw": 1,
        "Bc": 1000, "Bcm": 10, "Bi": 0, "Bim": 0,
    }  # fmt: skip
    assert counts(of("cachegrind.out"))["instructions"] == 6006


def test_a_fork_counts_to_its_parent() -> None:
    text = "==1== Command: a\n==2== Events    : Ir\n==2== Collected : 5\n==1== Events    : Ir\n==1== Collected : 7\n"
    assert counts(read(Source("x", None, text.encode()))) == {"instructions": 12}


def test_parts_are_summed_and_a_profile_that_is_cut_off_still_has_its_summary() -> None:
    data = (DATA / "plain.out").read_bytes()
    assert counts(read(Source("x", None, data + data))) == {"instructions": 12004}
    cut = data[: data.index(b"fn=")]
    assert counts(read(Source("x", None, cut))) == {"instructions": 6002}
    found = read(Source("x", None, data[: data.index(b"summary:")]))
    assert [(each.benchmark, each.status) for each in found.failed] == [
        ("tiny", "no totals: the file is cut off")
    ]  # fmt: skip


CAPTURED = Path(__file__).parents[2] / "data" / "callgrind"
HEAD = b"# callgrind format\nversion: 1\nevents: Ir\n"


def test_the_parts_of_a_process_that_forks() -> None:
    profiles = [(CAPTURED / f"{name}.txt").read_bytes() for name in ("parent-1", "parent-2", "child")]
    assert instructions(profiles) == 821618 + 1994 + 350780


def test_instructions_are_found_among_other_events() -> None:
    assert instructions([b"events: Dr Ir Dw\ntotals: 5 70 1\n", HEAD + b"totals: 2\n"]) == 72
    assert instructions([b"events: Dr Ir\ntotals: 5\n"]) == 0


@pytest.mark.parametrize(
    ("profiles", "why"),
    [
        ([], "callgrind wrote no profile"),
        ([HEAD + b"summary: 5\n1 2\n"], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: 5\n", b""], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: 82161"], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: " + b"1" * 5000 + b"\n"], "line 4: '1+…"),
        ([HEAD + b"totals: x\n"], "line 4: 'x' are no counts of events"),
        ([b"events: Dr\ntotals: 5\n"], r"a profile of callgrind holds no count of instructions \(Ir\)"),
    ],
)
def test_profiles_that_cannot_be_used(profiles: list[bytes], why: str) -> None:
    with pytest.raises(OutputError, match=rf"\A{why}\Z"):
        instructions(profiles)
