"""perfgate study as a user runs it: real git, real builds and processes, whose values say what they were given."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gate.model import Build, Execution, Failure, Record
from tests.support.project import Project, repository, until

pytestmark = pytest.mark.endtoend

BENCH = """\
import json, os, pathlib, sys, time
busy = pathlib.Path("busy")
end = time.monotonic() + 60
while os.environ.get("PERFGATE_FACTOR_LOAD") == "busy" and not busy.exists() and time.monotonic() < end:
    time.sleep(0.002)
if os.environ.get("FAILS"):
    sys.exit("this treatment fails")
told = {
    "clients": int(sys.argv[2]),
    "args": sys.argv.count("--rt"),
    "env": int(os.environ.get("MODE") == "fast"),
    "prefix": int(os.environ.get("WRAPPED") == "yes"),
    "load": int(busy.exists()),
    "opt": int(pathlib.Path("flags").read_text()),
}
busy.unlink(missing_ok=True)
with open(sys.argv[1], "w") as out:
    for _ in range(int(os.environ["PERFGATE_ITERATIONS"])):
        for name, value in told.items():
            out.write(json.dumps({"metric": name, "value": value, "unit": "count"}) + "\\n")
"""
CONFIG = """\
[plan]
sandbox = "off"
builds = 2
executions = 1
iterations = 2
[build]
command = "echo $LEVEL > flags"
[[benchmark]]
name = "bench"
command = ["python3", "-S", "bench.py", "{output}", "{clients}"]
instrument = "values"
"""
FACTORS = """\
[study.factor]
clients = [1, 8]
args = { none = {}, some = { args = ["--rt"] } }
env = { slow = { env = { MODE = "slow" } }, fast = { env = { MODE = "fast" } } }
prefix = { bare = {}, wrapped = { prefix = ["env", "WRAPPED=yes"] } }
load = { idle = {}, busy = { load = { command = "touch busy; exec sleep 60" } } }
opt = { O0 = { build_env = { LEVEL = "0" } }, O2 = { build_env = { LEVEL = "2" } } }
"""
LOW = {"clients": 1, "args": "none", "env": "slow", "prefix": "bare", "load": "idle", "opt": "O0"}
HIGH = {"clients": 8, "args": "some", "env": "fast", "prefix": "wrapped", "load": "busy", "opt": "O2"}
VALUES = {1: 1, 8: 8, "none": 0, "some": 1, "slow": 0, "fast": 1, "bare": 0, "wrapped": 1, "idle": 0, "busy": 1, "O0": 0,
          "O2": 2}  # fmt: skip


def toml(settings: dict[str, Any]) -> str:
    return "{ " + ", ".join(f"{name} = {json.dumps(setting)}" for name, setting in settings.items()) + " }"


def study(treatments: list[dict[str, Any]], replicates: int = 2, builds: int = 2) -> str:
    listed = ", ".join(map(toml, treatments))
    return f"[study]\nreplicates = {replicates}\nbuilds = {builds}\ntreatments = [{listed}]\n{FACTORS}"


def made(tmp_path: Path, config: str) -> Project:
    return repository(tmp_path / "repo", {"bench.py": BENCH, "perfgate.toml": config})


def of(kind: type[Any], found: list[Record]) -> list[Any]:
    return [record for record in found if isinstance(record, kind)]


def test_every_setting_reaches_its_executions_and_builds(tmp_path: Path) -> None:
    treatments = [LOW, *({**LOW, name: HIGH[name]} for name in LOW), HIGH]
    # a single commit: where side is no factor there is no base
    project = made(tmp_path, CONFIG + study(treatments))
    done = project.process("study", "measure")
    assert (done.returncode, done.stdout) == (
        0, "16 starts in .perfgate/study/measurements.jsonl; to see the results: perfgate study analyse .perfgate/study\n",
    ), done.stderr  # fmt: skip
    found = project.read(".perfgate/study")
    executions: list[Execution] = of(Execution, found)
    for execution in executions:
        told = {name: metric.values for name, metric in execution.metrics.items()}
        assert told == {name: [VALUES[setting]] * 2 for name, setting in execution.factors.items()}
    key = [json.dumps(execution.factors) for execution in executions]
    assert Counter(key) == dict.fromkeys(map(json.dumps, treatments), 2)
    assert {*key[:8]} == {*key[8:]}
    assert [execution.order for execution in executions] == list(range(16))
    assert [(b.side, b.build, b.factors) for b in sorted(of(Build, found), key=lambda b: (b.build, b.factors["opt"]))] == [
        ("head", build, {"opt": opt}) for build in (0, 1) for opt in ("O0", "O2")
    ]  # fmt: skip
    assert {e.side for e in executions} == {"head"}
    run = found[0]
    assert (run.base, run.looks, run.benchmarks) == (None, None, {"head": ["bench"]})  # type: ignore[union-attr]
    assert run.config["study"]["replicates"] == 2  # type: ignore[union-attr,index]
    # what perfgate wrote is no part of the project, and the next run knows how long it takes
    assert project.git("status", "--porcelain") == ""
    plan = project.perfgate("study", "plan").stdout
    assert re.search(r"expected time: about \d.*, at most ", plan)


def test_a_treatment_that_fails_is_4_and_the_others_are_measured(tmp_path: Path) -> None:
    fails = FACTORS.replace("wrapped = { ", 'broken = { env = { FAILS = "1" } }, wrapped = { ')
    treatments = [LOW, {**LOW, "prefix": "broken"}, {**LOW, "clients": 8}]
    project = made(tmp_path, CONFIG + study(treatments).replace(FACTORS, fails))
    done = project.perfgate("study", "measure")
    settings = "clients=1, args=none, env=slow, prefix=broken, load=idle, opt=O0"
    assert done.returncode == 4
    assert f"perfgate: bench ({settings}) failed on head: this treatment fails\n" in done.stderr
    assert re.search(rf"round 1 of 2: bench \({settings}\) on head failed: exit 1\n", done.stderr)
    found = project.read(".perfgate/study")
    (failure,) = of(Failure, found)
    assert (failure.factors, failure.stderr) == (treatments[1], "this treatment fails\n")
    assert Counter(json.dumps(e.factors) for e in of(Execution, found)) == {
        json.dumps(treatments[0]): 2, json.dumps(treatments[2]): 2,
    }  # fmt: skip
    fewer = ("--set", "study.replicates=1", "--set", "study.builds=1", "--quiet")
    again = project.perfgate("study", "measure", *fewer)
    assert (again.returncode, again.stderr) == (
        4,
        f"perfgate: bench ({settings}) failed on head: this treatment fails\n",
    )
    assert len([*(project.top / ".perfgate/study/runs").iterdir()]) == 1


def test_a_killed_study_goes_on_where_it_was(tmp_path: Path) -> None:
    treatments = [LOW, {**LOW, "clients": 8}, {**LOW, "opt": "O2"}]
    project = made(tmp_path, CONFIG + study(treatments, replicates=4))
    process = project.begin("study", "measure", "--seed", "5")
    until(lambda: len(project.lines(".perfgate/study")) >= 7)
    process.kill()
    process.communicate()
    before = len(of(Execution, project.read(".perfgate/study")))
    done = project.perfgate("study", "measure", "--resume")
    assert done.returncode == 0, done.stderr
    found = project.read(".perfgate/study")
    executions = of(Execution, found)
    assert 0 < before < 12
    assert [e.order for e in executions] == list(range(12))
    plan = project.perfgate("study", "plan", "--seed", "5", "--all").stdout
    planned = [dict(re.findall(r"(\w+)=(\w+)", line)) for line in re.findall(r"execute  .*", plan)]
    assert [{name: str(setting) for name, setting in e.factors.items()} for e in executions] == planned
    assert len(of(Build, found)) == 4
    assert done.stdout.startswith("12 starts in ")


def test_jobs_of_several_runners_measure_their_own_treatments(tmp_path: Path) -> None:
    config = CONFIG.replace('"{clients}"', '"1"') + (
        "[study]\nreplicates = 1\nbenchmarks = ['bench']\n[study.factor]\n"
        'machine = { one = { runner = "core1" }, two = { runner = "core2" } }\nother = [1, 2]\n'
    )
    project = made(tmp_path, config.replace("$LEVEL", "0"))
    jobs = json.loads(project.perfgate("study", "plan", "--matrix").stdout)["include"]
    sessions = []
    for job in jobs:
        where = ("--session", str(job["session"]), "--sessions", str(job["sessions"]), "--runner", job["label"])
        out = f"out-{job['session']}"
        done = project.perfgate("study", "measure", *where, "--out", out)
        assert done.returncode == 0, done.stderr
        assert f"(this is session {job['session']} of 2: add the files of the other jobs)" in done.stdout
        sessions += [(e.session, e.factors["machine"], e.factors["other"]) for e in of(Execution, project.read(out))]
        other = project.perfgate("study", "measure", *where[:4], "--out", out, "--resume", "--runner", "core1")
        same = job["label"] == "core1"
        assert (other.returncode == 0) == same, other.stderr
    assert sorted(sessions) == [(0, "one", 1), (0, "one", 2), (1, "two", 1), (1, "two", 2)]
