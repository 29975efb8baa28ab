"""perfgate drill: gates that can go red, and gates that cannot, each found by real builds and starts."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gate.commands.drill.drill import Exercise, document, with_failing_artifacts
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.document.terminal import Screen, render
from gate.model import Metric
from harness.loop.execution import _slowed_down
from tests.support.project import SHELL_BENCH, Project, repository

# Values of a script that is built: a slowdown of 25% is beyond doubt in five builds, on whatever host.
GATE = """\
[gate]
threshold = "5%"
[plan]
builds = 5
executions = 1
iterations = 4
[build]
command = "sh -n work.sh && cp work.sh app && chmod +x app"
artifacts = ["app"]
[[benchmark]]
name = "own"
command = "./app {output}"
instrument = "values"
"""
ELSEWHERE = '[[benchmark]]\nname = "elsewhere"\ncommand = "shuf -i 1000-1030 -n 4 > {output}"\ninstrument = "values"\n'
SOURCE = """\
#include <stdlib.h>
int main(int count, char **words) {
    volatile unsigned long x = 1;
    for (long i = 0; i < atol(words[1]) * 100000L; i++) x = x * 31 + 7;
    return 0;
}
"""
COMPILED = """\
[build]
command = "cc -O1 -o app work.c"
artifacts = ["app"]
[plan]
budget = "2m"
[[benchmark]]
name = "own"
command = "./app 60"
"""


def script(speed: str) -> str:
    return "#!/bin/sh\n" + SHELL_BENCH.replace("SPEED", speed)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    files = {"work.sh": script("1.0"), "perfgate.toml": GATE + ELSEWHERE, ".gitignore": "app\n"}
    return repository(tmp_path / "project", files)


@pytest.fixture
def compiled(project: Project) -> Project:
    """A program in C, whose processor time is measured."""
    (project.top / "work.sh").unlink()
    project.write("work.c", SOURCE)
    project.write("perfgate.toml", COMPILED)
    project.commit()
    return project


def failed_by(project: Project, file: str, slower: str) -> subprocess.CompletedProcess[str]:
    """Drill by the patch that makes a source another one; something does not hold."""
    project.write(file, slower)
    (project.top / "slower.diff").write_text(project.git("diff") + "\n")
    project.git("checkout", file)
    done = project.perfgate("drill", "--patch", "slower.diff", "--head", "HEAD", "--json", "drill.json")
    assert done.returncode == 1, done.stderr
    return done


def held(project: Project) -> dict[str, Any]:
    found = json.loads((project.top / "drill.json").read_text())
    return {each["name"]: each["held"] if each["why"] is None else each["why"] for each in found["exercises"]}


@pytest.mark.endtoend
def test_a_benchmark_of_what_is_installed_is_found(project: Project) -> None:
    done = project.perfgate("drill", "--json", "drill.json")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("✖ 3 of 4 exercises held, 1 not tried\n")
    found = held(project)
    assert found["slower"] == found["harmless"] == {"elsewhere": True, "own": True}
    assert found["broken"] == {"elsewhere": False, "own": True}
    assert "--patch" in found["artifacts"]
    assert "elsewhere: it runs though what the build made was replaced" in done.stdout
    sizes = json.loads((project.top / "drill.json").read_text())["detectable"]
    assert set(sizes) == {"elsewhere", "own"}
    assert 0 < sizes["own"] < 0.25
    # nothing of the checkout has changed
    assert project.git("status", "--porcelain") in ("", "?? drill.json")


@pytest.mark.endtoend
def test_a_patch_reaches_what_it_reaches(project: Project) -> None:
    done = failed_by(project, "work.sh", script("1.4"))
    found = held(project)
    assert found["slower"] == {"elsewhere": False, "own": True}
    assert found["artifacts"] == {"elsewhere": True, "own": True}
    assert "elsewhere: it reads nothing that the patch changes" in done.stdout


@pytest.mark.endtoend
@pytest.mark.nightly
def test_what_compiles_for_itself_is_slower_with_bases_build_too(compiled: Project) -> None:
    compiled.write("run.sh", 'cc -O1 -o "$TMPDIR/own" work.c && exec "$TMPDIR/own" 60\n')
    compiled.write("perfgate.toml", COMPILED.replace("./app 60", "sh run.sh"))
    compiled.commit()
    done = failed_by(compiled, "work.c", SOURCE.replace("100000L", "900000L"))
    assert held(compiled)["artifacts"] == {"own": False}
    assert "it is slower though its build is base's" in done.stdout


SOURCELESS = {
    "a copy that is installed": "sh -c 'python3 -m json.tool data.json'", "a program that is tracked": "sh app",
    "nothing of the project": "sort perfgate.toml", "a constant": "seq 3",
}  # fmt: skip


@pytest.mark.endtoend
def test_what_runs_without_the_sources_is_found(project: Project) -> None:
    project.write("data.json", "[1, 2, 3]")
    project.write("app", "sort perfgate.toml\n")
    project.git("add", "--force", "app")
    plan = '[build]\ncommand = "sh work.sh values; true"\n[plan]\nbuilds = 5\nexecutions = 1\niterations = 2\n'
    table = '[[benchmark]]\nname = "{}"\ncommand = "{}"\ninstrument = "{}"\n'
    ways = [
        table.format(name, command, "values" if "seq" in command else "spawn") for name, command in SOURCELESS.items()
    ]
    project.write("perfgate.toml", plan + "".join(ways))
    project.commit()
    done = project.perfgate("drill", "--json", "drill.json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert held(project)["sources"] == dict.fromkeys(SOURCELESS, False)
    assert "a program that is tracked and 1 more: it runs though no source of the project is left" in " ".join(
        done.stdout.split()
    )


@pytest.mark.endtoend
@pytest.mark.nightly
def test_a_gate_that_can_go_red(compiled: Project) -> None:
    done = compiled.perfgate("drill", "--quiet")
    assert (done.returncode, done.stdout) == (0, "✔ 4 of 4 exercises held, 1 not tried\n"), done.stderr


@pytest.mark.endtoend
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--patch", "none.diff"], 2, "--patch none.diff: No such file or directory"),
        (["--patch", "work.sh"], 2, "--patch does not apply to head"),
        (["--set", "build.command=exit 3"], 4, "head cannot be measured: "),
    ],
)
def test_what_cannot_be_tried(project: Project, arguments: list[str], code: int, said: str) -> None:
    done = project.perfgate("drill", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


@pytest.mark.endtoend
@pytest.mark.nightly
def test_a_command_that_never_comes_to_the_work(compiled: Project) -> None:
    usage = SOURCE.replace("    volatile", "    if (count != 2) return 0;\n    volatile")
    compiled.write("work.c", usage)
    compiled.write("perfgate.toml", COMPILED.replace("./app 60", "./app 60 --fast"))
    compiled.commit()
    done = failed_by(compiled, "work.c", usage.replace("100000L", "900000L"))
    assert held(compiled)["slower"] == {"own": False}
    assert "look at its arguments" in " ".join(done.stdout.split())
    # a benchmark that was given up early has a size too
    assert set(json.loads((compiled.top / "drill.json").read_text())["detectable"]) == {"own"}


def test_a_suite_fails_as_a_whole_and_its_benchmarks_have_the_rows() -> None:
    tried = [
        Exercise("slower", "25% more", {"suite/a": True, "suite/b": True, "own": True}, folder="reports"),
        Exercise("harmless", "a comment", {"suite": True, "own": True}, folder="reports"),
        Exercise("broken", "failing", {"suite": True, "own": False}, folder="reports"),
        Exercise("artifacts", "base's", why="it needs --patch"),
    ]
    first, _, _, *rows = render(document(tried, {}), Screen(False, 100, 100)).splitlines()
    assert first == "✖ 2 of 3 exercises held, 1 not tried"
    assert [row.split() for row in rows[:3]] == [
        ["suite/a", "red", "green", "error"],
        ["suite/b", "red", "green", "error"],
        ["own", "red", "green", "no", "error"],
    ]
    assert "ends with 0 where the program fails" in " ".join(" ".join(rows).split())


def test_values_of_a_tool_are_made_longer() -> None:
    def made(name: str, unit: str) -> float:
        return _slowed_down(name, Metric(unit=unit, values=[8.0]), 0.25).values[0]

    assert (made("time", "s"), made("instructions", ""), made("throughput", "1/s")) == (10.0, 10.0, 6.4)
    # a share of failures is no time, and of what has no direction nobody knows what more work does to it
    assert (made("error_rate", "%"), made("answer", "")) == (8.0, 8.0)


def test_artifacts_are_replaced_whatever_their_names() -> None:
    config = parse(read_source(GATE.replace('["app"]', """["a b", "it's/lib"]"""), "perfgate.toml"))
    command = with_failing_artifacts(config, config.build.artifacts or []).build.command
    assert isinstance(command, str)
    assert "'./a b'" in command
