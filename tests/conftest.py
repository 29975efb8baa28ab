"""What every test shares: the line that names the real components this host lacks."""

import functools
import gc
import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped] # it has no types

# Benchmarks that tests measure are started as `python3`: what a version manager puts in its place takes longer than they.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

# xdist tells its workers the width of its own terminal
os.environ.pop("COLUMNS", None)

_PATH = f"{Path(__file__).parent.parent / '.tools' / 'bin'}{os.pathsep}{os.environ['PATH']}"

# As gate/__main__.py does it, before numpy is loaded: its threads take turns with the other worker on two processors.
os.putenv("OPENBLAS_NUM_THREADS", "1")
gc.set_threshold(200_000, 50, 100)

# A shell without job control starts what runs in the background with SIGINT ignored, nohup with SIGHUP, and a process
# inherits that: no test could interrupt what it starts. What is handled here has its default there.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if os.name != "nt" and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

# Compiling these tests takes a tenth of the whole suite: keep what is compiled, also where the environment says not to.
sys.dont_write_bytecode = False

REAL_COMPONENTS = {
    "hyperfine": "tests ran with the stand-in",
    "make": "the C example was not built",
    "cc": "the C example was not built",
    "cargo": "what `perfgate init` writes for it was not run, nor the Rust example",
    "cmake": "what `perfgate init` writes for it was not run, nor the C++ example",
    "go": "the Go example and its page were not run",
    "javac": "the Java example and its page were not run",
    "npm": "the JavaScript example and its page were not run",
    "chromium": "no report was opened",
    "zsh": "completion was not tried in it",
    "fish": "completion was not tried in it",
    "jq": "the recipes of docs/json.md were not run",
    "act": "the action was not run by a workflow runner",
    "actionlint": "the workflows were not checked by it",
}
OTHER_NAMES = {"chromium": ("chromium-browser", "google-chrome")}

# All tests of a module have the marks that it assigns to this name at the left margin.
_MARKS = re.compile(r"^pytestmark = (?:\[\n(?s:.*?)^\]|.*$)", re.MULTILINE)
_MARK = re.compile(r"\bmark\.(\w+)")
OWN = {"endtoend", "tools"}
"""Marks that no test has whose module, or a conftest.py above it, does not name them."""


@functools.cache
def _marks(module: Path) -> frozenset[str]:
    found = _MARKS.search(module.read_text(encoding="utf-8"))
    return frozenset(_MARK.findall(found[0]) if found else ())


@functools.cache
def _named(module: Path) -> frozenset[str]:
    found = frozenset(_MARK.findall(module.read_text(encoding="utf-8"))) if module.exists() else frozenset()
    folder = module.parent if module.name != "conftest.py" else module.parent.parent
    return found | _named(folder / "conftest.py") if module.parent != Path(__file__).parent else found


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module whose tests are all deselected, such as those of browsers, unless it is named."""
    terms = config.option.markexpr.split(" and ")
    deselected = {name for term in terms for name in re.findall(r"^not (\w+)$", term)}
    wanted = OWN & {*terms}
    named = any(collection_path == Path(argument.partition("::")[0]).absolute() for argument in config.args)
    if named or " or " in config.option.markexpr or "(" in config.option.markexpr:
        return None
    modules = [collection_path] if collection_path.suffix == ".py" else list(collection_path.rglob("test_*.py"))
    left_out = (deselected & _marks(module) or wanted - _named(module) for module in modules)
    return True if modules and all(left_out) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage, and leave what was collected out of all later looks."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let each process begin elsewhere: in a fresh clone it finds compiled what the others have come to before."""
    report = yield
    worker = getattr(collector.config, "workerinput", None)
    if worker is not None and isinstance(collector, pytest.Dir):
        first = len(report.result) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        report.result = report.result[first:] + report.result[:first]
    return report


SLOW = ("act", "packages", "wheel")
"""Groups of few tests that take long: a process that came to one of them last would work alone."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Number the tests alike in all processes, and begin with the groups and files that take longest."""

    def scope(item: pytest.Item) -> str:
        mark = item.get_closest_marker("xdist_group")
        return str(mark.args[0] if mark else item.path)

    hidden = [each.nodeid for each in items for own in OWN - _named(each.path) if each.get_closest_marker(own)]
    if hidden:
        raise pytest.UsageError(f"its module must name the mark, or it is not collected by it: {hidden[0]}")
    items.sort(key=lambda item: item.path)
    if hasattr(config, "workerinput"):
        count = Counter(map(scope, items))
        items.sort(key=lambda item: (scope(item) not in SLOW, -count[scope(item)]))


class ByFile(LoadGroupScheduling):  # type: ignore[misc] # the same
    """Give a process all tests of a file at once, if they are in no group: one message for twenty tests, not for each."""

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if group == nodeid else group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadGroupScheduling | None:
    """Share the tests among the processes of `make test`."""
    return ByFile(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, dict[str, Any], dict[str, Any]]:
    """Send of a report's many keywords only those that pytest reads again: they were most of each message."""
    data = yield
    if "keywords" in data:
        data["keywords"] = {name: 1 for name in ("skip", "pytestmark") if name in data["keywords"]}
    return data


@pytest.fixture(scope="session", autouse=True)
def _lock_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let what one worker measures not wait for the others; which one disturbs which decides no test."""
    os.environ["PERFGATE_LOCK"] = str(tmp_path_factory.mktemp("lock") / "perfgate.lock")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A green run that used a stand-in must say so."""
    for component, instead in REAL_COMPONENTS.items():
        if not any(shutil.which(name, path=_PATH) for name in (component, *OTHER_NAMES.get(component, ()))):
            terminalreporter.write_line(f"absent: {component} ({instead})")
    # `.ci/run` runs them again when it has installed what they lack
    skipped = os.environ.get("PERFGATE_TESTS_SKIPPED")
    if skipped is not None:
        # xdist writes the group of a test behind its name
        names = [re.sub(r"@[^@\]]*$", "", each.nodeid) for each in terminalreporter.stats.get("skipped", [])]
        Path(skipped).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
