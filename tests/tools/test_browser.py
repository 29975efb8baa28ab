"""The HTML report in a real browser: it opens without a message, says its verdict, and fits a phone."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from gate.report import html, wording
from tests.gate.report import examples

pytestmark = pytest.mark.tools

CHROMIUM = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--enable-logging=stderr",
)  # fmt: skip


def browse(page: Path, profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("absent: chromium (no report was opened)")
    command = [browser, *CHROMIUM, f"--user-data-dir={profile}", *arguments, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)


@pytest.mark.parametrize("name", examples.ALL)
def test_the_report_opens(name: str, tmp_path: Path) -> None:
    report = examples.ALL[name]()
    page = tmp_path / "report.html"
    page.write_text(html.render(report), encoding="utf-8")
    done = browse(page, tmp_path / "profile", "--dump-dom")
    # the page's own messages, not the browser's complaints about its host
    assert "CONSOLE" not in done.stderr
    assert wording.headline(report).split(":")[0] in done.stdout


@pytest.mark.parametrize(("width", "height"), [(1200, 900), (390, 844)])
def test_the_report_is_drawn(width: int, height: int, tmp_path: Path) -> None:
    page, picture = tmp_path / "report.html", tmp_path / "shot.png"
    page.write_text(html.render(examples.ALL["regression"]()), encoding="utf-8")
    browse(page, tmp_path / "profile", f"--window-size={width},{height}", f"--screenshot={picture}")
    data = picture.read_bytes()
    assert struct.unpack(">II", data[16:24]) == (width, height)
    # an empty page compresses to next to nothing
    assert len(data) > 20_000
