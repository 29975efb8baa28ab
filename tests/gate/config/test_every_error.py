"""All mistakes of a config are told at once, each with its line and a right value; then what contradicts itself."""

from pathlib import Path

import pytest

from gate.config.config_text import ConfigError, read_source
from gate.config.parse import parse
from tests.support.project import CONFIG, Project

WRONG = """\
[gate]
thresold = "3%"
confidence = 95

[plan]
executions = "many"
budget = "15 minuts"

[[benchmark]]
name = "a"

[[benchmark]]
name = "b"
command = "x"
timeout = -1
"""
LINES = [
    ":2: gate.thresold: unknown key; did you mean threshold?",
    ":3: gate.confidence: expected a number below 1, got 95; write e.g. confidence = 0.95",
    ':6: plan.executions: expected a whole number, got "many"; write e.g. executions = 5',
    ':7: plan.budget: \'minuts\' in \'15 minuts\' is not a unit of time: use "s", "m" or "h"',
    ':9: benchmark[0]: needs the key command; write e.g. command = "./build/app data.json"',
    ':15: benchmark[1].timeout: a time span is above 0, got -1: write "15m" or "90s"',
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.bench(1.0)
    return made


def test_six_mistakes_are_six_lines(project: Project) -> None:
    project.write("perfgate.toml", WRONG)
    project.commit()
    for command in ("check", "measure", "config"):
        done = project.perfgate(command, "--base", "HEAD", "--head", "HEAD")
        assert (done.returncode, done.stdout) == (2, "")
        *found, last = done.stderr.splitlines()
        assert found == [f"perfgate: base and head: perfgate.toml{line}" for line in LINES]
        assert last == (
            "perfgate: to measure the change that fixes it, use --config perfgate.toml, which takes head's for both sides"
        )


def test_both_sides_and_every_option_are_told(project: Project) -> None:
    project.write("perfgate.toml", "[gate]\nx = 1\n")
    project.commit()
    project.write("perfgate.toml", CONFIG.replace("builds = 5", "builds = 0").replace("5%", "5x"))
    done = project.perfgate("check", "--base", "HEAD", "--set", "gate.familly=none", "--set", "plan.iterations=0")
    assert done.returncode == 2
    assert [line[:70] for line in done.stderr.splitlines()[:-1]] == [
        "perfgate: --set gate.familly=none: gate.familly: unknown key; did you mean family?"[:70],
        "perfgate: --set plan.iterations=0: plan.iterations: expected a whole number of 1 or more"[:70],
        "perfgate: base: perfgate.toml:2: gate.x: unknown key; known here: threshold, floor"[:70],
        "perfgate: head: perfgate.toml:2: gate.threshold: '5x' is not a share: write"[:70],
        "perfgate: head: perfgate.toml:6: plan.builds: expected a whole number of 1 or more"[:70],
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # a wrong key says nothing about the keys beside it, and what only follows from it is not told
        ('[[benchmark]]\nname = "a"\ncomand = "x"', ["benchmark[0].comand: unknown key; did you mean command?"]),
        (
            '[[benchmark]]\nname = "a"\ncommand = "x"\ninstrument = "value"\ncolumn = "ms"',
            ['benchmark[0].instrument: "value" is not an instrument; did you mean values?'],
        ),
        (
            '[[benchmark]]\nname = "a"\ncommand = "x"\nservice = {command = "s", ready = 8080}',
            ["benchmark[0].service.ready: expected a string, got 8080; write e.g. ready = \"...\""],
        ),
        (
            "[plan]\nbuilds = {max = 5}\n[study]\nreplicates = 0",
            [
                "plan.builds: needs the key min; write e.g. min = 4",
                "study.replicates: expected a whole number of 1 or more, got 0; write e.g. replicates = 5",
            ],
        ),
        # nor what keys that are right contradict
        (
            '[build]\nshare = ["../data"]\n[[benchmark]]\nname = "b"\ncommand = 3',
            ["benchmark[0].command: expected a string or a list of strings, got 3; write e.g. command = \"./build/app data.json\""],
        ),
    ],
)  # fmt: skip
def test_what_follows_from_a_mistake_is_not_a_second_one(text: str, lines: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(read_source(text, "x"))
    assert [str(each).split(": ", 1)[1] for each in caught.value.errors] == lines
