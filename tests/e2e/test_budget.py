"""The budget ends what never ends by itself: checkouts, set-up, builds, services and executions; nothing is left."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import CONFIG, Project, environment, perfgate, repository, speed

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


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("measure", rf"the budget of [0-9.]+ s{MORE} ended before one round was complete: during the first build of"),
        (
            "study measure",
            r"paused: the budget of [0-9.]+ s ended during the first build of head; 0 of 5 replicates are",
        ),
    ],
)
def test_commands_without_a_verdict_keep_to_the_budget_too(tmp_path: Path, command: str, said: str) -> None:
    study = '[study]\nbudget = "1h"\n[study.factor]\nn = [1, 2]\n'
    slow = project(tmp_path, f'{QUICK}[build]\ncommand = "{FOREVER}"\n{study}')
    told = ""
    for budget in BUDGETS:
        done = run(slow, *command.split(), budget=budget)
        assert done.returncode == 4, done.stdout
        assert left(slow) == []
        told = done.stderr
        if re.search(said, told):
            return
    pytest.fail(told)


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


def test_before_measuring_a_budget_that_is_too_small_is_said(tmp_path: Path) -> None:
    made = project(tmp_path, QUICK + '[build]\nsetup = "true"\ncommand = "sleep 0.3"\n')
    assert made.perfgate("measure").returncode == 0
    assert [each["setup"] is not None for each in made.records("build")] == [True, True, False, False]
    told = made.perfgate("measure", "--dry-run", "--set", "plan.budget=500ms").stdout
    assert "warning: the budget of 500 ms holds no round, and 2 are needed (" in told
    assert "are needed" not in made.perfgate("measure", "--dry-run", "--set", "plan.budget=10m").stdout
