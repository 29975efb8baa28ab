"""The documentation site's navigation, and the links of its pages; tests/browser/test_site.py builds and opens it."""

from pathlib import Path

import pytest

from scripts import site
from tests.support.pages import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))


def test_every_page_is_in_the_navigation_once() -> None:
    pages = site.nav().pages
    assert set(PAGES) <= set(pages), "name it in docs/site/nav.toml"
    assert len(pages) == len(set(pages)) == len({site.place(page) for page in pages})


def test_what_is_asked_and_what_comes_last_are_pages() -> None:
    nav = site.nav()
    assert {*nav.asked, *nav.last} <= set(nav.pages)
    assert set(nav.asked).isdisjoint(nav.last)
    assert '"noisy": "my benchmark' in site.scorer() and '"changelog"' in site.scorer()
    assert [section.title for section in site.nav().sections] == ["Start", "How-to", "Concepts", "Reference", "Project"]


def test_links_are_resolved_for_the_site() -> None:
    page = ROOT / "docs" / "study.md"
    text = (
        "[a](method.md#bisect) [b](../CHANGELOG.md) [c](../SECURITY.md) [d](../README.md) [e](gallery/regression.html)\n"
        "[method.md](method.md) [f](../examples/compressor/perfgate.toml) ![g](trial/differences.svg) [h](#i) [j](https://example.org/k)\n"
        "`[code](nowhere.md)` [`k`](cost.md)\n```\n[code](nowhere.md)\n```\n"
    )
    assert site.staged(page, text) == (
        '[a](method.md#bisect) [b](changelog.md) [c](security-policy.md) [d](index.md) <a href="gallery/regression.html">e</a>\n'
        f"[How a verdict is made](method.md) [f]({site.REPOSITORY}examples/compressor/perfgate.toml) ![g](trial/differences.svg) [h](#i) [j](https://example.org/k)\n"
        "`[code](nowhere.md)` [`k`](cost.md)\n```\n[code](nowhere.md)\n```\n"
    )
    with pytest.raises(site.SiteError, match=r"docs/study\.md: the link to nowhere\.md leads nowhere"):
        site.staged(ROOT / "docs" / "study.md", "[a](nowhere.md)")
    # of a page in a folder upwards
    page = ROOT / "docs" / "start" / "index.md"
    assert site.staged(page, "[a](../quickstart.md)") == "[a](../quickstart.md)"
    assert site.place(ROOT / "benchmarks" / "README.md") == Path("benchmarks.md")
