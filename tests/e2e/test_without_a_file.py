"""A check of one command, and of two given programs, without a perfgate.toml; real programs."""

import json
import stat
import tomllib
from pathlib import Path

import pytest

from tests.support.project import Project, environment, inside

pytestmark = pytest.mark.endtoend
FIXED = ("--set", "plan.builds=5", "--set", "plan.starts=10", "--set", "gate.threshold=20%")


def program(file: Path, count: int) -> None:
    """Write a program whose time goes by a count."""
    file.write_text(f"#!/usr/bin/awk -f\nBEGIN {{ for (i = 0; i < {count}; i++) s += i }}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The Makefile copies a program, of which the working tree has one that takes three times as long."""
    made = Project(tmp_path / "project")
    made.write("Makefile", "sum: sum.awk\n\tcp -p sum.awk sum\n")
    made.write(".gitignore", "sum\n")
    program(made.top / "sum.awk", 50_000)
    made.commit()
    program(made.top / "sum.awk", 150_000)
    return made


def test_one_command_of_a_checkout(project: Project) -> None:
    done = project.perfgate("check", *FIXED, "--build", "make sum", "--save", "--", "./sum", "1", "--base", "x y")
    assert done.returncode == 1, done.stderr
    assert "Regression: sum is" in done.stdout
    text = (project.top / "perfgate.toml").read_text()
    assert tomllib.loads(text) == {
        "build": {"command": "make sum"},
        "plan": {"builds": 5, "starts": 10},
        "gate": {"threshold": "20%"},
        "benchmark": [{"name": "sum", "command": ["./sum", "1", "--base", "x y"]}],
    }
    again = project.perfgate("check", "--dry-run")
    assert " times: make sum" in again.stdout
    assert "(spawn): ./sum 1 --base 'x y'" in again.stdout
    reports = [json.loads((project.top / ".perfgate/report.json").read_text())]
    assert project.perfgate("check").returncode == 1
    reports.append(json.loads((project.top / ".perfgate/report.json").read_text()))
    given, of_file = [(each["run"]["settings"], {**each["policy"], "source": "", "whose": {}}) for each in reports]
    assert given == of_file


def test_the_file_does_the_same_with_the_commits_that_it_cannot_hold(project: Project) -> None:
    options = ("--base", "HEAD", "--dry-run", "--build", "make sum")
    done = project.perfgate("check", *options, "--save", "--", "./sum")
    assert done.returncode == 0, done.stderr
    assert "from now on `perfgate check --base HEAD` does the same" in done.stderr


def test_what_init_would_build(project: Project) -> None:
    project.write("sum.c", "int main(void) { return 0; }\n")
    project.write("Makefile", "sum: sum.c\n\tcc -O2 sum.c -o sum\n")
    done = project.perfgate("check", "--dry-run", "--", "./sum")
    assert "rm -f sum && make" in done.stdout
    assert "rules: the command line" in done.stdout
    assert not (project.top / "perfgate.toml").exists()


def test_a_directory_below_the_top(project: Project) -> None:
    (project.top / "below").mkdir()
    (project.top / "Makefile").rename(project.top / "below/Makefile")
    (project.top / "sum.awk").rename(project.top / "below/sum.awk")
    project.commit()
    done = project.perfgate("check", *FIXED, "--build", "make sum", "--", "./sum", cwd=project.top / "below")
    assert done.returncode == 2
    assert "has no directory below" in done.stderr


def two(folder: Path, *arguments: str) -> tuple[int, str, str]:
    own = {"PERFGATE_LOCK": str(folder / "lock"), "PERFGATE_HISTORY": str(folder / "history")}
    done = inside(("check", *arguments), folder, environment(**own))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("head", "name", "code"), [("./slow", "slow", 1), ("./fast", "./fast 1", 0)])
def test_two_programs_outside_of_any_repository(tmp_path: Path, head: str, name: str, code: int) -> None:
    program(tmp_path / "fast", 50_000)
    program(tmp_path / "slow", 150_000)
    returned, out, err = two(tmp_path, *FIXED, "--save", "--base-command", "./fast", "--head-command", f"{head} 1")
    assert returned == code, err
    assert "another build of either may differ; " in " ".join(out.split())
    assert "5 rounds x 10 starts" in " ".join(out.split())
    assert "build" not in out.replace("another build of either may differ", "")
    assert "[[accept]]" not in out
    assert not (tmp_path / "history.sqlite").exists()
    assert {each.name for each in tmp_path.iterdir()} >= {"fast", "slow", "perfgate.toml"}
    # the file does the same
    text = (tmp_path / "perfgate.toml").read_text()
    assert tomllib.loads(text)["benchmark"] == [{"name": name, "command": [head, "1"], "against": ["./fast"]}]
    returned, out, err = two(tmp_path, "--dry-run")
    assert returned == 0, err
    assert f"./fast → {head} 1: 1 benchmark x 5 rounds x 10 starts" in out
    assert "build" not in out


