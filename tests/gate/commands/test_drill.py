"""perfgate drill --workflow: each sabotage is named with its line, and the workflows that perfgate writes are not."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gate.cli.command import meanings
from gate.codes import MEANINGS, Exit
from gate.commands.drill.command import COMMAND
from gate.commands.drill.shell import keeps
from gate.commands.drill.workflows import swallowed
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.model import UserError
from tests.support.pages import ROOT

CONFIG = parse(
    read_source(
        '[[benchmark]]\nname = "parse"\ncommand = "./app"\n'
        '[[benchmark]]\nname = "suite"\ncommand = "./bench"\ninstrument = "google-benchmark"\n',
        "perfgate.toml",
    )
)
PATHS = ["perfgate.toml", "src/bench.c"]
TWO_JOBS = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/github.md").read_text(encoding="utf-8"), re.DOTALL)[0]
README = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
TERMINAL = """\
name: gate
on: [pull_request]
jobs:
  gate:
    runs-on: [self-hosted, perf]
    steps:
      - uses: actions/checkout@v4
        with: {fetch-depth: 0}
      - run: perfgate check
"""


def found(text: str, tmp_path: Path) -> list[tuple[int, str]]:
    file = tmp_path / "gate.yml"
    file.write_text(text)
    return [(each.line, f"{each.what}; {each.cure}") for each in swallowed([file], CONFIG, PATHS, "main")]


def job(line: str) -> str:
    return TERMINAL.replace("    runs-on", f"    {line}\n    runs-on")


def on(line: str) -> str:
    return TERMINAL.replace(" [pull_request]", f"\n  pull_request:\n    {line}")


def step(lines: str) -> str:
    return TERMINAL.replace("- run:", f"- {lines}\n        run:")


def runs(script: str) -> str:
    return TERMINAL.replace("perfgate check", script)


LATE = (
    "- id: gate\n        run: perfgate check || true\n      - if: steps.gate.outcome == 'failure'\n        run: exit 1"
)
GOES_ON = "- id: gate\n        continue-on-error: true\n        run: perfgate check\n"
SABOTAGE = {
    "job goes on": (job("continue-on-error: true"), 5, "is green whatever"),
    "step goes on": (runs("perfgate check\n        continue-on-error: true"), 10, "the step is green"),
    "or true": (runs("perfgate check --quiet || true"), 9, "a line of its own"),
    "a pipe": (runs("perfgate check | tee log"), 9, "`shell: bash`"),
    "skipped": (TWO_JOBS.replace("    if: ${{ always() }}\n", ""), 15, "a skipped check counts as passed"),
    "waits for lint": (job("needs: lint"), 5, "skipped if lint fails"),
    "never": (job("if: github.event_name == 'push'"), 5, "is never true"),
    "paths": (on("paths: ['lib/**']"), 4, "perfgate.toml starts no gate"),
    "paths left out": (on("paths-ignore: ['**/*.c']"), 4, "src/bench.c starts no gate"),
    "branches": (on("branches: [develop]"), 4, "to main start no gate"),
    "shallow": (TERMINAL.replace("\n        with: {fetch-depth: 0}", ""), 7, "fetch-depth: 0"),
    "shallow by number": (TERMINAL.replace("fetch-depth: 0", "fetch-depth: 2"), 8, "fetch-depth: 0"),
    "no right": (TWO_JOBS.replace(", pull-requests: write", ""), 19, "pull-requests: write"),
    "a stranger's code": (TERMINAL.replace("[pull_request]", "pull_request_target"), 2, "use `on: pull_request`"),
    "a benchmark that is not": (runs("perfgate check --benchmark 'parze*'"), 9, "parze* names no benchmark"),
    "a shell that goes on": (
        step("shell: bash {0}").replace("perfgate check", "|\n          perfgate check\n          ls"), 10, "a line of its own",
    ),
    "only after success": (TWO_JOBS.replace("always()", "needs.measure.result == 'success'"), 15, "if measure fails"),
    "only after a failure": (step("if: failure()"), 9, "is never true"),
    "not for pull requests": (job("if: github.event_name != 'pull_request'"), 5, "is never true"),
    "only on main": (job("if: github.ref_name == 'main'"), 5, "is never true"),
    "after the merge": (job("if: ${{ github.event.pull_request.merged }}"), 5, "is never true"),
    "first commit only": (on("types: opened"), 4, "when a commit is pushed"),
    "read too late": (TERMINAL.replace("- run: perfgate check", LATE), 10, "a line of its own"),
    "a step that is skipped": (
        TWO_JOBS.replace("        with: {command: pub", "        if: needs.measure.result == 'success'\n        with: {command: pub"),
        22, "nothing decides if measure fails",
    ),
    "other events": (job("if: contains(fromJSON('[\"push\"]'), github.event_name)"), 5, "is never true"),
    "a script that is not followed": (runs("if perfgate check; then echo ok; fi"), 9, "may end with 0"),
    "another shell": (step("shell: pwsh"), 10, "may end with 0"),
    "a condition that is not followed": (step("if: ${{ github.ref }} == ${{ vars.REF }}"), 9, "not understood: whether `if: "),
    "a condition to go on that is not followed": (step("continue-on-error: ${{ a b }}"), 9, "is green whatever"),
    "nothing decides": (TWO_JOBS[: TWO_JOBS.index("  perfgate: #")], 12, "no job decides"),
}  # fmt: skip


@pytest.mark.parametrize("name", SABOTAGE)
def test_what_swallows_a_verdict_is_named(name: str, tmp_path: Path) -> None:
    text, line, said = SABOTAGE[name]
    (only,) = found(text, tmp_path)
    assert (only[0], said in only[1]) == (line, True)


@pytest.mark.parametrize(
    "text",
    [
        runs("|\n          perfgate measure\n          perfgate decide .perfgate"),
        runs("|\n          rm -r old || true\n          perfgate check"),
        runs("'perfgate check --base ${{ inputs.base || github.base_ref }}'"),
        step("if: contains(needs.*.result, 'it''s') || needs.my-job.result != 'x'"),
        TERMINAL.replace(
            "- run: perfgate check", f"{GOES_ON}      - if: steps.gate.outcome == 'failure'\n        run: exit 1"
        ),
        job("if: ${{ !github.event.pull_request.draft && contains(github.event_name, 'pull') }}"),
        job("if: github.event_name == 'push' || github.event_name == 'pull_request'"),
        job("continue-on-error: false"),
        job("continue-on-error: ${{ github.event_name == 'schedule' }}"),
        on("paths: ['**', '!docs/**']\n    branches: ['ma*', 'release/**']"),
        step("shell: bash").replace(
            "perfgate check", "perfgate check --benchmark 'suite/*' --benchmark parse | tee log"
        ),
        README,
        TWO_JOBS,
        TERMINAL,
    ],
)
def test_what_only_looks_like_a_loss(text: str, tmp_path: Path) -> None:
    assert found(text, tmp_path) == []


@pytest.mark.parametrize("file", sorted((ROOT / "templates/workflows").glob("*.yml")), ids=lambda file: file.stem)
def test_the_templates_swallow_nothing(file: Path, tmp_path: Path) -> None:
    if file.stem in ("forks", "matrix", "pull-request", "trusted"):
        assert found(file.read_text(), tmp_path) == []
    else:
        with pytest.raises(UserError, match="no workflow runs perfgate on pull requests"):
            found(file.read_text(), tmp_path)


def test_a_workflow_that_a_gate_calls(tmp_path: Path) -> None:
    files = [tmp_path / "ci.yml", tmp_path / "perf.yml"]
    files[0].write_text("on: pull_request\njobs:\n  perf:\n    uses: ./.github/workflows/perf.yml\n")
    files[1].write_text(
        TERMINAL.replace("[pull_request]", "workflow_call").replace("perfgate check", "perfgate check || true")
    )
    (only,) = swallowed(files, CONFIG, PATHS, "main")
    assert (only.file, only.line) == (str(files[1]), 9)
    with pytest.raises(UserError, match="no workflow"):
        swallowed(files[1:], CONFIG, PATHS, "main")


def test_the_help_says_what_its_exit_codes_mean() -> None:
    said = meanings(COMMAND.codes, COMMAND)
    assert (said[Exit.REGRESSION], said[Exit.USAGE]) == (COMMAND.failed, MEANINGS[Exit.USAGE])


def test_files_that_are_no_gates(tmp_path: Path) -> None:
    for text, said in {
        "a: [1\n": "gate.yml:2: ",
        "jobs:\n  a: 3\n": "gate.yml:2: 3 stands where a table must be",
        "on: pull_request\njobs:\n  a:\n    steps:\n      - perfgate check\n": "gate.yml:5: perfgate check stands where",
        "jobs:\n  a:\n    steps: x\n": "gate.yml:3: x stands where a list must be",
        "jobs:\n  a:\n    steps:\n      -\n": "gate.yml:4: nothing stands where a table must be",
        "defaults: 1\n": "gate.yml:1: 1 stands where",
        "on: push\n": "no workflow",
        "- 1\n": "no workflow",
    }.items():
        with pytest.raises(UserError, match=said):
            found(text, tmp_path)


# --- scripts that keep the failure of a command, as bash would, and scripts that lose it ------------------------------


LOST = [
    "gate || true", "gate || /bin/true", "gate || :", "gate || exit 0", "gate || echo failed", "gate ||\n  true", "! gate",
    "gate \\\n  --json a \\\n  || true", "set +e\ngate\necho done", "cd .; set +e; gate; echo done", "gate || true # exit 1",
    "set +o errexit\ngate\necho done", "set -e\nset +e -u\ngate\nother", "for i in 1; do gate || true; done",
    "case x in\n  *) gate || true;;\nesac",
]  # fmt: skip
PIPED = [
    "gate | other", "gate 2>&1 | other", "gate |& other", "gate |\n  other", "gate \\\n  --x | other",
    "gate &>x | other",
]  # fmt: skip
KEPT = [
    "gate", "gate --json out\necho done", "rm x || true\ngate", "set +e\nother\nset -e\ngate", "gate || exit 1", "gate 2>&1 >log",
    "set -o pipefail\ngate | other", "set -euo pipefail\ngate |& other", "gate > log\nother log | head -3", "(cd .)\ngate",
    "gate --benchmark 'work|x*' || exit 1\necho", "# gate || true would be wrong\ngate", "gate \\\n  --json out", "gate || exit $?",
    "other | head -3\ngate", "gate\nrm -f x || true", "echo 'gate || true'\ngate", "cat > x <<END\ngate || true\nEND\ngate",
    "trap 'other' EXIT\ngate", "gate; other", 'echo "a ${x:-b} # c"\ngate # || true', "x=1 gate", "other && gate", "gate\nexit 0",
    "if test -f none; then other; fi\ngate", "case x in\n  y) other;;\nesac\ngate", "x=$(other)\ngate", "set +e\ngate", "gate; exit 3",
    "other | while read x; do other; done\ngate", "test -f x || if true; then other; fi\ngate", "gate\ncat x | { other; }",
    "rc=0\ngate || rc=$?\nexit $rc", "set +e\ngate\nrc=$?\nset -e\nexit $rc", "gate || rc=$?\necho rc=$rc > x\nexit \"${rc:-0}\"",
    "gate || rc=$?\ngate --other || rc=$?\nexit $rc", "rc=0\nfor i in 1 2; do gate || rc=$?; done\nexit $rc", "set +e\ngate\nexit $?",
    "set +e\ngate\nif [ $? -ne 0 ]; then\n  exit 1\nfi", "set +e\ngate\nrc=$?\nif [[ \"$rc\" != 0 ]]; then echo bad; exit $rc; fi\nother",
    "gate || { echo bad; exit 1; }", "gate || {\n  rc=$?\n  echo bad\n  exit $rc\n}\nother", "gate || { exit $?; }", "gate && other && other",
    "if ! gate; then echo bad; exit 1; fi\nother", "if ! gate\nthen\n  exit 1\nfi", "if gate; then echo ok; else echo bad; exit 1; fi",
    "if gate; then exit 0; fi\nexit 1", "if gate; then other; else exit $?; fi", "gate | other\nexit ${PIPESTATUS[0]}", "(cd . && gate)",
    "if test -f x; then gate --one; else gate; fi\nother", "{ gate; other; }", "for i in 1 2; do gate; done", "case x in x) gate;; esac",
    "if test -f x; then gate || { echo bad; exit 1; }; fi", "gate || { if test -f none; then exit 2; fi; exit 1; }",
]  # fmt: skip
NOT_UNDERSTOOD = [
    # each loses it
    "gate || { echo failed; }", "gate || (echo failed)", "gate || rc=$?\necho $rc", "gate || other", "gate &\nother", "gate & wait",
    "if gate; then echo ok; fi", "if gate; then echo ok; else echo bad; fi", "gate && echo ok\necho done", "echo $(gate now)",
    "export R=$(gate now)", 'echo "$(gate now)"', "echo `gate now`", "trap 'exit 0' EXIT\ngate", "trap 'exit 0' ERR\ngate",
    "while ! gate; do break; done", "until gate; do exit 0; done", "g() {\n  gate\n}\ng || true", "bash -c 'gate || true'",
    "(cd . && gate) || true", "other < <(gate)", "(gate; true) || true", "exit 0\ngate",
    "eval 'gate || true'", "timeout 9 sh -c 'gate; other'", "true || gate",
    "if true; then set +e; fi\ngate\nother", "gate && true || true", "gate ||", "gate || exit 1 | other",
    "set -o pipefail; gate | while read x; do other; done || true", "gate > >(other) || true", "if true; then exit 0; fi\ngate",
    "if ! gate; then exit $?; fi", "gate || { other; exit $?; }", "gate || rc=$?\nrc=0\nexit $rc", "gate || rc=$?\nunset rc\nexit $rc",
    "if ! gate; then other; else exit 1; fi", "if ! gate; then other; fi\nif true; then other; else exit 1; fi", "gate || exec true\nexit 1",
    "if gate; then other; elif true; then other; else exit 1; fi", "set +e\ngate | other\nrc=$?\nexit $rc", "gate && echo ok || echo bad",
    "if true; then gate; fi || true", "if true; then gate; fi | { other; }", "if true; then gate; fi & wait", "{ gate; } || { other; }",
    "set +e\n(gate || exit 1)\nother", "if ! gate; then if true; then exit 0; fi; exit 1; fi", "set +e\ngate\nif [ $? -ne 0 ]; then exit $?; fi",
    "g() { gate || exit 1; }\nother", "gate || { echo bad | other && exit 0; exit 1; }", "other || if true; then gate; fi",
    # these keep it, which takes more than is known here
    "gate & p=$!\nwait $p", "out=$(gate now)\nother", "g() {\n  gate\n}\ng", "for i in 1; do gate && break; done", "gate || { other; false; }",
    # and these are no scripts, or run no gate
    "other", "set", "trap", "exit", "echo '", "if gate; then", "gate $(", "fi", "function", "gate\n)", "",
]  # fmt: skip


def told(script: str, *, stops: bool = True, pipefail: bool = False) -> bool:
    def decides(words: Sequence[str]) -> bool:
        return "gate" in words and words[0] != "echo"

    return keeps(script, decides, stops=stops, pipefail=pipefail)


def test_what_becomes_of_a_failure() -> None:
    assert [each for each in (*LOST, *PIPED, *KEPT, *NOT_UNDERSTOOD) if told(each) != (each in KEPT)] == []


def test_how_the_shell_was_started() -> None:
    assert all(told(script, pipefail=True) for script in PIPED)
    assert not told("set +o pipefail\ngate | other", pipefail=True)
    assert not told("gate\nother", stops=False)
    assert told("other\ngate\n", stops=False)
    # each of several counts
    assert not told("gate --one\ngate --other || true")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_says_the_same(tmp_path: Path) -> None:
    """Every other command exits with 0 here, as it is taken to."""
    (tmp_path / "other").write_text("#!/bin/sh\n:\n")
    (tmp_path / "gate").write_text("#!/bin/sh\nexit 1\n")
    for each in tmp_path.iterdir():
        each.chmod(0o755)
    (tmp_path / "x").touch()
    for script in (*LOST, *PIPED, *KEPT):
        ended = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, timeout=20, check=False,
        )  # fmt: skip
        assert (ended.returncode == 0) == (script not in KEPT), script
