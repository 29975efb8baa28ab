"""Early stopping as a user meets it: real builds and executions, looks between rounds, --resume in the middle."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.support.project import BENCH, Project, python_benchmark, repository, until

pytestmark = pytest.mark.endtoend

CONFIG = """\
[gate]
threshold = "5%"
sameness = "off"
[plan]
sandbox = "off"
builds = {min = 4, max = 8}
executions = 2
iterations = 4
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Head makes one of three benchmarks 40% slower; the third is so noisy that it stays open."""
    quiet = BENCH.replace("0.01", "0.001")
    # both sides get the same seeds; what is noise to each is not common to them
    own = BENCH.replace('int(os.environ["PERFGATE_SEED"])', 'os.environ["PERFGATE_SEED"] + os.environ["PERFGATE_SIDE"]')
    base = {f"{name}.py": quiet.replace("SPEED", "1.0") for name in ("same", "slow")}
    base["noisy.py"] = own.replace("0.01", "0.3").replace("SPEED", "1.0")
    base["perfgate.toml"] = CONFIG + "".join(map(python_benchmark, ("same", "slow", "noisy")))
    return repository(tmp_path / "project", base, {"slow.py": quiet.replace("SPEED", "1.4")})


def looked(project: Project, often: int) -> bool:
    return sum('"type":"look"' in line for line in project.lines()) >= often


def rounds_of(project: Project, name: str) -> int:
    return max(build for benchmark, _, build, _ in project.executions() if benchmark == name) + 1


def test_a_settled_benchmark_costs_no_more_time(project: Project) -> None:
    done = project.perfgate("check", "--seed", "5", "--set", "gate.detectable=threshold")
    assert done.returncode == 1, done.stderr
    assert "3 benchmarks x 4 to 8 builds" in done.stderr
    assert (rounds_of(project, "same"), rounds_of(project, "slow"), rounds_of(project, "noisy")) == (4, 5, 8)
    assert "1 benchmark decided, 2 still open" in done.stderr
    found = project.report()
    assert found["run"]["looks"] == {"rounds": [4, 5, 6, 8], "used": 4}
    by_name = {f["benchmark"]: f for f in found["findings"]}
    assert by_name["slow"]["verdict"] == "regression"
    assert (by_name["slow"]["decided_at"]["look"], by_name["slow"]["decided_at"]["looks"]) == (2, 4)
    assert [
        (w["details"]["round"], w["details"]["of"]) for w in by_name["slow"]["warnings"] if w["kind"] == "early-stop"
    ] == [(5, 8)]
    assert (by_name["same"]["verdict"], by_name["same"]["decided_at"]["look"]) == ("unchanged", 1)
    assert by_name["noisy"]["verdict"] == "inconclusive"
    assert not {"rounds-short", "executions-short"} & {each["kind"] for each in found["warnings"]}
    # the same file decides the same, wherever it is
    again = project.perfgate("decide", ".perfgate", "--json", "-")
    assert json.loads(again.stdout)["findings"] == found["findings"]


def test_what_can_no_longer_be_expected_to_regress_is_given_up(project: Project) -> None:
    done = project.perfgate("check", "--seed", "5")
    assert done.returncode == 1, done.stderr
    assert rounds_of(project, "noisy") < 8
    by_name = {f["benchmark"]: f for f in project.report()["findings"]}
    assert (by_name["noisy"]["verdict"], by_name["noisy"]["stopped"]) == ("inconclusive", "futility")
    assert by_name["noisy"]["reason"]["kind"] == "too-noisy"
    assert by_name["noisy"]["detectable"] == by_name["noisy"]["reason"]["details"]["detectable"] > 0.1


def test_a_gate_whose_benchmarks_are_all_settled_stops(project: Project) -> None:
    done = project.perfgate("check", "--benchmark", "same", "--seed", "5")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "measuring ends" in done.stderr
    assert project.report()["run"]["rounds"] == {"done": 4, "planned": 8}
    # what this machine did meanwhile is not of the gate
    warnings = [each["text"] for each in project.report()["warnings"] if not each["text"].startswith("host: ")]
    assert warnings == ["no build command: the builds differ in path and environment only"]


def test_the_budget_fixes_the_looks_after_round_one(project: Project) -> None:
    # eight rounds take more than eleven seconds, so fewer of them fit, and the first one does; of a slow host fewer than a
    # verdict needs
    slow = ("--set", "plan.budget=10s", "--set", "build.command=sleep 0.7")
    done = project.perfgate("check", "--benchmark", "noisy", *slow)
    assert done.returncode in (0, 1, 4), done.stderr
    looks = project.report()["run"]["looks"]
    assert looks["rounds"][-1] < 8
    assert rounds_of(project, "noisy") <= looks["rounds"][-1]


@pytest.mark.nightly
def test_a_killed_check_resumes_to_the_same_looks_and_verdicts(project: Project) -> None:
    whole = project.perfgate("check", "--seed", "5")
    assert whole.returncode == 1, whole.stderr
    expected = project.records("look")
    for wait in (3, 5):
        process = project.begin("check", "--seed", "5", heard=False)
        until(partial(looked, project, wait))
        process.kill()
        process.communicate()
        resumed = project.perfgate("check", "--resume")
        assert resumed.returncode == 1, resumed.stderr
        assert project.records("look") == expected
        assert len(project.executions()) == len(set(project.executions()))
