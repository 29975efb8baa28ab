"""The real workflow runner `act`, without containers, and what it says about a run."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.act.events import REPOSITORY, Event
from tests.support.forge import FakeGitHub
from tests.support.project import environment

ROOT = Path(__file__).parent.parent.parent.parent
HERE = Path(__file__).parent
TIMEOUT = 600.0
STAND_INS = ("upload-artifact", "download-artifact")
# What GitHub downloads of an action is everything; only this is ever run.
OF_THE_ACTION = (
    "action.yml",
    "gate",
    "harness",
    "templates",
    "scripts",
    "perfgate.py",
    "pyproject.toml",
    "requirements.lock",
)
COMMANDS = ("error", "warning", "notice")


def find_act() -> Path | None:
    """Find the runner: PERFGATE_TEST_ACT, else what `make tools` installs, else the one in PATH."""
    told = os.environ.get("PERFGATE_TEST_ACT")
    candidates = [told, str(ROOT / ".tools" / "bin" / "act"), shutil.which("act")]
    return next((Path(each) for each in candidates if each and os.access(each, os.X_OK)), None)


def pins(*files: Path) -> dict[str, str]:
    """Read `owner/name@sha` of the actions that a stand-in plays, from the files that use them; by short name."""
    found: dict[str, str] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            _, uses, rest = line.partition("uses: actions/")
            name, at, ref = rest.split(" ")[0].strip().partition("@")
            if uses and at and name in STAND_INS:
                assert found.setdefault(name, ref) == ref, f"two versions of actions/{name}: {ref} in {file}"
    return found


def export(into: Path) -> Path:
    """Copy the action out of the working tree, as a download of it would be: no environment, nothing ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *OF_THE_ACTION],
        cwd=ROOT, capture_output=True, text=True, check=True, env=environment(),
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    return into


@dataclass(frozen=True)
class Annotation:
    """A line that the run shows on top: error, warning or notice."""

    level: str
    message: str


@dataclass
class Ran:
    """A run of a workflow; exit: of the runner, 1 for any failure; log: what every step printed, as text."""

    id: int
    exit: int
    said: list[dict[str, Any]]
    log: str
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def annotations(self) -> list[Annotation]:
        """The errors, warnings and notices that steps asked for; not what the runner says itself."""
        found = [each for each in self.said if each.get("command") in COMMANDS and "kvPairs" in each]
        return [Annotation(each["command"], str(each["arg"])) for each in found]

    @property
    def summaries(self) -> list[str]:
        """The job summary of each step that wrote one; of a composite the steps, not their sum."""
        found = [each for each in self.said if each.get("command") == "summary"]
        return [
            str(each.get("content", ""))
            for each in found
            if len(each.get("stepID") or []) != 1 or not nested(each, found)
        ]

    @property
    def masks(self) -> list[str]:
        """What steps asked to hide."""
        return [str(each["arg"]) for each in self.said if each.get("command") == "add-mask"]

    @property
    def steps(self) -> dict[str, str]:
        """How each step ended, by its id; a step of a composite as "gate.measure". What was skipped is not there."""
        ended = [each for each in self.said if "stepResult" in each and each.get("stage") == "Main"]
        return {".".join(each["stepID"]): str(each["stepResult"]) for each in ended}


def nested(summary: dict[str, Any], every: list[dict[str, Any]]) -> bool:
    """Return whether a step is a composite one of whose steps wrote the same summary."""
    first = (summary.get("stepID") or [""])[0]
    return any(len(each.get("stepID") or []) > 1 and each["stepID"][0] == first for each in every)


