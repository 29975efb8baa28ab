"""Base is measured as its commit has it: builds and benchmarks that change tracked files, through the whole gate."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import BENCH, CONFIG, Project, repository

pytestmark = pytest.mark.endtoend

# both trees stand at one path by turns: the other one is below the name of its side, beside that path
SLOW_BASE = "for t in ../base/tree/bench.py ../base/bench.py; do [ ! -e $t ] || sed -i 's/^    for/    SPEED = 2\\n    for/' $t; done\n"  # fmt: skip
BUILD = '\n[build]\ncommand = "sh build.sh; cp bench.py built"\nrelink = "off"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    # of the environment, so that base and head differ by their speed alone
    bench = BENCH.replace("SPEED", "(SPEED)").replace("with", "SPEED = 1\nwith", 1)
    # the sandbox would prevent most of it
    files = {"bench.py": bench, "build.sh": ":\n", "perfgate.toml": CONFIG + BUILD}
    return repository(tmp_path / "a project", files)


def failures(project: Project) -> list[dict[str, Any]]:
    report = project.report()
    assert (report["verdict"], report["exit_code"]) == ("error", 4)
    found: list[dict[str, Any]] = report["failures"]
    return found


def slower(project: Project, percent: int) -> None:
    text = (project.top / "bench.py").read_text()
    project.write("bench.py", text.replace("SPEED = 1\n", f"SPEED = {1 + percent / 100}\n"))


def test_heads_build_that_makes_base_slower(project: Project) -> None:
    slower(project, 30)
    project.write("build.sh", '[ "$PERFGATE_SIDE" != head ] || { ' + SLOW_BASE + "}\n")
    project.commit()
    done = project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD")
    assert done.returncode == 4, done.stdout + done.stderr
    (failure,) = failures(project)
    assert (failure["kind"], failure["side"]) == ("tree", "base")
    assert re.fullmatch(r"bench.py, by (the build of head in round [12]|the builds of base and head, .*)", failure["status"])  # fmt: skip
    assert "files of base changed: bench.py" in done.stdout
    # nothing of base that was slowed down counts
    assert not any(finding["base"]["value"] > 1.5 for finding in project.report()["findings"])
    # nor is it measured on
    before = project.executions()
    assert project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD", "--resume").returncode == 4
    assert project.executions() == before


def test_a_build_that_rewrites_a_tracked_file(project: Project) -> None:
    project.write("build.sh", "echo $PERFGATE_SEED > lock\n")
    project.write("lock", "0\n")
    project.commit()
    project.write("bench.py", (project.top / "bench.py").read_text() + "# another\n")
    project.commit()
    few = ("--base", "HEAD~1", "--head", "HEAD", "--set", "plan.builds=2")
    assert project.perfgate("check", *few).returncode == 4
    assert {failure["kind"] for failure in failures(project)} == {"tree"}
    hints = {failure["hint"] for failure in failures(project)}
    (line,) = {found[1] for hint in hints if (found := re.search(r"`(changes = [^`]*)`", hint))}
    # what the failure says to write is what it takes
    project.write("perfgate.toml", CONFIG + BUILD + line + "\n")
    project.commit()
    done = project.perfgate("check", "--config", "perfgate.toml", *few[2:], "--base", "HEAD~2")
    assert done.returncode == 0, done.stdout
    done = project.perfgate("try", "--head", "HEAD~1")
    assert done.returncode == 4
    assert line in " ".join(done.stdout.split())
    assert project.perfgate("try").returncode == 0


def test_try_finds_a_benchmark_that_changes_tracked_files(project: Project) -> None:
    project.write("bench.py", (project.top / "bench.py").read_text() + 'open("build.sh", "a").write(" ")\n')
    done = project.perfgate("try")
    assert done.returncode == 4
    assert "files of head changed: build.sh" in " ".join(done.stdout.split())
