"""perfgate drill --workflow: each sabotage is named with its line, and the workflows that perfgate writes are not."""

import re
from pathlib import Path

import pytest

from gate.cli.command import meanings
from gate.codes import MEANINGS, Exit
from gate.commands.drill.command import COMMAND
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


SABOTAGE = {
    "job goes on": (TERMINAL, "    runs-on: [s", "    continue-on-error: true\n    runs-on: [s", 5, "is green whatever"),
    "step goes on": (TERMINAL, "perfgate check", "perfgate check\n        continue-on-error: true", 10, "the step is green"),
    "or true": (TERMINAL, "perfgate check", "perfgate check --quiet || true", 9, "a line of its own"),
    "a pipe": (TERMINAL, "perfgate check", "perfgate check | tee log", 9, "`shell: bash`"),
    "skipped": (TWO_JOBS, "    if: ${{ always() }}\n", "", 15, "a skipped check counts as passed"),
    "waits for lint": (TERMINAL, "    runs-on: [s", "    needs: lint\n    runs-on: [s", 5, "skipped if lint fails"),
    "never": (TERMINAL, "    runs-on: [s", "    if: github.event_name == 'push'\n    runs-on: [s", 5, "is never true"),
    "paths": (TERMINAL, "on: [pull_request]", "on:\n  pull_request:\n    paths: ['lib/**']", 4, "perfgate.toml starts no gate"),
    "paths left out": (
        TERMINAL, "on: [pull_request]", "on:\n  pull_request:\n    paths-ignore: ['**/*.c']", 4, "src/bench.c starts no gate",
    ),
    "branches": (TERMINAL, "on: [pull_request]", "on:\n  pull_request:\n    branches: [develop]", 4, "to main start no gate"),
    "shallow": (TERMINAL, "\n        with: {fetch-depth: 0}", "", 7, "fetch-depth: 0"),
    "shallow by number": (TERMINAL, "fetch-depth: 0", "fetch-depth: 2", 8, "fetch-depth: 0"),
    "no right": (TWO_JOBS, ", pull-requests: write", "", 19, "pull-requests: write"),
    "a stranger's code": (TERMINAL, "[pull_request]", "pull_request_target", 2, "use `on: pull_request`"),
    "a benchmark that is not": (TERMINAL, "perfgate check", "perfgate check --benchmark 'parze*'", 9, "parze* names no benchmark"),
    "a shell that goes on": (
        TERMINAL, "- run: perfgate check", "- shell: bash {0}\n        run: |\n          perfgate check\n          ls", 10, "a line of its own",
    ),
    "only after success": (TWO_JOBS, "always()", "always() && needs.measure.result == 'success'", 15, "is skipped if measure fails"),
    "only after a failure": (TERMINAL, "- run:", "- if: failure()\n        run:", 9, "is never true"),
    "not for pull requests": (
        TERMINAL, "    runs-on: [s", "    if: github.event_name != 'pull_request'\n    runs-on: [s", 5, "is never true",
    ),
    "only on main": (TERMINAL, "    runs-on: [s", "    if: github.ref_name == 'main'\n    runs-on: [s", 5, "is never true"),
    "after the merge": (
        TERMINAL, "    runs-on: [s", "    if: ${{ github.event.pull_request.merged }}\n    runs-on: [s", 5, "is never true",
    ),
    "first commit only": (
        TERMINAL, "on: [pull_request]", "on:\n  pull_request:\n    types: opened", 4, "when a commit is pushed",
    ),
    "read too late": (
        TERMINAL, "- run: perfgate check",
        "- id: gate\n        run: perfgate check || true\n      - if: steps.gate.outcome == 'failure'\n        run: exit 1",
        10, "a line of its own",
    ),
    "a step that is skipped": (
        TWO_JOBS, "        with: {command: publish", "        if: needs.measure.result == 'success'\n        with: {command: publish",
        22, "nothing decides if measure fails",
    ),
    "other events": (
        TERMINAL, "    runs-on: [s", "    if: contains(fromJSON('[\"push\"]'), github.event_name)\n    runs-on: [s", 5, "is never true",
    ),
    "a script that is not followed": (
        TERMINAL, "perfgate check", "if perfgate check; then echo ok; fi", 9, "may end with 0",
    ),
    "another shell": (TERMINAL, "- run:", "- shell: pwsh\n        run:", 10, "may end with 0"),
    "a condition that is not followed": (
        TERMINAL, "- run:", "- if: ${{ github.ref }} == ${{ vars.REF }}\n        run:", 9, "not understood: whether `if: ",
    ),
    "a condition to go on that is not followed": (
        TERMINAL, "- run:", "- continue-on-error: ${{ a b }}\n        run:", 9, "is green whatever",
    ),
    "nothing decides": (TWO_JOBS, TWO_JOBS[TWO_JOBS.index("  perfgate: #") :], "", 12, "no job decides"),
}  # fmt: skip


@pytest.mark.parametrize("name", SABOTAGE)
def test_what_swallows_a_verdict_is_named(name: str, tmp_path: Path) -> None:
    text, was, now, line, said = SABOTAGE[name]
    assert text.count(was) >= 1
    (only,) = found(text.replace(was, now, 1), tmp_path)
    assert only[0] == line
    assert said in only[1]


def test_workflows_that_let_verdicts_through(tmp_path: Path) -> None:
    assert found(README, tmp_path) == found(TWO_JOBS, tmp_path) == found(TERMINAL, tmp_path) == []
    kind = TERMINAL.replace("perfgate check", "perfgate check --benchmark 'suite/*' --benchmark parse | tee log")
    assert found(kind.replace("- run:", "- shell: bash\n        run:"), tmp_path) == []
    filters = "on:\n  pull_request:\n    paths: ['**', '!docs/**']\n    branches: ['ma*', 'release/**']"
    assert found(TERMINAL.replace("on: [pull_request]", filters), tmp_path) == []


GOES_ON = "- id: gate\n        continue-on-error: true\n        run: perfgate check\n"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("- run: perfgate check", "- run: |\n          perfgate measure\n          perfgate decide .perfgate"),
        ("- run:", "- if: contains(needs.*.result, 'it''s') || needs.my-job.result != 'x'\n        run:"),
        ("- run: perfgate check", "- run: |\n          rm -r old || true\n          perfgate check"),
        ("perfgate check", "'perfgate check --base ${{ inputs.base || github.base_ref }}'"),
        ("- run: perfgate check", f"{GOES_ON}      - if: steps.gate.outcome == 'failure'\n        run: exit 1"),
        (
            "    runs",
            "    if: ${{ !github.event.pull_request.draft && contains(github.event_name, 'pull') }}\n    runs",
        ),
        ("    runs", "    if: github.event_name == 'push' || github.event_name == 'pull_request'\n    runs"),
        ("    runs", "    continue-on-error: false\n    runs"),
        ("    runs", "    continue-on-error: ${{ github.event_name == 'schedule' }}\n    runs"),
    ],
)
def test_what_only_looks_like_a_loss(was: str, now: str, tmp_path: Path) -> None:
    text = TERMINAL.replace(was, now)
    assert text != TERMINAL
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
