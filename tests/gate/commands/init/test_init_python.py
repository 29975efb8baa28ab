"""perfgate init on made-up Python projects: scripts, asv, absent packages, programs and tests."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.initialized import Project, detected, init, written

_PACKAGE = '[project]\nname = "my-pkg"\n'
_SCRIPT = "import my_pkg\nif __name__ == '__main__':\n    my_pkg.work()\n"
_BENCH = "def test_it(benchmark):\n    benchmark(sum, [1])\n"
_DECLARED = _PACKAGE + '[dependency-groups]\ndev = ["pytest-benchmark"]\n'


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("benchmark/run.py", "benchmark"),
        ("bench/main.py", "bench"),
        ("test/bench/bench_parse.py", "bench_parse"),
        ("tests/benchmark.py", "benchmark"),
        ("misc/bench_omd.py", "bench_omd"),
        ("bench.py", "bench"),
        ("benchmarks/run_all.py", "run_all"),
    ],
)
def test_a_script_measures_the_code_of_its_side(project: Project, path: str, name: str) -> None:
    config = written(project({"pyproject.toml": _PACKAGE, "my_pkg/__init__.py": "", path: _SCRIPT}))
    (benchmark,) = config.benchmark
    assert (benchmark.name, benchmark.instrument) == (name, "spawn")
    assert [Path(benchmark.command[0]).name.rstrip("3"), *benchmark.command[1:]] == ["python", path]
    # only the script's own folder would be on the path
    assert config.env.set == {"PYTHONPATH": "."}


@pytest.mark.parametrize(
    "text",
    [
        "def f(): pass\n",
        "import sys\nprint(sys.argv[1])\n",
        "p.add_argument('file')\nif __name__ == '__main__':\n    main()\n",
        "p.add_argument('--size', required=True)\nmain()\n",
        "import pytest\nmain()\n",
        "if TYPE_CHECKING:\n    import x\n",
        "main(\n",
    ],
)
def test_what_does_not_run_by_itself_is_no_script(project: Project, text: str) -> None:
    assert written(project({"bench.py": text})).benchmark[0].name == "placeholder"


@pytest.mark.parametrize(
    "text",
    [
        "p.add_argument('--size', type=int)\nmain()\n",
        "p.add_argument('file', nargs='?')\nmain()\n",
        "import sys\nif len(sys.argv) > 1:\n    x = sys.argv[1]\nmain()\n",
        "for size in (1, 2):\n    run(size)\n",
    ],
)
def test_a_script_with_arguments_of_its_choice_runs_by_itself(project: Project, text: str) -> None:
    assert detected(project({"bench.py": text})).evidence == "script bench.py"


@pytest.mark.usefixtures("asked")
def test_packages_that_a_script_lacks_are_named(project: Project) -> None:
    files = {"pyproject.toml": _PACKAGE, "setup.py": "Extension('fast_part')", "my_pkg/__init__.py": ""}
    script = "import json, fast_part, no_such_a\nfrom no_such_b.x import y\n" + _SCRIPT
    notes = detected(project({**files, "bench.py": script})).notes
    assert [note.split(": install")[0].split(" has no ")[1] for note in notes] == ["no_such_a, no_such_b"]


def test_a_script_that_writes_values_is_not_timed_as_a_whole(project: Project) -> None:
    text = "import os\nwith open(os.environ['PERFGATE_OUTPUT'], 'w') as file:\n    file.write('0.1\\n')\n"
    (benchmark,) = written(project({"bench.py": text})).benchmark
    assert (benchmark.instrument, benchmark.warmup) == ("values", 0)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("setup.py", "setup(entry_points={'console_scripts': ['other=x', 'mp=my_pkg.cli:main']})\n"),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    mp = my_pkg.cli:main\n"),
    ],
)
def test_a_program_that_setuptools_declares(project: Project, file: str, text: str) -> None:
    found = detected(project({file: text, "my_pkg/__init__.py": "", "my_pkg/cli.py": "import argparse\n"}))
    assert found.evidence == "program mp"


@pytest.mark.parametrize("file", ["pom.xml", "setup.py", "package.json"])
def test_a_project_without_benchmarks_is_shown_where_to_begin(project: Project, file: str) -> None:
    found = detected(project({file: ""}))
    assert not found.measures_something
    assert [note for note in found.notes if note.startswith(f"{file} has no benchmarks")]


@pytest.mark.usefixtures("asked")
def test_dependencies_of_the_project_that_are_not_installed_are_named(project: Project) -> None:
    listed = 'dependencies = ["pytest>=2", "no.such-a[x]>=1; extra == \\"y\\"", "no-such-b ~= 2"]\n'
    found = detected(project({"pyproject.toml": _PACKAGE + listed, "my_pkg/__init__.py": "", "bench.py": "main()\n"}))
    assert [note.split(": install")[0].split(" has no ")[1] for note in found.notes] == ["no-such-b"]


def test_a_script_that_can_run_here_comes_first(project: Project) -> None:
    found = detected(project({"bench.py": "import no_such_a\nmain()\n", "bench/bench_it.py": "main()\n"}))
    assert found.evidence == "script bench/bench_it.py"


def test_tests_that_lack_a_package_are_left_out(project: Project) -> None:
    files = {
        "bench/test_a.py": _BENCH,
        "bench/test_b.py": f"import no_such_a\n{_BENCH}",
        "bench/test_c.py": f"import csv, my_pkg\n{_BENCH}",
        # by way of the project's own module
        "bench/test_d.py": f"from my_pkg.more.deep import x\n{_BENCH}",
        "src/my_pkg/__init__.py": "try:\n    import no_such_b\nexcept ImportError:\n    pass\n",
        "src/my_pkg/more/deep.py": "import my_pkg, no_such_c\n",
        # not what is imported by its name alone
        "src/my_pkg/more/no_such_c.py": "",
    }
    directory = project({"pyproject.toml": _DECLARED, **files})
    config = written(directory)
    # pytest would end with an error, and nothing would be measured
    assert str(config.benchmark[0].command).endswith(" bench/test_a.py bench/test_c.py")
    out = init(directory, force=True)[1].replace("python3", "python")
    assert "note: left out: bench/test_b.py, bench/test_d.py, as python has no no_such_a, no_such_c\n" in out


def test_tests_that_all_lack_a_package_are_kept(project: Project) -> None:
    directory = project({"pyproject.toml": _DECLARED, "bench/test_b.py": f"import no_such_a\n{_BENCH}"})
    assert str(written(directory).benchmark[0].command).endswith(" bench")
    assert " has no no_such_a: install it there" in init(directory, force=True)[1]


def test_a_program_is_started_for_its_help(project: Project) -> None:
    manifest = _PACKAGE + '[project.scripts]\nmp = "my_pkg.cli:main"\n'
    files = {"pyproject.toml": manifest, "src/my_pkg/__init__.py": "", "src/my_pkg/cli.py": "import argparse\n"}
    directory = project(files)
    command = written(directory).benchmark[0].command
    assert command[1:] == ["-c", "from my_pkg.cli import main; main()", "--help"]
    (directory / "src/my_pkg/__main__.py").write_text("")
    (directory / "perfgate.toml").unlink()
    assert written(directory).benchmark[0].command[1:] == ["-m", "my_pkg", "--help"]


def test_a_package_with_tests_runs_them(project: Project) -> None:
    files = {
        "pyproject.toml": _PACKAGE + 'dev = ["pytest"]\n',
        "my_pkg/__init__.py": "",
        "tests/test_a.py": "def test_a(): pass\n",
    }
    directory = project(files)
    start = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    # pytest asks for the size of every file beside the tests, else
    assert written(directory).benchmark[0].command[1:] == [*start, "--confcutdir=tests", "tests"]
    (directory / "conftest.py").write_text("")
    (directory / "perfgate.toml").unlink()
    assert written(directory).benchmark[0].command[1:] == [*start, "tests"]


_CODSPEED = _PACKAGE + '[dependency-groups]\ndev = ["pytest", "pytest-codspeed"]\n'
_MARKED = "import pytest\n\npytestmark = pytest.mark.benchmark()\n\ndef test_it():\n    pass\n"
_MARKED_NOTE = (
    "left out: bench/test_marked.py, whose tests are only marked for pytest-codspeed: perfgate measures tests that use "
    "the `benchmark` fixture of pytest-benchmark"
)


@pytest.mark.parametrize(
    ("manifest", "test"),
    [
        (_CODSPEED, _BENCH),
        (
            _PACKAGE,
            f"from pytest_codspeed import BenchmarkFixture\n{_BENCH.replace('mark)', 'mark: BenchmarkFixture)')}",
        ),
    ],
    ids=["declared", "imported"],
)
def test_the_fixture_of_codspeed_is_that_of_pytest_benchmark(project: Project, manifest: str, test: str) -> None:
    directory = project({"pyproject.toml": manifest, "my_pkg/__init__.py": "", "bench/test_it.py": test})
    (benchmark,) = written(directory).benchmark
    assert (benchmark.name, benchmark.instrument) == ("pytest", "pytest-benchmark")
    assert str(benchmark.command).endswith(" bench")


def test_tests_that_only_codspeed_measures_are_named(project: Project) -> None:
    files = {"pyproject.toml": _CODSPEED, "bench/test_marked.py": _MARKED, "tests/test_a.py": "def test_a(): pass\n"}
    found = detected(project(files))
    assert found.kind == "python"
    assert _MARKED_NOTE in found.notes


def test_beside_tests_with_the_fixture_those_of_codspeed_are_named(project: Project) -> None:
    files = {"pyproject.toml": _CODSPEED, "bench/test_marked.py": _MARKED, "bench/test_it.py": _BENCH}
    found = detected(project(files))
    assert found.evidence == "1 test file with benchmarks"
    assert _MARKED_NOTE in found.notes
    assert str(found.benchmark.command).endswith(" bench/test_it.py")


def test_markers_of_pytest_benchmark_are_no_note(project: Project) -> None:
    marked = f"import pytest\n@pytest.mark.benchmark(group='x')\n{_BENCH}"
    assert not any(
        "codspeed" in note for note in detected(project({"pyproject.toml": _DECLARED, "test_it.py": marked})).notes
    )


def test_packages_that_the_tests_lack_are_named(project: Project) -> None:
    files = {
        "pyproject.toml": _PACKAGE + 'dev = ["pytest"]\n',
        "tests/conftest.py": "import no_such_a\n",
        "tests/utils.py": "",
        "tests/test_a.py": "import no_such_b, pytest\nfrom tests.utils import x\ndef test_a(): pass\n",
        "other/test_b.py": "import no_such_c\n",
    }
    notes = detected(project(files)).notes
    assert [note.split(": install")[0].split(" has no ")[1] for note in notes if " has no " in note] == [
        "no_such_a, no_such_b"
    ]


_ASV = """
class Suite:
    params = [[1, 2], ["a"]]
    def setup_cache(self):
        return {"n": 3}
    def setup(self, cache, n, text):
        if n == 2:
            raise NotImplementedError
    def time_it(self, cache, n, text):
        sum(range(cache["n"]))
