"""perfgate init --workflow: writes a GitHub workflow from templates/workflows/, and prints the remaining steps."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

from gate.checkout import refuse_tracked, text_of
from gate.document.html import templates
from gate.github.publishing.request import slug_of
from gate.model import UserError
from gate.model.names import HISTORY_REF
from gate.writing.plain import visible
from harness.source.git import Git, git_of

FOLDER = PurePosixPath(".github/workflows")
DEFAULT_ACTION = "perfgate/perfgate@v1"
_ACTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*@[A-Za-z0-9._/-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")


@dataclass(frozen=True, slots=True)
class WorkflowOptions:
    """Where the command runs, which workflow, whose action (None: the one that runs this, else the default)."""

    directory: Path
    kind: str
    action: str | None
    force: bool


@dataclass(frozen=True, slots=True)
class Kind:
    """A workflow to choose: what it is for, its files by the name of their template, and what is left to do."""

    purpose: str
    files: Mapping[str, str]
    next: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """The repository's root, the project in it ("." for the root), the default branch, whether a config was found.

    needs: what that config needs of a runner.
    """

    top: Path
    project: PurePosixPath
    branch: str | None
    configured: bool
    needs: Needs


_RUNNER = (
    "runner: a self-hosted one with the label perf, on a machine that does nothing else, with {tools}; run "
    "`perfgate doctor` there to see whether it is fit. `runs-on: ubuntu-latest` is enough for commands that "
    "`perfgate try`, in a job there, decides by active time"
)
_PUBLIC = (
    "public repository? Write `perfgate init --workflow forks --force` instead: this one does not measure pull "
    "requests from forks, so each of them would end in an error"
)
_PUSH = "commit and push"
_MERGE = "commit, push and merge: it runs once it is on the default branch"
_REQUIRE = "Settings, Rules: make the check {check!r} required, which can be chosen after its first run"
_LABEL = "a label perf-accepted (gate.accept_label), for maintainers to accept a known regression"

KINDS: Mapping[str, Kind] = {
    "pull-request": Kind(
        "pull requests from branches of the repository, and the merge queue",
        {"pull-request.yml": "perfgate.yml"},
        (_PUBLIC, _RUNNER, _PUSH, _REQUIRE, _LABEL),
    ),
    "trusted": Kind(
        "the same in one job, for code that you trust with a token that can write",
        {"trusted.yml": "perfgate.yml"},
        (_PUBLIC, _RUNNER, _PUSH, _REQUIRE, _LABEL),
    ),
    "forks": Kind(
        "pull requests from forks as well",
        {"forks.yml": "perfgate.yml", "forks-publish.yml": "perfgate-publish.yml"},
        (
            _RUNNER,
            "the hosted runner of forks (ubuntu-latest) needs the same: add steps that set up what it lacks",
            'Settings, Actions, General: "Require approval for all external contributors", who may change the workflow',
            "commit, push and merge: perfgate-publish.yml runs once it is on the default branch",
            _REQUIRE.replace("check {check!r}", "status {status!r}")
            + "; not the check '{check} run': forks can forge it",
            _LABEL,
        ),
    ),
    "comment": Kind(
        "measures when a member asks for it by a comment or a label, also for forks",
        {"comment.yml": "perfgate-comment.yml"},
        (
            _RUNNER,
            "the hosted runner of forks (ubuntu-latest) needs the same: add steps that set up what it lacks",
            _MERGE,
            "a label perfgate, for maintainers; or comment `/perfgate check` on a pull request",
        ),
    ),
    "matrix": Kind(
        "the benchmarks divided over several runners",
        {"matrix.yml": "perfgate.yml"},
        (
            _PUBLIC,
            "runners: self-hosted ones with the label perf, each on a machine of its own, with {tools}",
            "perfgate.toml: set shards and sessions of [plan]; without them there is one job",
            _PUSH,
            _REQUIRE,
            _LABEL + "; then re-run the failed job",
        ),
    ),
    "calibrate": Kind(
        "learns the noise of the machine, every night",
        {"calibrate.yml": "perfgate-calibrate.yml"},
        (_RUNNER, _MERGE, "run it once by hand: Actions, {check} calibrate, Run workflow"),
    ),
    "history": Kind(
        "records each commit of the default branch, and draws the trend",
        {"history.yml": "perfgate-history.yml"},
        (
            _RUNNER,
            "perfgate.yml, if you have it: remove its `push:` trigger, since this workflow measures the same commits",
            _MERGE,
            "read it anywhere: `git fetch origin +{ref}:{ref}`, then `perfgate history trend --history {ref}`",
        ),
    ),
    "creep": Kind(
        "compares the default branch with the latest release, every night",
        {"creep.yml": "perfgate-creep.yml"},
        (
            _RUNNER,
            'perfgate.toml: a [creep], which names the pin: `against = "latest-tag"` or a commit (docs/creep.md)',
            _MERGE,
            "run it once by hand: Actions, {check} creep, Run workflow; an alarm takes four nights at least",
        ),
    ),
    "study": Kind(
        "runs the study of perfgate.toml, by hand or for a label",
        {"study.yml": "perfgate-study.yml"},
        (
            _RUNNER,
            "perfgate.toml: a [study] with factors (docs/study.md)",
            _MERGE,
            "a label perf-study, for maintainers to study a pull request; never require the check {check} study",
        ),
    ),
}


def run(options: WorkflowOptions, out: TextIO, err: TextIO) -> int:  # noqa: ARG001 - as all commands
    """Write the files of a workflow and say what is left to do.

    Raises:
        UserError: no such kind, no action's name, no repository, or a file that exists already or cannot be written.
    """
    kind = _kind(options.kind)
    environment = os.environ
    own, ref = environment.get("GITHUB_ACTION_REPOSITORY"), environment.get("GITHUB_ACTION_REF")
    action = options.action or (f"{own}@{ref or 'v1'}" if own else DEFAULT_ACTION)
    if not _ACTION.fullmatch(action):
        raise UserError(f"--action {action!r}: write OWNER/REPO@REF, such as {DEFAULT_ACTION}")
    place = _place(options.directory)
    # name a project by its folder, as the action does (its input id); "" for the root
    project = place.project
    slug = "" if project == PurePosixPath() else slug_of(project)
    files = {
        FOLDER / (name.replace("perfgate", f"perfgate-{slug}", 1) if slug else name): _render(
            template, action, place, slug
        )
        for template, name in kind.files.items()
    }
    _write(place.top, files, options.force)
    lines = [f"wrote {file}" for file in files]
    lines += _notes(options, action, place)
    names = {
        "check": f"perfgate {slug}".rstrip(),
        "status": f"perfgate/{slug}".rstrip("/"),
        "ref": f"{HISTORY_REF}-{slug}".rstrip("-"),
        "tools": ", ".join(["git", "CPython 3.11 to 3.14", *place.needs.tools]),
    }
    lines += ["next:", *(f"  - {step.format_map(names)}" for step in kind.next)]
    out.write("".join(f"{visible(line)}\n" for line in lines))
    return 0


def _kind(name: str) -> Kind:
    if name not in KINDS:
        known = ", ".join(f"{known} ({kind.purpose})" for known, kind in KINDS.items())
        raise UserError(f"--workflow {name!r}: unknown; choose from {known}")
    return KINDS[name]


def _place(directory: Path) -> _Place:
    if not directory.is_dir():
        raise UserError(f"{directory} is not a directory")
    git = git_of(directory)
    top = Path(git.environment["GIT_WORK_TREE"])
    project = _project(git.directory, top)
    inside = PurePosixPath((project or git.directory).relative_to(top).as_posix())
    # GitHub would take it for an expression
    if "${{" in str(inside) or not str(inside).isprintable():
        raise UserError(f"{inside}: this folder name cannot be written into a workflow: rename the folder")
    return _Place(top, inside, _default_branch(git), project is not None, needs_of(project or git.directory))


def _project(directory: Path, top: Path) -> Path | None:
    """Find the nearest folder with a config, upwards to the root."""
    for folder in (directory, *directory.parents):
        if (folder / "perfgate.toml").is_file() or _in_pyproject(folder):
            return folder
        if folder == top:
            break
    return None


def _in_pyproject(folder: Path) -> bool:
    # as the harness finds a project, also where the rest of the file is no TOML
    try:
        return "[tool.perfgate" in text_of(folder / "pyproject.toml")
    except OSError:
        return False


def _default_branch(git: Git) -> str | None:
    pointer = git.maybe("symbolic-ref", "--short", "--quiet", "refs/remotes/origin/HEAD")
    if pointer:
        return pointer.removeprefix("origin/")
    for name in ("main", "master"):
        for ref in (f"refs/remotes/origin/{name}", f"refs/heads/{name}"):
            if git.maybe("rev-parse", "--verify", "--quiet", ref):
                return name
    return None


def _render(template: str, action: str, place: _Place, slug: str) -> str:
    """Fill a template in: whose action, the branch that keeps the history, the project's folder."""
    text = _template(template)
    text = text.replace("branches: [main]", f"branches: [{_pattern(place.branch or 'main')}]")
    text = with_steps(text, place.needs.steps, _scalar(place.project.as_posix()) if slug else "")
    if slug:
        text = re.sub(r"^( *name: perfgate)\b", rf"\1 {slug}", text, flags=re.MULTILINE)
        text = text.replace("workflows: [perfgate]", f"workflows: [perfgate {slug}]")
        text = re.sub(r"\bperfgate((?:-publish)?\.yml)", rf"perfgate-{slug}\1", text)
        text = text.replace(HISTORY_REF, f"{HISTORY_REF}-{slug}")
        # each step of the action the project's folder
        directory = _scalar(place.project.as_posix())
        lines = text.splitlines(keepends=True)
        for at in reversed(range(len(lines))):
            if f"uses: {DEFAULT_ACTION}" not in lines[at]:
                continue
            indent = " " * lines[at].index("uses:")
            has_inputs = at + 1 < len(lines) and lines[at + 1] == f"{indent}with:\n"
            added = f"{indent}  working-directory: {directory}\n"
            lines[at + 1 : at + 1 + has_inputs] = [f"{indent}with:\n", added]
        text = "".join(lines)
    # the remark of the template is about a tag, which somebody can move; a commit needs none
    pinned = _COMMIT.fullmatch(action.rpartition("@")[2]) is not None
    remark = r" #.*$" if pinned else ""
    return re.sub(rf"(uses: ){re.escape(DEFAULT_ACTION)}{remark}", rf"\g<1>{action}", text, flags=re.MULTILINE)


