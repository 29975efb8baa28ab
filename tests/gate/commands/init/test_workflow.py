"""perfgate init --workflow: what it writes, that linters agree with it, and what it refuses."""

import dataclasses
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from ruamel.yaml import YAML

from gate.commands.init import command
from gate.commands.init.command import Options
from gate.commands.init.init import _LOOKS
from gate.commands.init.workflow import DEFAULT_ACTION, KINDS, needs_of
from gate.document.html import templates
from gate.model import UserError
from gate.publishing.request import id_of, slug_of
from tests.support.initialized import init, make_project

WORKFLOWS = Path(".github/workflows")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOOLS = Path(__file__).parents[4] / ".tools" / "bin"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository without a commit, with a config at its root."""
    directory = tmp_path / "a project"
    directory.mkdir()
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=directory, check=True)
    (directory / "perfgate.toml").touch()
    return directory


def write(directory: Path, kind: str, action: str | None = None, *, force: bool = False) -> str:
    code, out, _ = init(directory, workflow=kind, action=action, force=force)
    assert code == 0
    return out


def written(top: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in sorted((top / WORKFLOWS).iterdir())}


def git(directory: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=directory, check=True)


def commit(directory: Path) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
    git(directory, *identity, "commit", "--quiet", "--allow-empty", "-m", "x")


def loaded(text: str) -> dict[str, Any]:
    found = YAML(typ="safe", pure=True).load(text)
    assert isinstance(found, dict)
    return found


def gates(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return [step for step in steps if step.get("uses", "").startswith("perfgate/perfgate@")]


def workflow_of(repository: Path, kind: str, name: str = "perfgate.yml") -> dict[str, Any]:
    """Write a kind, and read one of its files."""
    write(repository, kind, force=True)
    return loaded(written(repository)[name])


def folder(repository: Path, name: str) -> Path:
    """Make a folder with a config of its own."""
    made = repository / name
    made.mkdir(parents=True, exist_ok=True)
    (made / "perfgate.toml").touch()
    return made


# --- the templates -------------------------------------------------------------------------------------------------


def test_help_completion_and_templates_name_every_kind() -> None:
    assert tuple(KINDS) == command.WORKFLOWS
    assert {*_LOOKS} == {*command.KINDS}
    (field,) = (field for field in dataclasses.fields(Options) if field.name == "workflow")
    declared = field.metadata["option"]
    assert set(declared.known) == KINDS.keys()
    assert all(re.search(rf"\b{kind}\b", declared.settings["help"]) for kind in KINDS)
    named = {template for kind in KINDS.values() for template in kind.files}
    assert {file.name for file in (templates() / "workflows").iterdir()} == named


@pytest.mark.parametrize("kind", KINDS)
def test_at_the_root_a_template_is_written_as_it_is(repository: Path, kind: str) -> None:
    write(repository, kind)
    originals = {name: templates() / "workflows" / template for template, name in KINDS[kind].files.items()}
    assert written(repository) == {name: file.read_text(encoding="utf-8") for name, file in originals.items()}


@pytest.mark.endtoend
def test_linters_agree(repository: Path, tmp_path: Path) -> None:
    """With all kinds, at the root and below, as each linter takes a second to start."""
    for where in (".", "crates/a 'b' \u00e9"):
        for kind in KINDS:
            write(folder(repository, where), kind)
            shutil.move(repository / WORKFLOWS, tmp_path / f"{where[:6]}-{kind}" / WORKFLOWS)
    files = [str(file) for file in tmp_path.glob(f"*/{WORKFLOWS}/*.yml")]
    assert len(files) >= 2 * len(KINDS)
    succeed(sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *files)
    zizmor = str(Path(sys.executable).parent / "zizmor")
    succeed(zizmor, "--offline", "--no-config", "--persona", "pedantic", *files)
    # where scripts/tools puts it, else wherever it is
    actionlint = shutil.which("actionlint", path=f"{TOOLS}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
    if actionlint is None:
        pytest.skip("absent: actionlint (the workflows of `perfgate init --workflow` were not checked by it)")
    (tmp_path / "labels").write_text("self-hosted-runner:\n  labels: [perf]\n", encoding="utf-8")
    succeed(actionlint, "-config-file", str(tmp_path / "labels"), *files)


def succeed(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_and_jobs_are_bounded(repository: Path, kind: str) -> None:
    write(repository, kind)
    for text in written(repository).values():
        workflow = loaded(text)
        assert workflow["permissions"] == {}
        assert workflow["concurrency"].keys() == {"group", "cancel-in-progress"}
        for job in workflow["jobs"].values():
            assert "timeout-minutes" in job and job["permissions"]
            for step in (step for step in job["steps"] if "uses" in step):
                if step["uses"].startswith("actions/checkout@"):
                    assert step["with"] == {"fetch-depth": 0, "persist-credentials": False}
                if not step["uses"].startswith("perfgate/"):
                    assert len(step["uses"].partition("@")[2]) == len(COMMIT)


def test_the_required_check_is_never_skipped(repository: Path) -> None:
    for kind, required in (("pull-request", 1), ("trusted", 1), ("forks", 0), ("matrix", 1)):
        # a check and a status of one name are both required: with forks it is the status
        jobs = workflow_of(repository, kind)["jobs"].values()
        named = [job for job in jobs if job["name"] == "perfgate"]
        assert len(named) == required
        for job in named:
            assert job.get("if") == ("${{ always() }}" if "needs" in job else None)


def test_what_runs_code_of_the_project_can_only_read_and_what_decides_runs_none(repository: Path) -> None:
    for kind, runner in (("pull-request", "ubuntu-latest"), ("matrix", ["self-hosted", "perf"])):
        jobs = workflow_of(repository, kind)["jobs"]
        measure = jobs.pop("measure")
        assert (measure["permissions"], measure["runs-on"]) == ({"contents": "read"}, runner)
        (decides,) = (job for job in jobs.values() if job["name"] == "perfgate")
        assert decides["permissions"]["pull-requests"] == "write" and decides["runs-on"] == "ubuntu-latest"
        assert not [step for step in decides["steps"] if step["uses"].startswith("actions/checkout@")]
        (given,) = (step["with"] for step in decides["steps"] if step["uses"].startswith("perfgate/"))
        assert (given["command"], given["measuring"]) == ("publish", "${{ needs.measure.result }}")


def test_only_the_default_branch_writes_the_history_and_what_writes_it_runs_no_code(repository: Path) -> None:
    told = write(repository, "history")
    assert "git fetch origin +refs/perfgate/history:refs/perfgate/history" in told
    workflow = loaded(written(repository)["perfgate-history.yml"])
    assert workflow["on"] == {"push": {"branches": ["main"]}}
    measure, record = workflow["jobs"].values()
    assert measure["permissions"] == {"contents": "read"}
    assert (record["permissions"], record["needs"]) == ({"contents": "write", "actions": "read"}, "measure")
    (decide,) = (step["with"] for step in record["steps"] if step.get("uses", "").startswith("perfgate/"))
    assert decide["command"] == "publish"
    # one step alone has the token, and pushes with it
    (pushing,) = (step for step in record["steps"] if "GITHUB_TOKEN" in step.get("env", {}))
    assert "history add" in pushing["run"] and "--push" in pushing["run"]
    # no pending run replaces another one
    assert "github.sha" in workflow["concurrency"]["group"]
    # two projects of a repository have histories of their own
    assert "--history refs/perfgate/history-sub`" in write(folder(repository, "sub"), "history")
    text = written(repository)["perfgate-sub-history.yml"]
    assert text.count("--history refs/perfgate/history-sub'") == 2 and "refs/perfgate/history'" not in text


def test_what_measures_the_code_of_forks_has_no_rights_and_what_publishes_takes_nothing(repository: Path) -> None:
    write(repository, "forks")
    files = {name: loaded(text) for name, text in written(repository).items()}
    run, publishing = files["perfgate.yml"], files["perfgate-publish.yml"]
    measure, decide = gates(run)
    (publish,) = gates(publishing)
    assert "pull_request_target" not in str(files)
    # the action writes nothing for a fork
    assert measure["with"] == {"command": "measure"}
    assert publish["with"] == {"status": True} and decide["with"]["status"] is True
    measuring = run["jobs"]["measure"]
    assert (measuring["permissions"], measuring["runs-on"]) == ({"contents": "read"}, "ubuntu-latest")
    assert publishing["on"]["workflow_run"]["workflows"] == [run["name"]]
    assert len(publishing["jobs"]["publish"]["steps"]) == 1


# --- what is filled in ---------------------------------------------------------------------------------------------


def test_a_project_in_a_folder_has_files_and_names_of_its_own(repository: Path) -> None:
    project = folder(repository, "crates/core it")
    (project / "src").mkdir()
    told = write(project / "src", "forks")
    assert f"status 'perfgate/{id_of('', project, repository)}' required" in told
    texts = written(repository)
    slug = slug_of(PurePosixPath("crates/core it"))
    assert slug.startswith("crates-core-it-")
    assert list(texts) == [f"perfgate-{slug}-publish.yml", f"perfgate-{slug}.yml"]
    workflow, publish = (loaded(texts[name]) for name in reversed(texts))
    assert workflow["name"] == f"perfgate {slug}"
    assert workflow["jobs"]["perfgate"]["name"] == f"perfgate {slug} run"
    assert publish["on"]["workflow_run"]["workflows"] == [f"perfgate {slug}"]
    assert [step["with"]["working-directory"] for step in gates(workflow) + gates(publish)] == ["crates/core it"] * 3
    assert "perfgate.yml" not in "".join(texts.values())


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_of_the_action_gets_the_folder_and_keeps_its_inputs(repository: Path, kind: str) -> None:
    def steps(project: Path) -> list[dict[str, Any]]:
        write(project, kind)
        found = [step.get("with", {}) for text in written(repository).values() for step in gates(loaded(text))]
        shutil.rmtree(repository / ".github")
        return found

    (repository / "sub").mkdir()
    (repository / "sub" / "pyproject.toml").write_text("[tool.perfgate.gate]\n", encoding="utf-8")
    assert steps(repository / "sub") == [{"working-directory": "sub"} | own for own in steps(repository)]


def test_without_a_config_the_folder_one_stands_in_is_the_project(repository: Path) -> None:
    (repository / "perfgate.toml").unlink()
    (repository / "sub").mkdir()
    text = write(repository / "sub", "pull-request")
    assert "no perfgate.toml yet: run `perfgate init` first" in text
    assert list(written(repository)) == ["perfgate-sub.yml"]


def test_the_default_branch(repository: Path) -> None:
    text = write(repository, "pull-request")
    assert "the default branch is not known here: `main` was written" in text
    commit(repository)
    assert "is not known here" not in write(repository, "pull-request", force=True)
    git(repository, "branch", "--move", "main", "other")
    # it measures whatever branch is the default
    assert "is not known here" not in write(repository, "creep", force=True)
    branches = {"master": "master", "a+b": r'"a\\+b"', "v1.0/x": "v1.0/x", "#1": '"#1"'}
    for branch, expected in branches.items():
        git(repository, "update-ref", f"refs/remotes/origin/{branch}", "HEAD")
        git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{branch}")
        assert "is not known here" not in write(repository, "pull-request", force=True)
        workflow = written(repository)["perfgate.yml"]
        assert f"    branches: [{expected}]\n" in workflow
        assert loaded(workflow)["on"]["push"]["branches"] == [branch.replace("+", r"\+")]


def test_whose_action(repository: Path) -> None:
    pinned = f"acme/tools/perfgate@{COMMIT}"
    for given, expected in ((None, DEFAULT_ACTION), (pinned, pinned)):
        text = write(repository, "matrix", given, force=True)
        workflow = written(repository)["perfgate.yml"]
        uses = [step["uses"] for job in loaded(workflow)["jobs"].values() for step in job["steps"]]
        assert [action for action in uses if not action.startswith("actions/")] == [expected] * 3
        named = f"the action is {expected}; name another with --action OWNER/REPO@REF" in text
        assert named is (given is None)
        # a commit is pinned as zizmor wants it: there is nothing to overlook
        assert ("unpinned-uses" in workflow) is (given is None)


# --- what is said and refused --------------------------------------------------------------------------------------


FORKS_FIRST = "next:\n  - public repository? Write `perfgate init --workflow forks --force` instead"
PLACEHOLDER = '[[benchmark]]\nname = "placeholder"\ncommand = []\n'


@pytest.mark.parametrize(
    ("kind", "config", "words"),
    [
        ("pull-request", "", (FORKS_FIRST, "perfgate doctor", "check 'perfgate' required", "perf-accepted")),
        ("trusted", "", (FORKS_FIRST, "check 'perfgate' required")),
        ("matrix", "", (FORKS_FIRST, "label perf", "shards and sessions of [plan]")),
        ("forks", PLACEHOLDER, ("status 'perfgate' required", "has a benchmark without a command, so the workflow")),
    ],
)
def test_what_is_left_to_do(repository: Path, kind: str, config: str, words: tuple[str, ...]) -> None:
    (repository / "perfgate.toml").write_text(config)
    text = write(repository, kind, "acme/perfgate@v1")
    assert text.startswith("wrote .github/workflows/perfgate.yml\n")
    assert [each for each in words if each not in text] == []


@pytest.mark.parametrize("action", ["perfgate", "a/b@", "a b/c@v1", "a/b@v1 #", "a/b@v1\n", "./here", "-a/b@v1"])
def test_no_action(repository: Path, action: str) -> None:
    with pytest.raises(UserError, match=r"--action .*: write OWNER/REPO@REF"):
        write(repository, "pull-request", action)
    assert not (repository / ".github").exists()


def test_what_is_in_the_way_is_refused(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'nosuch': unknown; choose from pull-request, trusted"):
        write(repository, "nosuch")
    with pytest.raises(UserError, match=r"is not in a git repository: run"):
        write(tmp_path, "pull-request")
    (repository / ".github").touch()
    with pytest.raises(UserError, match=r"^\.github/workflows/perfgate\.yml cannot be written: "):
        write(repository, "pull-request")
    (repository / ".github").unlink()
    # a link to nowhere is not written through
    (repository / WORKFLOWS).mkdir(parents=True)
    (repository / WORKFLOWS / "perfgate.yml").symlink_to(repository / "elsewhere")
    with pytest.raises(UserError, match="already there"):
        write(repository, "pull-request")
    assert not (repository / "elsewhere").exists()


def test_nothing_is_written_over(repository: Path) -> None:
    (repository / WORKFLOWS).mkdir(parents=True)
    (repository / WORKFLOWS / "perfgate-publish.yml").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=r"^\.github/workflows/perfgate-publish\.yml: already there: .* --force"):
        write(repository, "forks")
    assert written(repository) == {"perfgate-publish.yml": "mine"}
    write(repository, "forks", force=True)
    assert "mine" not in written(repository).values()
    with pytest.raises(UserError, match=r"perfgate\.yml and \.github/workflows/perfgate-publish\.yml"):
        write(repository, "forks")


@pytest.mark.parametrize("name", ["${{ github.token }}", "a\nb"])
def test_a_folder_that_github_would_not_take_as_it_is(repository: Path, name: str) -> None:
    with pytest.raises(UserError, match="this folder name cannot be written into a workflow"):
        write(folder(repository, name), "pull-request")


# --- what a runner needs -------------------------------------------------------------------------------------------

VENV = '[build]\nshare = [".venv"]\n[[benchmark]]\nname = "a"\ncommand = [".venv/bin/python", "bench.py"]\n'
PYTEST = VENV.replace("command", 'instrument = "pytest-benchmark"\ncommand')
DEV = '[project]\nname = "a"\ndependencies = ["attrs>=1", "b"]\n[project.optional-dependencies]\ndev = ["c[x]; python_version > \\"3\\""]\n'
TESTS = '[project]\nname = "a"\n[project.optional-dependencies]\ntests = ["freezegun", "pytest-benchmark"]\n'


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({"requirements.txt": "", "dev-requirements.txt": "", "notes.txt": ""}, ["pip install --quiet -r dev-requirements.txt -r requirements.txt"]),
        # what the benchmarks' own tool stands beside is theirs, and a list for mypy is nobody's
        ({"requirements-mypy.txt": "", "docs-requirements.txt": "", "requirements-docker.txt": ""}, ["pip install --quiet -r requirements-docker.txt"]),
        ({"perfgate.toml": PYTEST, "requirements.txt": "", "pyproject.toml": TESTS}, ["pip install --quiet freezegun pytest-benchmark"]),
        ({"perfgate.toml": PYTEST}, ["pip install --quiet pytest-benchmark"]),
        ({"pyproject.toml": DEV}, ["""pip install --quiet 'attrs>=1' b 'c[x]; python_version > "3"'"""]),
        ({"pyproject.toml": '[project]\nname = "a"\ndependencies = ["a @ https://x.invalid/$(id)", "q\'q"]\n'}, []),
        # with no uv on the runner, and without the project
        ({"uv.lock": ""}, ["pip install --quiet uv", "uv sync --frozen --inexact --no-install-project"]),
    ],
)  # fmt: skip
def test_an_environment_is_made_of_what_is_declared(tmp_path: Path, files: dict[str, str], lines: list[str]) -> None:
    needs = needs_of(make_project(tmp_path, {"perfgate.toml": VENV, **files}, git=False))
    (step,) = needs.steps
    assert step[1] == ["python3 -m venv .venv", *(f".venv/bin/{line}" for line in lines)]
    # a shell reads each requirement as one word
    succeed("sh", "-n", "-c", "\n".join(step[1]))


@pytest.mark.parametrize("kind", KINDS)
def test_each_job_that_measures_makes_the_environment_first(repository: Path, kind: str) -> None:
    (folder(repository, "sub") / "perfgate.toml").write_text(VENV)
    write(repository / "sub", kind)
    name = next(iter(KINDS[kind].files.values())).replace("perfgate", "perfgate-sub", 1)
    made = 0
    for job in loaded(written(repository)[name])["jobs"].values():
        names = [step["name"] for step in job["steps"]]
        measures = "Check out" in names and not {"Plan", "Record"} & set(names)
        assert measures is ("Make .venv" in names)
        if measures:
            place = names.index("Make .venv")
            step, after = job["steps"][place : place + 2]
            assert (step["working-directory"], step["run"], "uses" in after) == ("sub", "python3 -m venv .venv\n", True)
            assert names.index("Check out") < place
            made += 1
    assert made == 1


def test_what_a_step_cannot_make_is_said(repository: Path) -> None:
    make_project(
        repository, {"perfgate.toml": '[build]\nshare = ["data/", "node_modules/"]\n', "package-lock.json": "{}"}
    )
    text = write(repository, "pull-request")
    assert "note: a step makes node_modules, which perfgate.toml shares: npm ci --no-audit --no-fund\n" in text
    assert "note: perfgate.toml shares data, which git does not track: add a step that makes it" in text
    steps = loaded(written(repository)["perfgate.yml"])["jobs"]["measure"]["steps"]
    assert steps[1]["run"] == "npm ci --no-audit --no-fund\n"


def test_a_config_that_cannot_be_read_needs_nothing(tmp_path: Path) -> None:
    for text in ("", "[", "build = 3", "[build]\nshare = 3\n", "[build]\nshare = [1]\n", "benchmark = [1]"):
        needs = needs_of(make_project(tmp_path, {"perfgate.toml": text}, git=False))
        assert (needs.placeholder, needs.steps, needs.others) == (False, [], [])
