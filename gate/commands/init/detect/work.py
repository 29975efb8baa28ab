"""The work that a program surely does: on a file of the project, where the program says that it reads such files."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import PurePosixPath

from gate.commands.init.detect.tree import Tree

_USAGE = re.compile(r"usage:(?:\s|\\[nt])*(?:%s|[\w.-]+)[ \t]+([^\"\n\\]+)", re.IGNORECASE)
_TOKEN = re.compile(r"\[[^\]]*\][.]*|<[^>]*>[.]*|\S+")
_OPTIONS = re.compile(r"[\[<]?\s*(-.*|(?:.*\s)?(?:option|flag|switch)s?\b.*)", re.IGNORECASE)
_FILE = re.compile(r"[\[<]*\s*(?:in(?:put)?[-_ ]?)?(?:file|input|path)[-_ ]?(?:name|path)?s?\s*[\].>*]*", re.IGNORECASE)
_FILTER = re.compile(r"<[\w ]*filter>|'?filter'?", re.IGNORECASE)
_NEAR = 400
_STRUCT = re.compile(r"derive\([^)]*\b(?:Parser|StructOpt)\b[^)]*\)")
_FIELD = re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:r#)?(\w+):\s*(\S.*?),?\s*")
_NAMED = re.compile(r"\b(?:short|long|subcommand|flatten|skip)\b")
_VALUE_NAME = re.compile(r"value_name\s*(?:=|\()\s*\"([^\"]*)\"")
_ARG = re.compile(r"\bArg::(?:new|with_name)\(\s*\"([^\"]*)\"")
_NO_POSITION = re.compile(r"\.(?:short|long)\(")
_SUBCOMMANDS = re.compile(r"\bSubcommand\b|\.subcommand\(")
_FORMATS = {
    "json": (".json",),
    "markdown|commonmark": (".md", ".markdown"),
    "html": (".html", ".htm"),
    "xml": (".xml",),
    "csv": (".csv",),
    "ya?ml": (".yaml", ".yml"),
    "toml": (".toml",),
    # of any file
    "hex|hexdump|checksums?|digests?": ("",),
}
_FORMAT = re.compile("|".join(rf"(\b(?:{words})\b)" for words in _FORMATS), re.IGNORECASE)
# what it does not end by itself, or changes the file
_LEFT_ALONE = re.compile(
    r"\b(?:editor|formatter|server|daemon|in-place|watch(?:es)?|encrypts?|(?:de)?compress\w*)\b", re.IGNORECASE
)
_CHANGES = re.compile(r"change|history|news|readme|lock|version|authors|contribut|perfgate", re.IGNORECASE)
_BROKEN = re.compile(r"bad|invalid|broken|malformed|reject|error|fail|fuzz", re.IGNORECASE)
_SOURCE = (".c", ".cc", ".cpp", ".go", ".h", ".hpp", ".py", ".rs", ".sh", ".toml")
_LARGEST = 1_000_000
_README = ("README.md", "README", "README.rst", "readme.md")


def work(tree: Tree, name: str, texts: list[str], description: str = "") -> list[str] | None:
    """Return the arguments with which a program works on a file of the project; None where they are not known.

    Args:
        name: the program's.
        texts: its sources, as far as they tell what arguments it takes.
        description: what it is for, in words, if that is known apart from the sources.
    """
    found = _from_usage(texts) or _from_clap(texts)
    if found is None:
        return None
    before, near = found
    readme = next((tree.text(path)[:_NEAR] for path in _README if path in tree.names), "")
    # options name what it writes, too
    about = f"{description}\n{readme}\n{near}\n{name}"
    match = _FORMAT.search(about)
    if match is None or _LEFT_ALONE.search(about):
        return None
    endings = [*_FORMATS.values()][(match.lastindex or 1) - 1]
    if before and endings != (".json",):
        return None
    path = next(_data(tree, endings), None)
    return [*before, path] if path else None


def _from_usage(texts: list[str]) -> tuple[list[str], str] | None:
    """Return what stands before the file in a line of usage, and the text around it."""
    for text in texts:
        for usage in _USAGE.finditer(text):
            before: list[str] = []
            seen = False
            for word in _TOKEN.findall(usage[1]):
                if _OPTIONS.fullmatch(word) or word == "...":
                    continue
                if not seen and _FILE.fullmatch(word):
                    seen = True
                elif not seen and not before and _FILTER.fullmatch(word):
                    before = ["."]  # the filter of JSON processors that gives all of it
                elif not (seen and word.startswith("[")):
                    break
            else:
                if seen:
                    near = text[max(0, usage.start() - _NEAR // 4) : usage.end() + _NEAR]
                    return before, re.sub(r"\\[nt]", " ", near)
    return None


def _from_clap(texts: list[str]) -> tuple[list[str], str] | None:
    """Return the same for a Rust program whose only positional argument is a file."""
    if any(map(_SUBCOMMANDS.search, texts)):
        return None
    positional = [each for text in texts for each in (*_derived(text), *_built(text))]
    return ([], "") if positional and all(map(_FILE.fullmatch, positional)) and len(positional) == 1 else None


def _derived(text: str) -> Iterator[str]:
    inside = False
    attributes: list[str] = []
    waiting = False
    for line in text.splitlines():
        if _STRUCT.search(line):
            waiting = True
        elif waiting and re.match(r"\s*(?:pub\s+)?struct\s", line):
            inside, waiting, attributes = True, False, []
        elif inside and line.startswith("}"):
            inside = False
        elif inside and (field := _FIELD.fullmatch(line)) and not field[2].endswith(("(", "{")):
            told = "\n".join(each for each in attributes if not each.lstrip().startswith("//"))
            if not _NAMED.search(told):
                value = _VALUE_NAME.search(told)
                yield value[1] if value else field[1]
            attributes = []
        elif inside:
            attributes.append(line)


def _built(text: str) -> Iterator[str]:
    starts = [*_ARG.finditer(text)]
    for match, end in zip(starts, [*(after.start() for after in starts[1:]), len(text)], strict=False):
        if not _NO_POSITION.search(text[match.end() : end]):
            yield match[1]


def _data(tree: Tree, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield files of a format, the largest first, but none that most commits change or that is there to be refused."""
    sizes: list[tuple[bool, int, str]] = []
    for path in tree.ending(*endings):
        place = PurePosixPath(path)
        hidden = any(part.startswith(".") for part in place.parts)
        if hidden or path.startswith("-") or _CHANGES.search(place.name) or _BROKEN.search(path):
            continue
        size = _size(tree, path)
        if 0 < size <= _LARGEST:
            sizes.append((endings == ("",) and path.endswith(_SOURCE), -size, path))
    return (path for _, _, path in sorted(sizes) if endings != (".json",) or _is_json(tree, path))


def _size(tree: Tree, path: str) -> int:
    try:
        found = os.lstat(tree.directory / path)
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _is_json(tree: Tree, path: str) -> bool:
    try:
        json.loads(tree.text(path))
    except (ValueError, RecursionError):
        return False
    return True
