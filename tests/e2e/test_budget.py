"""The budget ends what never ends by itself: checkouts, set-up, builds, services and executions; nothing is left."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import CONFIG, Project, environment, perfgate, repository, speed, until

pytestmark = pytest.mark.endtoend

# far beyond what any test waits for, and told apart from other sleeps
FOREVER = "sleep 1234.5"
SERVICE = f'service = {{ command = "{FOREVER}", ready = "tcp:{{port}}", timeout = "20m" }}\n'
QUICK = CONFIG.replace("builds = 5", "builds = 2")
BUDGETS = ("1500ms", "20s")
MORE = "(, and [0-9.]+ m?s more for first builds and proofs,)?"


def project(folder: Path, config: str, setting: str = "true") -> Project:
    return repository(folder / "repo", {"perfgate.toml": config, "setting": setting, **speed(1.0)}, {"other": ""})


def run(project: Project, *arguments: str, budget: str = "3s") -> subprocess.CompletedProcess[str]:
    table = "study" if arguments[0] == "study" else "plan"
    return subprocess.run(
        perfgate(*arguments, "--set", f"{table}.budget={budget}"),
        cwd=project.top,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(**project.own(), TMPDIR=str(scratch(project))),
    )


def scratch(project: Project) -> Path:
    made = project.top.parent / "scratch"
    made.mkdir(exist_ok=True)
    return made


def left(project: Project) -> list[str]:
    """List what is left of a run: processes, files, worktrees."""
    mine = str(scratch(project))
    running = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if FOREVER.split()[1] in (process / "cmdline").read_text() and mine in str((process / "cwd").readlink()):
                running.append(process.name)
        except OSError:
            continue
    trees = project.git("worktree", "list", "--porcelain").count("worktree ") - 1
    return [*running, *(path.name for path in scratch(project).iterdir()), *["worktree"] * trees]


def summary(project: Project) -> dict[str, Any]:
    report = project.report()
    assert (report["verdict"], report["exit_code"], report["stopped"]) == ("error", 4, "budget")
    assert (report["failures"], report["findings"]) == ([], [])
    assert report["summary"]["kind"] == "budget-ended"
    found: dict[str, Any] = report["summary"]["details"]
    return found


@pytest.mark.parametrize(
    ("config", "phase", "headline"),
    [
        # a shell in a group of its own, which only its descent tells
        (
            QUICK + f"[build]\ncommand = \"setsid sh -c '{FOREVER}; true'; true\"\n",
            "build",
            "during the first build of",
        ),
        (QUICK + SERVICE, "service", "while the service of bench was starting on"),
    ],
)
def test_what_never_ends_is_ended_by_the_budget(tmp_path: Path, config: str, phase: str, headline: str) -> None:
    """The other phases tests/harness/loop shows without a process and without waiting."""
    slow = project(tmp_path, config)
    done = cut_in(phase, slow)
    said = " ".join(done.stdout.split())
    assert re.search(rf"Error: the budget of [0-9.]+ s{MORE} ended before one round was complete: {headline}", said)
    assert re.search(r"Raise the budget, for example `perfgate check [^`]*--set plan\.budget=", said)


def cut_in(phase: str, slow: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Check with a budget that ends in a phase: a short one, or where the host is too busy for it a long one."""
    for budget in BUDGETS:
        done = run(slow, "check", *arguments, budget=budget)
        assert done.returncode == 4, done.stderr
        assert left(slow) == []
        if summary(slow)["spent"]["cut"]["phase"] == phase:
            return done
    pytest.fail(f"the budget ends in another phase than {phase}: {summary(slow)['spent']['cut']}")


def test_a_checkout_that_never_ends_is_ended_by_the_budget(tmp_path: Path) -> None:
    slow = project(tmp_path, QUICK)
    slow.write(".gitattributes", "setting filter=slow\n")
    slow.commit()
    slow.git("config", "filter.slow.smudge", FOREVER)
    cut_in("checkout", slow, "--base", "HEAD~1", "--head", "HEAD")


