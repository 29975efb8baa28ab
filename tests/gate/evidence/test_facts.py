"""What files know of machines, compilers and runtimes, by side."""

from typing import Any

import pytest

from gate.evidence.hosts import differing, is_fact
from gate.evidence.records import Located
from gate.model import Execution, Metric, Run, Side
from gate.model.warnings.hosts import FactOfSides


def side(name: Side, *files: dict[str, Any], labels: dict[str, str] | None = None) -> list[Located]:
    """Give a file of a side for each host; "created" and "tools" are of its run line."""
    found = []
    for number, host in enumerate(files):
        own = {key: value for key, value in host.items() if key not in ("created", "tools")}
        run = Run(host=own, apart=True, created=host.get("created"), tools=host.get("tools", []))
        metrics = {"time": Metric(unit="s", values=[1.0])}
        e = Execution(benchmark="b", side=name, build=number, execution=0, metrics=metrics, labels=labels or {})
        found += [Located(run, f"{name}{number}", 1), Located(e, f"{name}{number}", 2)]
    return found


def between(base: dict[str, Any], head: dict[str, Any]) -> list[tuple[str, ...]]:
    return [(f.name, *f.base, *f.head) for f in differing([*side("base", base), *side("head", head)])]


def test_the_worst_comes_first_under_one_name_for_all_tools() -> None:
    base = {"kernel": "6.1", "python_version": "3.11", "num_cpus": 2, "cpu": "A"}
    head = {"kernel": "6.8", "python_version": "3.12", "cpu_count": 4, "cpu": "B"}
    assert between(base, head) == [
        ("cpu", "A", "B"), ("processors", "2", "4"), ("Python version", "3.11", "3.12"), ("kernel", "6.1", "6.8"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "base", "head"),
    [
        ("hostname", "a", "b"), ("host_name", "a", "b"), ("boot_id", "a", "b"), ("executable", "a", "b"),
        ("jvm", "/a/java", "/b/java"), ("git_commit", "a", "b"), ("mhz_per_cpu", 2600, 2400), ("memory", "16GB", "15.6GB"),
        ("cpu", "A", "unknown"), ("cpu", "A", None), ("created", "2026-11-01", "2026-11-20"), ("created", "?", "2020-01-01"),
        ("tools", ["Catch2"], ["Catch2 3.7.1"]),
    ],
)  # fmt: skip
def test_what_is_nothing_to_speak_of(key: str, base: Any, head: Any) -> None:
    assert between({key: base}, {key: head}) == []


@pytest.mark.parametrize(
    ("key", "base", "head", "said"),
    [
        ("mhz_per_cpu", 2600, 3600, ("clock rate", "2600", "3600")),
        ("memory", "16GB", "64GB", ("memory", "16GB", "64GB")),
        ("cpu_scaling_enabled", True, False, ("cpu_scaling_enabled", "on", "off")),
        ("jvmArgs", [], ["-Xmx4g", "-ea"], ("JVM arguments", "none", "-Xmx4g -ea")),
        ("debugger", False, True, ("debugger", "off", "on")),
        ("python_cflags", "-O2", "-O0", ("Python's compiler flags", "-O2", "-O0")),
        ("created", "2026-01-05T10:00:00Z", "2026-11-20 08:00:00", ("date", "2026-01-05", "2026-11-20")),
        ("tools", ["pyperf 2.6.0"], ["pyperf 2.9.0"], ("measuring tool", "pyperf 2.6.0", "pyperf 2.9.0")),
    ],
)
def test_what_is_said_of_single_facts(key: str, base: Any, head: Any, said: tuple[str, ...]) -> None:
    assert between({key: base}, {key: head}) == [said]


def test_sides_that_mix_the_same_machines_are_told_as_well() -> None:
    records = [*side("base", {"cpu": "B"}, {"cpu": "A"}), *side("head", {"cpu": "A"}, {"cpu": "B"})]
    assert differing(records) == (FactOfSides("cpu", ("A", "B"), ("A", "B")),)


def test_labels_are_facts_where_each_side_has_one_value_that_is_no_setting() -> None:
    def labelled(base: dict[str, str], head: dict[str, str]) -> list[tuple[str, ...]]:
        records = [*side("base", {}, labels=base), *side("head", {}, labels=head)]
        return [(f.name, *f.base, *f.head) for f in differing(records)]

    assert labelled({"toolchain": "go1.20"}, {"toolchain": "go1.21"}) == [("toolchain", "go1.20", "go1.21")]
    assert labelled({"branch": "a", "format": "json"}, {"branch": "b", "format": "xml"}) == []
    assert labelled({"/gomaxprocs": "8", "goarch": "x"}, {"goarch": "x"}) == [("GOMAXPROCS", "8", "1")]
    assert labelled({"/gomaxprocs": "8"}, {}) == []
    assert labelled({"date": "2020-01-01"}, {"date": "2026-01-01"}) == [("date", "2020-01-01", "2026-01-01")]
    two = [*side("base", {}, labels={"runtime": "6"}), *side("base", {}, labels={"runtime": "8"})]
    assert differing([*two, *side("head", {}, labels={"runtime": "8"})]) == ()
    assert differing(side("head", {"cpu": "A"}, labels={"/gomaxprocs": "8", "goarch": "x"})) == ()


def test_what_somebody_compares_by_is_left_out() -> None:
    records = [*side("base", {"num_cpus": 2, "cpu": "A"}), *side("head", {"num_cpus": 4, "cpu": "B"})]
    assert [f.name for f in differing(records, {"cpu"})] == ["processors"]
    assert differing(records, {"cpu", "num_cpus"}) == ()


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("compiler", True),
        ("cxx_flags", True),
        ("ldflags", True),
        ("goexperiment", True),
        ("CPU model", True),
        ("branch", False),
        ("version_of_app", False),
    ],
)
def test_names_that_projects_give_to_facts(key: str, told: bool) -> None:
    assert is_fact(key) == told
