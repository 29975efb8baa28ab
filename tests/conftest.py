"""What every test shares: the line that names the real components this host lacks."""

import gc
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

_PATH = f"{Path(__file__).parent.parent / '.tools' / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

# Benchmarks that tests measure are started as `python3`: what a version manager puts in its place takes longer than they.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

# As gate/__main__.py does it, before numpy is loaded: its threads take turns with the other worker on two processors.
os.putenv("OPENBLAS_NUM_THREADS", "1")
gc.set_threshold(200_000, 50, 100)

# A shell that starts the tests in the background has them ignore it, and so would what they start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
        names = [each.location for each in terminalreporter.stats.get("skipped", [])]
        Path(skipped).write_text("".join(f"{file}::{name}\n" for file, _, name in names), encoding="utf-8")
