from pathlib import Path

import pytest

from gate.formats.callgrind import instructions
from gate.formats.parts.output import OutputError

DATA = Path(__file__).parents[2] / "data" / "callgrind"
HEAD = b"# callgrind format\nversion: 1\nevents: Ir\n"


def test_the_parts_of_a_process_that_forks() -> None:
    profiles = [(DATA / f"{name}.txt").read_bytes() for name in ("parent-1", "parent-2", "child")]
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
