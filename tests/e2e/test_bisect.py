"""A bisection as a user meets it: real builds in C, a signal in the middle, --resume to the culprit."""

import json
from pathlib import Path

import pytest

from tests.support.project import Project, until

pytestmark = pytest.mark.endtoend

CONFIG = """\
[gate]
threshold = "5%"
[plan]
builds = {min = 4, max = 8}
executions = 2
iterations = 3
metrics = ["user"]
[build]
command = "make"
artifacts = ["app"]
[[benchmark]]
name = "work"
command = ["./app"]
instrument = "spawn"
"""
MAIN = """\
int scaled(int);
static volatile unsigned long long sum;
int main(void) {
    for (unsigned long long i = 0; i < ROUNDSull; i++) sum += i ^ (sum >> 3);
    return scaled(0);
}
"""
MAKEFILE = "app: main.o scaled.o\n\t$(CC) -o app main.o scaled.o\n%.o: %.c\n\t$(CC) -O2 -c -o $@ $<\n"
CULPRIT, BROKEN, COMMITS = 6, 2, 9


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A C program of nine commits; the sixth does three times the work, the second does not compile."""
    made = Project(tmp_path / "project")
    made.write("perfgate.toml", CONFIG)
    made.write("Makefile", MAKEFILE)
    for number in range(COMMITS + 1):
        made.write("main.c", MAIN.replace("ROUNDS", str(15_000_000 if number >= CULPRIT else 5_000_000)))
        body = "broken" if number == BROKEN else f"return x * {number};"
        made.write("scaled.c", f"int scaled(int x) {{ {body} }}\n")
        made.commit(f"change {number}")
    return made


def test_a_search_goes_on_after_a_signal_and_finds_the_commit(project: Project) -> None:
    folder = project.top / ".perfgate/bisect"
    process = project.begin("bisect", "--good", f"main~{COMMITS}", "--bad", "main", "--seed", "1")
    journal = folder / "bisect.jsonl"
    until(lambda: journal.exists() and journal.read_bytes().count(b'"visit"') >= 2)
    process.terminate()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 143, said
    assert "to continue, add --resume" in said
    kept = {file: file.read_bytes() for file in folder.glob("*/measurements.jsonl")}

    done = project.process("bisect", "--good", f"main~{COMMITS}", "--bad", "main", "--resume")
    assert done.returncode == 0, done.stderr
    assert all(file.read_bytes().startswith(data[: data.rfind(b"\n") + 1]) for file, data in kept.items())
    found = json.loads((folder / "bisect.json").read_text())
    best = max(found["commits"], key=lambda each: each["probability"])
    assert (best["number"], found["outcome"], found["seed"]) == (CULPRIT, "culprit", 1)
    assert best["subject"] == f"change {CULPRIT}"
