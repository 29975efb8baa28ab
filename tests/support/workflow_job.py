"""A job of a workflow that uses the action: its steps in order, as action.yml calls them, with a real repository."""

import contextlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from gate.commands.action import command as action
from gate.commands.action.command import Options
from gate.publishing.request import leg_of
from tests.support import project as ordinary
from tests.support.forge.server import FakeGitHub
from tests.support.project import Project, Step, committed, environment
from tests.support.runner_log import Command, commands, outputs

# numbers that hardly vary: what is told of them is the same in every run
BENCH = ordinary.SHELL_BENCH.replace("0.01", "0.001")
# without a shell, so that a benchmark's parent is perfgate itself
CONFIG = (
    ordinary.SHELL_CONFIG.replace('"sh bench.sh {output}"', '["sh", "bench.sh", "{output}"]')
    .replace("[plan]\n", "min_builds = 3\n[plan]\n")
    .replace("builds = 5", "builds = 3")
    .replace("iterations = 4", "iterations = 1")
)
SANDBOXED = "plan.sandbox=auto"
"""As it is by default, which takes a fifth of the time of such a job: those that show it say so."""


@dataclass
class Done:
    """What a step did."""

    code: int
    log: str
    outputs: dict[str, str]

    @property
    def commands(self) -> list[Command]:
        """What the runner carries out."""
        return commands(self.log)

    def said(self, level: str) -> list[str]:
        """Return the messages of one level."""
        return [command.data for command in self.commands if command.name == level]


@dataclass
class Ended:
    """What a whole job did; steps: those that ran."""

    steps: dict[str, Done]
    summary: str

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the action."""
        return self.steps["publish"].outputs

    @property
    def code(self) -> int:
        """What the last step of the action exits with."""
        found = self.steps.get("publish")
        return found.code if found else 4

    def said(self, level: str) -> list[str]:
        """Return the messages of one level, of all steps."""
        return [message for done in self.steps.values() for message in done.said(level)]

    @property
    def log(self) -> str:
        """All that was written."""
        return "".join(done.log for done in self.steps.values())


@dataclass
class Job:
    """A job in a checkout; api: of the forge, token: what the steps get that have one."""

    project: Project
    directory: Path
    event: str
    payload: dict[str, Any]
    api: str = "http://127.0.0.1:9"
    token: str = ""
    more: dict[str, str] = field(default_factory=dict)
    run_id: int = 1000
    attempt: int = 1
    workflow: str = "perfgate.yml"
    job: str = "bench"
    count: int = 0
    forge: FakeGitHub | None = None

    def uploaded(self, runs: str, inputs: Mapping[str, str]) -> None:
        """Give the run the artifacts of a measuring job: a folder, or one of parts; one that is not there leaves none."""
        assert self.forge is not None
        folder = Path(runs)
        gate = inputs.get("id") or leg_of(inputs.get("matrix", "")) or "perfgate"
        parts = [folder] if (folder / "measurements.jsonl").is_file() else sorted(folder.glob("*/"))
        mine = f"perfgate-{gate}-data"
        self.forge.artifacts[:] = [one for one in self.forge.artifacts if not one.name.startswith(mine)]
        for at, part in enumerate(parts):
            name = f"{mine}-shard{at + 1}of{len(parts)}-session0"
            self.forge.add_artifact(self.run_id, name, packed(part), self.project.sha())

    def environment(self, inputs: Mapping[str, str]) -> dict[str, str]:
        """Give what a runner sets for each step."""
        self.directory.mkdir(parents=True, exist_ok=True)
        event = self.directory / "event.json"
        event.write_text(json.dumps(self.payload))
        temporary = self.directory / "temp"
        temporary.mkdir(exist_ok=True)
        self.count += 1
        given = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": self.event,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": "acme/widget",
            "GITHUB_SHA": self.project.sha(),
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_RUN_ID": str(self.run_id),
            "GITHUB_RUN_ATTEMPT": str(self.attempt),
            "GITHUB_WORKFLOW_REF": f"acme/widget/.github/workflows/{self.workflow}@refs/heads/main",
            "GITHUB_JOB": self.job,
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_API_URL": self.api,
            "GITHUB_WORKSPACE": str(self.project.top),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_STEP_SUMMARY": str(self.directory / "summary.md"),
            "GITHUB_OUTPUT": str(self.directory / f"output-{self.count}"),
            "GITHUB_ENV": str(self.directory / f"env-{self.count}"),
            "PERFGATE_HISTORY": str(self.directory / "history"),
            # what is measured here are made-up values: no other test has to wait for them
            "PERFGATE_LOCK": str(self.directory / "lock"),
            "PERFGATE_TRACEBACK": "1",
        }
        for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY"):
            Path(given[name]).touch()
        named = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        return {**environment(), **given, **named, **self.more}

    def step(self, step: str, *, token: str | None = None, **inputs: str) -> Done:
        """Run one step; inputs: of the environment, beside what every step has."""
        if "runs" in inputs:
            self.uploaded(inputs.pop("runs"), inputs)
            inputs.setdefault("measuring", "success")
        # the inputs of the action are JSON on standard input
        variables = ("matrix",) if step == "prepare" else ("request", "report_url", "uploads")
        given = self.environment({name: value for name, value in inputs.items() if name in variables})
        told = {name.replace("_", "-"): value for name, value in inputs.items() if name not in variables}
        told = {} if step == "measure" else {"token": self.token if token is None else token, **told}
        out, err, given_in = io.StringIO(), io.StringIO(), io.StringIO(json.dumps(told))
        with (
            mock.patch.dict(os.environ, given, clear=True),
            mock.patch("sys.stdin", given_in),
            contextlib.chdir(self.project.top),
        ):
            code = action.run(Options(step), out, err)
        assert err.getvalue() == "", "the runner reads both streams side by side: one only"
        return Done(code, out.getvalue(), outputs(Path(given["GITHUB_OUTPUT"]).read_text()))

    def run(self, **inputs: str) -> Ended:
        """Run the steps as action.yml does."""
        steps = {"prepare": self.step("prepare", **inputs)}
        request = steps["prepare"].outputs.get("request", "")
        if steps["prepare"].outputs.get("measure") == "true":
            steps["measure"] = self.step("measure", request=request)
        # a step that fails ends the action
        if request and not any(done.code for done in steps.values()):
            steps["decide"] = self.step("decide", request=request)
            told = {"report_url": "https://github.example/report", "uploads": "success success"}
            steps["publish"] = self.step("publish", request=request, **told)
        return Ended(steps, (self.directory / "summary.md").read_text())


def packed(folder: Path) -> bytes:
    """Pack a folder as an artifact."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, file.name)
    return into.getvalue()


