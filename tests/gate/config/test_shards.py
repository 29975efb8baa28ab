"""Which part of a gate a job measures."""

import pytest

from gate.cli.option_values import Shard
from gate.config.shards import Part, names_in, part_of, part_warnings, session_seed
from gate.config.types import Builds, Plan
from gate.model import UserError
from tests.support.warned import texts

NAMES = [f"suite-{k:02}" for k in range(11)]


def test_shards_are_even_and_hold_each_benchmark_once_by_the_names_alone() -> None:
    for of in range(1, 12):
        shards = [names_in(NAMES, Shard(number, of)) for number in range(1, of + 1)]
        sizes = [len(shard) for shard in shards]
        assert max(sizes) - min(sizes) <= 1 <= min(sizes)
        assert sorted(name for shard in shards for name in shard) == NAMES
    found = names_in(NAMES, Shard(2, 3))
    assert found == {"suite-01", "suite-04", "suite-07", "suite-10"}
    assert names_in([*reversed(NAMES), *NAMES], Shard(2, 3)) == found
    why = r"^--shard 1/12: both sides have 11 benchmarks together, too few for 12 shards"
    with pytest.raises(UserError, match=why):
        names_in(NAMES, Shard(1, 12))


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "1/257", "-1/3", "1/3/3", "1.0/3", "１/３", "1/0", "1 / 3"])
def test_a_bad_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a shard: write 1/3"):
        Shard.parse(text)
    assert str(Shard.parse("2/3")) == "2/3"


def test_which_part_is_meant_by_options_and_the_plan() -> None:
    several, two = Plan(shards=3, sessions=2), Plan(sessions=2)
    assert part_of(None, None, None, several) is None
    assert part_of(Shard(1, 1), 0, 1, several) is None
    assert part_of(Shard(1, 1), None, None, Plan()) is None
    assert part_of(Shard(1, 3), 1, None, two) == Part(Shard(1, 3), 1, 2)
    assert part_of(None, 2, 4, two) == Part(Shard(1, 1), 2, 4)
    assert part_of(Shard(3, 3), None, None, Plan()) == Part(Shard(3, 3), 0, 1)
    with pytest.raises(UserError, match=r"^--session 1: there is 1 session \(plan.sessions\)"):
        part_of(None, 1, None, Plan())
    with pytest.raises(UserError, match=r"^there are 2 sessions: say which one this is with --session 0 to 1$"):
        part_of(None, None, 2, Plan())


def test_no_session_repeats_the_layouts_of_another() -> None:
    seeds = [session_seed(7, session) for session in range(64)]
    assert seeds[0] == 7
    assert len(set(seeds)) == 64
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seeds == [session_seed(7, session) for session in range(64)]


def test_what_is_lost_is_said() -> None:
    (said,) = texts(part_warnings(Plan(builds=Builds(min=4, max=12))), "no-early-stop")
    assert said == "several jobs do not stop early: each measures up to 12 rounds, as its budget allows"
    assert part_warnings(Plan(builds=5)) == []
    # what nothing ends early is no longer than was usual
    assert texts(part_warnings(Plan(builds=Builds(min=4))), "no-early-stop") == [said]
    assert part_warnings(Plan(builds=Builds(min=20))) == []
