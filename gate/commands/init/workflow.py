"""perfgate init --workflow: writes a GitHub workflow from templates/workflows/, and prints the remaining steps."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TextIO

from gate.commands.init.command import Options
from gate.commands.init.npm import MANAGERS, UNLOCKED
from gate.commands.init.tree import Tree, table_of, write_new
from gate.document.html import templates
from gate.model import UserError
from gate.model.names import HISTORY_REF
from gate.publishing.request import slug_of
from gate.writing.plain import visible
from harness.source.base_and_head import default_tips
from harness.source.git import git_of

FOLDER = PurePosixPath(".github/workflows")
DEFAULT_ACTION = "perfgate/perfgate@v1"
_ACTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*@[A-Za-z0-9._/-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")


@dataclass(frozen=True, slots=True)
class Kind:
    """A workflow to choose: its files by the name of their template, and what is left to do."""

    files: Mapping[str, str]
    next: tuple[str, ...]


_RUNNER = (
    "runner: a self-hosted one with the label perf, on a machine that does nothing else, with git, CPython 3.11 to "
    "3.14 and what your build needs; run `perfgate doctor` there to see whether it is fit"
)
_HOSTED = (
    "runner: ubuntu-latest; add steps that set up what your build needs. A hosted runner is enough for commands "
    "that `perfgate try`, in a job there, decides by active time; suites timed by the wall clock want "
    "`[self-hosted, perf]`: a machine that does nothing else, which `perfgate doctor` there calls fit"
)
_PUBLIC = (
    "public repository? Write `perfgate init --workflow forks --force` instead: this one does not measure pull "
    "requests from forks, so each of them would end in an error"
)
_PUSH = "commit and push"
_MERGE = "commit, push and merge: it runs once it is on the default branch"
_REQUIRE = "Settings, Rules: make the check {check!r} required, which can be chosen after its first run"
_LABEL = "a label perf-accepted (gate.accept_label): it accepts a known regression when the failed job is run again"

KINDS: Mapping[str, Kind] = {
    "pull-request": Kind(
        {"pull-request.yml": "perfgate.yml"},
        (_PUBLIC, _HOSTED, _PUSH, _REQUIRE, _LABEL),
    ),
    "trusted": Kind(
        {"trusted.yml": "perfgate.yml"},
        (_PUBLIC, _HOSTED, _PUSH, _REQUIRE, _LABEL),
    ),
    "forks": Kind(
        {"forks.yml": "perfgate.yml", "forks-publish.yml": "perfgate-publish.yml"},
        (
            _HOSTED,
            'Settings, Actions, General: "Require approval for all external contributors", who may change the workflow',
            "commit, push and merge: perfgate-publish.yml runs once it is on the default branch",
            _REQUIRE.replace("check {check!r}", "status {status!r}")
            + "; not the check '{check} run': forks can forge it",
            _LABEL,
        ),
    ),
    "comment": Kind(
        {"comment.yml": "perfgate-comment.yml"},
        (
            _RUNNER,
            "the hosted runner of forks (ubuntu-latest) needs the same: add steps that set up what it lacks",
            _MERGE,
            "a label perfgate, for maintainers; or comment `/perfgate check` on a pull request",
        ),
    ),
    "matrix": Kind(
        {"matrix.yml": "perfgate.yml"},
        (
            _PUBLIC,
            "runners: self-hosted ones with the label perf, each on a machine of its own, with what your build needs",
            "perfgate.toml: set shards and sessions of [plan]; without them there is one job",
            _PUSH,
            _REQUIRE,
            _LABEL,
        ),
    ),
    "history": Kind(
        {"history.yml": "perfgate-history.yml"},
        (
            _RUNNER,
            "perfgate.yml, if you have it: remove its `push:` trigger, since this workflow measures the same commits",
            _MERGE,
            "read it anywhere: `git fetch origin +{ref}:{ref}`, then `perfgate history trend --history {ref}`",
        ),
    ),
    "creep": Kind(
        {"creep.yml": "perfgate-creep.yml"},
        (
            _RUNNER,
            'perfgate.toml: a [creep], which names the pin: `against = "latest-tag"` or a commit (docs/creep.md)',
            _MERGE,
            "run it once by hand: Actions, {check} creep, Run workflow; an alarm takes four nights at least",
        ),
    ),
}


def run(options: Options, out: TextIO, err: TextIO) -> int:  # noqa: ARG001 - as all commands
    """Write the files of a workflow and say what is left to do.

    Raises:
        UserError: no such kind, no action's name, no repository, or a file that exists already or cannot be written.
    """
    kind = KINDS.get(str(options.workflow))
    if kind is None:
        raise UserError(f"{options.workflow!r}: unknown; choose from {', '.join(KINDS)}", option="workflow")
    action = options.action or DEFAULT_ACTION
    if not _ACTION.fullmatch(action):
        raise UserError(f"--action {action!r}: write OWNER/REPO@REF, such as {DEFAULT_ACTION}")
    git = git_of(Path.cwd())
    top = Path(git.environment["GIT_WORK_TREE"])
    found = _project(git.directory, top)
    project = PurePosixPath((found or git.directory).relative_to(top).as_posix())
    # GitHub would take it for an expression
    if "${{" in str(project) or not str(project).isprintable():
        raise UserError(f"{project}: this folder name cannot be written into a workflow: rename the folder")
    # name a project by its folder, as the action does (its input id); "" for the root
    slug = "" if project == PurePosixPath() else slug_of(project)
    needs = needs_of(found or git.directory)
    branch = next((name.removeprefix("origin/") for name in default_tips(git, {})), None)
    # a pattern of branches that matches this one alone
    only = _scalar(re.sub(r"[!+*?\[\]]", r"\\\g<0>", branch or "main"))
    texts = {
        FOLDER / (name.replace("perfgate", f"perfgate-{slug}", 1) if slug else name): with_steps(
            (templates() / "workflows" / template).read_text(encoding="utf-8").replace(
                "branches: [main]", f"branches: [{only}]"
            ),
            needs.steps, _scalar(str(project)) if slug else "",
        )
        for template, name in kind.files.items()
    }  # fmt: skip
    _write(top, {file: _named(text, action, str(project), slug) for file, text in texts.items()}, options.force)
    branches = any("branches: [" in text for text in texts.values())
    notes = {
        "there is no perfgate.toml yet: run `perfgate init` first": found is None,
        "perfgate.toml has a benchmark without a command, so the workflow will fail: write it before you push": (
            needs.placeholder
        ),
        **{f"a step makes {path}, which perfgate.toml shares: {' && '.join(own)}": True for path, own in needs.steps},
        **{
            f"perfgate.toml shares {path}, which git does not track: add a step that makes it before perfgate's": True
            for path in needs.others
        },
        "the default branch is not known here: `main` was written; change `branches:` if yours is another": (
            branch is None and branches
        ),
        f"the action is {action}; name another with --action OWNER/REPO@REF": options.action is None,
    }
    names = {
        "check": f"perfgate {slug}".rstrip(),
        "status": f"perfgate/{slug}".rstrip("/"),
        "ref": f"{HISTORY_REF}-{slug}".rstrip("-"),
    }
    lines = [*(f"wrote {file}" for file in texts), *(f"note: {line}" for line, holds in notes.items() if holds)]
    lines += ["next:", *(f"  - {step.format_map(names)}" for step in kind.next)]
    out.write("".join(f"{visible(line)}\n" for line in lines))
    return 0


def _project(directory: Path, top: Path) -> Path | None:
    """Find the nearest folder with a config, upwards to the root."""
    for folder in (directory, *directory.parents):
        # as the harness finds a project, also where the rest of the file is no TOML
        own = "[tool.perfgate" in Tree(folder, (), (), git=False).text("pyproject.toml")
        if own or (folder / "perfgate.toml").is_file():
            return folder
        if folder == top:
            break
    return None


def _named(text: str, action: str, project: str, slug: str) -> str:
    """Write whose action it is, and the project's folder with its name where that is not the root."""
    if slug:
        text = re.sub(r"^( *name: perfgate)\b", rf"\1 {slug}", text, flags=re.MULTILINE)
        text = text.replace("workflows: [perfgate]", f"workflows: [perfgate {slug}]")
        text = re.sub(r"\bperfgate((?:-publish)?\.yml)", rf"perfgate-{slug}\1", text)
        text = text.replace(HISTORY_REF, f"{HISTORY_REF}-{slug}")
        # each step of the action the project's folder
        directory = _scalar(project)
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


