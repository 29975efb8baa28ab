"""Benchmark code that looks for the token, speaks to the runner and writes into its files: nothing of it counts."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.act.consumer import Consumer, workflow
from tests.e2e.act.runner import Act
from tests.support.forge import FakeGitHub

pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend]

# Looks at every process alive, its own environment and the runner's files; says and writes what it should not.
SPY = """\
import glob, json, os, sys, time
seen = {"texts": [], "files": []}
for place in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        text = open(place, "rb").read().decode(errors="replace")
    except OSError:
        continue
    seen["texts"].append([place, text])
for folder, _, names in os.walk(os.path.dirname(os.environ["SPIED_TEMP"])):
    for name in names:
        path = os.path.join(folder, name)
        if any(word in path for word in ("envs", "output", "statecmd", "pathcmd", "SUMMARY", "summary", "workflow")) and os.access(path, os.W_OK) and "event.json" not in path:
            seen["files"].append(path)
            with open(path, "a") as file:
                file.write("\\nverdict=pass\\nexit-code=0\\nFORGED=yes\\n")
with open(os.environ["SPIED"] + str(os.getpid()), "w") as file:
    json.dump(seen, file)
for stream in (sys.stdout, sys.stderr):
    print("::error title=forged::forged error", file=stream)
    print("::set-output name=verdict::pass", file=stream)
    print("::add-mask::regression", file=stream)
    print("##[warning]forged warning", file=stream)
    stream.flush()
with open(os.environ["PERFGATE_OUTPUT"], "w") as out:
    for k in range(int(os.environ["PERFGATE_ITERATIONS"])):
        out.write(f"{SPEED * (1 + 0.001 * (k % 3))}\\n")
"""
CONFIG = """\
[gate]
threshold = "5%"
[plan]
sandbox = "off"
builds = 5
executions = 1
iterations = 4
[env]
pass = ["SPIED", "SPIED_TEMP"]
[[benchmark]]
name = "bench"
command = "python3 bench.py {output}"
instrument = "values"
"""
SHADOW = "raise SystemExit('code of the project was imported')\n"


def spied(folder: Path) -> dict[str, list[Any]]:
    """Put together what the benchmarks saw."""
    found: dict[str, list[Any]] = {"texts": [], "files": []}
    for file in folder.glob("spied-*"):
        for name, value in json.loads(file.read_text()).items():
            found[name] += value
    return found


def contents(data: bytes) -> bytes:
    """Unpack an artifact, or take it as it is."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


def test_the_token_is_nowhere_and_nothing_can_be_forged(
    act: Act, consumer: Consumer, github: FakeGitHub, tmp_path: Path
) -> None:
    consumer.write("perfgate.toml", CONFIG)
    # a project with folders and modules of our names
    for name in (
        "gate/__init__.py",
        "harness/__init__.py",
        "perfgate.py",
        "github.py",
        "sitecustomize.py",
        "numpy.py",
        "subprocess.py",
    ):
        consumer.write(name, SHADOW if "sitecustomize" not in name and "subprocess" not in name else "")
    consumer.on_main()
    change = consumer.change(1.3, files={"bench.py": SPY.replace("SPEED", "1.3")})
    # SPIED_TEMP: what the runner keeps its files in, known to anybody who may list the temporary folder
    variables = {
        "SPIED": str(tmp_path / "spied-"),
        "SPIED_TEMP": str(act.folder / "cache" / "x"),
        "PYTHONPATH": str(consumer.top),
    }
    # as many a workflow has it, for its own steps
    job = 'runs-on: self-hosted\n    env: {GITHUB_TOKEN: "${{ github.token }}", GH_TOKEN: "${{ github.token }}"}'
    text = workflow().replace("runs-on: self-hosted", job)
    ran = act.run(consumer.top, change.event(), text, variables=variables)
    seen = spied(tmp_path)
    assert len(seen["texts"]) > 20 and seen["files"], "the spy saw nothing: the test proves nothing"
    assert [place for place, text in seen["texts"] if "--secret-file" in text], "it did not even see the runner"
    holders = [place for place, text in seen["texts"] if github.token in text]
    assert holders == []
    assert [place for place, text in seen["texts"] if "ACTIONS_RUNTIME_TOKEN=e" in text] == []
    assert github.token not in ran.log
    assert (
        all(github.token.encode() not in contents(one.data) for one in github.artifacts) and len(github.artifacts) == 2
    )
    # the verdict is the measured one
    assert (ran.exit, ran.outputs["gate"]["verdict"], ran.outputs["gate"]["exit-code"]) == (1, "regression", "1"), (
        ran.log
    )
    assert [one.message for one in ran.annotations if "forged" in one.message] == []
    assert ran.masks == []
    assert "FORGED" not in json.dumps(ran.outputs)
    assert [one for one in ran.annotations if "was undone" in one.message], ran.annotations
    assert "code of the project was imported" not in ran.log
    assert github.violations == []


KILLER = """\
import json, os, signal
pid = os.getppid()
while True:
    given = dict(e.split(b"=", 1) for e in open(f"/proc/{pid}/environ", "rb").read().split(b"\\0") if b"=" in e)
    if b"INPUT_REQUEST" in given:
        break
    pid = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
folder = json.loads(given[b"INPUT_REQUEST"])["folder"]
with open(given[b"GITHUB_ENV"], "a") as file:
    file.write("FORGED=yes\\n")
os.symlink("/proc/self/environ", folder + "/status.json")
os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.nightly
def test_after_a_killed_measuring_step_the_token_is_nowhere_and_nothing_is_said(
    act: Act, consumer: Consumer, github: FakeGitHub
) -> None:
    consumer.write("perfgate.toml", CONFIG)
    consumer.on_main()
    well = act.run(consumer.top, consumer.change(1.0).event(), workflow(comment="false"))
    assert well.steps["gate.publish"] == "success", well.log
    change = consumer.change(1.0, files={"bench.py": KILLER})
    before = len(github.artifacts)
    ran = act.run(consumer.top, change.event(), workflow())
    assert ran.steps["gate.measure"] == "failure", ran.log
    assert "gate.decide" not in ran.steps and "gate.publish" not in ran.steps, ran.log
    assert (ran.exit, ran.outputs["gate"]["verdict"], ran.outputs["gate"]["exit-code"]) == (1, "error", "4")
    assert [ran.outputs["gate"][name] for name in ("report", "json", "comment-url")] == ["", "", ""]
    assert (github.comments, len(github.artifacts)) == ([], before)
    assert github.token not in ran.log + "".join(ran.summaries)
