"""Treatments of a design, what each gives to benchmarks, builds and jobs, and how replicates are spread over rounds."""

import itertools
from typing import Any

import pytest

from gate.cli.option_values import Shard
from gate.config.shards import JobPart, names_in, part_of, part_warnings, session_seed
from gate.config.study import Load, Service, Setting, Study
from gate.config.treatments import (
    PlannedTreatment,
    StudyJob,
    applied,
    build_command,
    build_environment,
    builds_of,
    environment,
    jobs,
    measured_by,
    model_factors,
    shares_of,
    spread,
    treatments,
)
from gate.config.types import Benchmark, Builds, BuildTable, Plan
from gate.model import UserError
from gate.model.study import Factor
from tests.gate.config.reading import study
from tests.support.warned import texts


def planned(found: Study, *builds: BuildTable) -> tuple[PlannedTreatment, ...]:
    return treatments(found, *(builds or (BuildTable(),)))


THREE = '[study.factor]\nclients = [1, 8]\nrate = [2, 0.5, 1]\nload = ["idle", "busy"]\n'
LISTED = (
    f"{THREE}[study]\ntreatments = ["
    '{load = "busy", rate = 1.0, clients = 8}, {clients = 1, rate = 2, load = "busy"}, {clients = 1, rate = 2, load = "idle"}]\n'
)
SIDED = '[study.factor]\na = [1, 2]\nside = ["base", "head"]\nb = ["x", "y"]'


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # the last factor changes fastest, settings in the order of the file
        (THREE, [("head", *settings) for settings in itertools.product([1, 8], [2, 0.5, 1], ["idle", "busy"])]),
        # side is no setting of an execution
        (SIDED, [(side, a, b) for a in (1, 2) for side in ("base", "head") for b in ("x", "y")]),
        # every treatment with all settings of an entry is excluded
        (
            f'{THREE}[study]\nexclude = [{{clients = 8.0, load = "busy"}}, {{rate = 0.5}}]',
            [("head", 1, rate, load) for rate in (2, 1) for load in ("idle", "busy")]
            + [("head", 8, rate, "idle") for rate in (2, 1)],
        ),
        # listed ones are sorted, and as the factors have them
        (LISTED, [("head", 1, 2, "idle"), ("head", 1, 2, "busy"), ("head", 8, 1, "busy")]),
        (f'{LISTED}exclude = [{{load = "idle"}}]', [("head", 1, 2, "busy"), ("head", 8, 1, "busy")]),
    ],
)
def test_treatments_in_standard_order(text: str, rows: list[tuple[object, ...]]) -> None:
    found = planned(study(text))
    assert [(each.side, *each.settings.values()) for each in found] == rows
    assert [each.number for each in found] == list(range(len(rows)))
    names = ["a", "b"] if text == SIDED else ["clients", "rate", "load"]
    assert [list(each.settings) for each in found] == [names] * len(rows)
    # 1.0 in a list stands for the factor's own 1
    assert all(isinstance(each, float) is (each == 0.5) for one in found for each in one.settings.values())


def test_a_few_treatments_of_many_factors_are_found_at_once() -> None:
    factors = "\n".join(f"f{i} = [1, 2]" for i in range(60))
    listed = ", ".join("{" + ", ".join(f"f{i} = {1 + (i == j)}" for i in range(60)) + "}" for j in range(3))
    assert len(planned(study(f"[study]\ntreatments = [{listed}]\n[study.factor]\n{factors}"))) == 3


BUILT = """
[study.factor]
clients = [1, 8]
side = ["base", "head"]
[study.factor.opt]
O2 = { build_env = { CFLAGS = "-O2" } }
O3 = { value = "-O3 -g" }
[study.factor.boot]
first = { session = 0 }
second = { session = 1 }
"""


def test_what_a_build_depends_on_and_is_built_with() -> None:
    found = study(BUILT)
    assert [dict(each.building) for each in planned(found)][:4:2] == [{"opt": "O2"}, {"opt": "O3"}]
    # side is no part of it, since every build is of one side
    named = BuildTable(command=["make", "{clients}", "{boot}", "{side}"])
    last = planned(found, named)[-1]
    assert last.building == {"clients": 8, "opt": "O3", "boot": "second"}
    # what either side's [build] names
    assert planned(found, BuildTable(), named) == planned(found, named)
    assert build_environment(found, {"opt": "O2"}) == {"CFLAGS": "-O2", "PERFGATE_FACTOR_OPT": "O2"}
    assert build_environment(found, {"opt": "O3"}) == {"PERFGATE_FACTOR_OPT": "-O3 -g"}
    assert build_environment(found, {}) == {}
    settings: dict[str, Setting] = {"opt": "O3", "clients": 8}
    text = BuildTable(command="make CFLAGS={opt} N={clients} SEED={seed} ${HOME} {boot}")
    assert build_command(text, found, settings).command == "make CFLAGS='-O3 -g' N=8 SEED={seed} ${HOME} {boot}"
    words = build_command(BuildTable(command=["make", "CFLAGS={opt}"]), found, settings).command
    assert words == ["make", "CFLAGS=-O3 -g"]
    assert build_command(BuildTable(setup="{opt}"), found, settings) == BuildTable(setup="{opt}")


