"""A repository that uses the action: a benchmark whose numbers are told, a workflow, and branches as GitHub has them."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.act import events
from tests.support import project as ordinary
from tests.support.forge import FakeGitHub
from tests.support.project import Project

TEMPLATES = Path(__file__).parent.parent.parent.parent / "templates" / "workflows"
CONFIG = ordinary.CONFIG
# Whatever the seed, which the action draws: the reported change is the same in every run.
BENCH = """\
import os, sys
with open(sys.argv[1], "w") as out:
    for k in range(int(os.environ["PERFGATE_ITERATIONS"])):
        out.write(f"{SPEED * (1 + 0.001 * (k % 3))}\\n")
"""
WORKFLOW = """\
name: perfgate
on: [pull_request, issue_comment, merge_group, push, schedule, workflow_dispatch, workflow_run]
permissions: {contents: read, pull-requests: write}
jobs:
  perfgate:
    runs-on: self-hosted
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with: {fetch-depth: 0, persist-credentials: false}
      - id: gate
        uses: acme/perfgate@v1
        with: INPUTS
"""


def workflow(**inputs: str) -> str:
    """Write the workflow of the README with these inputs; perfgate is the one of the tests unless perfgate_path is ""."""
    given = {"perfgate-path": sys.prefix, **{name.replace("_", "-"): value for name, value in inputs.items()}}
    return WORKFLOW.replace("INPUTS", json.dumps({name: value for name, value in given.items() if value}))


def template(name: str, *, status: bool = False) -> str:
    """Take a workflow that `perfgate init --workflow` writes; perfgate is the one of the tests, its last step is "gate".

    With a status, that last step also sets one, which the template does not.
    """
    text = (TEMPLATES / f"{name}.yml").read_text(encoding="utf-8")
    step = re.compile(r"(\n +)uses: perfgate/perfgate@v1[^\n]*(?:\1with:)?")
    text, found = step.subn(rf"\1uses: perfgate/perfgate@v1\1with:\1  perfgate-path: {sys.prefix}", text)
    assert found, f"{name}: no step of perfgate"
    before, uses, after = text.rpartition("uses: perfgate/perfgate@v1")
    if status:
        after, found = re.subn("with:\n", "with:\n          status: true\n", after, count=1)
        assert found, f"{name}: its last step has no inputs"
    return f"{before}id: gate\n        {uses}{after}"


@dataclass(frozen=True)
class Change:
    """A pull request as it stands: its commits, and the merge that is checked out."""

    number: int
    head: str
    base: str
    merge: str
    ref: str
    owner: str

    def event(self, action: str = "synchronize", labels: tuple[str, ...] = ()) -> events.Event:
        """Tell of it."""
        return events.pull_request(
            self.number, self.head, self.base, self.merge, ref=self.ref, owner=self.owner, action=action, labels=labels
        )


class Consumer:
    """The repository acme/widget on a developer's machine; HEAD is what actions/checkout would leave."""

    def __init__(self, top: Path, github: FakeGitHub, config: str = CONFIG) -> None:
        self.project = Project(top)
        self.top = top
        self.github = github
        self.project.git("remote", "add", "origin", "https://github.com/acme/widget.git")
        self.project.write("perfgate.toml", config)
        self.bench(1.0)
        self.base = self.project.commit("base")

    def bench(self, speed: float) -> None:
        """Set the speed of the benchmark in the working tree."""
        self.write("bench.py", BENCH.replace("SPEED", str(speed)))

    def write(self, name: str, text: str) -> None:
        """Write a file of the working tree, for the next commit."""
        self.project.write(name, text)

    def on_main(self, message: str = "more") -> str:
        """Commit to the default branch what the working tree has."""
        self.base = self.project.commit(message)
        return self.base

    def push(self, speed: float) -> str:
        """Push a commit that runs at this speed to the default branch, and check it out."""
        self.project.git("checkout", "-q", "-f", "main")
        self.bench(speed)
        return self.on_main(f"speed {speed}")

    def change(
        self,
        speed: float,
        *,
        ref: str = "topic",
        number: int = 12,
        owner: str = events.REPOSITORY,
        files: dict[str, str] | None = None,
    ) -> Change:
        """Push a commit to a pull request (opened if need be) that runs at this speed, and check its merge out."""
        git = self.project.git
        known = f"refs/heads/{ref}" in git("for-each-ref", "--format=%(refname)").splitlines()
        git("checkout", "-q", "-f", *(() if known else ("-b",)), ref, *(() if known else (self.base,)))
        self.bench(speed)
        for name, text in (files or {}).items():
            self.project.write(name, text)
        head = self.project.commit(f"speed {speed}")
        git("checkout", "-q", "-f", "--detach", self.base)
        git("merge", "-q", "--no-ff", "-m", f"Merge {head} into {self.base}", head)
        merge = git("rev-parse", "HEAD")
        pull = self.github.pulls.get(number) or self.github.add_pull(
            number, head, self.base, ref, head_repository=owner
        )
        pull.head_sha, pull.base_sha, pull.merge_sha = head, self.base, merge
        return Change(number, head, self.base, merge, ref, owner)
