"""Builds the documentation site into site/: `make site`, or `python -m scripts.site FOLDER`.

The pages are the Markdown of docs/ as it reads on GitHub, in the order of docs/site/nav.toml. Sphinx gets copies of
them in which links out of docs/ are resolved, and fails on any broken link or anchor.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "docs" / "site"
"""Its configuration, navigation and style."""
REPOSITORY = "https://github.com/perfgate/perfgate/blob/main/"
"""Where a link to a file that is not part of the site leads."""
AS_IS = {".html", ".txt"}
"""What of docs/ the site has as it is."""
_FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?\n(?:.*\n)*?\1\2 *$", re.MULTILINE)
_CODE = r"(?P<code>`[^`\n]+`)"
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]\n]|\n(?!\n)|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")


class SiteError(Exception):
    """A page, or the navigation, that cannot be built."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the navigation."""

    title: str
    pages: list[Path]
    """In order; those that exist."""


@dataclass(frozen=True, slots=True)
class Nav:
    """The navigation of the site."""

    front: Path
    sections: list[Section]
    asked: dict[Path, str]
    """Words that readers look for a page by."""
    last: list[Path]
    """What search ranks last."""

    @property
    def pages(self) -> list[Path]:
        """All pages in order, the front page first."""
        return [self.front, *(page for section in self.sections for page in section.pages)]


@cache
def nav() -> Nav:
    """Read docs/site/nav.toml."""
    read = tomllib.loads((SOURCE / "nav.toml").read_text(encoding="utf-8"))
    return Nav(
        ROOT / read["front"],
        [
            Section(each["title"], [page for name in each["pages"] if (page := ROOT / name).exists()])
            for each in read["section"]
        ],
        {ROOT / name: words for name, words in read.get("asked", {}).items()},
        [ROOT / name for name in read.get("last", {}).get("pages", [])],
    )


def place(page: Path) -> Path:
    """Return where a page lies in the site: docs/ is its root, and a README is the page of its folder's name."""
    relative = page.relative_to(ROOT)
    if relative.parts[0] == "docs":
        return relative.relative_to("docs")
    if relative.name == "README.md":
        return relative.parent.with_suffix(".md")
    # docs/security.md and SECURITY.md are different pages
    name = relative.with_name(relative.stem.lower() + ".md")
    return name.with_stem(f"{name.stem}-policy") if (ROOT / "docs" / name).exists() else name


def title(text: str) -> str:
    """Return the heading of a page."""
    found = re.search(r"^# (.*)$", text, re.MULTILINE)
    if found is None:
        raise SiteError("a page without a heading of the first level")
    return found[1].replace("`", "")


def staged(page: Path, text: str) -> str:
    """Return a page with links as they are in the site: pages by their place there, other files in the repository."""
    parts: list[str] = []
    end = 0
    # links in blocks of code are code
    for fence in _FENCE.finditer(text):
        parts += [_linked(page, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _linked(page, text[end:])])


def _linked(page: Path, text: str) -> str:
    # code that stands by itself is no link; code within a link's text is found with the link
    return re.sub(f"{_CODE}|{_LINK.pattern}", lambda found: found["code"] or _link(page, found), text)


def _link(page: Path, link: re.Match[str]) -> str:
    # a picture that is itself a link
    text = _linked(page, link["text"])
    target, _, anchor = link["target"].partition("#")
    if not target or re.match(r"[a-z]+:", target):
        return f"{link['image']}[{text}]({link['target']})"
    file = Path(os.path.normpath(page.parent / target))
    if not file.exists():
        raise SiteError(f"{page.relative_to(ROOT)}: the link to {link['target']} leads nowhere")
    fragment = f"#{anchor}" if anchor else ""
    if file == ROOT / "README.md" and not fragment:
        file = nav().front
    if file in nav().pages and text == file.name:
        # a file's name says more on GitHub, the page's title more in the site
        text = title(file.read_text(encoding="utf-8"))
    if file in nav().pages or link["image"]:
        to = place(file) if file in nav().pages else file.relative_to(ROOT / "docs")
        return f"{link['image']}[{text}]({os.path.relpath(to, place(page).parent)}{fragment})"
    if file.suffix in AS_IS and file.is_relative_to(ROOT / "docs"):
        # Sphinx would make a download of it
        there = os.path.relpath(file.relative_to(ROOT / "docs"), place(page).parent)
        return f'<a href="{html.escape(there)}">{text}</a>'
    return f"[{text}]({REPOSITORY}{file.relative_to(ROOT).as_posix()}{fragment})"


