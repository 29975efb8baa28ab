"""Treatments of a design, and what each gives to benchmarks, builds and jobs."""

import itertools

import pytest

from gate.config.study import Load, Service, Setting, Study
from gate.config.treatments import (
    Job,
    Planned,
    applied,
    baseline,
    build_command,
    build_environment,
    builds_of,
    environment,
    jobs,
    measured_by,
    model_factors,
    treatments,
)
from gate.config.types import Benchmark, BuildTable, Config
from gate.model.study import Factor
from tests.gate.config.reading import config, study


def planned(found: Study, *builds: BuildTable) -> tuple[Planned, ...]:
    return treatments(found, *(builds or (BuildTable(),)))


def rows(found: Study) -> list[tuple[object, ...]]:
    return [(each.side, *each.settings.values()) for each in planned(found)]


THREE = '[study.factor]\nclients = [1, 8]\nrate = [2, 0.5, 1]\nload = ["idle", "busy"]\n'


def test_a_full_factorial_in_standard_order() -> None:
    found = planned(study(THREE))
    # the last factor changes fastest, settings in the order of the file
    expected = list(itertools.product([1, 8], [2, 0.5, 1], ["idle", "busy"]))
    assert [tuple(each.settings.values()) for each in found] == expected
    assert [each.number for each in found] == list(range(12))
    assert [list(each.settings) for each in found] == [["clients", "rate", "load"]] * 12
    assert {each.side for each in found} == {"head"}
    assert [type(setting) for setting in found[2].settings.values()] == [int, float, str]


def test_side_is_no_setting_of_an_execution() -> None:
    found = study('[study.factor]\na = [1, 2]\nside = ["base", "head"]\nb = ["x", "y"]')
    assert rows(found) == [
        ("base", 1, "x"), ("base", 1, "y"), ("head", 1, "x"), ("head", 1, "y"),
        ("base", 2, "x"), ("base", 2, "y"), ("head", 2, "x"), ("head", 2, "y"),
    ]  # fmt: skip


def test_every_treatment_with_all_settings_of_an_entry_is_excluded() -> None:
    found = study(f'{THREE}[study]\nexclude = [{{clients = 8.0, load = "busy"}}, {{rate = 0.5}}]')
    assert rows(found) == [
        ("head", 1, 2, "idle"), ("head", 1, 2, "busy"), ("head", 1, 1, "idle"), ("head", 1, 1, "busy"),
        ("head", 8, 2, "idle"), ("head", 8, 1, "idle"),
    ]  # fmt: skip
    assert [each.number for each in planned(found)] == list(range(6))


def test_listed_treatments_are_sorted_and_as_the_factors_have_them() -> None:
    listed = '[{load = "busy", rate = 1.0, clients = 8}, {clients = 1, rate = 2, load = "busy"}, {clients = 1, rate = 2, load = "idle"}]'
    found = study(f"{THREE}[study]\ntreatments = {listed}")
    assert rows(found) == [("head", 1, 2, "idle"), ("head", 1, 2, "busy"), ("head", 8, 1, "busy")]
    assert isinstance(planned(found)[2].settings["rate"], int)
    assert list(planned(found)[2].settings) == ["clients", "rate", "load"]
    excluded = study(f'{THREE}[study]\ntreatments = {listed}\nexclude = [{{load = "idle"}}]')
    assert rows(excluded) == [("head", 1, 2, "busy"), ("head", 8, 1, "busy")]


def test_a_few_treatments_of_many_factors_are_found_at_once() -> None:
    factors = "\n".join(f"f{i} = [1, 2]" for i in range(60))
    listed = ", ".join("{" + ", ".join(f"f{i} = {1 + (i == j)}" for i in range(60)) + "}" for j in range(3))
    assert len(planned(study(f"[study]\ntreatments = [{listed}]\n[study.factor]\n{factors}"))) == 3


def test_builds_by_default() -> None:
    for text, builds in (("replicates = 3", 3), ("replicates = 9", 5), ("replicates = 9\nbuilds = 9", 9), ("", 5)):
        assert builds_of(study(f"{THREE}[study]\n{text}")) == builds


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


