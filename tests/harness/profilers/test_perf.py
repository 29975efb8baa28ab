"""What perf script writes."""

import random
from pathlib import Path

import pytest

from gate.formats.parts.output import OutputError
from harness.profilers.native import plain_name
from harness.profilers.perf import parse

TEXT = (Path(__file__).parents[2] / "data" / "profilers" / "perf-6.1.187.txt").read_bytes()


def test_each_sample_counts_with_its_period() -> None:
    costs = parse(TEXT)
    assert sum(costs.values()) == TEXT.count(b"cpu-clock:u") * 2_004_008
    stack = max(costs, key=lambda s: costs[s])
    assert [frame.function for frame in stack[-3:]] == ["main", "mid", "leaf"]
    assert stack[-1].file == "burn"
    assert stack[0].function == "_start"


@pytest.mark.parametrize("text", [b"perf: error\n", b"123 cpu-clock:u: \n\tx y\n\n", b"99999999999999999999 c: \n\n"])
def test_what_is_something_else_is_refused(text: bytes) -> None:
    with pytest.raises(OutputError, match="cannot be read"):
        parse(text)


def test_mangled_text_is_read_or_refused() -> None:
    draw = random.Random(8)
    for _ in range(200):
        data = bytearray(TEXT)
        for _ in range(draw.randrange(1, 9)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            assert all(cost >= 0 for cost in parse(bytes(data)).values())
        except OutputError:
            continue


def test_an_inlined_function_is_of_the_file_that_holds_it() -> None:
    text = b"  2004008 cpu-clock:u: \n\t  10f8 checksum (inlined)\n\t  10f8 main (/tmp/project/app)\n\t  11a0 _start ([unknown])\n\n"
    (stack,) = parse(text)
    assert [(frame.function, frame.file) for frame in stack] == [("_start", ""), ("main", "app"), ("checksum", "app")]


def test_clones_of_a_function_have_its_name() -> None:
    assert plain_name("parse.constprop.0") == plain_name("parse.isra.0.cold") == plain_name("parse'2") == "parse"
    assert plain_name("pthread_create@@GLIBC_2.34") == "pthread_create"
    assert plain_name("std::vector<int>::push_back(int&&)") == "std::vector<int>::push_back(int&&)"
