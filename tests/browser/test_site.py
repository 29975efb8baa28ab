"""The documentation site: built strictly, served over loopback, opened in a browser that has no network."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from scripts import site
from tests.support.browser import DESKTOP, PHONE, Opened, context
from tests.support.pages import ROOT

# one process: the site is built once
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.endtoend]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "scripts.site", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(built))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Names(HTMLParser):
    """What a page names: anchors, links and everything that a browser loads by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.ids |= {has[name] for name in ("id", "name") if name in has}
        if "src" in has or tag == "link":
            self.loaded.append(has.get("src") or has.get("href", ""))
        elif tag == "a" and "href" in has:
            self.links.append(has["href"])


def test_every_link_of_the_built_pages_leads_somewhere(built: Path) -> None:
    pages = {
        file.relative_to(built).as_posix(): Names(file.read_text(encoding="utf-8")) for file in built.rglob("*.html")
    }
    assert {site.place(page).with_suffix(".html").as_posix() for page in site.nav().pages} <= pages.keys()
    lost = []
    for name, page in pages.items():
        for target in [*page.links, *page.loaded]:
            to = urlsplit(urljoin(name, target))
            if target in page.loaded and (to.scheme not in ("", "data") or to.netloc):
                lost.append(f"{name} loads {target}")
            # a page of a study has its own tests, and anchors that its script makes
            if to.scheme or to.netloc or name.endswith("/study.html"):
                continue
            missing = to.path and not (built / unquote(to.path)).exists()
            if missing or (to.fragment and to.path in pages and unquote(to.fragment) not in pages[to.path].ids):
                lost.append(f"{name}: {target}")
    assert lost == []


def visit(page: Page, address: str) -> list[str]:
    """Let a page load only from one address; return what else it asks for, and what it complains about."""
    heard: list[str] = []

    def decide(route: Route) -> None:
        if route.request.url.startswith(address):
            route.continue_()
        else:
            heard.append(route.request.url)
            route.abort()

    page.route("**/*", decide)
    page.on("console", lambda message: heard.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    return heard


def test_pages_load_nothing_from_elsewhere_and_fit(browser: Browser, address: str) -> None:
    with context(browser, PHONE) as inside:
        page = inside.new_page()
        heard = visit(page, address)
        wide = []
        # the longest tables, code, pictures; the static check above sees what every page loads
        for each in ("index", "start/index", "configuration", "import", "evidence", "layout", "reading-a-report"):
            page.goto(f"{address}{each}.html")
            for size in (PHONE, DESKTOP):
                page.set_viewport_size({"width": size[0], "height": size[1]})
                if page.evaluate("() => document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                    wide.append(f"{each} at {size[0]} px")
    assert heard == []
    assert wide == []


def test_pages_have_no_barriers(browser: Browser, address: str) -> None:
    with context(browser) as inside:
        page = inside.new_page()
        for name in ("index", "quickstart"):
            page.goto(f"{address}{name}.html")
            assert Opened(page).violations() == []


def found(page: Page) -> list[str]:
    """Return what the hits lead to; they come one by one, and when all are there the page says how many."""
    page.wait_for_selector("#search-results p.search-summary:not(:empty)")
    return [link.get_attribute("href") or "" for link in page.query_selector_all("#search-results ul.search li > a")]


def test_search_over_http(browser: Browser, address: str) -> None:
    with context(browser) as inside:
        page = inside.new_page()
        heard = visit(page, address)
        page.goto(address)
        page.fill("input.sidebar-search", "threshold")
        page.press("input.sidebar-search", "Enter")
        hits = found(page)
        assert any(hit.startswith("configuration.html") for hit in hits), hits
        page.goto(address + hits[0].partition("#")[0])
        assert "threshold" in page.inner_text("article").lower()
    assert heard == []


def test_search_from_a_file(browser: Browser, built: Path) -> None:
    with context(browser) as inside:
        page = inside.new_page()
        page.goto(f"{(built / 'search.html').as_uri()}?q=inconclusive")
        assert found(page)


ASKED = {
    "noisy": "my benchmark is too noisy, flaky, noise",
    "ci": "gitlab, docker",
    "exit-codes": "exit code 4",
    "github": "fork pull requests, label, pull request comment",
    "configuration": "threshold, memory, warmup, memory usage, warmup iterations, ignore benchmark, binary size, timeout, skip benchmark",
    "migration": "baseline, existing baseline",
    "hosted": "hosted runner, github hosted runner",
    "suites": "criterion",
    "cost": "how long does it take, slow ci",
    "evidence": "false alarms, false positives",
    "method": "verdict rule, statistical significance",
    "reading-a-report": "base broken",
    "layout": "ccache, cache builds",
    "host": "turbo boost, cpu pinning, frequency scaling",
    "explain": "flamegraph",
    "security": "secrets",
    "json": "json output",
    "values": "p99",
}
"""By page what is asked, with a comma between."""
RANKED = """query => {
    history.replaceState(null, "", "?q=" + encodeURIComponent(query));
    return Search._performSearch(...Search._parseQuery(query)).reverse().map(result => result[0]);
}"""


def test_search_finds_what_is_asked(browser: Browser, address: str) -> None:
    last = {site.place(page).with_suffix("").as_posix() for page in site.nav().last}
    wrong = {}
    with context(browser) as inside:
        page = inside.new_page()
        page.goto(f"{address}search.html?q=sandbox")
        found(page)
        for asked, query in ((page, each) for page, queries in ASKED.items() for each in queries.split(", ")):
            pages = list(dict.fromkeys(page.evaluate(RANKED, query)))
            ends = pages[-len(last & {*pages}) :] if last & {*pages} else []
            if asked not in pages[:1] or not set(ends) <= last:
                wrong[query] = pages
    assert wrong == {}


def test_a_broken_anchor_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copyfile(ROOT / "scripts" / "site.py", tmp_path / "scripts" / "site.py")
    shutil.copytree(ROOT / "docs" / "site", tmp_path / "docs" / "site")
    (tmp_path / "docs" / "site" / "nav.toml").write_text(
        'front = "docs/index.md"\n[[section]]\ntitle = "Part"\npages = ["docs/other.md"]\n', encoding="utf-8"
    )
    (tmp_path / "docs" / "other.md").write_text("# Other\n\nA page.\n", encoding="utf-8")

    text = "# perfgate\n\nA gate. See [there](other.md#missing).\n"
    (tmp_path / "docs" / "index.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "scripts.site"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "missing" in done.stderr