def test_what_a_build_depends_on() -> None:
    found = study(BUILT)
    assert [dict(each.building) for each in planned(found)][:4:2] == [{"opt": "O2"}, {"opt": "O3"}]
    # side is no part of it, since every build is of one side
    named = BuildTable(command=["make", "{clients}", "{boot}", "{side}"])
    last = planned(found, named)[-1]
    assert last.building == {"clients": 8, "opt": "O3", "boot": "second"}
    # what either side's [build] names
    assert planned(found, BuildTable(), named) == planned(found, named)


def test_the_factors_of_the_model() -> None:
    plain = [
        Factor(name="clients", settings=[1, 8], varies="execution"),
        Factor(name="side", settings=["base", "head"], varies="build"),
        Factor(name="opt", settings=["O2", "O3"], varies="build"),
        Factor(name="boot", settings=["first", "second"], varies="session"),
    ]
    found = study(BUILT)
    assert model_factors(found, BuildTable()) == plain
    built = model_factors(found, BuildTable(), BuildTable(command="make {clients} {boot}"))
    assert [factor.varies for factor in built] == ["build", "build", "build", "session"]


def test_builds_at_settings() -> None:
    found = study(BUILT)
    assert build_environment(found, {"opt": "O2"}) == {"CFLAGS": "-O2", "PERFGATE_FACTOR_OPT": "O2"}
    assert build_environment(found, {"opt": "O3"}) == {"PERFGATE_FACTOR_OPT": "-O3 -g"}
    assert build_environment(found, {}) == {}
    settings: dict[str, Setting] = {"opt": "O3", "clients": 8}
    text = BuildTable(command="make CFLAGS={opt} N={clients} SEED={seed} ${HOME} {boot}")
    assert build_command(text, found, settings).command == "make CFLAGS='-O3 -g' N=8 SEED={seed} ${HOME} {boot}"
    assert build_command(BuildTable(command=["make", "CFLAGS={opt}"]), found, settings).command == [
        "make",
        "CFLAGS=-O3 -g",
    ]
    assert build_command(BuildTable(setup="{opt}"), found, settings) == BuildTable(setup="{opt}")


GIVEN = """
[study.factor]
clients = [1, 8]
name = ["plain", "it's {clients}"]
[study.factor.sched]
other = {}
fifo = { value = "SCHED_FIFO", prefix = ["chrt", "-f", "{clients}"], env = { X = "1" }, args = ["--rt", "{output}"], cpus = "0", priority = 5 }
[study.factor.numa]
any = {}
near = { prefix = ["numactl", "--localalloc"], args = ["--near"], env = { Y = "2", X_Y = "3" } }
[study.factor.beside]
own = {}
other = { service = { command = "serve {clients} {port}", ready = "http://localhost:{port}/{clients}" }, load = { command = ["busy", "{name}"], cpus = "1" } }
"""


def at(found: Study, **settings: str | int) -> Planned:
    first = {name: next(iter(table)) for name, table in found.factor.items()}
    return Planned(0, "head", {**first, **settings}, {})


def test_a_list_gets_words_before_and_behind_in_the_order_of_the_factors() -> None:
    found = study(GIVEN)
    benchmark = Benchmark(name="b", command=["./b", "{sched}", "{clients}", "{name}", "{seed}", "{other}"])
    assert applied(benchmark, found, at(found)) == Benchmark(
        name="b", command=["./b", "other", "1", "plain", "{seed}", "{other}"]
    )
    both = applied(benchmark, found, at(found, clients=8, sched="fifo", numa="near", name="it's {clients}"))
    assert both == Benchmark(
        name="b",
        command=[
            *("chrt", "-f", "8", "numactl", "--localalloc"),
            # a value is replaced once: the {clients} in it stays
            *("./b", "SCHED_FIFO", "8", "it's {clients}", "{seed}", "{other}"),
            *("--rt", "{output}", "--near"),
        ],
        cpus="0",
        priority=5,
    )


def test_values_are_quoted_in_strings() -> None:
    found = study(GIVEN)
    benchmark = Benchmark(name="b", command="./b {name} {clients} ${name}")
    assert applied(benchmark, found, at(found, name="it's {clients}")).command == (
        "./b 'it'\"'\"'s {clients}' 1 $'it'\"'\"'s {clients}'"
    )


