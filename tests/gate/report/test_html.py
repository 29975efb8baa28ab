import base64
import functools
import hashlib
import itertools
import math
import re
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

from gate.document.html import templates
from gate.report.formats import html
from gate.report.material import Material
from gate.words import findings as finding_words
from tests.gate.report import examples
from tests.support.seeds import some

VOID = {"meta", "rect", "line", "path", "circle", "br", "use", "polygon", "polyline", "ellipse", "image"}
HEADINGS = ("h1", "h2", "h3", "h4")
# the page of 300 findings is of the same parts
EXAMPLES = some(sorted(examples.ALL, key=lambda name: name == "many"), len(examples.ALL) - 1, pytest.mark.nightly)


class Page(HTMLParser):
    """What a test wants to know of a page: its elements, and whether they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif not self.open or self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def ids(self) -> list[str]:
        return [attrs["id"] or "" for _, attrs in self.elements if "id" in attrs]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


def material(**changes: object) -> Material:
    parts: dict[str, object] = {"files": ["measurements.jsonl"]}
    return Material(**(parts | changes))  # type: ignore[arg-type]  # each test gives what the type wants


@functools.cache
def rendered(name: str) -> str:
    return html.written(examples.ALL[name](), material())


@functools.cache
def page_of(name: str) -> Page:
    return Page(rendered(name))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_stands_alone_and_is_well_formed(name: str) -> None:
    source = rendered(name)
    page = page_of(name)
    assert page.open == Page(html.written(examples.ALL[name]())).open == []
    assert source.startswith("<!DOCTYPE html>")
    # without the script there is nothing to press
    forbidden = {"link", "img", "iframe", "object", "base", "form", "button", "input", "select"}
    assert not {tag for tag, _ in page.elements} & forbidden
    assert not [key for _, attrs in page.elements for key in attrs if key.startswith("on") or key == "src"]
    assert len(page.ids) == len(set(page.ids))
    targets = [attrs["href"] or "" for attrs in page.all("a")]
    assert all(target.startswith("#") for target in targets)
    labels = [label for _, attrs in page.elements for label in (attrs.get("aria-labelledby") or "").split()]
    assert {target[1:] for target in targets if target.startswith("#")} | set(labels) <= set(page.ids)
    asked = [attrs.get(key) or "" for _, attrs in page.elements for key in ("href", "src", "data", "action")]
    assert not [address for address in asked if "//" in address.partition(",")[0]]
    assert not re.search(r"url\(|@import|xlink:href", source)


@pytest.mark.parametrize("name", EXAMPLES)
def test_only_the_one_script_may_run(name: str) -> None:
    page = page_of(name)
    (policy,) = [a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    (script,) = page.scripts
    found = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{found}'; base-uri 'none'; form-action 'none'"
    )
    assert script == (templates() / "report.js").read_text(encoding="utf-8")
    assert not re.search("[\u202e\x1b]", rendered(name))


def test_a_hostile_name_is_text_and_keeps_to_its_place() -> None:
    page = Page(html.written(examples.hostile(), material(files=["<b>.jsonl"])))
    assert "<script>alert(1)</script>" in page.text and "<b>.jsonl" in page.text


@pytest.mark.parametrize("name", EXAMPLES)
def test_tables_and_pictures_can_be_read_aloud(name: str) -> None:
    page = page_of(name)
    named = [a for a in page.all("table") if "aria-label" in a or "aria-labelledby" in a]
    assert len(page.all("table")) == len(page.all("caption")) + len(named)
    assert all("scope" in attrs for attrs in page.all("th"))
    # an SVG inside of another is a place in it
    pictures = [a for a in page.all("svg") if "overflow" not in a]
    assert all(a["role"] == "img" and (a.get("aria-label") or a.get("aria-labelledby")) for a in pictures)
    order = [tag for tag, _ in page.elements if tag in ("header", "main", "footer", "h1")]
    assert order == ["header", "h1", "main", "footer"]
    scrolled = [a for tag, a in page.elements if "scroll" in (a.get("class") or "").split() or tag == "pre"]
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in scrolled)
    depths = [HEADINGS.index(tag) for tag, _ in page.elements if tag in HEADINGS]
    assert all(below <= above + 1 for above, below in itertools.pairwise(depths))


def test_the_first_screen_tells_what_happened() -> None:
    report = examples.regression()
    text = page_of("regression").text
    first = text[: text.index("Warnings head changes the rules")]
    for said in (
        "perfgate · 2026-11-20 09:00 UTC · exit code 1",
        "✖ Regression: parse-large is 8.3% slower (at least 4.9%), threshold 3%",
        "Next: Fix the regression",
        "accept it with an [[accept]] entry",
        "main 1a2b3c4d5e",
        "HEAD 9f8e7d6c5b with uncommitted changes",
        "3 min 23 s",
        "1 regression",
        *(f.benchmark for f in report.findings),
        "+6.3% to +10.3%",
    ):
        assert said in first
    # the sentences are in the details, once
    assert all(finding_words.conclusion(f) not in first for f in report.findings)
    assert all(text.count(finding_words.conclusion(f)) == 1 for f in report.findings if f.verdict == "regression")
    assert "Next:" not in page_of("pass").text
    failures = page_of("failures").text
    assert "parse-large failed on head: signal SIGSEGV" in failures[: failures.index("build 0, start 0")]


def test_every_number_of_a_finding_is_there() -> None:
    assert "about 4 more of each would decide it" in page_of("only_inconclusive").text
    text = page_of("regression").text
    for said in (
        "95% confidence, over 5 builds of each",
        "+4.9% to +11.7% at 99.58% confidence after correction for 12 comparisons",
        "+8.3%, interval: +6.3% to +10.3%",
        "+8.425 ms, +6.394 ms to +10.45 ms",
        "< 0.0001; adjusted 0.0012",
        "Satterthwaite's degrees of freedom; 8.30 degrees of freedom",
        "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
        "perfgate decide measurements.jsonl",
        "base (perfgate.toml of main)",
        "head changes the rules",
        "Example CPU @ 2.10GHz",
        "./build/app render < 'a b'",
        "pass LD_LIBRARY_PATH, set LC_ALL C",
        "builds 5, executions 5, iterations 10, budget 15m, metrics time",
    ):
        assert said in text


def test_what_does_not_exist_is_never_a_number() -> None:
    bad: dict[str, Any] = dict.fromkeys(("p", "floor"), math.nan) | {"threshold": 0.0, "decided_at": examples.NOWHERE}
    side = examples.side(math.nan)
    found = examples.finding(base=side, head=side, ratio=examples.interval(math.nan), **bad)
    for report in (examples.inconclusive(), examples.nothing(), examples.report("inconclusive", [found])):
        assert not re.search(r"\b(nan|inf|None)\b", Page(html.written(report)).text)


def test_the_terminal_needs_no_template_engine() -> None:
    import subprocess

    modules = "gate.report.formats.html, gate.report.json, gate.report.formats.markdown, gate.report.formats.text"
    code = f"import sys, {modules}\nprint('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