def toctrees() -> str:
    """Return the navigation as Sphinx reads it: a part of the front page that is not shown there."""
    return "".join(
        "\n".join(
            [
                "\n```{toctree}", ":hidden:", f":caption: {section.title}", "",
                *(place(page).with_suffix("").as_posix() for page in section.pages), "```\n",
            ]
        )
        for section in nav().sections
    )  # fmt: skip


def _name(page: Path) -> str:
    return place(page).with_suffix("").as_posix()


def scorer() -> str:
    """Return what Sphinx's search ranks by: docs/site/scorer.js with the tables of the navigation."""
    asked = {_name(page): words for page, words in nav().asked.items()}
    text = (SOURCE / "scorer.js").read_text(encoding="utf-8")
    return text.replace("ASKED = {}", f"ASKED = {json.dumps(asked)}").replace(
        "LAST = []", f"LAST = {json.dumps([_name(page) for page in nav().last])}"
    )


def _front_matter(page: Path) -> str:
    words = nav().asked.get(page, "").split()
    # Sphinx searches a page's keywords as it does its text
    return f'---\nmyst:\n  html_meta:\n    "keywords": "{", ".join(words)}"\n---\n\n' if words else ""


def stage(folder: Path) -> None:
    """Write the pages that Sphinx reads, and what they show, into a folder."""
    for page in nav().pages:
        text = staged(page, page.read_text(encoding="utf-8"))
        to = folder / place(page)
        to.parent.mkdir(parents=True, exist_ok=True)
        more = toctrees() if page == nav().front else ""
        to.write_text(f"{_front_matter(page)}{text}{more}", encoding="utf-8")
    for file in (ROOT / "docs").rglob("*"):
        if file.suffix in {".svg", ".png", *AS_IS} and SOURCE not in file.parents:
            to = folder / file.relative_to(ROOT / "docs")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)


def _accessible(text: str) -> str:
    # what furo leaves out: the level of a caption, and scrolling a block of code by keyboard
    return text.replace('role="heading">', 'role="heading" aria-level="2">').replace("<pre>", '<pre tabindex="0">')


def build(folder: Path) -> int:
    """Write the site into a folder, anew; return Sphinx's exit code, not 0 for any warning."""
    with tempfile.TemporaryDirectory() as made:
        pages = Path(made) / "pages"
        try:
            stage(pages)
        except SiteError as error:
            sys.stderr.write(f"site: {error}\n")
            return 1
        shutil.rmtree(folder, ignore_errors=True)
        ranking = Path(made) / "scorer.js"
        ranking.write_text(scorer(), encoding="utf-8")
        from sphinx.cmd.build import main as sphinx  # two seconds that a test of pages does not need

        options = ["-q", "-W", "--keep-going", "-n", "-c", str(SOURCE), "-d", f"{made}/doctrees"]
        code = sphinx([*options, "-D", f"html_search_scorer={ranking}", str(pages), str(folder)])
        for file in folder.rglob("*.html"):
            file.write_text(_accessible(file.read_text(encoding="utf-8")), encoding="utf-8")
        for file in (each for each in pages.rglob("*") if each.suffix in AS_IS):
            to = folder / file.relative_to(pages)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)
    (folder / ".buildinfo").unlink(missing_ok=True)
    return code


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site")))
