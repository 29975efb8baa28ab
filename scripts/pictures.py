"""The pictures of docs/reading-a-report.md, made anew with the host's Chromium: `python -m scripts.pictures CARD`.

CARD is a report.html whose first result is shown as a card, such as .gallery/tokenizer/regression/report.html. The top
of a page is that of the report that the tests render, so it changes with the page alone.
"""

import sys
import tempfile
from pathlib import Path

from gate.report.formats import html
from tests.gate.report import examples
from tests.support.browser import started

IMAGES = Path(__file__).parent.parent / "docs" / "images"


def main(card: Path) -> None:
    """Write both pictures."""
    with tempfile.TemporaryDirectory() as made, started() as browser:
        top = Path(made) / "report.html"
        top.write_text(html.written(examples.regression()), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1180, "height": 900})
        page.goto(top.as_uri())
        page.screenshot(path=IMAGES / "report-top.png")
        page.goto(card.resolve().as_uri())
        found = page.locator("article.finding").first
        found.locator("summary", has_text="Numbers").first.click()
        # the numbers go on for long
        found.evaluate("card => { card.style.maxHeight = '1100px'; card.style.overflow = 'hidden' }")
        found.screenshot(path=IMAGES / "report-finding.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