def time_plain():
    sum(range(9))
def mem_it():
    return []
"""
# what asv_runner has of it: asv_runner 0.3.2
_RUNNER = """
import importlib
class Case:
    def __init__(self, name, kind, run, params, cache=None):
        self.name, self.type, self.run, self.params, self._cache = name, kind, run, params, cache
    def do_setup_cache(self): return self._cache
    def set_cache(self, cache): self.cache = cache
    def set_param_idx(self, place): self.place = place
    def do_setup(self):
        self.repeat, self.sample_time = 0, 0
        return self.name == "Suite.time_it" and self.place == 1
    def do_teardown(self): pass
    def do_run(self):
        assert self.sample_time > 0
        return {"samples": [0.5 + self.place] * self.repeat[0], "number": 1}
def disc_benchmarks(root):
    importlib.import_module(root)
    yield Case("Suite.time_it", "time", None, [["1", "2"], ["'a'"]], {"n": 3})
    yield Case("time_plain", "time", None, [])
    yield Case("mem_it", "memory", None, [])
"""


def test_asv(project: Project) -> None:
    conf = '{\n  // "benchmark_dir": "no",\n  "benchmark_dir": "suite",\n}\n'
    files = {
        "bench/asv.conf.json": conf,
        "bench/suite/__init__.py": "",
        "bench/suite/a.py": _ASV,
        "my_pkg/__init__.py": "",
    }
    directory = project({**files, "asv_runner/discovery.py": _RUNNER, "pyproject.toml": _PACKAGE})
    config = written(directory)
    (benchmark,) = config.benchmark
    assert (benchmark.name, benchmark.instrument, benchmark.warmup) == ("asv", "values", 1)
    # 2 functions of times: a value takes its 0.2 s
    assert "(count, count, 60), 0.2" in str(benchmark.command)
    out = directory / "out"
    environment = {
        **os.environ,
        "PERFGATE_OUTPUT": str(out),
        "PERFGATE_ITERATIONS": "2",
        "PERFGATE_WARMUP": "1",
        "PYTHONPATH": ".",
    }
    command = (
        str(benchmark.command)
        .replace("\npython3 ", f"\n{shlex.quote(sys.executable)} ")
        .replace("\npython ", f"\n{shlex.quote(sys.executable)} ")
    )
    subprocess.run(["sh", "-c", command], cwd=directory, env=environment, check=True)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["metric"], line["value"]) for line in lines] == [
        *[("Suite.time_it(1, 'a')", 0.5)] * 3,
        *[("time_plain", 0.5)] * 3,
    ]


@pytest.mark.parametrize("text", ["def mem_it(): pass\n", "def timer(): pass\n"])
def test_asv_without_times(project: Project, text: str) -> None:
    assert detected(project({"asv.conf.json": "{}", "benchmarks/a.py": text})).kind == "generic"