def _template(name: str) -> str:
    return (templates() / "workflows" / name).read_text(encoding="utf-8")


def _pattern(branch: str) -> str:
    """Write a branch as a pattern of branches that matches only it."""
    return _scalar(re.sub(r"[!+*?\[\]]", r"\\\g<0>", branch))


def _scalar(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _write(top: Path, files: Mapping[PurePosixPath, str], force: bool) -> None:
    exist = [str(file) for file in files if os.path.lexists(top / file)]
    if exist and not force:
        raise UserError(f"{' and '.join(exist)}: already there: edit it, or add --force, which overwrites it")
    for file, text in files.items():
        refuse_tracked(top / file)
        try:
            (top / FOLDER).mkdir(parents=True, exist_ok=True)
            with (top / file).open("w" if force else "x", encoding="utf-8") as opened:
                opened.write(text)
        except OSError as error:
            raise UserError(f"{file} cannot be written: {error.strerror}") from None


def _notes(options: WorkflowOptions, action: str, place: _Place) -> list[str]:
    lines = []
    if not place.configured:
        lines.append("note: there is no perfgate.toml yet: run `perfgate init` first")
    lines += _needs_notes(place.needs)
    if place.branch is None and any("branches: [main]" in _template(name) for name in _kind(options.kind).files):
        lines.append(
            "note: the default branch is not known here: `main` was written; change `branches:` if yours is another"
        )
    if options.action is None:
        lines.append(f"note: the action is {action}; name another with --action OWNER/REPO@REF")
    return lines


def _needs_notes(needs: Needs) -> list[str]:
    placeholder = "perfgate.toml has a benchmark without a command, so the workflow will fail: write it before you push"
    return [
        *([f"note: {placeholder}"] if needs.placeholder else []),
        *(
            f"note: a step makes {step.path}, which perfgate.toml shares: {' && '.join(step.commands)}"
            for step in needs.steps
        ),
        *(
            f"note: perfgate.toml shares {path}, which git does not track: add a step that makes it before perfgate's"
            for path in needs.others
        ),
    ]


_TOOLS = (
    *("go", "cargo", "npm", "pnpm", "yarn", "bun", "node", "mvn", "gradle", "java", "javac", "python", "python3", "uv"),
    *("cmake", "ninja", "make", "cc", "gcc", "clang", "c++", "g++", "clang++", "autoreconf", "cython", "hyperfine"),
)
_WORD = re.compile(r"(?<![\w./+-])([a-z][a-z0-9+]*)(?![\w./+-])")
_COMES_WITH = {"npx": "npm", "npm": "node"}
_REQUIREMENTS = re.compile(r"(requirements[\w.-]*|[\w.-]*[-_]requirements)\.txt")
_OF_OTHERS = re.compile(r"(?<![a-z])(?:mypy|types?|typing|lint|format|docs?|release)(?![a-z])")
"""What no benchmark needs."""
_EXTRAS = ("benchmark", "bench", "benchmarks", "dev", "test", "tests")
_PACKAGES = {"pytest-benchmark": "pytest-benchmark", "pyperf": "pyperf"}
_INSTALLS = {
    "package-lock.json": "npm ci --no-audit --no-fund",
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
    "package.json": "npm install --no-audit --no-fund",
}
_STEP = re.compile(r"^(?= *- name:)", re.MULTILINE)
_CHECKOUT = re.compile(r"^ *uses: actions/checkout@", re.MULTILINE)
_USES_ACTION = re.compile(r"^ *uses: perfgate/perfgate@", re.MULTILINE)
_ELSEWHERE = re.compile(r"^ *command: (plan|publish)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SharedStep:
    """A step of a workflow that makes a path before perfgate links it into both sides."""

    path: str
    commands: list[str]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a runner must have."""

    placeholder: bool
    """Whether there is a benchmark without a command, with which nothing is measured."""
    tools: list[str]
    """Programs that its commands start."""
    steps: list[SharedStep]
    others: list[str]
    """Shared paths that no step can be written for."""


def needs_of(folder: Path) -> Needs:
    """Read the config of a folder; one that cannot be read needs nothing, and says so when it is run."""
    config = _config(folder)
    benchmarks = [each for each in _list(config.get("benchmark")) if isinstance(each, dict)]
    build = config.get("build")
    build = build if isinstance(build, dict) else {}
    share = [path.rstrip("/") for path in _list(build.get("share")) if isinstance(path, str)]
    steps = [SharedStep(path, commands) for path in share if (commands := _commands(folder, path, benchmarks))]
    texts = [
        (" ".join(map(str, each)) if isinstance(each, list) else str(each or ""))
        for each in (build.get("command"), build.get("setup"), *(b.get("command") for b in benchmarks))
    ]
    # what is installed, the runner need not have
    texts += [part.split()[0] for step in steps for command in step.commands for part in command.split(" && ")]
    known = {step.path for step in steps}
    # the programs that commands name as words of their own
    text = "\n".join(texts)
    words = {*_WORD.findall(text)}
    words |= {_COMES_WITH[word] for word in words & _COMES_WITH.keys()}
    return Needs(
        any(each.get("command") == [] for each in benchmarks),
        [tool for tool in _TOOLS if tool in words and not (tool == "python" and "python3" in words)],
        steps,
        [path for path in share if path not in known],
    )


def _config(folder: Path) -> dict[str, Any]:
    for name in ("perfgate.toml", "pyproject.toml"):
        try:
            tables = tomllib.loads(text_of(folder / name))
        except (OSError, ValueError):
            continue
        if name == "perfgate.toml":
            return tables
        tool = tables.get("tool")
        own = tool.get("perfgate") if isinstance(tool, dict) else None
        return own if isinstance(own, dict) else {}
    return {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _commands(folder: Path, path: str, benchmarks: list[dict[str, Any]]) -> list[str]:
    """Return the commands that make a shared path; none where they are not known."""
    name = PurePosixPath(path).name
    if name in (".venv", "venv"):
        return [*_environment(folder, path, benchmarks)]
    if name == "node_modules":
        inner = str(PurePosixPath(path).parent)
        install = next((text for file, text in _INSTALLS.items() if (folder / inner / file).is_file()), "")
        lead = "" if inner == "." else f"cd {inner} && "
        return [lead + install] if install and re.fullmatch(r"[\w./-]+", inner) else []
    return []


def _environment(folder: Path, path: str, benchmarks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the commands that make a Python environment with what the project declares."""
    if not re.fullmatch(r"[\w./-]+", path):
        return
    if (folder / "uv.lock").is_file() and path == ".venv":
        # a hosted runner has no uv; the project itself would be one copy for both sides
        yield f"python3 -m venv {path}"
        yield f"{path}/bin/pip install --quiet uv"
        yield f"{path}/bin/uv sync --frozen --inexact --no-install-project"
        return
    packages = sorted({_PACKAGES[each["instrument"]] for each in benchmarks if each.get("instrument") in _PACKAGES})
    declared = [*_declared(folder)]
    words = [f"-r {file}" for file in _requirements(folder)]
    # what names the tool of the benchmarks has what else they need
    if not words or any(package in each for package in packages for each in declared):
        words = declared
    words += packages
    yield f"python3 -m venv {path}"
    if words:
        yield f"{path}/bin/pip install --quiet {' '.join(dict.fromkeys(words))}"


def _requirements(folder: Path) -> list[str]:
    try:
        names = sorted(file.name for file in folder.iterdir() if file.is_file())
    except OSError:
        return []
    return [name for name in names if _REQUIREMENTS.fullmatch(name) and not _OF_OTHERS.search(name)]


def _declared(folder: Path) -> Iterator[str]:
    """Yield the dependencies of pyproject.toml as pip takes them, without the project itself."""
    try:
        project = tomllib.loads(text_of(folder / "pyproject.toml")).get("project")
    except (OSError, ValueError):
        return
    table = project if isinstance(project, dict) else {}
    extras = table.get("optional-dependencies")
    extras = extras if isinstance(extras, dict) else {}
    listed = [*_list(table.get("dependencies")), *(each for name in _EXTRAS for each in _list(extras.get(name)))]
    for each in listed:
        # what a shell would read otherwise is quoted; an address or a path is the user's own to write
        if isinstance(each, str) and re.fullmatch(r"[\w.\[\],<>=!~ ;'\"-]+", each) and "'" not in each:
            yield each if re.fullmatch(r"[\w.\[\]=-]+", each) else f"'{each}'"


def with_steps(text: str, steps: list[SharedStep], directory: str) -> str:
    """Write the steps between each checkout and the step that measures.

    directory: the project's, as a scalar of YAML; "" for the root.
    """
    if not steps:
        return text
    parts = _STEP.split(text)
    for at in reversed(range(1, len(parts))):
        # where code of the project runs: neither a plan nor what decides over measurements
        if _CHECKOUT.search(parts[at - 1]) and _USES_ACTION.search(parts[at]) and not _ELSEWHERE.search(parts[at]):
            indent = parts[at][: parts[at].index("-")]
            parts.insert(at, "".join(_step_lines(steps, indent, directory)))
    return "".join(parts)


def _step_lines(steps: list[SharedStep], indent: str, directory: str) -> Iterator[str]:
    for step in steps:
        yield f"{indent}- name: {json.dumps(f'Make {step.path}')} # perfgate.toml shares it with both sides\n"
        if directory:
            yield f"{indent}  working-directory: {directory}\n"
        yield f"{indent}  run: |\n"
        yield from (f"{indent}    {command}\n" for command in step.commands)