def pull_payload(
    project: Project, base: str, number: int = 7, *, fork: bool = False, action: str = "synchronize"
) -> dict[str, Any]:
    """Make the payload of a pull request whose head is checked out."""
    head = {"full_name": "someone/widget" if fork else "acme/widget", "fork": fork}
    return {
        "action": action,
        "number": number,
        "repository": {"full_name": "acme/widget", "default_branch": "main"},
        "pull_request": {
            "number": number,
            "title": 'zzz";echo${IFS}"hello";#',
            "base": {"ref": "main", "sha": base, "repo": {"full_name": "acme/widget"}},
            "head": {"ref": "topic", "sha": project.sha(), "repo": head},
        },
    }


def changed(top: Path, *, base: float, head: float, config: str = CONFIG) -> Project:
    """Make a project whose benchmark takes these times on both sides; head is checked out on a branch."""
    first, second = (BENCH.replace("SPEED", str(speed)) for speed in (base, head))
    return committed(
        top,
        Step("main", "base", (("perfgate.toml", config), ("bench.sh", first))),
        Step("topic", "head", (("bench.sh", second),)),
    )


def pull_job(
    tmp_path: Path, project: Project, forge: FakeGitHub, *, labels: tuple[str, ...] = (), fork: bool = False
) -> Job:
    """Make the job of pull request 7, of which the forge knows."""
    base, head = project.sha("main"), project.sha()
    forge.add_pull(7, head_sha=head, base_sha=base, labels=labels, head_repository="someone/widget" if fork else "")
    payload = pull_payload(project, base, fork=fork)
    directory = tmp_path / "job"
    return Job(project, directory, "pull_request", payload, api=forge.url, token=forge.token, forge=forge)


def pulled(tmp_path: Path, forge: FakeGitHub, *, head: float = 0.1, config: str = CONFIG, fork: bool = False) -> Job:
    """Make the job of a pull request whose benchmark takes this long, and 0.1 s before."""
    return pull_job(tmp_path, changed(tmp_path / "repository", base=0.1, head=head, config=config), forge, fork=fork)


def measured(*names: str, head: float = 1.0) -> str:
    """Write measurements of a fixed design in which head takes so many times as long."""
    lines = [
        json.dumps({
            "type": "execution", "benchmark": name, "side": side, "build": build, "execution": 0,
            "metrics": {"time": {"unit": "s", "values": [scale * (1 + 0.001 * ((7 * build + i) % 5)) for i in range(4)]}},
        })
        for name in names
        for side, scale in (("base", 1.0), ("head", head))
        for build in range(6)
    ]  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


def gate_job(tmp_path: Path, forge: FakeGitHub) -> Job:
    """Make the job of a gate that measures nothing itself."""
    return pull_job(tmp_path, changed(tmp_path / "other", base=1, head=1), forge)


def folder_of(request: str) -> Path:
    """Return the folder that the steps share."""
    return Path(json.loads(request)["folder"])
