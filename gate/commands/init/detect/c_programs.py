"""Programs of C and the like: with which arguments they can surely be started."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from gate.commands.init.detect.tree import Tree
from gate.commands.init.detect.work import work

SOURCES = (
    ".c", ".cc", ".cpp", ".cxx", ".C", ".m", ".f90", ".f", ".s", ".S", ".zig", ".d", ".pas", ".adb", ".ml", ".hs",
)  # fmt: skip
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:[^\"\\\n]|\\.)*\")", re.DOTALL)
_ANSWERS_HELP = re.compile(r'"(--)?help"')
_READS_INPUT = re.compile(r"\bstdin\b|\bcin\b|\bgetchar\b")
_COMPLAINS = re.compile(r"\bargc\s*(<|!=|==)|\busage\s*\(|\"[^\"\n]*\busage\b", re.IGNORECASE)
_COUNTS = re.compile(r"\bargc\s*(<|!=)")
_READS = re.compile(r"\bargv\s*(\[\s*[^0\s]|\+)|\+\+\s*argv|\bargv\s*,|\bargs?\s*\(\s*argv")
_TAKES_NONE = re.compile(r"\bmain\s*\(\s*(void)?\s*\)")
_MAIN = re.compile(r"\bmain\s*\(")


def arguments(tree: Tree, path: str, sources: Iterable[str] = ()) -> tuple[list[str], bool]:
    """Return the arguments with which a program surely ends by itself, and whether that is in doubt.

    Args:
        path: the program.
        sources: what it is made of, as far as that is known; objects stand for their sources.
    """
    stems = {str(PurePosixPath(source).with_suffix("")) for source in sources}
    every = list(tree.ending(*SOURCES))
    own = [file for file in every if str(PurePosixPath(file).with_suffix("")) in stems]
    same = [file for file in every if PurePosixPath(file).stem == PurePosixPath(path).stem]
    beside = [file for file in every if PurePosixPath(file).parent == PurePosixPath(path).parent]
    for files in (own, same, beside, every):
        texts = [text for file in files if _MAIN.search(text := tree.text(file))]
        if texts:
            return arguments_of(tree, PurePosixPath(path).name, texts)
    return [], True


def arguments_of(tree: Tree, name: str, texts: list[str]) -> tuple[list[str], bool]:
    """Return the same for the text of a program's sources; without any it is in doubt."""
    on_file = work(tree, name, texts)
    if on_file:
        return on_file, False
    if any(_ANSWERS_HELP.search(text) for text in texts):
        return ["--help"], False
    return [], not texts or any(wants_arguments(text) for text in texts)


def refuses_to_start(text: str) -> bool:
    """Return whether a C or C++ source has a main() that complains of a number of arguments."""
    text = _COMMENT.sub(lambda match: match[1] or " ", text)
    return bool(_MAIN.search(text) and _COUNTS.search(text))


def wants_arguments(text: str) -> bool:
    """Return whether a C or C++ source reads arguments that it does not do without, or its standard input.

    It does without where it reads one only if there are more (`argc > 1 ? ... : ...`) and complains of none.
    """
    text = _COMMENT.sub(lambda match: match[1] or " ", text)
    if _TAKES_NONE.search(text):
        return bool(_READS_INPUT.search(text))
    if _READS_INPUT.search(text) or _COMPLAINS.search(text):
        return True
    return _READS.search(text) is not None and re.search(r"\bargc\s*>", text) is None
