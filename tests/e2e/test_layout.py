"""Builds of equal source differ in layout, as a user runs it: a real C program of several objects."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.support.project import Project, repository

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="absent: make or cc"),
]

NAMES = ("one", "two", "three", "four", "five")
CONFIG = """\
[plan]
sandbox = "off"
builds = 3
executions = 2
iterations = 1
[build]
command = "make clean app"
artifacts = ["app"]
# a build that takes long on a busy host would be kept for the next run
cache = "off"
[[benchmark]]
name = "app"
command = "./app && python3 print_hash.py {output}"
instrument = "values"
"""
ARGUMENTS = ("check", "--base", "HEAD", "--head", "HEAD", "--seed", "1")


@pytest.fixture
def made(tmp_path: Path) -> Project:
    files = {
        "main.c": "int main(void) { return 0; }\n",
        "Makefile": f"app: main.o {' '.join(f'{name}.o' for name in NAMES)}\n\t$(CC) -o $@ $^\nclean:\n\trm -f app *.o\n",
        # what python draws its hashes from, as a number
        "print_hash.py": 'import sys; open(sys.argv[1], "w").write(f"{hash(chr(97)) % 1000 + 1}\\n")',
        "perfgate.toml": CONFIG,
        ".gitignore": "app\n*.o\n",
    }
    objects = {f"{name}.c": f"int {name}(int x) {{ return x + {len(name)}; }}\n" for name in NAMES}
    return repository(tmp_path / "a project", files | objects)


def values(made: Project) -> list[list[float]]:
    return [each["metrics"]["time"]["values"] for each in made.records("execution")]


def hashes(made: Project) -> set[str]:
    return {build["artifacts"]["app"] for build in made.records("build")}


@pytest.mark.skipif(sys.platform != "linux", reason="the linker is put in order on Linux only")
def test_builds_of_equal_source_differ_and_a_seed_repeats_them(made: Project) -> None:
    done = made.perfgate(*ARGUMENTS)
    assert done.returncode == 0, done.stdout + done.stderr
    first, drawn = hashes(made), values(made)
    # three seeds, which both sides share, and six objects: 720 orders
    assert len(first) == 3
    assert "byte-identical" not in done.stdout
    made.perfgate(*ARGUMENTS)
    assert (hashes(made), values(made)) == (first, drawn)


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="links are recorded on Linux only")
def test_a_resumed_run_links_what_the_whole_one_has_linked(made: Project) -> None:
    made.perfgate(*ARGUMENTS)
    whole = made.records("build")
    assert [build["relinked"] for build in whole] == [False, False, True, True, True, True]
    page = (made.top / ".perfgate/report.html").read_text()
    assert "base: 2 builds linked again what the first one had compiled" in page
    file = made.top / ".perfgate/measurements.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    second = next(number for number, line in enumerate(lines) if '"build":1' in line)
    file.write_text("".join(lines[:second]))
    done = made.process(*ARGUMENTS, "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    resumed = made.records("build")
    assert [build["artifacts"] for build in resumed] == [build["artifacts"] for build in whole]
    # what the first process has recorded is gone with it
    assert [build["relinked"] for build in resumed] == [False, False, False, False, True, True]
