"""What a check recalls before it measures, and what it adds to the history afterwards."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gate.cli.groups import MeasureOptions, RulesOptions
from gate.model import SIDES, Build, Commit, Look, Memory, Record, RelativeVariance, Remembered, Run
from gate.model.warnings import typed
from gate.run import memory
from gate.run.job import prepare
from gate.run.memory import append_check, findings_of, history_path, on_default_branch, recall_memory
from gate.run.project import Project, look_at_project
from gate.store.memory import HistoryError, Learned, Session, Sessions, Setup
from harness.host.facts import facts
from tests.gate.github.test_event import Told, pull
from tests.gate.store.test_memory import learned, session
from tests.support.lines import builds, located
from tests.support.project import SHELL_BENCH as BENCH
from tests.support.project import SHELL_CONFIG as CONFIG
from tests.support.project import Project as Checkout
from tests.support.project import Step, committed
from tests.support.warned import texts

HOST = facts()
ELSEWHERE = HOST | {"cpu": "Z80", "fingerprint": "another"}
SETUP = Setup(command="sh bench.sh {output}", instrument="values", warmup=0, build=None)
RULES = RulesOptions()
UNUSED = "the memory of {} is not used: it is of another machine, or measured in another way"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """A project with two commits, and a user without a history, on a machine that is no CI."""
    fast, slow = (("bench.sh", BENCH.replace("SPEED", speed)) for speed in ("1.0", "1.1"))
    made = committed(
        tmp_path / "widget",
        Step("main", "base", (("perfgate.toml", CONFIG), fast)),
        Step("main", "head", (slow,)),
    )
    for name in ("CI", "PERFGATE_HISTORY", "XDG_STATE_HOME", "GITHUB_BASE_REF", "GITHUB_EVENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(made.top)
    return made


def opened(**options: Any) -> Project:
    return look_at_project(options.get("base"), options.get("head"), RULES)


def remembered(session: str, created: str, build: float = 0.01) -> Remembered:
    return Remembered(
        session=session, created=created, rounds=20, executions=2, iterations=4, iteration=RelativeVariance(value=1e-4, df=120),
        execution=RelativeVariance(value=1e-4, df=40), build=RelativeVariance(value=build, df=38), contrast=RelativeVariance(value=0.02, df=19),
    )  # fmt: skip


def put(
    path: Path, project: Project, *, name: str = "one", day: int = 20, benchmarks: tuple[str, ...] = ("bench",),
    host: dict[str, Any] = HOST, kind: str = "calibration", **more: Any,
) -> None:  # fmt: skip
    """Put a session into a history; more: of what is learned of each benchmark."""
    created = f"2026-11-{day:02}T09:00:00Z"
    own = memory.project_name(project.repository)
    added = session(name, created=created, kind=kind, project=own, host=host)
    facts = {"setup": SETUP, "remembered": remembered(name, created), **more}
    assert Sessions(path).add(added, [learned(benchmark, **facts) for benchmark in benchmarks])


def recalled(path: Path, project: Project | None = None) -> Memory:
    """What a check of a project recalls of a history that tells something of it."""
    found, _ = recall_memory(path, project or opened(), HOST)
    assert found is not None
    return found


# --- recall -----------------------------------------------------------------------------------------------------------


def test_without_a_history_nothing_is_remembered_and_none_is_made(checkout: Checkout, tmp_path: Path) -> None:
    assert recall_memory(None, opened(), HOST) == (None, {})
    assert not (tmp_path / "home").exists()


def test_what_was_measured_on_this_host_is_recalled(checkout: Checkout, tmp_path: Path) -> None:
    path, project = tmp_path / "history", opened()
    put(path, project, name="one", day=18)
    put(path, project, name="two", day=19)
    put(path, project, name="two-p99", day=19, statistic="p99")
    put(path, project, name="a check", day=20, kind="check")
    found = recalled(path, project)
    assert found.unused == []
    assert [(m.benchmark, m.metric, m.statistic) for m in found.findings] == [
        ("bench", "time", "mean"), ("bench", "time", "p99"),
    ]  # fmt: skip
    assert [s.session for s in found.findings[0].sessions] == ["two", "one", "a check"]
    # too few sessions to say how far variances move
    assert (found.contrast_nu, found.build_nu) == (12, 12)


def test_another_project_is_not_this_one(checkout: Checkout, tmp_path: Path) -> None:
    path = tmp_path / "history"
    put(path, opened())
    checkout.git("remote", "add", "origin", "https://github.com/acme/gadget.git")
    assert recall_memory(path, opened(base="HEAD~1"), HOST) == (None, {})


def test_how_far_variances_move_is_learned_from_all_projects_of_the_host(checkout: Checkout, tmp_path: Path) -> None:
    path, project = tmp_path / "history", opened()
    for day in (18, 19):
        put(path, project, name=f"mine {day}", day=day)
    checkout.git("remote", "add", "origin", "https://github.com/acme/gadget.git")
    for day in (18, 19):
        # 40 findings that stood still, twice
        put(path, opened(base="HEAD~1"), name=f"other {day}", day=day, benchmarks=tuple(f"b{n}" for n in range(40)))
    checkout.git("remote", "remove", "origin")
    found = recalled(path, opened())
    assert [m.benchmark for m in found.findings] == ["bench"]
    assert found.contrast_nu is None


def test_another_machine_is_named(checkout: Checkout, tmp_path: Path) -> None:
    path, project = tmp_path / "history", opened()
    put(path, project, host=ELSEWHERE)
    found = recalled(path, project)
    assert found.findings == []
    assert [each.sentence() for each in found.unused] == [UNUSED.format("bench")]
    # calibrated here too: what the other machine says is of no interest
    put(path, project, name="two", day=1)
    found = recalled(path, project)
    assert len(found.findings) == 1
    assert found.unused == []


@pytest.mark.parametrize(
    "changes",
    [
        {"command": "./old"},
        {"instrument": "spawn"},
        {"conditions": "load ./busy on any"},
        {"warmup": 3},
        {"build": "make"},
    ],
)
def test_what_was_measured_otherwise_is_not_used(checkout: Checkout, tmp_path: Path, changes: dict[str, Any]) -> None:
    path, project = tmp_path / "history", opened()
    put(path, project, setup=structs.replace(SETUP, **changes))
    found = recalled(path, project)
    assert found.findings == []
    assert [each.sentence() for each in found.unused] == [UNUSED.format("bench")]


def test_sides_that_are_measured_differently_use_no_memory(checkout: Checkout, tmp_path: Path) -> None:
    path = tmp_path / "history"
    checkout.write("perfgate.toml", CONFIG.replace("bench.sh", "./bench.sh"))
    project = opened(base="HEAD")
    put(path, project)
    found = recalled(path, project)
    assert found.findings == []
    assert [each.sentence() for each in found.unused] == [UNUSED.format("bench")]


def test_a_broken_history_is_a_warning(checkout: Checkout, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("no folder at all")
    job = prepare(opened(), MeasureOptions(history=path), tmp_path / "run")
    assert job.run.memory is None
    (said,) = texts(typed(job.run.warnings), "memory-unused")
    assert said.startswith(f"the memory of this host is not used: {path}: ")
    assert "\n" not in said


def test_only_the_newest_sessions_of_each_kind_come_along() -> None:
    def entry(name: str, kind: Any) -> tuple[Session, Learned]:
        return session(name, kind=kind), learned(remembered=remembered(name, ""))

    many = [entry(f"{kind} {n}", kind) for n in range(12) for kind in ("check", "calibration")]
    (found,) = findings_of(many)
    assert [s.session for s in found.sessions] == [
        f"{kind} {n}" for kind in ("calibration", "check") for n in range(10)
    ]
    (every,) = findings_of(many, most=None)
    assert len(every.sessions) == 24


# --- where and whose --------------------------------------------------------------------------------------------------


def test_a_relative_history_of_the_config(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert history_path(None, opened()) == tmp_path / "home/.local/state/perfgate/history"
    checkout.write("perfgate.toml", CONFIG.replace("[gate]", '[gate]\nhistory = "noise"'))
    (checkout.top / "sub").mkdir()
    monkeypatch.chdir(checkout.top / "sub")
    assert history_path(None, opened()) == checkout.top / "noise"
    assert history_path(Path("here"), opened()) == Path("here")
    checkout.write("perfgate.toml", CONFIG.replace("[gate]", '[gate]\nhistory = "~/noise"'))
    assert history_path(None, opened()) == tmp_path / "home/noise"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/widget.git", "github.com/acme/widget"),
        ("https://me:secret@GitHub.com/acme/widget", "github.com/acme/widget"),
        ("git@github.com:acme/widget.git", "github.com/acme/widget"),
        ("ssh://git@github.com:22/acme/widget.git/", "github.com/acme/widget"),
        ("file:///srv/git/widget.git", "/srv/git/widget"),
        ("/srv/git/widget.git", "/srv/git/widget"),
    ],
)
def test_a_project_has_one_name_in_every_clone(checkout: Checkout, url: str, name: str) -> None:
    assert memory.project_name(opened().repository) == str(checkout.top)
    checkout.git("remote", "add", "origin", url)
    assert memory.project_name(opened().repository) == name


def test_worktrees_and_folders_of_a_repository(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout.git("worktree", "add", "-q", "../elsewhere", "HEAD~1")
    monkeypatch.chdir(checkout.top.parent / "elsewhere")
    assert memory.project_name(opened(base="HEAD").repository) == str(checkout.top)
    monkeypatch.chdir(checkout.top)
    checkout.write("parts/engine/perfgate.toml", CONFIG)
    monkeypatch.chdir(checkout.top / "parts/engine")
    assert memory.project_name(opened(base="HEAD").repository) == f"{checkout.top}:parts/engine"


def test_the_name_of_a_project_whose_path_is_no_text_is_one(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = checkout.top.rename(checkout.top.parent / "caf\udce9")
    monkeypatch.chdir(place)
    assert memory.project_name(opened(base="HEAD").repository) == f"{place.parent}/caf\\xe9"


# --- append -----------------------------------------------------------------------------------------------------------


def measured(project: Project, rounds: int = 6, seed: int = 1) -> tuple[Run, list[Record]]:
    """A run line and records of a check, with noise on both sides."""
    rng = np.random.default_rng(seed)
    values = {side: (1 + 0.05 * rng.normal(size=(rounds, 2, 4))).tolist() for side in ("base", "head")}
    run = Run(
        id="the check", created="2026-11-20T10:00:00Z", host=dict(HOST), base=project.sources.base.commit,
        head=project.sources.head.commit,
    )  # fmt: skip
    lines = [line for side in ("base", "head") for line in builds(side, values[side])]
    return run, [run, *(line.record for line in located(*lines))]


def calibrated(tmp_path: Path) -> tuple[Path, Project, Run, list[Record]]:
    """A history with a calibration of the project, and a check of it."""
    path, project = tmp_path / "history", opened()
    put(path, project)
    return path, project, *measured(project)


def stored(path: Path) -> list[tuple[Session, Learned]]:
    history = Sessions(path)
    return [each for each in history.of_host(str(HOST["fingerprint"])) if each[0].kind == "check"]


def appended(path: Path, project: Project, run: Run, records: list[Record]) -> Remembered:
    """What a check adds of its one case."""
    assert append_check(path, project, run, records) == []
    ((_, own),) = stored(path)
    return own.remembered


def test_a_check_of_the_default_branch_adds_the_variance_within_base(checkout: Checkout, tmp_path: Path) -> None:
    path, project, run, records = calibrated(tmp_path)
    # the caller knows better
    assert append_check(path, project, run, records, allowed=False) == [] == stored(path)
    known = appended(path, project, run, records)
    ((of, own),) = stored(path)
    assert (of.id, of.commit) == ("the check", project.sources.base.commit.sha)
    assert own.setup == SETUP
    assert (known.session, known.created, known.rounds) == ("the check", "2026-11-20T10:00:00Z", 6)
    assert known.build is not None and known.build.df == 5
    # both sides of a round were laid out alike, and are two programs
    assert known.contrast is not None and known.contrast.df == 5
    assert known.layouts == "common" and known.correlation is not None
    # concluding again changes nothing
    assert append_check(path, project, run, records) == []
    assert len(stored(path)) == 1
    assert [s.session for s in recalled(path, project).findings[0].sessions] == ["one", "the check"]


def test_without_common_layouts_and_of_one_program_a_check_adds_no_contrast(checkout: Checkout, tmp_path: Path) -> None:
    path, project, run, records = calibrated(tmp_path)
    # one commit by whatever names
    assert run.head is not None
    same = structs.replace(run, base=structs.replace(run.head, ref="v1.3"))
    assert appended(path, project, same, [same, *records[1:]]).contrast is None
    checkout.write("perfgate.toml", CONFIG + '\n[build]\nlayouts = "independent"\n')
    checkout.commit()
    known = appended(*calibrated(tmp_path / "independent"))
    assert known.build is not None and known.contrast is None


@pytest.mark.parametrize("differs", [False, True])
def test_commits_of_the_same_program_are_one_program(checkout: Checkout, tmp_path: Path, differs: bool) -> None:
    path, project, run, records = calibrated(tmp_path)
    made = [
        Build(side=side, build=number, artifacts={"app": f"sha256:{number}{side if differs else ''}"})
        for number in range(6)
        for side in SIDES
    ]
    assert (appended(path, project, run, [*records, *made]).contrast is not None) == differs


def test_only_rounds_before_the_first_look_count(checkout: Checkout, tmp_path: Path) -> None:
    checkout.write("perfgate.toml", CONFIG.replace("builds = 5", "builds = {min = 4, max = 6}"))
    checkout.commit()
    path, project, run, records = calibrated(tmp_path)
    run = structs.replace(run, config={"plan": {"builds": {"min": 4, "max": 6}}})
    known = appended(path, project, run, [run, *records[1:], *(Look(look=n, settled=[]) for n in range(1, 7))])
    assert known.rounds == 4 and known.build is not None and known.build.df == 3


def test_without_a_calibration_nothing_is_kept(checkout: Checkout, tmp_path: Path) -> None:
    path, project = tmp_path / "history", opened()
    run, records = measured(project)
    assert append_check(path, project, run, records) == []
    assert not path.exists()
    put(path, project, host=ELSEWHERE)
    put(path, project, kind="check", name="older check")
    assert append_check(path, project, run, records) == []
    assert [of.id for of, _ in stored(path)] == ["older check"]


def test_what_is_not_the_default_branch_is_not_kept(checkout: Checkout, tmp_path: Path) -> None:
    path = tmp_path / "history"
    put(path, opened())
    checkout.git("checkout", "-q", "-b", "feature")
    assert on_default_branch(opened(base="HEAD~1"))  # no commit of its own yet
    checkout.quick(2.0)
    assert not on_default_branch(opened())
    checkout.commit()
    project = opened()
    assert not on_default_branch(project)
    run, records = measured(project)
    assert append_check(path, project, run, records) == []
    assert stored(path) == []


def test_the_default_branch_is_the_remotes(checkout: Checkout) -> None:
    sha = checkout.git("rev-parse", "HEAD~1")
    checkout.git("update-ref", "refs/remotes/origin/trunk", sha)
    checkout.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert not on_default_branch(opened(base="HEAD~1"))
    assert on_default_branch(opened(base="HEAD~1", head="HEAD~1"))


def test_an_unwritable_history_is_told(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, project, run, records = calibrated(tmp_path)

    def refuse(*_: object) -> bool:
        raise HistoryError(f"{path}: the disk is full")

    monkeypatch.setattr(Sessions, "add", refuse)
    assert append_check(path, project, run, records) == [f"this check is not remembered: {path}: the disk is full"]
    (kept,) = path.rglob("*.json")
    kept.write_text("broken" * 100)
    (warning,) = append_check(path, project, run, records)
    assert warning.startswith(f"this check is not remembered: {kept}: is damaged")


def test_records_of_other_tools_are_not_kept(checkout: Checkout, tmp_path: Path) -> None:
    path, project, run, records = calibrated(tmp_path)
    for unknown in (structs.replace(run, id=None), structs.replace(run, created=None)):
        assert append_check(path, project, unknown, records) == []
    assert append_check(path, project, structs.replace(run, host=None, base=Commit()), records[:1]) == []
    assert stored(path) == []


# --- in a workflow ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ref", "writes"),
    [("push", "refs/heads/main", True), ("pull_request", "refs/pull/7/merge", False)],
)
def test_only_runs_of_the_default_branch_write(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ref: str, writes: bool
) -> None:
    """Whatever is checked out: here it is always a commit of the default branch."""
    path, project, run, records = calibrated(tmp_path)
    variables = Told(tmp_path).environment(name, pull(), GITHUB_REF=ref)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert append_check(path, project, run, records) == []
    assert len(stored(path)) == (1 if writes else 0)
    reason = memory.barred(variables)
    assert (reason is None) is writes
    if reason is not None:
        assert reason == f"only runs on the default branch are, and this is a {name} event of {ref}"


def test_a_workflow_that_does_not_tell_writes_nothing(tmp_path: Path) -> None:
    assert memory.barred({}) is None
    assert (
        memory.barred({"GITHUB_EVENT_NAME": "push"})
        == "GITHUB_REPOSITORY is not set: this runs in a GitHub Actions workflow"
    )
    reason = memory.barred(Told(tmp_path).environment("push", [], GITHUB_REF="refs/heads/main"))
    assert reason is not None and "expected object, got array" in reason