# fast in the first two rounds, endless from then on
LATER = f'[build]\ncommand = "test $PERFGATE_BUILD -lt 2 || {FOREVER}"\n'


@pytest.mark.nightly
def test_complete_rounds_count_when_the_budget_ends_a_later_one(tmp_path: Path) -> None:
    slow = project(tmp_path, CONFIG + LATER)
    done = run(slow, "check", budget="20s")
    report = slow.report()
    # two builds can show that nothing changed, and no regression
    code = 4 if report["summary"]["kind"] == "not-enough-measured" else 0
    assert (done.returncode, report["stopped"]) == (code, "budget"), done.stderr
    assert report["findings"][0]["head"]["counts"]["build"] == 2
    assert report["run"]["rounds"] == {"done": 2, "planned": 5}
    assert report["failures"] == []
    assert left(slow) == []
    # the run is over: it is decided again, and nothing is measured
    before = slow.executions()
    again = run(slow, "check", "--resume", budget="20s")
    assert (again.returncode, slow.executions()) == (code, before)
    assert slow.report()["stopped"] == "budget"


def test_commands_without_a_verdict_keep_to_the_budget_too(tmp_path: Path) -> None:
    slow = project(tmp_path, QUICK + f'[build]\ncommand = "{FOREVER}"\n')
    ended_in(
        rf"perfgate: the budget of [0-9.]+ s{MORE} ended before one round was complete: during the first build of",
        slow,
        "measure",
    )


def test_a_study_keeps_to_its_budget(tmp_path: Path) -> None:
    config = QUICK + f'[build]\ncommand = "{FOREVER}"\n[study]\nbudget = "1h"\n[study.factor]\nn = [1, 2]\n'
    slow = project(tmp_path, config)
    said = r"paused: the budget of [0-9.]+ s ended during the first build of head; 0 of 5 replicates are"
    ended_in(said, slow, "study", "measure")


def ended_in(said: str, slow: Project, *command: str) -> None:
    """Run a command with a budget that ends where these words say; as above."""
    told = ""
    for budget in BUDGETS:
        done = run(slow, *command, budget=budget)
        assert done.returncode == 4, done.stdout
        assert left(slow) == []
        told = done.stderr
        if re.search(said, told):
            return
    pytest.fail(told)


def test_before_measuring_a_budget_that_is_too_small_is_said(tmp_path: Path) -> None:
    made = project(tmp_path, QUICK + '[build]\nsetup = "true"\ncommand = "sleep 0.3"\n')
    assert made.perfgate("measure").returncode == 0
    assert [each["setup"] is not None for each in made.records("build")] == [True, True, False, False]
    told = made.perfgate("measure", "--dry-run", "--set", "plan.budget=500ms").stdout
    assert "warning: the budget of 500 ms holds no round, and 2 are needed (" in told
    assert "are needed" not in made.perfgate("measure", "--dry-run", "--set", "plan.budget=10m").stdout


def test_what_an_interrupted_run_has_used_is_gone(tmp_path: Path) -> None:
    # one that is over is noticed long before the next one is
    slow = QUICK.replace("python3 bench.py", "sleep 0.5; python3 bench.py")
    made = project(tmp_path, slow + '[build]\ncommand = "sleep 0.2"\n')
    running = made.begin("check", "--set", "plan.budget=2m", heard=False)
    file = made.top / ".perfgate/measurements.jsonl"
    until(lambda: any('"type":"execution"' in line for line in made.lines()))
    running.kill()
    running.communicate()
    # as if set-up had taken all of it
    lines = [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]
    longer = [{**line, "setup": 119.9} if line["type"] == "build" else line for line in lines]
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in longer))
    kept = file.read_text().count('"type":"execution"')
    done = run(made, "check", "--resume", budget="2m")
    assert done.returncode == 4, done.stdout
    assert "the budget of 2 min ended before one round was complete" in " ".join(done.stdout.split())
    assert file.read_text().count('"type":"execution"') == kept
