"""One more output format, instrument, adapter, format of results and command each cost one file, and no edit elsewhere."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project, environment

# One measured run for all of it.
pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("one file")]
ROOT = Path(__file__).parent.parent

NEW = {
    # an output format: an option --shout of check, decide and report, and a choice of `report --format`
    "gate/report/formats/shout.py": """
def render(decided, links):
    return decided.report.verdict.upper() + "!\\n"
""",
    # an adapter: a format of the values instrument
    "gate/formats/pairs.py": '''
from gate.formats.parts.output import Series


def parse(data, units):
    """Read "pages=12 stores=40"."""
    found = {}
    for word in data.decode().split():
        name, _, value = word.partition("=")
        found.setdefault(name, Series("", [], "lower")).values.append(float(value))
    return found


LIVE = parse
''',
    # an instrument, with a metric and a floor of its own; it counts the bytes that the command prints
    "harness/instruments/wordcount.py": """
from gate.config.instruments import Traits
from gate.model import Metric
from gate.writing.units import Quantity
from harness.instruments.protocol import Unusable, arguments, environment, placeholders
from harness.instruments.declaration import Declared, FoundInstrument
from harness.process.execute import Command


class WordCount:
    def prepare(self, benchmark, context):
        return Command(
            argv=arguments(benchmark.command, placeholders(context)), directory=context.directory,
            environment=environment(context), timeout=benchmark.timeout, stdout=context.scratch / "out",
            max_stdout=1000,
        )

    def collect(self, benchmark, context, outcome):
        if outcome.status:
            return Unusable(outcome.status, outcome.stderr)
        words = float(len((context.scratch / "out").read_text().split()))
        return {
            "words": Metric(unit="", better="higher", values=[words]),
            "letters": Metric(unit="", better="lower", values=[5 * words]),
        }


INSTRUMENT = Declared(
    lambda caller: FoundInstrument(WordCount(), version="7.1"),
    Traits(chief=("words",), floor=Quantity.parse("5"), exact=True),
)
""",
    # a format of result files of other tools
    "gate/formats/tally.py": """
from gate.model import Metric
from gate.formats.parts.result import Format, ProcessValues

FORMAT = Format(title="tally")


def recognises(source):
    return source.head.text.startswith("tally of ")


def read(source):
    first, *values = source.lines()
    yield ProcessValues(benchmark=first.removeprefix("tally of "), metrics={"time": Metric(unit="s", values=list(map(float, values)))})
""",
    # a command, with an option
    "gate/commands/greet/command.py": """
from dataclasses import dataclass

from gate.cli.command import Command
from gate.cli.options import option


@dataclass(frozen=True, slots=True)
class Options:
    name: str = option("whom", metavar="NAME", default="you")


def run(options, out, err):
    out.write(f"hello {options.name}\\n")
    return 0


COMMAND = Command(help="greet somebody", example="perfgate greet", options=Options, run=run)
""",
}

CONFIG = """\
[plan]
builds = 5
executions = 1
iterations = 1
[[benchmark]]
name = "prints"
command = ["cat", "words"]
instrument = "wordcount"
[[benchmark]]
name = "says"
command = ["cat", "pairs"]
instrument = "values"
format = "pairs"
[benchmark.metric.pages]
exact = true
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source with the new files."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("gate", "harness", "templates"):
        shutil.copytree(ROOT / folder, copy / folder)  # with what is compiled
    shutil.copy(ROOT / "perfgate.py", copy)
    for name, text in NEW.items():
        path = copy / name
        assert not path.exists()
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'"""New."""\n{text}')
    return copy


