"""Markdown as GitHub's own parser renders it, taken apart: what a reader sees, and what could still become a link."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from cmarkgfm import github_flavored_markdown_to_html  # type: ignore[import-untyped]  # it has no types
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]  # the same

OURS = frozenset(
    {"h3", "h4", "p", "ul", "li", "strong", "b", "sub", "code", "pre", "br", "details", "summary"}
    | {"table", "thead", "tbody", "tr", "th", "td"}
)
# what GitHub's filters look for in text that is not code; a comment or a tag ends what they look at
LIVE = re.compile(
    r"@\w|#\d|\bGH-\d|(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])|:[\w+-]+:|https?:/|www\.\w|\[[ x]\]|\$.*\$|[a-z]-\d",
    re.IGNORECASE,
)


def html_of(markdown: str) -> str:
    """Render with every extension, and with raw HTML let through as GitHub's sanitiser lets ours through."""
    return str(github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES))


@dataclass
class Seen:
    """tags: every element; links: every href; live: text that GitHub would turn into something; rows: cells' text."""

    tags: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    text: str = ""
    unbalanced: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen = Seen()
        self._open: list[str] = []
        self._node = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_node()
        self.seen.tags.add(tag)
        allowed = {"href"} if tag == "a" else {"align", "lang"} if tag in ("th", "td", "pre", "code") else set()
        self.seen.unbalanced += [f"{tag} {name}={value}" for name, value in attrs if name not in allowed]
        self.seen.links += [value or "" for name, value in attrs if name == "href"]
        if tag == "tr":
            self.seen.rows.append([])
        if tag in ("td", "th"):
            self.seen.rows[-1].append("")
        if tag == "pre":
            self.seen.text += "\n"
        if tag != "br":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._end_node()
        if not self._open or self._open.pop() != tag:
            self.seen.unbalanced.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self._node += data
        self.seen.text += data
        if any(tag in ("td", "th") for tag in self._open):
            self.seen.rows[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        self._end_node()
        if data != " ":
            self.seen.unbalanced.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.seen.unbalanced.append(f"<!{decl}>")

    def unknown_decl(self, data: str) -> None:
        self.seen.unbalanced.append(f"<![{data}]>")

    def handle_pi(self, data: str) -> None:
        self.seen.unbalanced.append(f"<?{data}>")

    def _end_node(self) -> None:
        if not {"code", "pre"} & set(self._open) and (found := LIVE.search(self._node)):
            self.seen.live.append(found[0])
        self._node = ""

    def close(self) -> None:
        super().close()
        self._end_node()
        self.seen.unbalanced += self._open


def read(markdown: str) -> Seen:
    """Render and take apart."""
    reader = _Reader()
    reader.feed(html_of(markdown))
    reader.close()
    return reader.seen


def squeezed(text: str) -> str:
    """Write every run of blanks as one, as a page shows them."""
    return " ".join(text.split())
