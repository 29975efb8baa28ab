"""A hostile pull request, measured: nothing of the machine, of base or of the next run is reached."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.sandbox.sandbox import examined
from tests.support.project import Project, environment, perfgate

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif(not examined("auto").on, reason="there is no sandbox on this system"),
]

TOKEN, SECRET = "a-token-of-the-job", "AKIA-a-secret-of-the-user"
BENCH = """\
import os, subprocess, sys
subprocess.run([sys.executable, "toolbox.py", "tmp"], check=True)
out = os.environ.get("PERFGATE_OUTPUT") if len(sys.argv) < 2 else sys.argv[1]
if out:
    with open(out, "w") as file:
        file.write("1.01\\n" * int(os.environ["PERFGATE_ITERATIONS"]))
"""
SERVER = """\
import socket, subprocess, sys, time
subprocess.run([sys.executable, "toolbox.py", "tmp"], check=True)
with socket.socket() as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", int(sys.argv[1])))
    s.listen()
    time.sleep(60)
"""
PLAN = """\
[gate]
sameness = "off"
threshold = "90%"
[plan]
builds = {builds}
executions = 1
iterations = 2
{plan}
[build]
command = "python3 toolbox.py && {command}"
{build}
[[benchmark]]
name = "bench"
{benchmark}
"""


class Machine:
    """A runner with a user, and a project that somebody hostile changes."""

    def __init__(self, root: Path) -> None:
        self.root, self.home, self.runner = root, root / "home", root / "actions-runner"
        temp = self.runner / "_work" / "_temp"
        self.project = Project(self.runner / "_work" / "project" / "project")
        self.secret = self.home / ".aws" / "credentials"
        commands = temp / "_runner_file_commands"
        self.files = [
            self.home / ".profile", self.secret, self.home / ".cache" / "perfgate" / "builds" / "key" / "about.json",
            self.runner / ".runner", self.runner / "run.sh", self.runner / ".credentials",
            commands / "env", commands / "output", commands / "path", temp / "git-credentials-1.config",
            self.root / "tools" / "perfgate" / "lib" / "site.py", self.project.top / ".perfgate" / "measurements.jsonl",
            self.project.top / ".git" / "config", self.project.top / ".git" / "hooks" / "post-checkout",
        ]  # fmt: skip
        for file in self.files:
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("mine\n" if ".perfgate" in file.parts else f"{SECRET}\n")
        self.variables = {
            "HOME": str(self.home), "TOKEN_OF_THE_JOB": TOKEN, "RUNNER_TEMP": str(temp),
            "GITHUB_ENV": str(commands / "env"), "GITHUB_OUTPUT": str(commands / "output"),
            "GITHUB_PATH": str(commands / "path"),
        }  # fmt: skip

    def commit(
        self, config: str, bench: str = BENCH, files: Mapping[str, str] | None = None, *, own: bool = True
    ) -> None:
        """Make base, which attacks nobody, and head; own: the environment of these tests is a victim, too."""
        tracked = [each for each in self.files if ".perfgate" not in each.parts]
        victims = {
            "files": [str(each) for each in (*tracked, *([Path(sys.prefix) / "pyvenv.cfg"] if own else []))],
            "secrets": [str(each) for each in (self.secret, *tracked[-4:]) if each.name in ("credentials", "config")],
            "token": TOKEN,
            "links": str(self.secret),
        }
        shutil.copy(Path(__file__).with_name("toolbox.py"), self.project.top)
        tree = {
            "perfgate.toml": config,
            "bench.py": bench,
            "server.py": SERVER,
            "victims.json": json.dumps(victims),
            **(files or {}),
        }
        for number in range(2):
            for name, text in {
                **tree,
                "number": str(number),
                ".gitignore": ".perfgate\nnew\nbuilt\n*.o\napp\n",
            }.items():
                self.project.write(name, text)
            self.project.commit()

    def check(self, *arguments: str, **more: str) -> str:
        """Run the check; return all that anybody is shown of it."""
        before = {each: each.read_bytes() for each in self.files if ".perfgate" not in each.parts}
        done = self.perfgate("check", "--base", "HEAD~1", "--head", "HEAD", *arguments, **more)
        shown = done.stdout + done.stderr
        for file in (self.project.top / ".perfgate").glob("*"):
            if file.is_file():
                text = file.read_text("utf-8", "replace")
                assert SECRET not in text
                assert "REACHED" not in text
        assert SECRET not in shown
        time.sleep(0.5)
        assert {each: each.read_bytes() for each in before} == before
        assert not list(self.root.glob("**/planted.pth"))
        self.code = done.returncode
        return shown

    def perfgate(self, *arguments: str, before: Sequence[str] = (), **more: str) -> subprocess.CompletedProcess[str]:
        """Run perfgate as a step of a job does; before: words that start it."""
        return subprocess.run(
            [*before, *perfgate(*arguments)], cwd=self.project.top, capture_output=True, text=True, check=False,
            env=environment(**{**self.project.own(), **self.variables, **more}), timeout=200,
        )  # fmt: skip

    def report(self) -> dict[str, Any]:
        return self.project.report()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def plan(benchmark: str, *, command: str = ":", builds: int = 1, **more: str) -> str:
    return PLAN.format(benchmark=benchmark, command=command, builds=builds, **{"plan": "", "build": "", **more})


SPAWN = 'instrument = "spawn"\ncommand = "python3 bench.py"'
VALUES = 'instrument = "values"\ncommand = "python3 bench.py {output}"'
KINDS = {
    "spawn": plan(SPAWN),
    "hyperfine": plan(SPAWN.replace("spawn", "hyperfine")),
    "values": plan(VALUES),
    "values of standard output": plan(
        'instrument = "values"\ncommand = "python3 bench.py /dev/null && echo 1 && echo 1"'
    ),
    "service": plan(VALUES + '\nservice = {command = "exec python3 server.py {port}", ready = "tcp:{port}"}'),
    "service of a build": plan(
        VALUES + '\nservice = {command = "exec python3 server.py {port}", ready = "tcp:{port}", per = "build"}'
    ),
    "relinking": plan(SPAWN, command="cc -c main.c && cc -o app main.o", build='artifacts = ["app"]'),
    "same output": plan(VALUES + "\nsame_output = true"),
}


# confined as the others are
AT_NIGHT = ("hyperfine", "values of standard output", "service of a build")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.nightly] * (kind in AT_NIGHT)) for kind in KINDS]
)
def test_nothing_is_reached(machine: Machine, kind: str) -> None:
    machine.commit(KINDS[kind], files={"main.c": "int main(void) { return 0; }\n"})
    # what the first build plants would strike in the second
    shown = machine.check("--quiet", "--set", "plan.builds=2")
    assert "REACHED" not in shown, shown
    assert machine.code == 0, shown
    assert machine.report()["run"]["sandbox"]["landlock"]


def test_what_is_reached_without_a_sandbox(machine: Machine) -> None:
    """The same toolbox: it does attack."""
    machine.commit(KINDS["values"].replace("[plan]", '[plan]\nsandbox = "off"'), own=False)
    with pytest.raises(AssertionError):
        machine.check("--quiet")
    assert "hacked" in (machine.home / ".profile").read_text()


# What perfgate reads and shows must be what the program wrote, never what a link leads to.
PRINTS = {
    "standard output": 'ln -sf "$S" "$(dirname "$PERFGATE_OUTPUT")/stdout"; exit 3',
    "numbers": 'ln -sf "$S" "$1"',
    "a pipe": 'd=$(dirname "$PERFGATE_OUTPUT"); rm $d/stdout; mkfifo $d/stdout; exit 3',
    "a directory": 'd=$(dirname "$PERFGATE_OUTPUT"); mv $d $d-; ln -s "$(dirname "$S")" $d; exit 3',
    "a service": 'log=$(readlink /proc/self/fd/1); rm -f "$log"; ln -s "$S" "$log"; sleep 0.1; exit 3',
    "a file of the tree": 'ln -sfn "$(dirname "$S")" out; touch out/credentials',
}
MORE = {
    "a service": 'service = {command = "sh service.sh", ready = "log:go"}',
    "a file of the tree": 'same_output = "out/credentials"',
}


def test_perfgate_reads_nothing_through_links(machine: Machine) -> None:
    secret = f'S="{machine.secret}"\n'
    files = {f"{name.split()[-1]}.sh": secret + script for name, script in PRINTS.items()}
    benchmarks = [
        f'name = "{name}"\ninstrument = "values"\ncommand = "sh {name.split()[-1]}.sh {"{output}" * (name == "numbers")}"\n{MORE.get(name, "")}\n'
        for name in PRINTS
    ]
    before, _, _ = plan("").partition("[[benchmark]]")
    machine.commit(before + "[[benchmark]]\n" + "[[benchmark]]\n".join(benchmarks), files=files)
    machine.check()
    assert machine.code == 4
    assert {each["benchmark"] for each in machine.report()["failures"]} == {*PRINTS}


def test_nor_does_it_show_what_a_build_links_to(machine: Machine) -> None:
    script = f'o=$(readlink /proc/self/fd/1); rm -f "$o"; ln -s "{machine.secret}" "$o"; exit 3'
    machine.commit(plan('instrument = "spawn"\ncommand = "true"', command="sh bench.sh"), files={"bench.sh": script})
    machine.check()
    assert machine.code == 4


def test_perfgate_writes_nothing_through_links(machine: Machine) -> None:
    """It keeps a copy of an output, beside those that it did not make itself."""
    profile = machine.home / ".profile"
    script = f"""\
