"""Builds of equal source differ in layout, as a user runs it: a real C program of several objects."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="absent: make or cc"),
]

NAMES = ("one", "two", "three", "four", "five")
MAKEFILE = f"app: main.o {' '.join(f'{name}.o' for name in NAMES)}\n\t$(CC) -o $@ $^\nclean:\n\trm -f app *.o\n"
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
{perturb}
[[benchmark]]
name = "app"
command = "./app && python3 print_hash.py {{output}}"
instrument = "values"
"""
# what python draws its hashes from, as a number
PRINT_HASH = 'import sys; open(sys.argv[1], "w").write(f"{hash(chr(97)) % 1000 + 1}\\n")'


def project(tmp_path: Path, perturb: str) -> Project:
    made = Project(tmp_path / "a project")
    for name in NAMES:
        made.write(f"{name}.c", f"int {name}(int x) {{ return x + {len(name)}; }}\n")
    made.write("main.c", "int main(void) { return 0; }\n")
    made.write("Makefile", MAKEFILE)
    made.write("print_hash.py", PRINT_HASH)
    made.write("perfgate.toml", CONFIG.format(perturb=perturb))
    made.write(".gitignore", "app\n*.o\n")
    made.commit()
    return made


def values(made: Project) -> list[list[float]]:
    return [each["metrics"]["time"]["values"] for each in made.records("execution")]


def hashes(made: Project) -> set[str]:
    return {build["artifacts"]["app"] for build in made.records("build")}


@pytest.mark.skipif(sys.platform != "linux", reason="the linker is put in order on Linux only")
def test_builds_of_equal_source_differ_and_a_seed_repeats_them(tmp_path: Path) -> None:
    made = project(tmp_path, "")
    done = made.perfgate("check", "--base", "HEAD", "--head", "HEAD", "--seed", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    first, drawn = hashes(made), values(made)
    # three seeds, which both sides share, and six objects: 720 orders
    assert len(first) == 3
    assert "byte-identical" not in done.stdout
    made.perfgate("check", "--base", "HEAD", "--head", "HEAD", "--seed", "1")
    assert (hashes(made), values(made)) == (first, drawn)


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="links are recorded on Linux only")
def test_a_resumed_run_links_what_the_whole_one_has_linked(tmp_path: Path) -> None:
    made = project(tmp_path, "")
    made.perfgate("check", "--base", "HEAD", "--head", "HEAD", "--seed", "1")
    whole = made.records("build")
    assert [build["relinked"] for build in whole] == [False, False, True, True, True, True]
    page = (made.top / ".perfgate/report.html").read_text()
    assert "base: 2 builds linked again what the first one had compiled" in page
    file = made.top / ".perfgate/measurements.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    second = next(number for number, line in enumerate(lines) if '"build":1' in line)
    file.write_text("".join(lines[:second]))
    done = made.process("check", "--base", "HEAD", "--head", "HEAD", "--seed", "1", "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    resumed = made.records("build")
    assert [build["artifacts"] for build in resumed] == [build["artifacts"] for build in whole]
    # what the first process has recorded is gone with it
    assert [build["relinked"] for build in resumed] == [False, False, False, False, True, True]


def test_without_perturbation_builds_are_byte_identical(tmp_path: Path) -> None:
    made = project(tmp_path, "perturb = []")
    done = made.perfgate("check", "--base", "HEAD", "--head", "HEAD", "--seed", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(hashes(made)) == 1
    assert "layout was not varied" in " ".join(done.stdout.split())


def test_a_failure_names_no_folder_that_is_gone(tmp_path: Path) -> None:
    made = project(tmp_path, "")
    made.write("main.c", "int gone(void);\nint main(void) { return gone(); }\n")
    made.commit()
    done = made.perfgate("check", "--base", "HEAD", "--head", "HEAD")
    assert done.returncode == 4
    assert "undefined reference to `gone'" in done.stdout
    (failure,) = made.report()["failures"]
    assert "shims" not in str(failure["environment"])
