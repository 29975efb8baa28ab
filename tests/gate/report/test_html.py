import math
import re
import sys
from html.parser import HTMLParser

import pytest

from gate.report import html, view
from tests.gate.report import examples

VOID = {"meta", "rect", "line", "path", "circle", "br"}


class Page(HTMLParser):
    """What a test wants to know of a page: its elements, and whether they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


@pytest.mark.parametrize("name", examples.ALL)
def test_the_page_stands_alone_and_is_well_formed(name: str) -> None:
    source = html.render(examples.ALL[name]())
    page = Page(source)
    assert page.open == []
    assert source.startswith("<!DOCTYPE html>")
    assert not {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "object", "base", "form"}
    assert not [key for _, attrs in page.elements for key in attrs if key.startswith("on") or key in ("src", "style")]
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = [attrs["href"] or "" for attrs in page.all("a")]
    assert all(target.startswith("#") and target[1:] in ids for target in targets)
    labels = [attrs["aria-labelledby"] for _, attrs in page.elements if "aria-labelledby" in attrs]
    assert set(labels) <= set(ids)
    policy = [attrs["content"] for attrs in page.all("meta") if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert "url(" not in source


@pytest.mark.parametrize("name", examples.ALL)
def test_tables_and_pictures_can_be_read_aloud(name: str) -> None:
    page = Page(html.render(examples.ALL[name]()))
    assert len(page.all("table")) == len(page.all("caption"))
    assert all("scope" in attrs for attrs in page.all("th"))
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in page.all("svg"))
    assert [tag for tag, _ in page.elements if tag in ("header", "main", "footer", "h1")] == [
        "header",
        "h1",
        "main",
        "footer",
    ]
    groups = [attrs for attrs in page.all("div") if attrs.get("role") == "group"]
    assert all(attrs["tabindex"] == "0" and ("aria-label" in attrs or "aria-labelledby" in attrs) for attrs in groups)


def test_every_number_of_a_finding_is_there() -> None:
    text = Page(html.render(examples.regression())).text
    for said in (
        "Head is 8.3% slower (6.3% to 10.3%, 95% interval over 5 builds).",
        "Why regression: the 99.58% interval +4.9% to +11.7% lies beyond the threshold of 3%.",
        "1.0830, 95% interval: 1.0630 to 1.1030",
        "99.58% confidence: +4.9% to +11.7%",
        "< 0.0001; adjusted 0.0012",
        "Satterthwaite's degrees of freedom; 8.30 degrees of freedom",
        "adds nothing (-2.00e-08)",
        "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
        "with uncommitted changes",
        "5% for the whole report, 2.5% of it for a false regression, shared over 8 findings (family: holm)",
        "perfgate decide measurements.jsonl",
        "base (perfgate.toml of main)",
        "head changes the rules",
        "Example CPU @ 2.10GHz",
        "./build/app render < 'a b'",
    ):
        assert said in text


def test_what_does_not_exist_is_never_a_number() -> None:
    bad = math.nan
    found = examples.finding(
        base=examples.side(bad), head=examples.side(bad), ratio=examples.interval(bad), p=bad, floor=bad, threshold=0.0,
        decided_at=examples.withheld().decided_at,
    )  # fmt: skip
    reports = [examples.inconclusive(), examples.nothing(), examples.report("inconclusive", "?", [found])]
    for report in reports:
        source = html.render(report)
        assert not re.search(r"\b(nan|inf|None)\b", source)
    assert "no interval: one build a side" in html.render(examples.inconclusive())


def test_one_axis_holds_all_bars() -> None:
    found = [*examples.regression().findings, *examples.inconclusive().findings, examples.regressed(estimate=9.0)]
    for bar in view.bars(found):
        inside = [bar.one, bar.band_low, bar.band_high, bar.estimate, bar.low, bar.high]
        assert all(x is None or 0 <= x <= view.BAR_WIDTH for x in inside)
    far = view.bars(found)[-1]
    assert far.open_low
    assert far.open_high


def test_three_hundred_findings_stay_small_and_all_are_there() -> None:
    report = examples.many()
    source = html.render(report)
    assert len(source) < 2_000_000
    assert all(f.benchmark in source for f in report.findings)


def test_the_terminal_needs_no_template_engine() -> None:
    import subprocess

    code = "import sys\nfrom gate.report import html, json, markdown, text\nprint('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