def test_five_rounds_at_least(tmp_path: Path) -> None:
    program(tmp_path / "fast", 100)
    programs = ("--base-command", "./fast", "--head-command", "./fast")
    _, out, _ = two(tmp_path, "--set", "plan.builds={min = 2, max = 12}", "--dry-run", *programs)
    assert "x 5 to 12 rounds" in out
    returned, _, err = two(tmp_path, "--set", "plan.builds=3", *programs)
    assert returned == 2
    assert "over 5 rounds at least" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--save",), "--save: needs a command"),
        (("--build", "make"), "--build: needs a command"),
        (("--base-command", "./a"), "--base-command: needs --head-command too"),
        (("--base-command", "./a", "--head-command", "./b", "--", "c"), "put no command behind --"),
        (("--head-command", "./a"), "--head-command: needs --base-command too"),
        (("--base-command", "./a", "--head-command", "./b", "--build", "make"), "--build: not with two programs"),
        (("--base-command", "./a", "--head-command", "ls"), "--base-command: there is no program ./a"),
        (("--base-command", "ls", "--head-command", "./b c"), "--head-command: there is no program ./b"),
        (("--base-command", "ls", "--head-command", "ls", "--base", "main"), "--base means commits"),
        (("--base-command", "ls", "--head-command", "ls", "--creep"), "two given programs"),
        (("--base-command", "./a 'b", "--head-command", "./b"), "--base-command ./a 'b: no closing quotation"),
        (("--base-command", "", "--head-command", "./b"), "--base-command: the command is empty"),
        (("--", ""), "--: the command is empty"),
        (("--", "absent-program", "x"), "-- absent-program: there is no such program on PATH"),
        (("--config", "x.toml", "--", "./a"), "--config: not with a command"),
        (("main", "--", "./a"), "unexpected argument 'main'"),
    ],
)
def test_what_does_not_go_together(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    returned, _, err = two(tmp_path, *arguments)
    assert returned == 2
    assert told in err


def test_a_file_of_two_programs(tmp_path: Path) -> None:
    entry = '[[benchmark]]\nname = "{}"\ncommand = "./a"\n'
    (tmp_path / "perfgate.toml").write_text(entry.format("a") + 'against = "./b"\n' + entry.format("b"))
    returned, _, err = two(tmp_path, "--dry-run")
    assert returned == 2
    assert "perfgate.toml:5: benchmark[1]: has no `against`" in err
    (tmp_path / "perfgate.toml").write_text(entry.format("a") + 'against = "./b"\n[build]\ncommand = "make"\n')
    returned, _, err = two(tmp_path, "--dry-run")
    assert returned == 2
    assert "nothing is built where two given programs are compared" in err


def test_a_program_that_neither_side_has_is_a_wrong_command_line(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    program(project.top / "count", 50_000)
    project.write("text", "not to be executed")
    project.commit()
    program(project.top / "count", 150_000)
    program(project.top / "new", 100)
    for word, why in (("./absent", 'there is no program "./absent"'), ("./text", '"./text" is not executable')):
        done = project.perfgate("check", *FIXED, "--", word)
        assert done.returncode == 2, done.stderr
        *_, last = done.stderr.splitlines()
        assert f"{why}; nor does it start on base: name an executable program" in last
        assert not done.stdout
    # what one side has is no mistake; nor is what a file names: of these a report tells
    assert project.perfgate("check", *FIXED, "--", "./new").returncode == 4
    (project.top / "perfgate.toml").write_text('[[benchmark]]\nname = "a"\ncommand = ["./absent"]\n')
    failed = project.perfgate("check", "--set", "plan.builds=5")
    assert failed.returncode == 4
    # of what failed no starts are left to count
    assert "round 1 of 5: 2 starts" in failed.stderr and "judging by the first" not in failed.stderr
    assert 'there is no program "./absent"' in failed.stdout


def test_a_script_needs_no_build(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    program(project.top / "count", 50_000)
    project.commit()
    program(project.top / "count", 150_000)
    done = project.perfgate("check", *FIXED, "--", "./count")
    assert done.returncode == 1, done.stderr
    assert "no build command is known here" in done.stderr
    assert (
        "no build command is known here"
        not in project.perfgate("check", "--dry-run", "--build", "", "--", "./count").stderr
    )


@pytest.mark.parametrize(
    ("base", "head", "name"),
    [
        ("./old 1", "./new 1", "new"),
        ("FOO=1 ./old", "FOO=1 ./new", "new"),
        ("./sum 1", "./sum 2", "./sum 2"),
        ("python3 a/run.py", "python3 b/run.py", "python3 b/run.py"),
    ],
)
def test_a_benchmark_is_named_by_what_distinguishes_it(tmp_path: Path, base: str, head: str, name: str) -> None:
    for each in ("old", "new", "sum"):
        program(tmp_path / each, 1)
    returned, _, err = two(tmp_path, "--save", "--dry-run", "--base-command", base, "--head-command", head)
    assert returned == 0, err
    assert tomllib.loads((tmp_path / "perfgate.toml").read_text())["benchmark"][0]["name"] == name
