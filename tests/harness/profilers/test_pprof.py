"""The profiles of Go's test binaries."""

import gzip
import random
from pathlib import Path

import pytest

from gate.formats.parts.output import OutputError
from gate.model.profile import Frame
from harness.profilers.native import Places
from harness.profilers.pprof import parse

DATA = Path(__file__).parents[2] / "data" / "profilers"
PROFILE = (DATA / "go-1.26.8.pprof").read_bytes()
PLACES = Places(DATA)


def test_seconds_are_those_of_go_tool_pprof() -> None:
    # go tool pprof -top: "Total samples = 580ms", 120 ms of Hash and 140 ms of the preemption that it is taken for
    costs = parse(PROFILE, PLACES)
    assert sum(costs.values()) == pytest.approx(0.58)
    of_hash = sum(cost for stack, cost in costs.items() if stack[-1].function == "example.com/words.Hash")
    assert 0.12 <= of_hash <= 0.26
    assert not any(stack[-1].function.startswith("runtime.asyncPreempt") for stack in costs if len(stack) > 1)


def test_stacks_begin_outside_and_have_inlined_functions() -> None:
    stack = next(s for s in parse(PROFILE, PLACES) if s[-1].function == "example.com/words.Hash")
    names = [frame.function for frame in stack]
    assert names[-3:] == ["example.com/words.BenchmarkCount.func1", "example.com/words.Count", "example.com/words.Hash"]
    assert names[0] == "testing.(*B).launch"


def test_a_profile_that_is_not_packed_is_the_same() -> None:
    assert parse(gzip.decompress(PROFILE), PLACES) == parse(PROFILE, PLACES)


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.profilers.profiler.MOST_OUTPUT", 1 << 16)
    with pytest.raises(OutputError, match="cannot be read"):
        parse(gzip.compress(bytes(1 << 22)), PLACES)


def test_mangled_profiles_are_read_or_refused() -> None:
    draw, whole = random.Random(7), gzip.decompress(PROFILE)
    refused = 0
    for _ in range(300):
        data = bytearray(whole[: draw.randrange(1, len(whole))] if draw.random() < 0.3 else whole)
        for _ in range(draw.randrange(1, 20)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            costs = parse(bytes(data), PLACES)
        except OutputError:
            refused += 1
            continue
        assert all(cost >= 0 and all(isinstance(frame, Frame) for frame in stack) for stack, cost in costs.items())
    assert refused