echo hacked > out.txt
for d in "$(dirname "$PERFGATE_OUTPUT")/.." "$TMPDIR/../../outputs/head" "$TMPDIR/../../outputs"; do
    for n in same-output same-output-head build service-1.log; do ln -sf {profile} "$d/$n"; done
done
"""
    config = plan('instrument = "values"\ncommand = "sh bench.sh; echo 1; echo 1"\nsame_output = "out.txt"')
    machine.commit(config, files={"bench.sh": script})
    machine.check()
    assert machine.code == 0


@pytest.mark.parametrize("entry", [pytest.param("~", marks=pytest.mark.nightly), "~/.aws", "../../..", "link"])
def test_heads_own_caches_give_it_no_secrets(machine: Machine, entry: str) -> None:
    """Head's file says what is a cache, and in a pull request perfgate copies it."""
    look = '! grep -rs A[K]IA "$HOME/" /proc/self/cwd/'
    config = plan(SPAWN, command=look.replace('"', '\\"'), build=f'write = ["{entry}"]')
    machine.project.top.joinpath("link").symlink_to(machine.secret.parent)
    machine.commit(config)
    shown = machine.check(CI="true", GITHUB_ACTIONS="true", GITHUB_EVENT_NAME="pull_request")
    assert machine.code == 0, shown


