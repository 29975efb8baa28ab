"""A real Chromium, headless and without a network, for the pages that perfgate writes."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import pytest
from _pytest.mark.structures import ParameterSet
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Route, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip
WIDE, DESKTOP, TABLET, PHONE, SMALL_PHONE = (1920, 1080), (1280, 900), (768, 1024), (390, 844), (360, 740)
Scheme = Literal["light", "dark"]
SIZES = [
    DESKTOP, SMALL_PHONE, *(pytest.param(size, marks=pytest.mark.nightly) for size in (WIDE, TABLET, PHONE))
]  # fmt: skip
"""The widest table and the narrowest screen; those between them at night."""


def few(names: Iterable[str], always: Iterable[str]) -> list[ParameterSet]:
    """Let a test have some of the pages always, and the others at night."""
    return [pytest.param(name, marks=() if name in always else pytest.mark.nightly) for name in names]


def installed() -> str | None:
    """Return the path of the host's Chromium; None: it has none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def started() -> Iterator[Browser]:
    """Start the host's Chromium, or skip the test where there is none."""
    path = installed()
    if path is None:
        pytest.skip("absent: chromium (no report was opened)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass(slots=True)
class Opened:
    """A page in the browser, and what it did that no report may do: messages, errors, dialogs, requests."""

    page: Page
    heard: list[str] = field(default_factory=list)

    def evaluate(self, script: str, argument: Any = None) -> Any:
        """Run a script in the page, which its Content-Security-Policy does not forbid to the debugger."""
        return self.page.evaluate(script, argument)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the window another width and height."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def paint(self, scheme: Scheme, media: Literal["screen", "print"] = "screen") -> None:
        """Prefer light or dark, on screen or paper."""
        self.page.emulate_media(color_scheme=scheme, media=media)

    def violations(self) -> list[str]:
        """Return what axe finds that is serious or critical, with the first elements concerned."""
        if not self.evaluate("() => 'axe' in window"):
            self.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = self.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{rule['id']}: {rule['help']}: {[node['html'][:200] for node in rule['nodes'][:3]]} of {len(rule['nodes'])}"
            for rule in found
            if rule["impact"] in ("serious", "critical")
        ]


@contextmanager
def context(browser: Browser, size: tuple[int, int] = DESKTOP, *, scripts: bool = True) -> Iterator[BrowserContext]:
    """Make a profile of its own, which is gone afterwards."""
    made = browser.new_context(viewport={"width": size[0], "height": size[1]}, java_script_enabled=scripts)
    # half a minute, as it would be, is not enough for a long page on a busy host
    made.set_default_timeout(300_000)
    try:
        yield made
    finally:
        made.close()


def opened(inside: BrowserContext, file: Path) -> Opened:
    """Open a file; every other address is refused and noted."""
    result = Opened(inside.new_page())
    url = file.as_uri()

    def refuse(route: Route) -> None:
        if route.request.url.partition("#")[0] == url:
            route.continue_()
        else:
            result.heard.append(f"request of {route.request.url[:200]}")
            route.abort()

    def dismiss(dialog: Dialog) -> None:
        result.heard.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    result.page.on("console", lambda message: result.heard.append(f"console: {message.text}"))
    result.page.on("pageerror", lambda error: result.heard.append(f"error: {error}"))
    result.page.on("dialog", dismiss)
    result.page.on("popup", lambda other: result.heard.append(f"window: {other.url}"))
    result.page.route("**/*", refuse)
    result.page.goto(url)
    return result
