"""perfgate check --creep as a user runs it: the pin, the nights before, what the report says, and what is refused."""

import json
import math
from pathlib import Path

import pytest

from tests.support.nights import pretend
from tests.support.project import FEW, SHELL_BENCH, Project, Step, committed

pytestmark = pytest.mark.endtoend

QUIET = SHELL_BENCH.replace("0.01", "0.002")
RULES = FEW.replace('"5%"', '"3%"\nfloor = 0\nmin_builds = 3').replace("\nbuilds = 2", "\nbuilds = 3")
CREEP = f"{RULES}[creep]\n"


def bench(speed: float) -> str:
    return QUIET.replace("SPEED", str(speed))


TAGS = ("--set", "creep.tags=v*")
TAGGED = ("--set", "creep.against=v1.0", "--quiet")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A release, and two merges that made it 6% slower."""
    made = committed(
        tmp_path / "repository",
        Step("main", "release", (("perfgate.toml", CREEP), ("bench.sh", bench(1.0)))),
        Step("main", "one", (("bench.sh", bench(1.03)),)),
        Step("main", "two", (("bench.sh", bench(1.06)),)),
    )
    made.git("tag", "v1.0", "HEAD~2")
    made.git("tag", "nightly", "HEAD~1")
    return made


def history(project: Project) -> Path:
    return Path(project.own()["PERFGATE_HISTORY"])


def test_one_night_alone_is_no_alarm_and_is_remembered(project: Project) -> None:
    done = project.perfgate("check", "--creep", *TAGS)
    assert done.returncode == 0, done.stderr
    report = project.report()
    assert report["run"]["chosen"] == "base is v1.0, the tag nearest to head of v*; head is the tip of main"
    assert report["creep"]["pin"]["commits"] == 2
    [case] = report["creep"]["cases"]
    [finding] = report["findings"]
    assert (case["verdict"], case["nights"], case["window"]) == ("unconfirmed", 1, 0)
    assert (finding["verdict"], finding["reason"]["kind"]) == ("inconclusive", "unconfirmed")
    assert "creep     against v1.0" in done.stdout
    assert "1 night against it is known on this machine" in " ".join(done.stdout.split())
    [file] = history(project).rglob("*.json")
    [night] = json.loads(file.read_bytes())["nights"][0]["nights"]
    assert night["log_ratio"] == pytest.approx(math.log(1.06), abs=0.01) and night["variance"] > 0
    assert night["day"] == report["run"]["created"][:10]


def test_nights_together_are_a_regression_and_the_next_step_is_to_search(project: Project) -> None:
    assert project.perfgate("check", "--creep", *TAGS, "--quiet").returncode == 0
    pretend(history(project), 20, change=math.log(1.06))
    done = project.perfgate("check", "--creep", *TAGS)
    assert done.returncode == 1, done.stderr
    report = project.report()
    [finding] = report["findings"]
    assert (finding["reason"]["kind"], finding["ratio"]["method"]) == ("crept", "nights")
    assert 1.03 < finding["decided_at"]["low"] < 1.06 and finding["decided_at"]["high"] is None
    # two runs of one day are one night
    assert report["creep"]["cases"][0]["nights"] == 21
    head = project.sha()[:12]
    assert f"perfgate bisect --good v1.0 --bad {head} --benchmark bench" in " ".join(done.stdout.split())
    # the measurements hold the nights, so that anybody comes to the same report
    again = project.perfgate("decide", ".perfgate/measurements.jsonl", "--json", "-")
    assert again.returncode == 1 and json.loads(again.stdout)["creep"] == report["creep"]


def test_an_accept_entry_lets_a_creep_pass(project: Project) -> None:
    entry = '[[accept]]\nbenchmark = "bench"\nup_to = "10%"\nuntil = 2100-01-01\nreason = "wanted"\n'
    project.write("perfgate.toml", CREEP + entry)
    project.commit("accept it")
    assert project.perfgate("check", "--creep", *TAGGED).returncode == 0
    pretend(history(project), 20, change=math.log(1.06))
    assert project.perfgate("check", "--creep", *TAGGED).returncode == 0
    report = project.report()
    assert report["findings"][0]["verdict"] == report["creep"]["cases"][0]["verdict"] == "accepted"


def test_the_threshold_is_creep_s_own_and_every_night_measures_all_rounds(project: Project) -> None:
    project.write(
        "perfgate.toml", CREEP.replace("\nbuilds = 3", "\nbuilds = {min = 4, max = 5}") + 'threshold = "20%"\n'
    )
    project.commit("looser")
    done = project.perfgate("check", "--creep", *TAGGED)
    report = project.report()
    assert done.returncode == 0 and report["findings"][0]["threshold"] == 0.2
    assert report["run"]["looks"] is None and report["run"]["rounds"]["done"] == 5


def test_the_rules_are_the_default_branch_s_whatever_head_is(project: Project) -> None:
    project.git("checkout", "-q", "-b", "topic")
    project.write("perfgate.toml", f'{RULES.replace("3%", "90%")}[creep]\nagainst = "nightly"\n')
    project.commit("loosens it")
    done = project.perfgate("check", "--creep", "--dry-run", *TAGS)
    assert done.returncode == 0 and "v1.0" in done.stdout + done.stderr
    for ci in ("", "true"):
        done = project.perfgate("check", "--creep", "--head", "topic", *TAGS, "--quiet", CI=ci)
        assert project.report()["policy"]["gate"]["threshold"] == "3%", done.stderr


def test_a_lost_memory_begins_anew_and_a_broken_one_is_said(project: Project) -> None:
    project.perfgate("check", "--creep", *TAGS, "--quiet")
    [file] = history(project).rglob("*.json")
    file.write_bytes(b"no record")
    done = project.perfgate("check", "--creep", *TAGS)
    assert done.returncode == 0
    assert "is damaged" in " ".join(done.stdout.split())
    assert project.report()["creep"]["nights"] == 1


def refused(project: Project, *arguments: str, cwd: Path | None = None) -> str:
    done = project.perfgate("check", "--creep", *arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, "")
    said, end = done.stderr.removeprefix("perfgate: "), done.stderr.count("\n")
    assert end == 1 and said != done.stderr
    return said


def test_what_cannot_be_compared_is_one_line(project: Project, tmp_path: Path) -> None:
    for arguments, line in (
        (("--set", "creep.tags=release-*"), "[creep]: no tag release-* in the history of head"),
        (("--set", "creep.against=v9"), "[creep] against: v9: no such commit here"),
        (("--set", "creep.against=main"), "[creep]: main is head itself"),
        (("--base", "v1.0"), "--base does not go with --creep"),
        (("--rules", "base"), "--rules base: with --creep the rules are those of the default branch"),
    ):
        assert refused(project, *arguments).startswith(line)
    shallow = tmp_path / "shallow"
    project.git("clone", "-q", "--depth=1", f"file://{project.top}", str(shallow))
    fetch = "which this shallow clone cuts off: `git fetch --unshallow --tags origin"
    assert fetch in refused(project, cwd=shallow)
    # with base's command it would be base's, renamed
    other = CREEP.replace('name = "bench"', 'name = "other"').replace("bench.sh", "./bench.sh")
    tables: list[tuple[str, tuple[str, ...], str]] = [
        (other, TAGS, "[creep]: v1.0 has none of head's benchmarks"),
        (RULES, (), "main: perfgate.toml has no [creep] table: add `[creep]`"),
    ]
    for toml, more, line in tables:
        project.write("perfgate.toml", toml)
        project.commit("another")
        assert refused(project, *more).startswith(line)


def test_a_pin_from_before_perfgate_is_compared_if_it_runs_and_refused_if_not(tmp_path: Path) -> None:
    project = committed(
        tmp_path / "repository",
        Step("main", "old", (("README", "nothing"),)),
        Step("main", "program", (("bench.sh", bench(1.0)),)),
        Step("main", "perfgate", (("perfgate.toml", CREEP), ("bench.sh", bench(1.01)))),
    )
    project.git("tag", "v0.1", "HEAD~2")
    project.git("tag", "v0.2", "HEAD~1")
    assert project.perfgate("check", "--creep", "--quiet").returncode == 0
    said = refused(project, "--set", "creep.against=v0.1", "--quiet")
    assert said.startswith("[creep]: v0.1 cannot be compared with head, because base has no perfgate.")
