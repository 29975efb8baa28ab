"""Which function of base is which of head, also where it was moved or compiled under another name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

import msgspec

from gate.model.profile import Frame, Profile

_HASH = re.compile(r"::h[0-9a-f]{16}\b")
_SUFFIX = re.compile(
    r"(?:\.(?:constprop|isra|part|cold|lto_priv|llvm|clone|localalias|avx\w*|sse\w*)(?:\.\d+)*|'\d+)+$"
)
_CLONE = re.compile(r"(?<!\s)\s*+\[clone [^\]]*\]")
_CLOSURE = re.compile(r"\{\{?closure\}?\}(?:#\d+)?|\{closure#\d+\}|\{lambda\([^{}]*\)#\d+\}|\$_\d+")
_GO_CLOSURE = re.compile(r"\.(?:func|gowrap|deferwrap)\d+(?:\.\d+)*(?:\.func\d+|\.\d+)*")
_GO_RECEIVER = re.compile(r"^(.*?[\w\]])\.\(\*?([\w\[\]]+)\)\.")
_ESCAPES = {"$LT$": "<", "$GT$": ">", "$u20$": " ", "$RF$": "&", "$C$": ",", "$BP$": "*", "$u7b$": "{", "$u7d$": "}"}
_RUNTIME = re.compile(
    r"^(?:runtime[./]|internal/|sync[./]|syscall\.|reflect\.|gc(?:Write|Bg)|_?_libc_|_dl_|__GI_|_IO_|__memcpy|__str"
    r"|__mem|_int_(?:malloc|free|realloc)|__libc_start|_init$|_start$|_fini$|\(below main\)$|0x[0-9a-f]+|\?\?\?"
    r"|\[unknown\]|std::|core::|alloc::|<(?:std|core|alloc)::|__gnu_cxx::|operator (?:new|delete)"
    r"|<built-in |<method |<frozen |~:|\{built-in |\{method )"
)
_LIBRARY = re.compile(r"\.so(?:[.\d]*)$|^(?:ld-linux|ld-musl|linux-vdso)|\.dylib$")
_LIBC = frozenset((
    "malloc", "free", "calloc", "realloc", "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen",
    "strcmp", "strncmp", "strcpy", "strncpy", "strcat", "strchr", "strrchr", "strstr", "strtol", "strtoul",
    "strtod", "strdup", "qsort", "msort_with_tmp", "bsearch", "printf", "fprintf", "sprintf", "snprintf",
    "vsnprintf", "vfprintf", "puts", "fputs", "fwrite", "fread", "fgets", "fgetc", "getc", "ungetc", "putchar",
    "getline", "getdelim", "fopen", "fclose", "fflush", "read", "write", "open", "close", "mmap", "munmap",
    "malloc_consolidate", "unlink_chunk", "sysmalloc", "exp", "log", "pow", "sin", "cos", "sqrt", "floor",
    "ceil", "rand", "random", "toupper", "tolower", "isalpha", "isspace", "isdigit", "atoi", "atol", "regcomp",
    "regexec", "time", "clock_gettime",
))  # fmt: skip


_WITHIN = re.compile(r"<(?:listcomp|genexpr|dictcomp|setcomp)>$")
"""Loops of Python that older ones compile as functions of their own."""


def is_runtime(frame: Frame) -> bool:
    """Say whether a function is of a language's or a system's own run time, by its name."""
    return _RUNTIME.match(frame.function) is not None


def is_project(frame: Frame, *, files_known: bool) -> bool:
    """Say whether a function lies in the project's own files.

    Args:
        files_known: whether the profile gives a project's file for any function; without it the name has to do.
    """
    if is_runtime(frame) or _WITHIN.search(frame.function) or _LIBRARY.search(frame.file):
        return False
    if frame.file:
        return not frame.file.startswith(("/", "<", "~", "..")) and ":" not in frame.file[:3]
    return not files_known and plain(frame.function) not in _LIBC


def plain(function: str) -> str:
    """Strip of a name what changes without the function: hashes, arguments, template arguments, numbers of closures."""
    name = _HASH.sub("", function)
    if "$" in name:
        for escape, text in _ESCAPES.items():
            name = name.replace(escape, text)
    name = _CLOSURE.sub("{closure}", _CLONE.sub("", name))
    name = _GO_CLOSURE.sub(".func", _SUFFIX.sub("", name))
    name = _GO_RECEIVER.sub(r"\1.\2.", name)
    if name.startswith("<") and not name.startswith("<lambda>"):
        # of Rust: <Type as Trait>::method, where the type tells functions apart
        return name
    # leave out (...), <...> and [...], however nested; a name that is brackets only stays
    kept, depth, begins = [], 0, "(<["
    for index, char in enumerate(name):
        # operator<, operator(), -> are no brackets
        if char in "<>" and ("operator" in name[max(0, index - 10) : index] or name[index - 1 : index] in ("-", "=")):
            kept.append(char if depth == 0 else "")
        elif char in begins:
            depth += 1
        elif char in ")>]" and depth:
            depth -= 1
        elif not depth:
            kept.append(char)
    return ("".join(kept) if not depth else name).strip() or function


class Function(msgspec.Struct, frozen=True):
    """A function of the program; a side that lacks it has None."""

    base: Frame | None
    head: Frame | None

    @property
    def frame(self) -> Frame:
        """As head names it, or base where it is gone."""
        return self.head or self.base or Frame("")

    @property
    def was(self) -> str | None:
        """Base's name, where that is another."""
        both = self.base is not None and self.head is not None
        return self.base.function if both and self.base and self.base.function != self.frame.function else None


class Matched(msgspec.Struct, frozen=True):
    """All functions of both profiles, and for each frame of a profile its function."""

    functions: list[Function]
    base: list[int]
    head: list[int]


def match(base: Profile, head: Profile) -> Matched:
    """Match the frames of two profiles, the surest ways first; each function of head has at most one of base."""
    partners: dict[int, int] = {}
    first, second = _unique(base.frames), _unique(head.frames)
    keys: tuple[Callable[[Frame], Hashable], ...] = (
        lambda frame: frame,
        lambda frame: (plain(frame.function), frame.file),
        lambda frame: frame.function,
        lambda frame: plain(frame.function),
    )
    for key in keys:
        # of several with one key the first with the first, where both sides have as many
        taken = set(partners.values())
        groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, frames, matched in ((0, first, partners), (1, second, taken)):
            for frame, index in frames.items():
                if index not in matched:
                    groups[key(frame)][side].append(index)
        for ours, theirs in groups.values():
            if len(ours) == len(theirs):
                partners.update(zip(ours, theirs, strict=True))
    both: list[tuple[int | None, int | None]] = [(index, partners.get(index)) for index in first.values()]
    taken = set(partners.values())
    both += [(None, index) for index in second.values() if index not in taken]
    sides = (base.frames, head.frames)
    found = [
        Function(*(None if index is None else frames[index] for frames, index in zip(sides, each, strict=True)))
        for each in both
    ]
    numbers = [
        {_identity(frames[own]): n for n, each in enumerate(both) if (own := each[side]) is not None}
        for side, frames in enumerate(sides)
    ]
    return Matched(found, *([of[_identity(f)] for f in frames] for of, frames in zip(numbers, sides, strict=True)))


def _unique(frames: Sequence[Frame]) -> dict[Frame, int]:
    found: dict[Frame, int] = {}
    for index, frame in enumerate(frames):
        found.setdefault(_identity(frame), index)
    return found


def _identity(frame: Frame) -> Frame:
    # a line moves with what stands above it
    return Frame(frame.function, frame.file)