@dataclass
class Act:
    """The runner with the actions it can find and the GitHub that it belongs to."""

    program: Path
    github: FakeGitHub
    folder: Path
    home: Path
    repositories: dict[str, Path]
    run_ids: itertools.count[int] = field(default_factory=lambda: itertools.count(501))

    def run(
        self,
        top: Path,
        event: Event,
        workflow: str,
        *,
        run_id: int | None = None,
        attempt: int = 1,
        hosted: bool = False,
        variables: dict[str, str] | None = None,
        matrix: tuple[str, ...] = (),
        timeout: float = TIMEOUT,
    ) -> Ran:
        """Run a workflow (its text) of the repository at top; variables: of every step. GitHub knows of the run then.

        Of a matrix only the legs with all of these "key:value" run, if there are any.

        Outputs of a job are those of its steps that have an id, by id: a last step is added that tells them.
        """
        number = run_id or next(self.run_ids)
        self.github.add_run(number, event.head, event.branch)
        box = self.folder / f"{number}-{attempt}"
        box.mkdir(parents=True)
        files = {"event.json": json.dumps(event.payload), "workflow.yml": f"{workflow.rstrip()}\n{TELL}"}
        # the tokens by files: the benchmarks of a test look for them in the environment and arguments of everything alive
        files[".secrets"] = f"GITHUB_TOKEN={self.github.token}\n"
        files[".env"] = f"ACTIONS_RUNTIME_TOKEN={self.github.job_token(number)}\n"
        for name, text in files.items():
            (box / name).write_text(text, encoding="utf-8")
        shown = {
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_REF": event.ref,
            "SHA_REF": event.sha,
            "GITHUB_RUN_ID": str(number),
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "GITHUB_API_URL": self.github.url,
            "GITHUB_GRAPHQL_URL": f"{self.github.url}/graphql",
            "ACTIONS_RESULTS_URL": f"{self.github.storage}/",
            "RUNNER_ENVIRONMENT": "github-hosted" if hosted else "self-hosted",
            "STAND_IN_PYTHON": sys.executable,
            "STAND_IN_OUTPUTS": str(box / "outputs.json"),
            "PERFGATE_HISTORY": str(self.folder / "history"),
            # shared by the jobs of a matrix, and by no other test
            "PERFGATE_LOCK": str(self.folder / "lock"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            **event.more,
            **(variables or {}),
        }
        command = [
            str(self.program), event.name, "-C", str(top), "-W", str(box / "workflow.yml"), "-e", str(box / "event.json"),
            "-P", "self-hosted=-self-hosted", "-P", "ubuntu-latest=-self-hosted", "-P", "ubuntu-24.04=-self-hosted", "--secret-file", str(box / ".secrets"), "--env-file", str(box / ".env"),
            "--action-cache-path", str(self.folder / "cache"), "--no-cache-server", "--concurrent-jobs", "1", "--rm", "--json",
        ]  # fmt: skip
        for name, value in shown.items():
            command += ["--env", f"{name}={value}"]
        for name, place in self.repositories.items():
            command += ["--local-repository", f"{name}={place}"]
        command += [part for leg in matrix for part in ("--matrix", leg)]
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        around = {
            name: value
            for name, value in environment(HOME=str(home)).items()
            if not name.startswith(("XDG_", "VIRTUAL_ENV"))
        }
        done = subprocess.run(
            command, cwd=top, env=around, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=timeout, check=False,
        )  # fmt: skip
        return told(done.returncode, done.stdout, box / "outputs.json", number)


# Indented as a step of a job whose steps are the last thing in the workflow.
TELL = """\
      - if: ${{ always() }}
        shell: /bin/sh -e {0}
        env: {TOLD: "${{ toJSON(steps) }}"}
        run: printf '%s\\n' "$TOLD" >> "$STAND_IN_OUTPUTS"
"""


def told(code: int, text: str, outputs: Path, number: int) -> Ran:
    """Read what the runner said: a line of JSON each, and lines of its own trouble."""
    said, log = [], []
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            log.append(line)
            continue
        said.append(found)
        log.append(str(found.get("msg", "")).rstrip("\n"))
    ran = Ran(number, code, said, "\n".join(log))
    if outputs.exists():
        steps = json.loads(outputs.read_text(encoding="utf-8"))
        ran.outputs = {name: step.get("outputs") or {} for name, step in steps.items()}
    return ran