def test_temporary_files_that_are_cleared_are_the_sides_own(machine: Machine) -> None:
    script = f'rm -rf "$TMPDIR"; ln -s "{machine.home}" "$TMPDIR"; ln -sfn "{machine.home}" "$HOME/.cache"'
    machine.commit(plan('instrument = "spawn"\ncommand = "sh bench.sh"'), files={"bench.sh": script})
    machine.check()
    assert machine.code == 0


@pytest.mark.parametrize(
    ("wanted", "missing"), [("require", "landlock"), ("auto", "landlock"), ("require", "namespaces")]
)
def test_a_system_without(machine: Machine, wanted: str, missing: str) -> None:
    """As a container's filter of system calls refuses it."""
    machine.commit(plan(SPAWN, plan=f'sandbox = "{wanted}"'), bench="")
    filtered = (sys.executable, "-I", str(Path(__file__).with_name("without.py")), missing)
    more = ("--base", "HEAD~1", "--head", "HEAD", "--set", "build.command=:")
    done = machine.perfgate("check", *more, before=filtered)
    if (wanted, missing) == ("require", "landlock"):
        assert done.returncode == 2, done.stdout + done.stderr
        (line,) = done.stderr.splitlines()
        assert 'plan.sandbox = "require"' in line
        return
    assert done.returncode == 0, done.stdout + done.stderr
    found = machine.report()["run"]["sandbox"]
    if missing == "landlock":
        assert "sandbox: off" in done.stderr
        assert found["why"] in ("kernel", "refused")
    else:
        assert re.search(r"sandbox: on .*refuses commands .*Operation not permitted", done.stderr)
        assert (found["network"], found["files"]) == ("on", "machine")