def test_the_factors_of_the_model() -> None:
    found = study(BUILT)
    settings: dict[str, list[Setting]] = {"clients": [1, 8], "side": ["base", "head"], "opt": ["O2", "O3"]}
    settings["boot"] = ["first", "second"]
    for command, varies in ((None, "execution"), ("make {clients} {boot}", "build")):
        levels: list[Any] = [varies, "build", "build", "session"]
        assert model_factors(found, BuildTable(), BuildTable(command=command)) == [
            Factor(name=name, settings=own, varies=level)
            for (name, own), level in zip(settings.items(), levels, strict=True)
        ]


GIVEN = """
[study.factor]
clients = [1, 8]
name = ["plain", "it's {clients}"]
[study.factor.sched]
other = {}
fifo = { value = "SCHED_FIFO", prefix = ["chrt", "-f", "{clients}"], env = { X = "1" }, args = ["--rt", "{output}"], cpus = "0" }
[study.factor.numa]
any = {}
near = { prefix = ["numactl", "--localalloc"], args = ["--near"], env = { Y = "2", X_Y = "3" } }
[study.factor.beside]
own = {}
other = { service = { command = "serve {clients} {port}", ready = "http://localhost:{port}/{clients}" }, load = { command = ["busy", "{name}"], cpus = "1" } }
"""


def at(found: Study, **settings: str | int) -> PlannedTreatment:
    first = {name: next(iter(table)) for name, table in found.factor.items()}
    return PlannedTreatment(0, "head", {**first, **settings}, {})


def bench(command: str | list[str], **more: Any) -> Benchmark:
    return Benchmark(name="b", command=command, **more)


QUOTED = "'it'\"'\"'s {clients}'"
OWN = bench(
    "x", service=Service(command="own {name}", ready="log:{name} is up"), load=Load(command="load {clients}"), cpus="3",
)  # fmt: skip


@pytest.mark.parametrize(
    ("benchmark", "settings", "expected"),
    [
        # a list gets words before and behind in the order of the factors
        (
            bench(["./b", "{sched}", "{clients}", "{name}", "{seed}", "{other}"]),
            {},
            bench(["./b", "other", "1", "plain", "{seed}", "{other}"]),
        ),
        (
            bench(["./b", "{sched}", "{clients}", "{name}", "{seed}", "{other}"]),
            {"clients": 8, "sched": "fifo", "numa": "near", "name": "it's {clients}"},
            bench(
                [
                    *("chrt", "-f", "8", "numactl", "--localalloc"),
                    # a value is replaced once: the {clients} in it stays
                    *("./b", "SCHED_FIFO", "8", "it's {clients}", "{seed}", "{other}"),
                    *("--rt", "{output}", "--near"),
                ],
                cpus="0",
            ),
        ),
        # values are quoted in strings
        (bench("./b {name} {clients} ${name}"), {"name": "it's {clients}"}, bench(f"./b {QUOTED} 1 ${QUOTED}")),
        # service and load take the place of the benchmark's own
        (
            OWN,
            {"clients": 8, "name": "it's {clients}"},
            bench(
                "x",
                service=Service(command=f"own {QUOTED}", ready="log:it's {clients} is up"),
                load=Load(command="load 8"),
                cpus="3",
            ),
        ),
        (
            OWN,
            {"clients": 8, "beside": "other", "sched": "fifo"},
            bench(
                "chrt -f 8 x --rt {output}",
                service=Service(command="serve 8 {port}", ready="http://localhost:{port}/8"),
                load=Load(command=["busy", "plain"], cpus="1"),
                cpus="0",
            ),
        ),
    ],
)
def test_what_a_treatment_makes(benchmark: Benchmark, settings: dict[str, str | int], expected: Benchmark) -> None:
    found = study(GIVEN)
    assert applied(benchmark, found, at(found, **settings)) == expected


