"""Links of a Markdown page that work where only the page is shown: a package index, a release."""

from __future__ import annotations

import posixpath
import re

REPOSITORY = "https://github.com/perfgate/perfgate"
RAW = "https://raw.githubusercontent.com/perfgate/perfgate"
# ![alt](target) and [text](target), outside of code; a target with a title does not occur here
LINK = re.compile(
    r"(?P<before>(?P<image>!)?\[(?:[^\[\]`]|`[^`]*`|!\[[^\]]*\]\([^)]*\))*\]\()(?P<target>[^()\s]+)(?P<after>\))"
)
ATTRIBUTE = re.compile(
    r"""(?P<before><(?P<name>img|source|a)\b[^<>]*?\b(?:src|srcset|href)=")(?P<target>[^"\s]+)(?P<after>")"""
)
CODE = re.compile(r"(^[ \t]*```.*?^[ \t]*```[ \t]*$)", re.DOTALL | re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//")


def absolute(text: str, ref: str, *, page: str) -> str:
    """Make the relative links of a page of the repository absolute, at a tag or branch; code stays as it is.

    Args:
        text: Markdown.
        ref: the tag or branch that links lead to.
        page: the page's path in the repository; where its links start from.
    """
    parts = CODE.split(text)
    parts[::2] = [_linked(part, ref, page) for part in parts[::2]]
    return "".join(parts)


def _linked(text: str, ref: str, page: str) -> str:
    def replace(link: re.Match[str]) -> str:
        found = link.groupdict()
        image = bool(found.get("image")) or found.get("name") in ("img", "source")
        # an image may stand inside of a link's text
        before = found["before"][:1] + LINK.sub(replace, found["before"][1:])
        return f"{before}{_absolute(found['target'], ref, page, image=image)}{found['after']}"

    return ATTRIBUTE.sub(replace, LINK.sub(replace, text))


def _absolute(target: str, ref: str, page: str, *, image: bool) -> str:
    if ELSEWHERE.match(target):
        return target
    path, mark, anchor = target.partition("#")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    base = f"{RAW}/{ref}" if image else f"{REPOSITORY}/blob/{ref}"
    return f"{base}/{place}{mark}{anchor}"
