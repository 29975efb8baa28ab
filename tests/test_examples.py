"""The examples: each becomes the same repository everywhere, and its changes change the speed and nothing else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

ROOT = Path(__file__).parent.parent
BUILD = {
    "tokenizer": "make SEED=1 clean all",
    "textstats": f'"{sys.executable}" -m textstats.sample 500 > sample.txt',
    "csvtotals": "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build --target csvtotals csv_test data && ctest --test-dir build",
    "wordindex": "cargo test --quiet --offline && cargo build --quiet --offline && target/debug/sample 500 > sample.txt",
    "logfmt": "test -z $(gofmt -l .) && go vet . && go test . && go test -c -o bench.tests/ .",
    "textsearch": "mkdir -p build && javac -d build/classes src/main/java/textsearch/*.java src/bench/java/textsearch/*.java",
    "csvgroup": "npm test --silent",
}
PROGRAM = {
    "tokenizer": "./build/tokenize build/sample.json",
    "textstats": f'"{sys.executable}" -m textstats sample.txt',
    "csvtotals": "build/csvtotals build/sample.csv city amount",
    "wordindex": "target/debug/wordindex sample.txt kel",
    "logfmt": "bench.tests/logfmt.test -test.list .",
    "textsearch": "java -cp build/classes textsearch.Main src/main/java/textsearch/Postings.java int size",
    "csvgroup": r"""printf 'by,sum\na,1\n"b,",2\na,3\n' > ../a.csv && node src/main.mjs ../a.csv --by by --sum sum""",
}
BENCH = {
    "tokenizer": "./build/bench build/sample.json out",
    "textstats": f'"{sys.executable}" -m textstats.bench sample.txt out',
    "wordindex": "target/debug/bench sample.txt out",
    "textsearch": "java -cp build/classes textsearch.Bench search out",
    "csvgroup": r"PERFGATE_OUTPUT=lines node bench/bench.mjs && sed -nE 's/.*\"rows\".*:([0-9]+),.*/\1/p' lines > out",
}
NEEDS = {
    "tokenizer": ("make", "cc"), "textstats": (), "csvtotals": ("cmake", "c++"), "wordindex": ("cargo",),
    "logfmt": ("go",), "textsearch": ("javac",), "csvgroup": ("npm",),
}  # fmt: skip
GOOGLE_BENCHMARK = any(Path(place, "include/benchmark/benchmark.h").exists() for place in ("/usr", "/usr/local"))
EXAMPLES = [
    name for name, tools in NEEDS.items() if all(map(shutil.which, tools)) and (name != "csvtotals" or GOOGLE_BENCHMARK)
]
# Their compilers, or npm, take a while. Those with a page in docs/start are built by it, and all of their branches at night.
SLOW = {
    "tokenizer": pytest.mark.endtoend, "csvtotals": pytest.mark.nightly, "csvgroup": pytest.mark.nightly, "wordindex": pytest.mark.nightly,
    "logfmt": pytest.mark.nightly, "textsearch": pytest.mark.nightly,
}  # fmt: skip


def marked(examples: Iterable[str]) -> list[ParameterSet]:
    return [pytest.param(name, marks=SLOW.get(name, ())) for name in examples]


def branches(example: str) -> list[str]:
    return ["main", *(patch.stem for patch in (ROOT / "examples" / example / "changes").glob("*.patch"))]


def sh(command: str, directory: Path, **environment: str) -> str:
    # Python's cache would date a source by the second, and branches change within one.
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | environment
    return subprocess.run(
        ["sh", "-c", command], cwd=directory, env=env, check=True, capture_output=True, text=True
    ).stdout


def make_repo(example: str, destination: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [sys.executable, ROOT / "examples" / "make_repo.py", example, destination]
    return subprocess.run(command, env=os.environ | environment, check=False, capture_output=True, text=True)


def commits(repository: Path) -> str:
    return sh("git for-each-ref --format='%(refname) %(objectname)'; git status --porcelain", repository)


@pytest.mark.endtoend
@pytest.mark.parametrize("example", marked(EXAMPLES))
def test_changes_keep_the_results(example: str, tmp_path: Path) -> None:
    repository = tmp_path / "a copy"
    assert make_repo(example, repository).returncode == 0
    printed = []
    for branch in branches(example):
        sh(f"git switch --quiet {branch}", repository)
        sh(BUILD[example], repository)
        printed.append(sh(PROGRAM[example], repository))
    assert printed[0]
    assert set(printed) == {printed[0]}
    assert sh("git status --porcelain", repository) == ""


@pytest.mark.parametrize("example", marked(name for name in EXAMPLES if name in BENCH))
def test_the_bench_program_obeys_perfgate(example: str, tmp_path: Path) -> None:
    assert make_repo(example, tmp_path / "copy").returncode == 0
    sh(BUILD[example], tmp_path / "copy")
    sh(BENCH[example], tmp_path / "copy", PERFGATE_WARMUP="2", PERFGATE_ITERATIONS="3")
    seconds = [float(line) for line in (tmp_path / "copy" / "out").read_text(encoding="utf-8").splitlines()]
    assert len(seconds) == 5
    assert min(seconds) > 0


@pytest.mark.endtoend
@pytest.mark.parametrize("example", sorted(BUILD))
def test_the_same_commits_whatever_the_settings_of_git(example: str, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (hooks / "pre-commit").chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(
        f'[core]\n hooksPath = "{hooks}"\n autocrlf = true\n[commit]\n gpgSign = true\n[user]\n name = somebody\n',
        encoding="utf-8",
    )
    assert make_repo(example, tmp_path / "one").returncode == 0
    done = make_repo(example, tmp_path / "two", GIT_CONFIG_GLOBAL=str(config), GIT_DIR=str(tmp_path / "elsewhere"))
    assert done.returncode == 0, done.stderr
    assert commits(tmp_path / "one") == commits(tmp_path / "two")
    assert len(commits(tmp_path / "one").splitlines()) == len(branches(example)) + 1