def test_what_executions_see() -> None:
    found = study(GIVEN + "[study.factor.a-b]\nx = {}\ny = {}")
    factors = {"CLIENTS": "8", "NAME": "plain", "SCHED": "SCHED_FIFO", "NUMA": "near", "BESIDE": "own", "A_B": "x"}
    assert environment(found, at(found, sched="fifo", numa="near", clients=8)) == {
        "X": "1",
        "Y": "2",
        "X_Y": "3",
        **{f"PERFGATE_FACTOR_{name}": value for name, value in factors.items()},
    }


BOUND = """
[study.factor]
clients = [1, 8]
[study.factor.boot]
first = { session = 0 }
later = { session = [1, 3] }
"""
RUNNERS = """
[study.factor]
clients = [1, 8, 64]
[study.factor.machine]
old = { runner = "core2" }
new = { runner = ["self-hosted", "xeon"] }
"""


@pytest.mark.parametrize(
    ("text", "session", "runner", "numbers"),
    [
        (THREE, None, None, list(range(12))),
        (THREE, 5, "any", list(range(12))),
        (BOUND, None, None, [0, 2]),
        (BOUND, 0, None, [0, 2]),
        (BOUND, 1, "any", [1, 3]),
        (BOUND, 2, None, []),
        (BOUND, 3, None, [1, 3]),
        (RUNNERS, None, None, []),
        (RUNNERS, 7, "core2", [0, 2, 4]),
        (RUNNERS, 0, "self-hosted, xeon", [1, 3, 5]),
        (RUNNERS, 0, "xeon", []),
    ],
)
def test_what_a_job_measures(text: str, session: int | None, runner: str | None, numbers: list[int]) -> None:
    found = study(text)
    assert [each.number for each in measured_by(found, planned(found), session, runner)] == numbers


XEON = ["self-hosted", "xeon"]


@pytest.mark.parametrize(
    ("text", "sessions", "expected"),
    [
        (THREE, 1, [StudyJob(0, 1, None, 12)]),
        (THREE, 2, [StudyJob(0, 2, None, 12), StudyJob(1, 2, None, 12)]),
        # as many as settings name; nothing is measured in session 2
        (BOUND, 1, [StudyJob(0, 4, None, 2), StudyJob(1, 4, None, 2), StudyJob(3, 4, None, 2)]),
        (
            RUNNERS,
            2,
            [StudyJob(0, 4, "core2", 3), StudyJob(1, 4, "core2", 3), StudyJob(2, 4, XEON, 3), StudyJob(3, 4, XEON, 3)],
        ),
        (f'{RUNNERS}[study]\nexclude = [{{machine = "old"}}]', 1, [StudyJob(0, 1, XEON, 3)]),
        (
            RUNNERS + BOUND.split("8]\n")[1],
            1,
            [StudyJob(session, 4, runner, 3) for runner in ("core2", XEON) for session in (0, 1, 3)],
        ),
    ],
)
def test_the_jobs_of_a_matrix(text: str, sessions: int, expected: list[StudyJob]) -> None:
    found = study(text)
    laid = jobs(found, planned(found), sessions)
    assert laid == expected
    # each treatment is measured by some job
    labels = [(job.session, ",".join(job.runner) if isinstance(job.runner, list) else job.runner) for job in laid]
    measured = {each.number for of in labels for each in measured_by(found, planned(found), *of)}
    assert measured == {each.number for each in planned(found)}


# --- replicates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replicates", "rounds", "wanted"),
    [(7, 1, (7,)), (7, 2, (4, 3)), (7, 5, (2, 2, 1, 1, 1)), (7, 9, (1,) * 7), (1, 1, (1,))],
)
def test_replicates_are_spread_evenly(replicates: int, rounds: int, wanted: tuple[int, ...]) -> None:
    assert spread(replicates, rounds) == wanted


def test_a_study_that_names_no_builds_has_at_most_five() -> None:
    for text, builds in (("replicates = 3", 3), ("replicates = 9", 5), ("replicates = 9\nbuilds = 9", 9), ("", 5)):
        assert builds_of(study(f"{THREE}[study]\n{text}")) == builds
    assert shares_of(Study(replicates=3)) == (1, 1, 1)
    assert shares_of(Study(replicates=12)) == (3, 3, 2, 2, 2)
    assert shares_of(Study(replicates=12, builds=2)) == (6, 6)


# --- which part of a gate a job measures ------------------------------------------------------------------------------


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
    assert part_of(Shard(1, 3), 1, None, two) == JobPart(Shard(1, 3), 1, 2)
    assert part_of(None, 2, 4, two) == JobPart(Shard(1, 1), 2, 4)
    assert part_of(Shard(3, 3), None, None, Plan()) == JobPart(Shard(3, 3), 0, 1)
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
