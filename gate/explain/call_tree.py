"""Two profiles as one tree of calls: which function of base is which of head, and what each spends where."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

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


class FunctionSides(msgspec.Struct, frozen=True):
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


Numbers = tuple[list[int], list[int]]
"""Of each frame of base's and of head's profile the number of its function."""


def match(base: Profile, head: Profile) -> tuple[list[FunctionSides], Numbers]:
    """Match the frames of two profiles, the surest ways first; each function of head has at most one of base.

    Returns:
        All functions of both, and which of them each frame is of.
    """
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
        FunctionSides(*(None if index is None else frames[index] for frames, index in zip(sides, each, strict=True)))
        for each in both
    ]
    first_of, second_of = (
        {_identity(frames[own]): n for n, each in enumerate(both) if (own := each[side]) is not None}
        for side, frames in enumerate(sides)
    )
    return found, ([first_of[_identity(f)] for f in base.frames], [second_of[_identity(f)] for f in head.frames])


def _unique(frames: Sequence[Frame]) -> dict[Frame, int]:
    found: dict[Frame, int] = {}
    for index, frame in enumerate(frames):
        found.setdefault(_identity(frame), index)
    return found


def _identity(frame: Frame) -> Frame:
    # a line moves with what stands above it
    return Frame(frame.function, frame.file)


MOST_DEEP = 200
"""Deeper stacks keep their innermost functions."""
BOTH = (0, 1)
"""Index of base and of head."""


class Node:
    """A function at one place of the tree; costs by side, base first."""

    __slots__ = ("children", "cost", "function", "inclusive", "library", "own", "parent", "rest")

    def __init__(self, function: int, parent: Node | None) -> None:
        self.function = function
        self.parent = parent
        self.children: dict[int, Node] = {}
        self.own = [0.0, 0.0]
        self.library: dict[int, list[float]] = {}
        """Cost below it by the library function that it calls itself."""
        self.cost = [0.0, 0.0]
        """Its own with that of the library functions that it calls."""
        self.inclusive = [0.0, 0.0]
        self.rest = 0.0
        """What of its cost's change is not explained otherwise yet."""

    def child(self, function: int) -> Node:
        """Return the node of a function that it calls; a new one where there is none."""
        found = self.children.get(function)
        if found is None:
            found = self.children[function] = Node(function, self)
        return found

    def below(self) -> Iterator[Node]:
        """Give it and all nodes below it, callers first."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(node.children.values())

    @property
    def change(self) -> float:
        """What its cost, with its library functions, changed by."""
        return self.cost[1] - self.cost[0]

    def path(self) -> list[int]:
        """Return the functions that lead to it, the outermost first, without itself and without the root."""
        found, node = [], self.parent
        while node is not None and node.parent is not None:
            found.append(node.function)
            node = node.parent
        return found[::-1]


def call_tree(base: Profile, head: Profile, numbers: Numbers, project: Sequence[bool], *, speed: float = 1.0) -> Node:
    """Merge the stacks of both sides, per operation; recursion is folded into its outermost call.

    Args:
        numbers: as match gives them.
        project: of each function, whether it is the project's own. A stack without such a function stays as it is.
        speed: what all of head's costs are divided by.
    """
    root = Node(-1, None)
    for side, profile in enumerate((base, head)):
        scale = 1 / (profile.operations or 1.0) / (speed if side else 1.0)
        for stack in profile.stacks:
            _add(root, [numbers[side][index] for index in stack.frames[-MOST_DEEP:]], stack.cost * scale, side, project)
    order = list(root.below())
    for node in order:
        node.rest = node.change
        for side in BOTH:
            node.inclusive[side] = node.cost[side]
    for node in reversed(order):
        if node.parent is not None:
            for side in BOTH:
                node.parent.inclusive[side] += node.inclusive[side]
    return root


def _add(root: Node, functions: Sequence[int], cost: float, side: int, project: Sequence[bool]) -> None:
    own = [index for index in functions if project[index]]
    node = root
    for index in folded(own or functions):
        node = node.child(index)
    node.cost[side] += cost
    if functions and functions[-1] == node.function:
        node.own[side] += cost
        return
    # the first library function that the innermost of the project's calls
    last = len(functions) - 1 - functions[::-1].index(node.function) if node.function in functions else -1
    called = functions[last + 1] if last + 1 < len(functions) else functions[-1]
    node.library.setdefault(called, [0.0, 0.0])[side] += cost


def folded(functions: Sequence[int]) -> list[int]:
    """Cut a recursion back to where its function stood first: f g f h is f h."""
    path: list[int] = []
    places: dict[int, int] = {}
    for index in functions:
        at = places.get(index)
        if at is None:
            places[index] = len(path)
            path.append(index)
        else:
            for left in path[at + 1 :]:
                del places[left]
            del path[at + 1 :]
    return path


BALANCED = 0.15
"""More and less that differ by less than this share of the larger are one cost that moved."""


Shift = tuple[Node, dict[int, float]]
"""Cost that moved below a node: by function what came to it; below 0: what left it."""


def settle_shifts(root: Node, states: Sequence[str], least: float) -> list[Shift]:
    """Take from the rest of all nodes what moved, and return it; from below, so that the nearest caller is named.

    Args:
        states: of each function "changed", "new" or "gone".
        least: a smaller cost is not worth a word, and stays.
    """
    found = []
    for node in reversed(list(root.below())):
        if node.children and max(node.inclusive) >= least:
            shift = _structural(node, states, least)
            if shift is None:
                # more against less where the inclusive total is about the same
                more, less = ([n for n in node.below() if sign * n.rest > 0] for sign in (1, -1))
                up, down = (abs(sum(n.rest for n in nodes)) for nodes in (more, less))
                if min(up, down) >= least and abs(up - down) <= BALANCED * max(up, down):
                    shift = _settled(node, more, less, min(up, down))
            found += [shift] if shift is not None else []
    return found


def _structural(node: Node, states: Sequence[str], least: float) -> Shift | None:
    """Settle what functions that are gone spent against what others spend more near by, and new ones likewise.

    A function that was inlined, split or joined takes its cost along, whatever else changed.
    """
    near = [node, *node.children.values(), *(n for child in node.children.values() for n in child.children.values())]
    gone = [n for n in near if n.rest < 0 and states[n.function] == "gone" and n is not node]
    new = [n for n in near if n.rest > 0 and states[n.function] == "new" and n is not node]
    if not gone and not new:
        return None
    more = [n for n in near if n.rest > 0] if gone else new
    less = gone or [n for n in near if n.rest < 0]
    amount = min(sum(n.rest for n in more), -sum(n.rest for n in less))
    return _settled(node, more, less, amount) if amount >= least else None


def _settled(node: Node, more: Sequence[Node], less: Sequence[Node], amount: float) -> Shift:
    """Take an amount from both in proportion."""
    moved: dict[int, float] = defaultdict(float)
    for nodes in (more, less):
        whole = abs(sum(n.rest for n in nodes))
        for each in nodes:
            part = each.rest * amount / whole
            moved[each.function] += part
            each.rest -= part
    return node, dict(moved)