def test_service_and_load_take_the_place_of_the_benchmarks_own() -> None:
    found = study(GIVEN)
    own = Benchmark(
        name="b",
        command="x",
        service=Service(command="own {name}", ready="command:test {name} = x"),
        load=Load(command="load {clients}"),
        cpus="3",
        priority=1,
    )
    kept = applied(own, found, at(found, clients=8, name="it's {clients}"))
    assert kept.load == Load(command="load 8")
    assert (kept.cpus, kept.priority) == ("3", 1)
    assert kept.service == Service(
        command="own 'it'\"'\"'s {clients}'", ready="command:test 'it'\"'\"'s {clients}' = x"
    )
    replaced = applied(own, found, at(found, clients=8, beside="other", sched="fifo"))
    assert replaced.service == Service(command="serve 8 {port}", ready="http://localhost:{port}/8")
    assert replaced.load == Load(command=["busy", "plain"], cpus="1")
    assert (replaced.cpus, replaced.priority) == ("0", 5)


def test_what_executions_see() -> None:
    found = study(GIVEN + "[study.factor.a-b]\nx = {}\ny = {}")
    assert environment(found, at(found, sched="fifo", numa="near", clients=8)) == {
        "X": "1",
        "Y": "2",
        "X_Y": "3",
        "PERFGATE_FACTOR_CLIENTS": "8",
        "PERFGATE_FACTOR_NAME": "plain",
        "PERFGATE_FACTOR_SCHED": "SCHED_FIFO",
        "PERFGATE_FACTOR_NUMA": "near",
        "PERFGATE_FACTOR_BESIDE": "own",
        "PERFGATE_FACTOR_A_B": "x",
    }


def test_outside_a_study_commands_have_the_first_settings() -> None:
    text = """
[build]
command = ["make", "{opt}", "{side}"]
[[benchmark]]
name = "b"
command = "./b {clients} {output} {side}"
service = { command = "s {clients}", ready = "tcp:808{clients}" }
load = { command = ["l", "{opt}"] }
[study.factor]
clients = [1, 8]
side = ["base", "head"]
[study.factor.opt]
O2 = { value = "-O2", prefix = ["nice"], env = { X = "1" } }
O3 = {}
"""
    found = config(text)
    plain = baseline(found)
    assert plain.study == found.study
    assert plain.build.command == ["make", "-O2", "{side}"]
    (benchmark,) = plain.benchmark
    # side stays: one config may be of both
    assert benchmark.command == "./b 1 {output} {side}"
    assert benchmark.service == Service(command="s 1", ready="tcp:8081")
    assert benchmark.load == Load(command=["l", "-O2"])
    assert baseline(plain) == plain
    assert baseline(Config()) == Config()


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


def test_the_jobs_of_a_matrix() -> None:
    xeon = ["self-hosted", "xeon"]
    cases = {
        (THREE, 1): [Job(0, 1, None, 12)],
        (THREE, 2): [Job(0, 2, None, 12), Job(1, 2, None, 12)],
        # as many as settings name; nothing is measured in session 2
        (BOUND, 1): [Job(0, 4, None, 2), Job(1, 4, None, 2), Job(3, 4, None, 2)],
        (RUNNERS, 2): [Job(0, 4, "core2", 3), Job(1, 4, "core2", 3), Job(2, 4, xeon, 3), Job(3, 4, xeon, 3)],
        (f'{RUNNERS}[study]\nexclude = [{{machine = "old"}}]', 1): [Job(0, 1, xeon, 3)],
        (RUNNERS + BOUND.split("8]\n")[1], 1): [
            *(Job(session, 4, "core2", 3) for session in (0, 1, 3)),
            *(Job(session, 4, xeon, 3) for session in (0, 1, 3)),
        ],
    }
    for (text, sessions), expected in cases.items():
        found = study(text)
        laid = jobs(found, planned(found), sessions)
        assert laid == expected
        # each treatment is measured by some job
        measured = {
            each.number
            for job in laid
            for each in measured_by(
                found,
                planned(found),
                job.session,
                ",".join(job.runner) if isinstance(job.runner, list) else job.runner,
            )
        }
        assert measured == {each.number for each in planned(found)}