def perfgate(source: Path, project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run perfgate from a copy of its source, isolated as it always is, whatever is installed."""
    start = f"import sys; sys.path.insert(0, {str(source)!r}); from gate.cli.main import run; run()"
    return subprocess.run(
        [sys.executable, "-I", "-c", start, *arguments],
        cwd=project.top, capture_output=True, text=True, check=False, env=environment(**project.own()),
    )  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Head prints fewer words than base, by 3 of 20; and says that it has one page more."""
    made = Project(tmp_path_factory.mktemp("project") / "project")
    made.write("perfgate.toml", CONFIG)
    made.write("words", "word " * 20)
    made.write("pairs", "pages=100 stores=7")
    made.commit()
    made.git("switch", "-q", "-c", "work")
    made.write("words", "word " * 17)
    made.write("pairs", "pages=150 stores=7")
    made.commit()
    return made


@pytest.fixture(scope="module")
def checked(source: Path, project: Project) -> dict[str, dict[str, Any]]:
    """One measured run, with the new instrument, adapter and format: its findings by benchmark and metric."""
    done = perfgate(source, project, "check", "--base", "main", "--shout", "shout.txt")
    assert done.returncode == 1, done.stdout + done.stderr
    found: dict[str, dict[str, Any]] = {}
    for finding in project.report()["findings"]:
        found.setdefault(finding["benchmark"], {})[finding["metric"]] = finding
    return found


@pytest.mark.usefixtures("checked")
def test_a_new_format_is_an_option_and_a_choice(source: Path, project: Project) -> None:
    assert (project.top / "shout.txt").read_text() == "REGRESSION!\n"
    again = perfgate(source, project, "report", "--format", "shout")
    assert (again.returncode, again.stdout) == (1, "REGRESSION!\n")
    assert "--shout FILE" in perfgate(source, project, "decide", "--help").stdout


def test_a_new_instrument_measures_by_its_traits(checked: dict[str, dict[str, Any]], project: Project) -> None:
    # of its two metrics only the chief one is decided; 3 words of 20 are beyond the threshold and below its floor of 5
    assert {name: (f["verdict"], f["reason"]["kind"]) for name, f in checked["prints"].items()} == {
        "words": ("inconclusive", "below-floor")
    }
    # exact: one execution a build, whatever the plan
    assert project.report()["policy"]["gate"]["floor"] == "5 of wordcount, none of values"
    run = json.loads((project.top / ".perfgate/measurements.jsonl").read_text().splitlines()[0])
    assert run["host"]["wordcount"] == "7.1"
    assert run["config"]["benchmark"][0]["traits"] == {
        "chief": ["words"], "floor": "5", "suite": False, "exact": True, "starts": False, "own_clock": False,
    }  # fmt: skip
    assert "traits" not in run["config"]["benchmark"][1]
    # what it measured is decided the same where it is not installed
    here = perfgate(ROOT, project, "decide", ".perfgate", "--json", "-")
    assert json.loads(here.stdout)["findings"] == project.report()["findings"]
    # where it is to measure, it is a mistake in the config
    done = perfgate(ROOT, project, "check", "--base", "main")
    assert done.returncode == 2
    assert '"wordcount" is not an instrument; known: hyperfine, spawn, values, ' in done.stderr
    assert all(line.startswith("perfgate: ") for line in done.stderr.splitlines())


def test_a_new_adapter_is_a_format_of_values(checked: dict[str, dict[str, Any]]) -> None:
    assert checked["says"]["pages"]["verdict"] == "regression" and "stores" in checked["says"]


def test_a_new_format_of_results_is_imported(source: Path, project: Project) -> None:
    (project.top / "stalls.txt").write_text("tally of stalls\n3\n4\n")
    done = perfgate(source, project, "import", "base=stalls.txt", "--out", "stalls.jsonl")
    assert done.stderr == "base  stalls.txt: 1 benchmark, 1 build, 1 start, 2 values\n"
    assert "tally" in perfgate(source, project, "import", "--help").stdout


def test_a_new_command_is_listed_and_runs(source: Path, project: Project) -> None:
    assert perfgate(source, project, "greet", "--name", "Ada").stdout == "hello Ada\n"
    assert "\n  greet " in perfgate(source, project, "--help").stdout