def _scalar(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _write(top: Path, files: Mapping[PurePosixPath, str], force: bool) -> None:
    exist = [str(file) for file in files if os.path.lexists(top / file)]
    if exist and not force:
        raise UserError(f"{' and '.join(exist)}: already there: edit it, or add --force, which overwrites it")
    for file, text in files.items():
        write_new(top / file, str(file), text, force=force)


_REQUIREMENTS = re.compile(r"(requirements[\w.-]*|[\w.-]*[-_]requirements)\.txt")
_OF_OTHERS = re.compile(r"(?<![a-z])(?:mypy|types?|typing|lint|format|docs?|release)(?![a-z])")
"""What no benchmark needs."""
_EXTRAS = ("benchmark", "bench", "benchmarks", "dev", "test", "tests")
_PACKAGES = {"pytest-benchmark": "pytest-benchmark", "pyperf": "pyperf"}
_STEP = re.compile(r"^(?= *- name:)", re.MULTILINE)
_CHECKOUT = re.compile(r"^ *uses: actions/checkout@", re.MULTILINE)
_USES_ACTION = re.compile(r"^ *uses: perfgate/perfgate@", re.MULTILINE)
_ELSEWHERE = re.compile(r"^ *command: (plan|publish)$", re.MULTILINE)


class Needs(NamedTuple):
    """What a runner must have."""

    placeholder: bool
    """Whether there is a benchmark without a command, with which nothing is measured."""
    steps: list[tuple[str, list[str]]]
    """Paths that are linked into both sides, and the commands of a step that makes each."""
    others: list[str]
    """Shared paths that no step can be written for."""


def needs_of(folder: Path) -> Needs:
    """Read the config of a folder; one that cannot be read needs nothing, and says so when it is run."""
    own = Tree(folder, (), (), git=False)
    config = own.toml("perfgate.toml") if own.text("perfgate.toml") else own.toml("pyproject.toml")
    config = config if own.text("perfgate.toml") else table_of(table_of(config, "tool"), "perfgate")
    benchmarks = [each for each in _list(config.get("benchmark")) if isinstance(each, dict)]
    build = table_of(config, "build")
    share = [path.rstrip("/") for path in _list(build.get("share")) if isinstance(path, str)]
    steps = [(path, commands) for path in share if (commands := _commands(own, path, benchmarks))]
    known = {path for path, _ in steps}
    return Needs(any(b.get("command") == [] for b in benchmarks), steps, [p for p in share if p not in known])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _commands(own: Tree, path: str, benchmarks: list[dict[str, Any]]) -> list[str]:
    """Return the commands that make a shared path, of what the project declares; none where they are not known."""
    folder, place = own.directory, PurePosixPath(path)
    if not re.fullmatch(r"[\w./-]+", path):
        return []
    if place.name == "node_modules":
        managers = {**MANAGERS, "package.json": UNLOCKED}
        install = next((each[1] for file, each in managers.items() if (folder / place.parent / file).is_file()), "")
        lead = "" if str(place.parent) == "." else f"cd {place.parent} && "
        return [lead + install] if install else []
    if place.name not in (".venv", "venv"):
        return []
    make, pip = f"python3 -m venv {path}", f"{path}/bin/pip install --quiet"
    if (folder / "uv.lock").is_file() and path == ".venv":
        # a hosted runner has no uv; the project itself would be one copy for both sides
        return [make, f"{pip} uv", f"{path}/bin/uv sync --frozen --inexact --no-install-project"]
    packages = sorted({_PACKAGES[each["instrument"]] for each in benchmarks if each.get("instrument") in _PACKAGES})
    project = table_of(own.toml("pyproject.toml"), "project")
    extras = table_of(project, "optional-dependencies")
    listed = [*_list(project.get("dependencies")), *(each for name in _EXTRAS for each in _list(extras.get(name)))]
    # what a shell would read otherwise is quoted; an address or a path is the user's own to write
    usable = [e for e in listed if isinstance(e, str) and re.fullmatch(r"[\w.\[\],<>=!~ ;\"-]+", e)]
    declared = [each if re.fullmatch(r"[\w.\[\]=-]+", each) else f"'{each}'" for each in usable]
    names = sorted(file.name for file in folder.iterdir() if file.is_file())
    words = [f"-r {name}" for name in names if _REQUIREMENTS.fullmatch(name) and not _OF_OTHERS.search(name)]
    # what names the tool of the benchmarks has what else they need
    if not words or any(package in each for package in packages for each in declared):
        words = declared
    words += packages
    return [make, *([f"{pip} {' '.join(dict.fromkeys(words))}"] if words else [])]


def with_steps(text: str, steps: list[tuple[str, list[str]]], directory: str) -> str:
    """Write the steps between each checkout and the step that measures.

    directory: the project's, as a scalar of YAML; "" for the root.
    """
    parts = _STEP.split(text)
    for at in reversed(range(1, len(parts))):
        # where code of the project runs: neither a plan nor what decides over measurements
        if not _CHECKOUT.search(parts[at - 1]) or not _USES_ACTION.search(parts[at]) or _ELSEWHERE.search(parts[at]):
            continue
        indent = parts[at][: parts[at].index("-")]
        for path, commands in reversed(steps):
            lines = [f"- name: {json.dumps(f'Make {path}')} # perfgate.toml shares it with both sides"]
            lines += [f"  working-directory: {directory}"] if directory else []
            lines += ["  run: |", *(f"    {command}" for command in commands)]
            parts.insert(at, "".join(f"{indent}{line}\n" for line in lines))
    return "".join(parts)
