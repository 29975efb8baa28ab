"""What every test shares: the line that names the real components this host lacks."""

import shutil

import pytest

REAL_COMPONENTS = {
    "hyperfine": "tests ran with the stand-in",
    "make": "the C example was not built",
    "cc": "the C example was not built",
    "cargo": "what `perfgate init` writes for it was not run",
    "cmake": "what `perfgate init` writes for it was not run",
    "chromium": "no report was opened",
}
OTHER_NAMES = {"chromium": ("chromium-browser", "google-chrome")}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A green run that used a stand-in must say so."""
    for component, instead in REAL_COMPONENTS.items():
        if not any(shutil.which(name) for name in (component, *OTHER_NAMES.get(component, ()))):
            terminalreporter.write_line(f"absent: {component} ({instead})")
